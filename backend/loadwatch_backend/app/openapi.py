"""Writes the API document: `python -m loadwatch_backend.app.openapi backend/openapi.json`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from loadwatch_backend.app.application import create_app
from loadwatch_backend.core.settings import Settings


def format_document() -> str:
    """The document as it is committed, with the keys in the order of the code."""
    return json.dumps(create_app(Settings()).openapi(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str]) -> None:
    Path(arguments[0]).write_text(format_document())


if __name__ == "__main__":
    main(sys.argv[1:])
