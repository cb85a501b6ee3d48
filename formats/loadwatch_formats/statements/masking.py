"""Statements without the values in them: what may leave the agent."""

import re

from loadwatch_formats.statements.fingerprint import LONGEST_READ, Dialect, without_values

_SPACES = re.compile(r"\s++")
CUT = "..."
"""At the end of a text that was cut, as servers write it."""


def mask(text: str, dialect: Dialect = Dialect.MYSQL, *, longest_bytes: int = 1_024) -> str:
    """The statement with `?` for each literal and without comments; its structure and its names stay.

    A text whose end is missing is masked to the end of the statement. Comments go because applications write what
    they like into them. The result is printable: control characters are spaces.

    Args:
        text: the statement.
        dialect: whose SQL it is.
        longest_bytes: of the result in UTF-8; what is longer ends in `...`.
    """
    shown = _SPACES.sub(" ", without_values(text[:LONGEST_READ], dialect))
    if not shown.isprintable():
        shown = "".join(character if character.isprintable() else " " for character in shown)
    return cut(shown.strip(), longest_bytes)


def cut(text: str, longest_bytes: int) -> str:
    """The text within so many bytes of UTF-8, with `...` at the end where it was longer."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= longest_bytes:
        return text
    return encoded[: longest_bytes - len(CUT)].decode("utf-8", "ignore") + CUT
