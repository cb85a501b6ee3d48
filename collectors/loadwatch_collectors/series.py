"""Series as the wire wants them: their label bytes are made once and reused at every tick."""

import itertools
import struct
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from loadwatch_collectors.collector import Labels, TargetIdentity
from loadwatch_collectors.errors import CollectorError

STALE_NAN: float = struct.unpack("<d", struct.pack("<Q", 0x7FF0000000000002))[0]
"""Prometheus' stale marker (model/value/value.go, StaleNaN)."""

_IDS = itertools.count(1)


class Series:
    """One series of this agent's life: a number that is never used again, and its labels in wire form.

    `labels` is a run of `Label` messages, each with the tag of `TimeSeries.labels`; `head` is that run with the tag
    and length of a `TimeSeries` that holds one sample of the usual 16 bytes, up to the sample's value.
    """

    __slots__ = ("head", "id", "labels")

    def __init__(self, labels: bytes) -> None:
        self.id = next(_IDS)
        self.labels = labels
        self.head = b"\x0a" + encode_varint(len(labels) + 18) + labels + b"\x12\x10\x09"


class SampleRow(NamedTuple):
    """Values of several series at one time, in milliseconds since the epoch."""

    timestamp_ms: int
    series: Sequence[Series]
    values: Sequence[float]


def encode_varint(number: int) -> bytes:
    """Base-128 varint of a number from 0 to 2**64 - 1."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def encode_field(number: int, payload: bytes) -> bytes:
    """A length-delimited protobuf field."""
    return encode_varint(number << 3 | 2) + encode_varint(len(payload)) + payload


def encode_labels(labels: Mapping[str, str]) -> bytes:
    """The labels as a run of `TimeSeries.labels` fields, sorted by name as remote write 1.0 asks."""
    return b"".join(
        encode_field(
            1, encode_field(1, name.encode("utf-8", "replace")) + encode_field(2, value.encode("utf-8", "replace"))
        )
        for name, value in sorted(labels.items())
    )


def make_series(name: str, labels: Labels, identity: TargetIdentity) -> Series:
    """The series of a sample of a target.

    The target's configured labels win; a sample's label of the same name is kept as `exported_<name>`, as in
    Prometheus. `job` and `instance` of a sample win: only a source that was told to honour them passes them on.
    Labels with empty values are left out, since they mean the same as no label.

    Raises:
        CollectorError: a name is empty, which no Prometheus server takes; one such name would cost the whole batch.
    """
    if not name:
        raise CollectorError("a metric has no name")
    full = {"__name__": name, "job": identity.job, "instance": identity.instance, **dict(identity.labels)}
    reserved = {"__name__", *(label for label, _ in identity.labels)}
    for label, value in labels:
        if not label:
            raise CollectorError(f"a label of {name} has no name")
        key = f"exported_{label}" if label in reserved else label
        if value:
            full[key] = value
    return Series(encode_labels(full))
