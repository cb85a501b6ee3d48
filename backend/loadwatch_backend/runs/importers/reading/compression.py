# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyarrow comes without complete types; this file is the typed edge around its decompressor.
"""gzip and zstd by their magic numbers, as streams; what they give is counted against the import's budget."""

import io
import zlib
from collections.abc import Callable, Hashable
from typing import Any, BinaryIO

import pyarrow as pa

from loadwatch_backend.runs.importers.reading.unpacked import Unpacked

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPABLE = tuple(bytes([0x50 + n, 0x2A, 0x4D, 0x18]) for n in range(16))
_STEP = 1 << 20


def compression_of(head: bytes) -> str | None:
    """`gzip`, `zstd`, or None, by the first bytes."""
    if head.startswith(GZIP):
        return "gzip"
    return "zstd" if head.startswith((ZSTD, *_ZSTD_SKIPPABLE)) else None


class Decompressed(io.RawIOBase):
    """The decompressed bytes of a stream. A cut-off or damaged stream ends where it can be read no further.

    Attributes:
        damage: what was wrong, and the byte of the compressed stream; None while all is well.

    Raises:
        ImportLimitError: while reading, when the import unpacks more than its budget.
    """

    def __init__(self, raw: BinaryIO, kind: str, place: Hashable, account: Unpacked) -> None:
        self._place = place
        self._account = account
        self._raw = _Counted(raw)
        self._more: Callable[[], bytes] = _Gunzip(self._raw).more if kind == "gzip" else _Unzstd(self._raw).more
        self._held = memoryview(b"")
        self._given = 0
        self.damage: str | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        target = memoryview(buffer).cast("B")
        if not self._held:
            self._held = memoryview(self._next())
        count = min(len(target), len(self._held))
        target[:count] = self._held[:count]
        self._held = self._held[count:]
        return count

    def _next(self) -> bytes:
        if self.damage is not None:
            return b""
        try:
            data = self._more()
        except (zlib.error, OSError, EOFError) as error:
            self.damage = f"{error}, near byte {self._raw.count} of the compressed file"
            return b""
        self._given += len(data)
        self._account.reach(self._place, self._given)
        return data

    def close(self) -> None:
        # Arrow's stream holds what is below, which holds the import, which holds this: a circle that nothing would
        # take apart, of a megabyte for each member of an archive.
        self._more = bytes
        self._raw.close()
        super().close()


class _Counted(io.RawIOBase):
    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._raw.read(min(len(buffer), 1 << 18))
        buffer[: len(data)] = data
        self.count += len(data)
        return len(data)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Gunzip:
    """Members one after another, as `cat a.gz b.gz` makes; bytes after the last are padding."""

    def __init__(self, raw: _Counted) -> None:
        self._raw = raw
        self._engine = zlib.decompressobj(wbits=31)
        self._left = b""

    def more(self) -> bytes:
        while True:
            data = self._left or self._raw.read(1 << 18) or b""
            self._left = b""
            if not data:
                if not self._engine.eof:
                    raise EOFError("The gzip stream is cut off")
                return b""
            if self._engine.eof:
                data = data.lstrip(b"\0")
                if not data:
                    continue
                if not data.startswith(GZIP[: len(data)]):
                    raise zlib.error("Bytes follow the gzip stream")
                self._engine = zlib.decompressobj(wbits=31)
            out = self._engine.decompress(data, _STEP)
            self._left = self._engine.unconsumed_tail or self._engine.unused_data
            if out:
                return out


class _Unzstd:
    def __init__(self, raw: _Counted) -> None:
        self._stream = pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd")

    def more(self) -> bytes:
        # A read that meets damage gives nothing of what came before it: small reads lose little.
        return self._stream.read(1 << 15)
