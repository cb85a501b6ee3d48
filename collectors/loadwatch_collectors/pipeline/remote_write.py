"""Encodes Prometheus remote write 1.0: a `prometheus.WriteRequest` in snappy's block format, in plain Python.

Source of the messages: prompb/remote.proto and prompb/types.proto of Prometheus.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import cramjam
from loadwatch_formats.metrics.model import MetricInfo

from loadwatch_collectors.series import SampleRow, Series, encode_field, encode_varint

HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}

_METADATA_TYPES = {
    "unknown": 0,
    "counter": 1,
    "gauge": 2,
    "histogram": 3,
    "gaugehistogram": 4,
    "summary": 5,
    "info": 6,
    "stateset": 7,
}
_USUAL_TIME_BYTES = 6
_TWO_POW_64 = 1 << 64


def encode_rows(rows: Sequence[SampleRow]) -> bytes:
    """The `timeseries` fields of a WriteRequest for the rows, which are in rising time.

    One row becomes one-sample series; several are joined so that each series is named once.
    """
    if len(rows) == 1:
        return _encode_one(rows[0])
    return _encode_joined(rows)


def encode_samples(samples: Mapping[Series, Sequence[tuple[int, float]]]) -> bytes:
    """The `timeseries` fields for series with their (time in ms, value) samples, in rising time or not."""
    parts: list[bytes] = []
    for series, rows in samples.items():
        encoded = b"".join(
            encode_field(2, b"\x09" + struct.pack("<d", value) + _time_field(timestamp_ms))
            for timestamp_ms, value in sorted(rows, key=_time_of)
        )
        parts.append(encode_field(1, series.labels + encoded))
    return b"".join(parts)


def encode_metadata(metrics: Iterable[MetricInfo]) -> bytes:
    """The `metadata` fields of a WriteRequest."""
    parts: list[bytes] = []
    for metric in metrics:
        kind = _METADATA_TYPES.get(metric.type, 0)
        message = b"\x08" + encode_varint(kind) if kind else b""
        message += encode_field(2, metric.name.encode())
        if metric.help:
            message += encode_field(4, metric.help.encode())
        if metric.unit:
            message += encode_field(5, metric.unit.encode())
        parts.append(encode_field(3, message))
    return b"".join(parts)


def _time_of(row: tuple[int, float]) -> int:
    return row[0]


def compress(body: bytes) -> bytes:
    """The body in snappy's block format."""
    return bytes(cast("bytes", cramjam.snappy.compress_raw(body)))


def _time_field(timestamp_ms: int) -> bytes:
    """`Sample.timestamp`; times before the epoch are sent as protobuf's int64 does, in two's complement."""
    return b"\x10" + encode_varint(timestamp_ms % _TWO_POW_64)


def _encode_one(row: SampleRow) -> bytes:
    time_field = _time_field(row.timestamp_ms)
    if len(time_field) != _USUAL_TIME_BYTES + 1:
        return _encode_joined([row])
    packed = struct.pack(f"<{len(row.values)}d", *row.values)
    parts: list[bytes] = []
    for index, series in enumerate(row.series):
        offset = index * 8
        parts += (series.head, packed[offset : offset + 8], time_field)
    return b"".join(parts)


def _encode_joined(rows: Sequence[SampleRow]) -> bytes:
    samples: dict[int, tuple[Series, list[bytes]]] = {}
    for row in rows:
        time_field = _time_field(row.timestamp_ms)
        start = b"\x12" + encode_varint(9 + len(time_field)) + b"\x09"
        packed = struct.pack(f"<{len(row.values)}d", *row.values)
        for index, series in enumerate(row.series):
            entry = samples.get(series.id)
            if entry is None:
                entry = samples[series.id] = (series, [])
            offset = index * 8
            entry[1].append(start + packed[offset : offset + 8] + time_field)
    parts: list[bytes] = []
    for series, encoded in samples.values():
        message = series.labels + b"".join(encoded)
        parts += (b"\x0a", encode_varint(len(message)), message)
    return b"".join(parts)
