"""Remote write 1.0 bytes to columns. Pure: no I/O, no clock, no store.

Pushes repeat themselves: from one to the next the encoded labels of a series are the same, and only 18 bytes, the
sample, change. So the scan looks up the bytes of the labels and gathers the samples of all series at once with numpy.
Whatever does not have that shape is parsed by protobuf's own classes, one series at a time, or the whole request, once
its entries have been counted.
tests/ingest/test_decode.py proves that both ways give the same. See docs/decisions/0012-remote-write-scan.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from typing import NamedTuple

import cramjam
import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from loadwatch_backend.series.ingest.entries import Entries
from loadwatch_backend.series.ingest.errors import MalformedError, WriteTooLargeError
from loadwatch_backend.series.store.remote_pb2 import MetricMetadata as MetadataMessage
from loadwatch_backend.series.store.remote_pb2 import TimeSeries, WriteRequest

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestLimits:
    """Limits of remote write.

    Attributes:
        jobs: the only ones whose samples are taken; without any: all.
        body_bytes: size of a body as it is sent.
        decompressed_bytes: size that a body's snappy header may announce.
        entries: series, labels, samples, exemplars, histograms and metadata of one request, together.
        held_bytes: bodies that may be in memory at once, of all requests together, as they are sent.
        labels: labels of one series.
        label_name_bytes: length of a label's name.
        label_value_bytes: length of a label's value.
        series_label_bytes: names and values of one series' labels together.
        request_label_bytes: those of all series of one request that are not remembered, each counted in full.
        new_series: series that one request may add.
        sender_series: active series of one sender.
        sender_new_series: series that one sender may add within an hour.
        ahead_ms: how far a sample may lie in the future.
        retention_ms: how old a sample may be; the same as the store's retention.
        metadata_metrics: metrics whose type, help and unit are remembered, and read of one request.
        metadata_bytes: help and unit of all of them together.
        cached_series: label sets whose encoded form is remembered, so that the next push needs no parsing.
        cached_bytes: memory that the encoded forms may take.
    """

    jobs: frozenset[str] = frozenset()
    body_bytes: int = 32 * MEBIBYTE
    decompressed_bytes: int = 128 * MEBIBYTE
    entries: int = 1_000_000
    held_bytes: int = 256 * MEBIBYTE
    labels: int = 64
    label_name_bytes: int = 1024
    label_value_bytes: int = 4096
    series_label_bytes: int = 64 * 1024
    request_label_bytes: int = 64 * MEBIBYTE
    new_series: int = 50_000
    sender_series: int = 200_000
    sender_new_series: int = 200_000
    ahead_ms: int = 10 * 60_000
    retention_ms: int = 15 * 24 * 3_600_000
    metadata_metrics: int = 50_000
    metadata_bytes: int = 32 * MEBIBYTE
    cached_series: int = 500_000
    cached_bytes: int = 128 * MEBIBYTE


LabelPairs = list[tuple[bytes, bytes]]

_SERIES_TAG = 0x0A
_METADATA_TAG = 0x1A
LONG_SAMPLE = 18
"""`12 10 09 <value: 8> 10 <time: varint of 6>`: a sample with a value and a time between 1971 and 2109."""
_SHORT = 9
"""`12 07 10 <time: varint of 6>`: the same with the value 0, which senders in Go leave out."""
_LONG_START = b"\x12\x10\x09"
_SHORT_START = b"\x12\x07\x10"
SAMPLE_STARTS = (_LONG_START, _SHORT_START)
LONGEST_PREFIX = 4096
"""Longer label sets are not remembered, so nothing longer is looked up either."""
_LONGEST_HELP = 4096
_WEIGHTS = np.array([1 << (7 * place) for place in range(6)], np.int64)


@dataclass(slots=True)
class FreshSeries:
    """A series whose encoded labels were not known; `prefix` is what to remember them by, if they can be.

    Of labels beyond the limit there is one, so that the series is refused.
    """

    labels: LabelPairs
    prefix: bytes | None
    problem: str | None = None


class MetadataEntry(NamedTuple):
    """Type, name, help and unit of a metric as they were sent; long texts are cut."""

    type: int
    metric: bytes
    help: bytes
    unit: bytes


class MetadataTable:
    """The metadata of one request: the last of each metric, not more metrics than are remembered."""

    def __init__(self, limits: IngestLimits) -> None:
        self._limits = limits
        self._room = limits.metadata_bytes
        self._entries: dict[bytes, MetadataEntry] = {}
        self.left_out = 0

    def add(self, kind: int, metric: bytes, help: bytes, unit: bytes) -> None:
        # No longer than a label's value may be: longer names are left out by the service, which needs one byte more.
        name = metric[: self._limits.label_value_bytes + 1]
        self._room -= len(help[:_LONGEST_HELP]) + len(unit[:_LONGEST_HELP])
        if self._room < 0 or (name not in self._entries and len(self._entries) >= self._limits.metadata_metrics):
            self.left_out += 1
            return
        self._entries[name] = MetadataEntry(kind, name, help[:_LONGEST_HELP], unit[:_LONGEST_HELP])

    @property
    def is_used(self) -> bool:
        return bool(self._entries or self.left_out)

    def entries(self) -> Sequence[MetadataEntry]:
        return tuple(self._entries.values())


@dataclass(slots=True, kw_only=True)
class WriteColumns:
    """What a request holds, a row per sample in the order of the request.

    `series[i]` is a known id when it is not negative, and `fresh[-series[i] - 1]` when it is.
    """

    series: npt.NDArray[np.int64]
    timestamps: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    fresh: Sequence[FreshSeries] = ()
    metadata: Sequence[MetadataEntry] = ()
    metadata_left_out: int = 0
    exemplars: int = 0
    histograms: int = 0
    tails: npt.NDArray[np.int64] | None = None
    """Where each row's sample ends in the request, negative for one without a value, if it holds nothing but samples
    of known series."""


@dataclass(slots=True)
class _Rows:
    """Rows as the scan finds them.

    A row has a tail, the offset of its end in the request, negative for a short one; or it is in `parsed` as (row,
    time, value) and its tail is 0.
    """

    limits: IngestLimits
    entries: Entries
    metadata: MetadataTable
    ids: list[int] = field(default_factory=list[int])
    tails: list[int] = field(default_factory=list[int])
    parsed: list[tuple[int, int, float]] = field(default_factory=list[tuple[int, int, float]])
    fresh: list[FreshSeries] = field(default_factory=list[FreshSeries])
    exemplars: int = 0
    histograms: int = 0

    @property
    def is_mixed(self) -> bool:
        """Whether there is anything but samples, regular ones of known series."""
        return bool(self.fresh or self.parsed or self.metadata.is_used or self.exemplars or self.histograms)


class _NotRegularError(Exception):
    """The request has a shape that only protobuf's own classes read."""


def decompress(body: bytes, most_bytes: int) -> bytes:
    """The content of a snappy block; its announced size is checked before anything is decompressed.

    Raises:
        MalformedError: it is not a snappy block.
        WriteTooLargeError: it would be larger than `most_bytes`.
    """
    size = decompressed_size(body)
    if size > most_bytes:
        raise WriteTooLargeError(
            f"the body would be {size} bytes after decompression, and at most {most_bytes} are allowed;"
            " send fewer samples per request"
        )
    try:
        return bytes(cramjam.snappy.decompress_raw(body))
    except cramjam.DecompressionError as error:
        raise MalformedError(f"the body is not a whole snappy block: {error}") from error


def decompressed_size(body: bytes) -> int:
    """The size that the header of a snappy block announces.

    Raises:
        MalformedError: it is not a snappy block.
    """
    try:
        return int(cramjam.snappy.decompress_raw_len(body))
    except cramjam.DecompressionError as error:
        raise MalformedError(f"the body is not a snappy block (block format, not framed): {error}") from error


def decode(data: bytes, known: Mapping[bytes, int], limits: IngestLimits) -> WriteColumns:
    """The columns of an encoded WriteRequest; `known` maps encoded labels to ids.

    Raises:
        MalformedError: the bytes are not a WriteRequest.
        TooManyEntriesError: it holds more than `limits.entries`.
    """
    try:
        try:
            rows = _scan(data, known, limits)
            tails = np.array(rows.tails, np.int64)
            timestamps, values = _gather(data, rows, tails)
        except _NotRegularError:
            rows = _parse(data, limits)
            tails = np.array(rows.tails, np.int64)
            timestamps, values = _gather(data, rows, tails)
    except DecodeError as error:
        raise MalformedError(f"the body is not a prometheus.WriteRequest: {error}") from error
    return WriteColumns(
        series=np.array(rows.ids, np.int64),
        timestamps=timestamps,
        values=values,
        fresh=rows.fresh,
        metadata=rows.metadata.entries(),
        metadata_left_out=rows.metadata.left_out,
        exemplars=rows.exemplars,
        histograms=rows.histograms,
        tails=None if rows.is_mixed else tails,
    )


def _scan(data: bytes, known: Mapping[bytes, int], limits: IngestLimits) -> _Rows:
    rows = _Rows(limits=limits, entries=Entries(limits.entries), metadata=MetadataTable(limits))
    find = known.get
    add_id, add_tail = rows.ids.append, rows.tails.append
    size = len(data)
    position = 0
    try:
        # One more than allowed, and no comparison of places: the end of the data is an IndexError.
        for _ in repeat(None, limits.entries + 1):
            tag = data[position]
            length = data[position + 1]
            begin = position + 2
            if length > 0x7F:
                length, begin = _long_length(data, position + 1)
            position = begin + length
            if tag == _SERIES_TAG:
                series = find(data[begin : position - LONG_SAMPLE])
                if series is not None:
                    add_id(series)
                    add_tail(position)
                    continue
                series = find(data[begin : position - _SHORT])
                if series is not None:
                    add_id(series)
                    add_tail(-position)
                    continue
                _scan_other(data, begin, position, known, rows)
            elif tag == _METADATA_TAG and position <= size:
                rows.entries.take(1)
                _add_metadata(MetadataMessage.FromString(data[begin:position]), rows)
            else:
                raise _NotRegularError
    except IndexError:
        if position != size:
            raise _NotRegularError from None
        return rows
    rows.entries.take(limits.entries + 1)
    return rows


def _long_length(data: bytes, position: int) -> tuple[int, int]:
    """A varint of two to four bytes, and where it ends."""
    length = 0
    for shift in (0, 7, 14, 21):
        byte = data[position]
        position += 1
        length |= (byte & 0x7F) << shift
        if byte < 0x80:
            return length, position
    raise _NotRegularError


def _scan_other(data: bytes, begin: int, end: int, known: Mapping[bytes, int], rows: _Rows) -> None:
    """A series with several samples, with labels not seen before, or of an unusual shape."""
    if end > len(data):
        raise _NotRegularError
    tails: list[int] = []
    cut = end
    while cut - begin > _SHORT:
        # What looks like a sample may be the end of a label, so each place is tried, as far as one can be remembered.
        if data[max(cut - LONG_SAMPLE, begin) : cut - LONG_SAMPLE + 3] == _LONG_START:
            tails.append(cut)
            cut -= LONG_SAMPLE
        elif data[cut - _SHORT : cut - _SHORT + 3] == _SHORT_START:
            tails.append(-cut)
            cut -= _SHORT
        else:
            break
        if len(tails) > rows.entries.left:
            break
        series = known.get(data[begin:cut]) if cut - begin <= LONGEST_PREFIX else None
        if series is not None:
            rows.entries.take(len(tails))
            rows.ids.extend([series] * len(tails))
            rows.tails.extend(reversed(tails))
            return
    rows.entries.take(1 + len(tails))
    rows.entries.take_series(data, begin, cut)
    if tails and cut > begin:
        try:
            parsed = TimeSeries.FromString(data[begin:cut])
        except DecodeError:
            parsed = None
        if parsed is not None and not (parsed.samples or parsed.exemplars or parsed.histograms):
            # What comes before a field boundary parses alike with or without what follows, so the tails are samples.
            prefix = data[begin:cut] if cut - begin <= LONGEST_PREFIX else None
            rows.fresh.append(FreshSeries(_pairs(parsed, rows.limits), prefix))
            rows.ids.extend([-len(rows.fresh)] * len(tails))
            rows.tails.extend(reversed(tails))
            return
    if tails:
        # The last of them may have begun within a field, so they are counted again from the start.
        rows.entries.take_series(data, begin, end)
    _add_parsed(TimeSeries.FromString(data[begin:end]), rows)


def _parse(data: bytes, limits: IngestLimits) -> _Rows:
    rows = _Rows(limits=limits, entries=Entries(limits.entries), metadata=MetadataTable(limits))
    rows.entries.take_request(data)
    request = WriteRequest.FromString(data)
    for entry in request.metadata:
        _add_metadata(entry, rows)
    for series in request.timeseries:
        _add_parsed(series, rows)
    return rows


def _add_metadata(message: MetadataMessage, rows: _Rows) -> None:
    rows.metadata.add(message.type, message.metric_family_name, message.help, message.unit)


def _add_parsed(series: TimeSeries, rows: _Rows) -> None:
    rows.exemplars += len(series.exemplars)
    rows.histograms += len(series.histograms)
    if not series.samples:
        return
    rows.fresh.append(FreshSeries(_pairs(series, rows.limits), None))
    for sample in series.samples:
        rows.parsed.append((len(rows.ids), sample.timestamp, sample.value))
        rows.ids.append(-len(rows.fresh))
        rows.tails.append(0)


def _pairs(series: TimeSeries, limits: IngestLimits) -> LabelPairs:
    return [(label.name, label.value) for label in islice(series.labels, limits.labels + 1)]


def _gather(
    data: bytes, rows: _Rows, tails: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Times and values of all rows, each tail checked byte by byte."""
    content = np.frombuffer(data, np.uint8)
    timestamps = np.zeros(len(tails), np.int64)
    values = np.zeros(len(tails), np.float64)
    for where, start, size in ((tails > 0, _LONG_START, LONG_SAMPLE), (tails < 0, _SHORT_START, _SHORT)):
        everywhere = bool(where.all())
        ends = np.abs(tails if everywhere else tails[where])
        if not len(ends):
            continue
        if int(ends.min()) < size:
            raise _NotRegularError
        tail = np.lib.stride_tricks.sliding_window_view(content, size)[ends - size]
        times = tail[:, size - 6 :]
        regular = (tail[:, :3] == np.frombuffer(start, np.uint8)).all() and (times[:, :5] > 0x7F).all()
        if not regular or (times[:, 5] > 0x7F).any() or (size == LONG_SAMPLE and (tail[:, 11] != 0x10).any()):
            raise _NotRegularError
        place = slice(None) if everywhere else where
        timestamps[place] = (times & 0x7F).astype(np.int64) @ _WEIGHTS
        if size == LONG_SAMPLE:
            values[place] = np.ascontiguousarray(tail[:, 3:11]).view("<f8")[:, 0]
    for row, timestamp, value in rows.parsed:
        timestamps[row] = timestamp
        values[row] = value
    return timestamps, values
