"""What commands print: texts from outside must not move the cursor, rename the window or hide what stands there."""

import json
import sys


def terminal_text(text: str) -> str:
    """Without what a terminal would obey or what turns the direction of writing; lines and tabs stay.

    Escaped as in JSON, so that a document stays one.
    """
    return "".join(sign if sign.isprintable() or sign in "\n\t" else json.dumps(sign)[1:-1] for sign in text)


def echo(text: object = "", *, err: bool = False) -> None:
    """Print `text` with what a terminal would obey escaped, and flush."""
    print(terminal_text(str(text)), file=sys.stderr if err else sys.stdout, flush=True)
