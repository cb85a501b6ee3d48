"""Files as they lie there: plain, compressed, or standard input."""

import io
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import click
from loadwatch_formats.compression import HEAD_BYTES, decompressed, opener_of

from loadwatch_backend.app.commands.digest.s3_files import SCHEME, open_file

STDIN = "-"


def is_compressed(path: Path) -> bool:
    """Whether a file is compressed, by its first bytes."""
    with path.open("rb") as file:
        return opener_of(file.read(HEAD_BYTES)) is not None


@contextmanager
def opened(name: str) -> Generator[io.BufferedIOBase]:
    """The bytes of a file, or of standard input for `-`, decompressed by what they begin with.

    Raises:
        click.ClickException: the file cannot be read.
    """
    try:
        if name.startswith(SCHEME):
            raw = open_file(name)
        else:
            raw = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer)) if name == STDIN else Path(name).open("rb")
    except OSError as error:
        raise click.ClickException(f"{name}: {error.strerror or error}") from None
    try:
        yield decompressed(raw)
    finally:
        if name == STDIN:
            raw.detach()
        else:
            raw.close()


def printable(text: str, most: int = 200) -> str:
    """A text from a file as it may stand on a terminal: what is no printable ASCII as its number, long ones cut off."""
    shown = "".join(one if one.isascii() and one.isprintable() else f"\\x{ord(one):02x}" for one in text[:most])
    return shown + ("…" if len(text) > most else "")
