"""Cuts a stream of lines into chunks at record boundaries; quoted fields may hold newlines."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

CHUNK_BYTES = 8 << 20
LONGEST_RECORD = 64 << 20
"""A record beyond this is damage: a quote that never ends."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole records of a file.

    Attributes:
        data: ends with a newline, but for the last record of a file that does not.
        offset: of its first byte, in the decompressed file.
        line: number of its first line, from 1.
        last: whether the file ends after it.
    """

    data: bytes
    offset: int
    line: int
    last: bool


def chunks_of_lines(stream: BinaryIO, size: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """Chunks that end at a newline, for formats without quotes over several lines."""
    return _chunks(stream, size, quoted=False)


def chunks_of_csv(stream: BinaryIO, size: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """Chunks that end at a newline outside of double quotes (RFC 4180: a quote inside a field is doubled)."""
    return _chunks(stream, size, quoted=True)


def _chunks(stream: BinaryIO, size: int, *, quoted: bool) -> Iterator[Chunk]:
    held = b""
    offset, line = 0, 1
    while True:
        data = read_up_to(stream, size)
        held = held + data if held else data
        if len(data) < size:
            if held:
                yield Chunk(held, offset, line, True)
            return
        end = _boundary(held) if quoted else held.rfind(b"\n") + 1
        if end == 0:
            if len(held) < LONGEST_RECORD:
                continue
            # Nothing ends in here: cut at a plain newline, and let the reader of the records say what is damaged.
            end = held.rfind(b"\n") + 1 or len(held)
        chunk = held[:end]
        yield Chunk(chunk, offset, line, False)
        offset += end
        line += chunk.count(b"\n")
        held = held[end:]


def _boundary(held: bytes) -> int:
    """The end of the last whole record; 0 when there is none."""
    end = held.rfind(b"\n") + 1
    if held.find(b'"') < 0:
        return end
    quotes = held.count(b'"', 0, end)
    while end and quotes % 2:
        before = held.rfind(b"\n", 0, end - 1) + 1
        quotes -= held.count(b'"', before, end)
        end = before
    return end


def read_up_to(stream: BinaryIO, size: int) -> bytes:
    """`size` bytes, or fewer at the end of the stream; a raw stream may give less at a time."""
    data = stream.read(size) or b""
    if len(data) == size or not data:
        return data
    parts = [data]
    have = len(data)
    while have < size and (more := stream.read(size - have)):
        parts.append(more)
        have += len(more)
    return b"".join(parts)
