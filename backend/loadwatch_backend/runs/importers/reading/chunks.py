"""Cuts a stream of lines into chunks at record boundaries; quoted fields may hold newlines.

Chunks of CSV that the fast reader of whole columns refuses are read record by record: what is whole is given, the rest
is told with its line. A stray quote costs the line it is in, not what follows.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, NamedTuple, TypeVar

T = TypeVar("T")

CHUNK_BYTES = 8 << 20
LONGEST_RECORD = 64 << 20
"""A record beyond this is damage: a quote that never ends."""
_MOST_LINES = 500
_SHOWN = 80


class Chunk(NamedTuple):
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


def whole_records(
    chunk: Chunk,
    accept: Callable[[Sequence[str]], T | None],
    damage: list[tuple[int, str]],
    delimiter: str = ",",
) -> Iterator[T]:
    """What `accept` makes of each record; of those for which it gives None line and text join `damage`."""
    lines = chunk.data.decode("utf-8", "replace").split("\n")
    at = 0
    while at < len(lines):
        text = lines[at].rstrip("\r")
        if not text:
            at += 1
            continue
        end = _end(lines, at)
        found = accept(_fields("\n".join(lines[at:end]), delimiter))
        if found is None and end > at + 1:
            end = at + 1
            found = accept(_fields(text, delimiter))
        if found is None:
            damage.append((chunk.line + at, text if len(text) <= _SHOWN else text[:_SHOWN] + "…"))
        else:
            yield found
        at = end


def _end(lines: Sequence[str], at: int) -> int:
    """Behind the last line of the record that begins at `at`; of a quote that is never closed, behind its line."""
    quotes = 0
    for end in range(at, min(len(lines), at + _MOST_LINES)):
        quotes += lines[end].count('"')
        if quotes % 2 == 0:
            return end + 1
    return at + 1


def _fields(text: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([text.rstrip("\r")], delimiter=delimiter, strict=True), list[str]())
    except csv.Error:
        return []
