"""Remote write 1.0 and remote read as bytes. Pure: no I/O, no clock.

Source of the messages: prompb/remote.proto and prompb/types.proto of Prometheus. `WriteRequest.timeseries` and
`QueryResult.timeseries` have the same number and type, so one reader serves both.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.store.port import Labels, Matcher, MatchOperator, MetricMetadata

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

_SAMPLE_BYTES = 18
"""`12 10 09 <value: 8> 10 <time: varint of 6>`: a sample whose time lies between 1971 and 2109."""
_EARLIEST_SIX, _LATEST_SIX = 1 << 35, (1 << 42) - 1
_WEIGHTS = np.array([1 << (7 * place) for place in range(6)], np.int64)
_TYPES = ("unknown", "counter", "gauge", "histogram", "gaugehistogram", "summary", "info", "stateset")
_OPERATORS = {MatchOperator.EQUAL: 0, MatchOperator.NOT_EQUAL: 1, MatchOperator.REGEX: 2, MatchOperator.NOT_REGEX: 3}
_TWO_POW_64 = 1 << 64


class WireError(ValueError):
    """The bytes are not the message that they should be."""


@dataclass(frozen=True, slots=True)
class SeriesSamples:
    """One series of a message."""

    labels: dict[str, str]
    timestamps: I64
    values: F64


def varint(number: int) -> bytes:
    """A protobuf varint."""
    if number < 0x80:
        return bytes((number,))
    parts = bytearray()
    while number >= 0x80:
        parts.append((number & 0x7F) | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def encode_labels(labels: Labels) -> bytes:
    """The `labels` fields of a TimeSeries, in the order of the names."""
    return b"".join(
        field(1, field(1, name.encode()) + field(2, value.encode())) for name, value in sorted(labels.items())
    )


def encode_samples(timestamps: I64, values: F64) -> bytes | list[bytes]:
    """The `samples` fields of each sample: 18 bytes each in one piece, or a list where a time is unusual."""
    if len(timestamps) and (timestamps.min() < _EARLIEST_SIX or timestamps.max() > _LATEST_SIX):
        return [_encode_sample(time_ms, value) for time_ms, value in zip(timestamps.tolist(), values, strict=True)]
    rows = np.empty((len(timestamps), _SAMPLE_BYTES), np.uint8)
    rows[:, :3] = (0x12, 0x10, 0x09)
    rows[:, 3:11] = np.ascontiguousarray(values, "<f8").view(np.uint8).reshape(-1, 8)
    rows[:, 11] = 0x10
    rows[:, 12:] = ((timestamps[:, None] >> np.arange(0, 42, 7)) & 0x7F).astype(np.uint8)
    rows[:, 12:17] |= 0x80
    return rows.tobytes()


def _encode_sample(time_ms: int, value: np.float64) -> bytes:
    return field(2, b"\x09" + struct.pack("<d", value) + b"\x10" + varint(time_ms % _TWO_POW_64))


def encode_series(labels: Sequence[bytes], counts: Sequence[int], timestamps: I64, values: F64) -> list[bytes]:
    """The `timeseries` field of each series: its encoded labels and the next `counts[i]` samples."""
    encoded = encode_samples(timestamps, values)
    result: list[bytes] = []
    place = 0
    for head, count in zip(labels, counts, strict=True):
        if isinstance(encoded, bytes):
            samples = encoded[place * _SAMPLE_BYTES : (place + count) * _SAMPLE_BYTES]
        else:
            samples = b"".join(encoded[place : place + count])
        result.append(b"\x0a" + varint(len(head) + len(samples)) + head + samples)
        place += count
    return result


def encode_metadata(metadata: Mapping[str, MetricMetadata]) -> bytes:
    """The `metadata` fields of a WriteRequest."""
    parts: list[bytes] = []
    for name, entry in metadata.items():
        kind = _TYPES.index(entry.type) if entry.type in _TYPES else 0
        message = (b"\x08" + varint(kind) if kind else b"") + field(2, name.encode())
        message += field(4, entry.help.encode()) if entry.help else b""
        message += field(5, entry.unit.encode()) if entry.unit else b""
        parts.append(field(3, message))
    return b"".join(parts)


def encode_read(queries: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> bytes:
    """A ReadRequest that asks for samples, not for chunks."""
    span = b"\x08" + varint(start_ms % _TWO_POW_64) + b"\x10" + varint(end_ms % _TWO_POW_64)
    parts: list[bytes] = []
    for matchers in queries:
        message = span
        for one in matchers:
            kind = _OPERATORS[one.operator]
            inner = (b"\x08" + varint(kind) if kind else b"") + field(2, one.label.encode())
            message += field(3, inner + field(3, one.value.encode()))
        parts.append(field(1, message))
    return b"".join(parts)


def fields(data: bytes | memoryview) -> Iterator[tuple[int, memoryview]]:
    """Number and content of each length-delimited field of a message; others are passed over.

    Raises:
        WireError: the bytes are no message.
    """
    view = memoryview(data)
    place, end = 0, len(view)
    while place < end:
        tag, place = _varint(view, place)
        kind = tag & 7
        if kind == 2:
            size, place = _varint(view, place)
            if place + size > end:
                raise WireError("a field ends behind its message")
            yield tag >> 3, view[place : place + size]
            place += size
        elif kind == 0:
            _, place = _varint(view, place)
        elif kind in (1, 5):
            place += 8 if kind == 1 else 4
        else:
            raise WireError(f"a field has the wire type {kind}")


def decode_series(message: memoryview) -> SeriesSamples:
    """One TimeSeries.

    Raises:
        WireError: it is none.
    """
    labels: dict[str, str] = {}
    place, end = 0, len(message)
    try:
        while place < end and message[place] == 0x0A:
            size, inner = _varint(message, place + 1)
            name = value = ""
            for number, content in fields(message[inner : inner + size]):
                if number == 1:
                    name = str(content, "utf-8")
                elif number == 2:
                    value = str(content, "utf-8")
            labels[name] = value
            place = inner + size
    except UnicodeDecodeError as error:
        raise WireError("a label is not UTF-8") from error
    rest = message[place:]
    regular = _decode_regular(rest)
    timestamps, values = regular if regular is not None else _decode_any(rest)
    return SeriesSamples(labels, timestamps, values)


def _decode_regular(rest: memoryview) -> tuple[I64, F64] | None:
    """Samples that all have the usual 18 bytes; None for any other."""
    if len(rest) % _SAMPLE_BYTES:
        return None
    rows = np.frombuffer(rest, np.uint8).reshape(-1, _SAMPLE_BYTES)
    usual = (rows[:, 0] == 0x12) & (rows[:, 1] == 0x10) & (rows[:, 2] == 0x09) & (rows[:, 11] == 0x10)
    if not usual.all() or (rows[:, 12:17] < 0x80).any() or (rows[:, 17] >= 0x80).any():
        return None
    values = np.ascontiguousarray(rows[:, 3:11]).view("<f8").reshape(-1)
    return (rows[:, 12:].astype(np.int64) & 0x7F) @ _WEIGHTS, values


def _decode_any(rest: memoryview) -> tuple[I64, F64]:
    times: list[int] = []
    numbers: list[bytes] = []
    for number, message in fields(rest):
        if number != 2:
            continue
        time_ms, value = 0, bytes(8)
        place, end = 0, len(message)
        while place < end:
            tag, place = _varint(message, place)
            if tag == 0x09:
                value = bytes(message[place : place + 8])
                place += 8
            elif tag == 0x10:
                time_ms, place = _varint(message, place)
            else:
                raise WireError(f"a sample has the unknown field {tag >> 3}")
        if len(value) != 8:
            raise WireError("a sample is cut off")
        times.append(time_ms - _TWO_POW_64 if time_ms >> 63 else time_ms)
        numbers.append(value)
    return np.array(times, np.int64), np.frombuffer(b"".join(numbers), "<f8").copy()


def _varint(view: memoryview, place: int) -> tuple[int, int]:
    number = shift = 0
    try:
        while True:
            byte = view[place]
            place += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number, place
            shift += 7
            if shift > 63:
                raise WireError("a number is too long")
    except IndexError as error:
        raise WireError("a number is cut off") from error
