"""Remote write 2.0 bytes to columns. Pure: no I/O, no clock, no store.

A series names its labels by places in the request's table of symbols. Here they become the bytes that remote write 1.0
would send for them, so both versions share what is known of series, and a known one costs no label set.
Source: https://prometheus.io/docs/specs/prw/remote_write_spec_2_0/
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from google.protobuf.message import DecodeError

from loadwatch_backend.series.ingest.decode import (
    LONGEST_PREFIX,
    FreshSeries,
    IngestLimits,
    LabelPairs,
    MetadataTable,
    WriteColumns,
)
from loadwatch_backend.series.ingest.entries import Entries
from loadwatch_backend.series.ingest.errors import MalformedError
from loadwatch_backend.series.ingest.remote_v2_pb2 import Request, TimeSeries
from loadwatch_backend.series.store.remote_pb2 import Label
from loadwatch_backend.series.store.remote_pb2 import TimeSeries as OldSeries

_SERIES = 5
_COUNTER, _HISTOGRAM, _GAUGE_HISTOGRAM, _SUMMARY = 1, 3, 4, 5
_PARTS = {
    _HISTOGRAM: (b"_bucket", b"_count", b"_sum"),
    _GAUGE_HISTOGRAM: (b"_bucket", b"_gcount", b"_gsum"),
    _SUMMARY: (b"_count", b"_sum"),
}
"""What the names of a family's series end in; 2.0 sends metadata with each series, and it is kept by family."""


@dataclass(slots=True)
class _Table:
    symbols: Sequence[bytes]
    entries: Entries
    room: int
    """Bytes that the labels of series to be remembered may still take."""
    encoded: dict[tuple[int, int], bytes] = field(default_factory=dict[tuple[int, int], bytes])
    seen_metadata: set[tuple[bytes, int, int, int]] = field(default_factory=set[tuple[bytes, int, int, int]])

    def prefix(self, refs: Sequence[int]) -> bytes | None:
        """The labels as remote write 1.0 encodes them; None if they are too long to be remembered.

        Raises:
            IndexError: a reference is beyond the table.
        """
        parts: list[bytes] = []
        size = 0
        encoded, symbols = self.encoded, self.symbols
        for name, value in zip(refs[::2], refs[1::2], strict=True):
            part = encoded.get((name, value))
            if part is None:
                if len(symbols[name]) + len(symbols[value]) > LONGEST_PREFIX:
                    return None
                part = encoded[name, value] = encode_label(symbols[name], symbols[value])
            size += len(part)
            if size > LONGEST_PREFIX:
                return None
            parts.append(part)
        return b"".join(parts)

    def pairs(self, refs: Sequence[int]) -> LabelPairs:
        """The labels themselves; those of two references each."""
        return [(self.symbols[name], self.symbols[value]) for name, value in zip(refs[::2], refs[1::2], strict=True)]


def encode_label(name: bytes, value: bytes) -> bytes:
    """A label as a series of remote write 1.0 has it."""
    size = len(name) + len(value) + 4
    if name and value and size < 0x80:
        # A tenth of the time of protobuf's own classes.
        return b"\x0a%c\x0a%c%b\x12%c%b" % (size, len(name), name, len(value), value)
    return OldSeries(labels=[Label(name=name, value=value)]).SerializeToString()


def decode_v2(data: bytes, known: Mapping[bytes, int], limits: IngestLimits) -> WriteColumns:
    """The columns of an encoded request of remote write 2.0; `known` maps labels as 1.0 encodes them to ids.

    A series whose references cannot be followed is a fresh one with a `problem`.

    Raises:
        MalformedError: the bytes are not a request of that version.
        TooManyEntriesError: it holds more than `limits.entries`.
    """
    entries = Entries(limits.entries)
    entries.take_request(data, _SERIES)
    try:
        request = Request.FromString(data)
    except DecodeError as error:
        raise MalformedError(f"the body is not an io.prometheus.write.v2.Request: {error}") from error
    table = _Table(list(request.symbols), entries, limits.request_label_bytes)
    metadata = MetadataTable(limits)
    fresh: list[FreshSeries] = []
    ids: list[int] = []
    times: list[int] = []
    values: list[float] = []
    exemplars = histograms = 0
    for series in request.timeseries:
        exemplars += len(series.exemplars)
        histograms += len(series.histograms)
        number = _number(series, table, known, limits, fresh)
        for sample in series.samples:
            ids.append(number)
            times.append(sample.timestamp)
            values.append(sample.value)
        if series.HasField("metadata") and (number >= 0 or fresh[-1].problem is None):
            _note_metadata(series, table, metadata)
    return WriteColumns(
        series=np.array(ids, np.int64),
        timestamps=np.array(times, np.int64),
        values=np.array(values, np.float64),
        fresh=fresh,
        metadata=metadata.entries(),
        metadata_left_out=metadata.left_out,
        exemplars=exemplars,
        histograms=histograms,
    )


def _number(
    series: TimeSeries, table: _Table, known: Mapping[bytes, int], limits: IngestLimits, fresh: list[FreshSeries]
) -> int:
    """The id of a series, or -1 - its place in `fresh`, to which it is added."""
    refs = series.labels_refs
    prefix = None
    if len(refs) % 2:
        fresh.append(FreshSeries([], None, f"a series has {len(refs)} label references, which are no pairs"))
        return -len(fresh)
    # One label too many is enough for the series to be refused.
    refs = list(refs[: 2 * (limits.labels + 1)])
    try:
        if len(refs) <= 2 * limits.labels:
            prefix = table.prefix(refs)
            if prefix is not None and (number := known.get(prefix)) is not None:
                return number
        table.entries.take(len(refs) // 2)
        table.room -= len(prefix or b"")
        fresh.append(FreshSeries(table.pairs(refs), (prefix or None) if table.room >= 0 else None))
    except IndexError:
        worst, symbols = max(refs), len(table.symbols)
        problem = f"a series refers to symbol {worst}, and the request has {symbols}, the first of them being 0"
        fresh.append(FreshSeries([], None, problem))
    return -len(fresh)


def _note_metadata(series: TimeSeries, table: _Table, metadata: "MetadataTable") -> None:
    """Keep type, help and unit that came with a series, by the name of its family."""
    sent = series.metadata
    if not (sent.type or sent.help_ref or sent.unit_ref):
        return
    symbols, refs = table.symbols, series.labels_refs
    name = next((symbols[refs[at + 1]] for at in range(0, len(refs), 2) if symbols[refs[at]] == b"__name__"), b"")
    key = (name, sent.type, sent.help_ref, sent.unit_ref)
    if key in table.seen_metadata or max(sent.help_ref, sent.unit_ref) >= len(symbols):
        return
    table.seen_metadata.add(key)
    family = next((name.removesuffix(end) for end in _PARTS.get(sent.type, ()) if name.endswith(end)), name)
    metadata.add(sent.type, family, symbols[sent.help_ref], symbols[sent.unit_ref])
