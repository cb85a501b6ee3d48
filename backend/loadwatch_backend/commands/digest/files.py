"""Files as they lie there: plain, compressed, or standard input."""

import bz2
import gzip
import io
import lzma
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import click

STDIN = "-"
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_DAMAGE = (EOFError, OSError, lzma.LZMAError, ValueError)


def compression_of(path: Path) -> str | None:
    """How a file is compressed, by its first bytes; None where it is not."""
    with path.open("rb") as file:
        return _compression(file.read(6))


@contextmanager
def opened(name: str) -> Generator[io.BufferedIOBase]:
    """The bytes of a file, or of standard input for `-`, decompressed by what they begin with.

    Raises:
        click.ClickException: the file cannot be read.
    """
    try:
        raw = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer)) if name == STDIN else Path(name).open("rb")
    except OSError as error:
        raise click.ClickException(f"{name}: {error.strerror or error}") from None
    try:
        # A buffered reader looks ahead without taking away.
        yield _decompressed(raw, _compression(raw.peek(6)[:6]), name)
    finally:
        if name == STDIN:
            raw.detach()
        else:
            raw.close()


def pieces(stream: io.BufferedIOBase, size: int, problems: list[str]) -> Iterator[bytes]:
    """The bytes in pieces of at most `size`; damage ends them and is put into `problems`, in words."""
    while True:
        try:
            # What one step of decompression gives: `read` would lose what came before the damage.
            data = stream.read1(size)
        except _DAMAGE as error:
            problems.append(f"the file is damaged or cut off ({error}); what came before was read")
            return
        if not data:
            return
        yield data


def printable(text: str, most: int = 200) -> str:
    """A text from a file as it may stand on a terminal: what is no printable ASCII as its number, long ones cut off."""
    shown = "".join(one if one.isascii() and one.isprintable() else f"\\x{ord(one):02x}" for one in text[:most])
    return shown + ("…" if len(text) > most else "")


def _compression(head: bytes) -> str | None:
    return next((kind for magic, kind in _MAGIC if head.startswith(magic)), None)


def _decompressed(raw: "io.BufferedReader[Any]", kind: str | None, name: str) -> io.BufferedIOBase:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=raw)
    if kind == "bzip2":
        return bz2.BZ2File(raw)
    if kind == "xz":
        return lzma.LZMAFile(raw)
    if kind == "zstd":
        try:
            arrow: Any = import_module("pyarrow")
        except ModuleNotFoundError:
            raise click.ClickException(
                f"{name} is compressed by zstd, which the base install cannot read: "
                'zstd -dc FILE | loadwatch digest … -, or pip install "loadwatch[server]"'
            ) from None
        return cast(io.BufferedIOBase, arrow.CompressedInputStream(arrow.PythonFile(raw, "r"), "zstd"))
    return raw
