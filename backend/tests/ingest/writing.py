"""Remote-write bodies for the tests of ingest."""

import struct
from collections.abc import Iterable, Mapping, Sequence

import cramjam
from loadwatch_backend.series.store.remote_pb2 import Label, MetricMetadata, Sample, TimeSeries, WriteRequest

NOW_MS = 1_750_000_000_000
HEADERS = {
    "content-type": "application/x-protobuf",
    "content-encoding": "snappy",
    "x-prometheus-remote-write-version": "0.1.0",
}

Rows = Iterable[tuple[int, float]]


def series(
    labels: Mapping[str, str] | Sequence[tuple[str | bytes, str | bytes]], *rows: tuple[int, float]
) -> TimeSeries:
    """A series with rows of (time in ms, value)."""
    pairs = labels.items() if isinstance(labels, Mapping) else labels
    return TimeSeries(
        labels=[Label(name=_bytes(name), value=_bytes(value)) for name, value in pairs],
        samples=[Sample(timestamp=timestamp, value=value) for timestamp, value in rows],
    )


def request(*all_series: TimeSeries, metadata: Sequence[MetricMetadata] = ()) -> bytes:
    """An encoded WriteRequest."""
    return WriteRequest(timeseries=all_series, metadata=metadata).SerializeToString()


def body(*all_series: TimeSeries, metadata: Sequence[MetricMetadata] = ()) -> bytes:
    """A whole body as a sender sends it."""
    return compress(request(*all_series, metadata=metadata))


def compress(data: bytes) -> bytes:
    """A snappy block."""
    return bytes(cramjam.snappy.compress_raw(data))


def value_of(bits: int) -> float:
    """The float with these bits."""
    (value,) = struct.unpack("<d", struct.pack("<Q", bits))
    return float(value)


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
