"""Files as they lie there: what they begin with says how they are compressed."""

import bz2
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

# What newer versions of Python have: docs/decisions/0002-one-distribution.md. An agent whose files were replaced
# without its libraries goes on, and takes such a file for one that is not compressed.
_zstd: Any = None
with suppress(ModuleNotFoundError):
    _zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

HEAD_BYTES = 6
"""First bytes of a file that tell its compression."""
DAMAGE: tuple[type[Exception], ...] = (
    *(EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile),
    *([_zstd.ZstdError] if _zstd else []),
)
"""What reading a file raises that is damaged, or not written to its end; bz2 raises OSError and ValueError."""

Opener = Callable[[Any], Any]
_OPENERS: tuple[tuple[bytes, Opener], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
    *([(b"\x28\xb5\x2f\xfd", _zstd.open)] if _zstd else []),
)


def opener_of(head: bytes) -> Opener | None:
    """What opens a file that begins so, by its path or open; None of one that is not compressed."""
    return next((opened for magic, opened in _OPENERS if head.startswith(magic)), None)


def decompressed(raw: "io.BufferedReader[Any]") -> io.BufferedIOBase:
    # A buffered reader looks ahead without taking away.
    opened = opener_of(raw.peek(HEAD_BYTES)[:HEAD_BYTES])
    return raw if opened is None else opened(raw)


def pieces(stream: io.BufferedIOBase, size: int, problems: list[str]) -> Iterator[bytes]:
    """The bytes in pieces of at most `size`; damage ends them and is put into `problems`, in words."""
    while True:
        try:
            # What one step of decompression gives: `read` would lose what came before the damage.
            data = stream.read1(size)
        except (*DAMAGE, OSError, ValueError) as error:
            problems.append(f"the file is damaged or cut off ({error}); what came before was read")
            return
        if not data:
            return
        yield data
