"""Remote write 1.0 as bytes. Pure: no I/O, no clock.

Requests on their way in are made by columns, which is what a push costs; what is read back is rare and goes by the
generated messages of `remote.proto`.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import cramjam
import numpy as np
from google.protobuf.message import DecodeError

from loadwatch_backend.series.store import remote_pb2 as remote
from loadwatch_backend.series.store.embedded.block import F64, I64
from loadwatch_backend.series.store.port import METADATA_TYPES, Labels, MetricMetadata

_SAMPLE_BYTES = 18
"""`12 10 09 <value: 8> 10 <time: varint of 6>`: a sample whose time lies between 1971 and 2109."""
_EARLIEST_SIX, _LATEST_SIX = 1 << 35, (1 << 42) - 1


class WireError(ValueError):
    """The bytes are not the message that they should be."""


class SeriesSamples(NamedTuple):
    labels: dict[str, str]
    timestamps: I64
    values: F64


def compressed(message: bytes) -> bytes:
    """The message as a snappy block."""
    return bytes(cramjam.snappy.compress_raw(message))


def plain(body: bytes) -> bytes:
    """The message of a snappy block."""
    return bytes(cast("bytes", cramjam.snappy.decompress_raw(body)))


def encode_labels(labels: Labels) -> bytes:
    """The `labels` fields of a TimeSeries, in the order of the names."""
    pairs = [remote.Label(name=name.encode(), value=value.encode()) for name, value in sorted(labels.items())]
    return remote.TimeSeries(labels=pairs).SerializeToString()


def encode_series(labels: Sequence[bytes], counts: Sequence[int], timestamps: I64, values: F64) -> list[bytes]:
    """The `timeseries` field of each series: its encoded labels and the next `counts[i]` samples."""
    is_usual = not len(timestamps) or (timestamps.min() >= _EARLIEST_SIX and timestamps.max() <= _LATEST_SIX)
    rows = np.empty((len(timestamps), _SAMPLE_BYTES), np.uint8)
    rows[:, :3] = (0x12, 0x10, 0x09)
    rows[:, 3:11] = np.ascontiguousarray(values, "<f8").view(np.uint8).reshape(-1, 8)
    rows[:, 11] = 0x10
    rows[:, 12:] = ((timestamps[:, None] >> np.arange(0, 42, 7)) & 0x7F).astype(np.uint8)
    rows[:, 12:17] |= 0x80
    encoded = rows.tobytes()
    result: list[bytes] = []
    place = 0
    for head, count in zip(labels, counts, strict=True):
        samples = encoded[place * _SAMPLE_BYTES : (place + count) * _SAMPLE_BYTES]
        if not is_usual:
            some = zip(timestamps[place : place + count].tolist(), values[place : place + count].tolist(), strict=True)
            fields = [remote.Sample(timestamp=time_ms, value=value) for time_ms, value in some]
            samples = remote.TimeSeries(samples=fields).SerializeToString()
        result.append(b"\x0a" + _varint(len(head) + len(samples)) + head + samples)
        place += count
    return result


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number >= 0x80:
        parts.append((number & 0x7F) | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def encode_metadata(metadata: Mapping[str, MetricMetadata]) -> bytes:
    """The `metadata` fields of a WriteRequest."""
    entries = [
        remote.MetricMetadata(
            type=METADATA_TYPES.index(entry.type) if entry.type in METADATA_TYPES else 0,
            metric_family_name=name.encode(),
            help=entry.help.encode(),
            unit=entry.unit.encode(),
        )
        for name, entry in metadata.items()
    ]
    return remote.WriteRequest(metadata=entries).SerializeToString()


def decode_request(body: bytes) -> list[SeriesSamples]:
    """The series of a compressed WriteRequest.

    Raises:
        WireError: it is none.
    """
    try:
        return [
            SeriesSamples(
                {str(one.name, "utf-8"): str(one.value, "utf-8") for one in series.labels},
                np.array([one.timestamp for one in series.samples], np.int64),
                np.array([one.value for one in series.samples], np.float64),
            )
            for series in remote.WriteRequest.FromString(plain(body)).timeseries
        ]
    except (cramjam.DecompressionError, DecodeError, UnicodeDecodeError) as error:
        raise WireError(f"no request of remote write: {error}") from error
