"""The spool's file format: frames of samples, each with its length and checksum.

A segment file is a run of frames. A frame is

    u32 length of the body · u32 crc32 of all that follows · u64 sequence · u32 samples · i64 newest time · body

and its body is

    u32 n · n times (u32 series id · u32 length · label bytes)          series that this segment has not named before
    u32 m · m times (i64 time · u32 k · k times u32 id · k times f64)   values

All numbers are little-endian. A segment names every series that it uses, so each file can be read alone.
"""

import sys
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct

from loadwatch_collectors.series import SampleRow, Series

HEAD = Struct("<IIQIq")
_CRC_FROM = 8
_U32 = Struct("<I")
_DEFINITION = Struct("<II")
_BLOCK = Struct("<qI")
MAX_BODY = 64_000_000


@dataclass(frozen=True, slots=True)
class FrameHead:
    """What is known of a frame without its body."""

    length: int
    crc: int
    sequence: int
    samples: int
    newest_ms: int


def encode_frame(sequence: int, rows: Sequence[SampleRow], new_series: Sequence[Series]) -> bytes:
    """One frame with the rows, naming `new_series` first."""
    parts: list[bytes] = [_U32.pack(len(new_series))]
    for series in new_series:
        parts += (_DEFINITION.pack(series.id, len(series.labels)), series.labels)
    parts.append(_U32.pack(len(rows)))
    for row in rows:
        parts += (
            _BLOCK.pack(row.timestamp_ms, len(row.series)),
            _little(array("I", [series.id for series in row.series])),
            _little(array("d", row.values)),
        )
    body = b"".join(parts)
    samples = sum(len(row.series) for row in rows)
    newest = max((row.timestamp_ms for row in rows), default=0)
    head = HEAD.pack(len(body), 0, sequence, samples, newest)
    crc = zlib.crc32(body, zlib.crc32(head[_CRC_FROM:]))
    return _U32.pack(len(body)) + _U32.pack(crc) + head[_CRC_FROM:] + body


def decode_head(data: bytes) -> FrameHead | None:
    """The head of a frame, or None when the bytes cannot be one."""
    if len(data) < HEAD.size:
        return None
    head = FrameHead(*HEAD.unpack_from(data))
    return head if head.length <= MAX_BODY else None


def is_whole(head_bytes: bytes, head: FrameHead, body: bytes) -> bool:
    """Whether the body is complete and its checksum is right."""
    return len(body) == head.length and zlib.crc32(body, zlib.crc32(head_bytes[_CRC_FROM:])) == head.crc


def decode_definitions(body: bytes) -> tuple[dict[int, bytes], int]:
    """The series that a frame names, as id → label bytes, and the offset at which its rows begin."""
    (count,) = _U32.unpack_from(body)
    offset = 4
    found: dict[int, bytes] = {}
    for _ in range(count):
        number, length = _DEFINITION.unpack_from(body, offset)
        offset += _DEFINITION.size
        found[number] = body[offset : offset + length]
        offset += length
    return found, offset


def decode_rows(body: bytes, offset: int, series: Mapping[int, Series]) -> Iterator[SampleRow]:
    """The rows of a frame, with the series that its segment has named so far."""
    (count,) = _U32.unpack_from(body, offset)
    offset += 4
    for _ in range(count):
        timestamp_ms, size = _BLOCK.unpack_from(body, offset)
        offset += _BLOCK.size
        ids = array("I", body[offset : offset + 4 * size])
        offset += 4 * size
        values = array("d", body[offset : offset + 8 * size])
        offset += 8 * size
        if sys.byteorder == "big":
            ids.byteswap()
            values.byteswap()
        yield SampleRow(timestamp_ms, [series[number] for number in ids], values)


def _little(numbers: "array[int] | array[float]") -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
