"""An OTLP body to the store: unpack, translate, add deltas up, append.

A sum and the sample that carries it are one row of one commit. A request that a kill cut off is on disk as a whole or
not at all, and a sender that did not hear of it sends it again: a point whose time the series already has is known, and
is not added twice.

Exponential histograms come with other bounds each time. Their buckets are added where either side has a bound, and one
that is new gets what it would have had at the time before.
"""

import math
import threading
import zlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import orjson
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from loadwatch_backend.series.ingest.decode import LONGEST_PREFIX, FreshSeries, MetadataTable, WriteColumns
from loadwatch_backend.series.ingest.entries import Entries, Shape
from loadwatch_backend.series.ingest.errors import MalformedError, WriteTooLargeError
from loadwatch_backend.series.ingest.otlp.otlp_pb2 import ExportRequest
from loadwatch_backend.series.ingest.otlp.translate import (
    ExponentialDelta,
    OtlpRules,
    Translated,
    decode_labels,
    encode_labels,
    plain_number,
    translate,
)
from loadwatch_backend.series.ingest.senders import Sender
from loadwatch_backend.series.ingest.service import IngestService, Push
from loadwatch_backend.series.ingest.validate import Reason
from loadwatch_backend.series.store.port import METADATA_TYPES, Matcher, MatchOperator, Reader

_WINDOWS_MS = (60_000, 3_600_000, 86_400_000)
"""How far back a series is looked for, before all of the retention: most are found at once."""
_REMEMBERED = 200_000
"""Series whose newest sum is kept in memory; of others the store is asked."""

_MOST_BOUNDS = 640
"""Most bounds of a histogram; 1.19 times apart they reach over 160 octaves."""


class Sum(NamedTuple):
    time: int
    value: float


class Buckets(NamedTuple):
    """Cumulative counts of the finite buckets of a histogram, by rising bound, and their time."""

    time: int
    bounds: list[float]
    counts: list[float]

    def up_to(self, bound: float) -> float:
        """Observations up to a bound; those within a bucket around it are counted above it."""
        place = bisect_right(self.bounds, bound)
        return self.counts[place - 1] if place else 0.0


@dataclass(slots=True, kw_only=True)
class Added:
    """Rows of a request after its deltas were added; `dropped` of them must not be stored."""

    dropped: set[int]
    late: set[int]
    """Data points that came after a later one of their series, with which they cannot be added any more."""
    merged: set[int]
    """Dropped rows whose delta another of the request has taken in."""
    touched: list[bytes]


class DeltaSums:
    """Sums of the series of deltas; of one thread at a time, up to the commit of what it made."""

    def __init__(self, store: Reader, retention_ms: int) -> None:
        self._store = store
        self._retention_ms = retention_ms
        self._sums: dict[bytes, Sum] = {}
        self._buckets: dict[bytes, Buckets] = {}

    def add(self, rows: Translated, now_ms: int, entries: Entries) -> Added:
        """Make sums of the deltas among the rows, in place; a series that begins gets a zero where its first did.

        Raises:
            TooManyEntriesError: buckets that were there before make more rows than `entries` has room for.
        """
        added = Added(dropped=set(), late=set(), merged=set(), touched=[])
        made: dict[bytes, int] = {}
        for row in sorted(rows.deltas, key=rows.times.__getitem__):
            series, time = rows.series[row], rows.times[row]
            before = self._sums.get(series) or self._find(series, now_ms)
            if before is None:
                start = rows.starts[row]
                if max(0, now_ms - self._retention_ms) < start < time:
                    # A zero where the counting began lets a rate see the first delta.
                    rows.add(series, 0, start, 0.0, rows.points[row])
                before = Sum(time=time - 1, value=0.0)
            elif time <= before.time:
                added.dropped.add(row)
                if time == before.time and series in made:
                    added.merged.add(row)
                    # Twice in one request is not sent again: two that have the same labels.
                    rows.values[made[series]] += rows.values[row]
                    self._sums[series] = Sum(time=time, value=rows.values[made[series]])
                elif time < before.time and not self._select(series, time, time):
                    added.late.add(rows.points[row])
                continue
            rows.values[row] += before.value
            self._sums[series] = Sum(time=time, value=rows.values[row])
            made[series] = row
            added.touched.append(series)
        for one in sorted(rows.exponential, key=lambda one: rows.times[one.row]):
            if one.row not in added.dropped or one.row in added.merged:
                self._add_buckets(one, rows, now_ms, entries)
                added.touched.append(encode_labels(one.labels))
        return added

    def forget(self, series: Sequence[bytes]) -> None:
        """Drops series that were not stored, or not all, so that the store is asked for them anew."""
        for one in series:
            self._sums.pop(one, None)
            self._buckets.pop(one, None)

    def forget_all(self) -> None:
        """Drops all series after a request of which nobody knows how far it came."""
        self._sums.clear()
        self._buckets.clear()

    def shrink(self) -> None:
        if len(self._sums) > _REMEMBERED:
            self.forget(list(self._sums)[: _REMEMBERED // 2])
        if len(self._buckets) > _REMEMBERED // 100:
            self._buckets.clear()

    def _add_buckets(self, delta: ExponentialDelta, rows: Translated, now_ms: int, entries: Entries) -> None:
        key, time, point = encode_labels(delta.labels), rows.times[delta.row], rows.points[delta.row]
        before = self._buckets.get(key) or self._find_buckets(delta.labels, now_ms)
        start = rows.starts[delta.row]
        if before is None:
            known_start = max(0, now_ms - self._retention_ms) < start < time
            before = Buckets(time=start if known_start else time, bounds=[], counts=[])
        bounds, counts = ([pair[column] for pair in delta.buckets] for column in (0, 1))
        now = Buckets(time=time, bounds=bounds, counts=counts)
        bounds = sorted({*before.bounds, *now.bounds})
        if len(bounds) > _MOST_BOUNDS:
            # A bound less makes no other one wrong.
            bounds = sorted({*before.bounds[::2], *now.bounds})
        entries.take(2 * len(bounds))
        counts = [before.up_to(bound) + now.up_to(bound) for bound in bounds]
        old = set(before.bounds)
        for bound, count in zip(bounds, counts, strict=True):
            series = encode_labels({**delta.labels, "le": plain_number(bound)})
            if bound not in old and before.time < time:
                rows.add(series, 0, before.time, before.up_to(bound), point)
            rows.add(series, 0, time, count, point)
        self._buckets[key] = Buckets(time=time, bounds=bounds, counts=counts)

    def _find_buckets(self, labels: dict[str, str], now_ms: int) -> Buckets | None:
        matchers = [Matcher(name, MatchOperator.EQUAL, value) for name, value in labels.items() if value]
        wanted = {name: value for name, value in labels.items() if value}
        for span in self._spans(now_ms):
            found = self._store.select(matchers, *span)
            newest: list[tuple[int, float, float]] = []
            for others, times, values in found.each():
                bound = others.get("le")
                if bound and {**others, "le": ""} == {**wanted, "le": ""} and len(times):
                    newest.append((int(times[-1]), float(bound), float(values[-1])))
            last = max((time for time, _, _ in newest), default=None)
            rows = sorted((bound, count) for time, bound, count in newest if time == last and math.isfinite(bound))
            if last is not None:
                return Buckets(time=last, bounds=[bound for bound, _ in rows], counts=[count for _, count in rows])
        return None

    def _find(self, series: bytes, now_ms: int) -> Sum | None:
        for span in self._spans(now_ms):
            for time, value in reversed(self._select(series, *span)):
                if not math.isnan(value):
                    return Sum(time=time, value=value)
        return None

    def _spans(self, now_ms: int) -> list[tuple[int, int]]:
        """Spans searched in turn; they reach beyond now, as the clock of a sender may be ahead."""
        oldest, newest = max(0, now_ms - self._retention_ms), now_ms + self._retention_ms
        return [(max(oldest, now_ms - window), newest) for window in (*_WINDOWS_MS, self._retention_ms)]

    def _select(self, series: bytes, start_ms: int, end_ms: int) -> list[tuple[int, float]]:
        labels = {name.decode(): value.decode() for name, value in decode_labels(series)}
        matchers = [Matcher(name, MatchOperator.EQUAL, value) for name, value in labels.items()]
        for others, times, values in self._store.select(matchers, start_ms, end_ms).each():
            if others == labels:
                return list(zip(times.tolist(), values.tolist(), strict=True))
        return []


_DEPTH = 32
"""Most levels of nested messages; nine are in use, the others are lists and maps as attributes."""

_MOST_PARTS = 16
"""Most gzip members within one body; senders make one."""

_VALUE: dict[int, Shape] = {}
_ATTRIBUTE: Shape = {2: _VALUE}
_VALUE.update({5: {1: _VALUE}, 6: {1: _ATTRIBUTE}})
_NUMBERS: Shape = {1: {7: _ATTRIBUTE}}
_METRIC: Shape = {
    5: _NUMBERS,
    7: _NUMBERS,
    9: {1: {9: _ATTRIBUTE}},
    10: {1: {1: _ATTRIBUTE, 8: {}, 9: {}}},
    11: {1: {6: {}, 7: _ATTRIBUTE}},
}
_REQUEST: Shape = {1: {1: {1: _ATTRIBUTE}, 2: {1: {3: _ATTRIBUTE}, 2: _METRIC}}}


def unzip(body: bytes, most_bytes: int) -> bytes:
    """The content of a gzip body, which ends at `most_bytes`.

    Raises:
        MalformedError: it is not gzip, or not whole.
        WriteTooLargeError: it is larger.
    """
    parts: list[bytes] = []
    room = most_bytes
    for _ in range(_MOST_PARTS):
        inflater = zlib.decompressobj(wbits=31)
        try:
            part = inflater.decompress(body, room + 1)
        except zlib.error as error:
            raise MalformedError(f"the body is not gzip: {error}") from error
        room -= len(part)
        if room < 0:
            raise WriteTooLargeError(
                f"the body is more than {most_bytes} bytes after decompression; send fewer points per request"
            )
        if not inflater.eof:
            raise MalformedError("the gzip body is not whole")
        parts.append(part)
        body = inflater.unused_data
        if not body:
            return b"".join(parts)
    raise MalformedError(f"the gzip body has more than {_MOST_PARTS} parts")


def read_protobuf(data: bytes, entries: Entries) -> ExportRequest:
    """The message of a protobuf body.

    Raises:
        MalformedError: it is none.
        TooManyEntriesError: it holds more than `entries` has room for.
    """
    entries.take_message(data, _REQUEST)
    try:
        return ExportRequest.FromString(data)
    except DecodeError as error:
        raise MalformedError(f"the body is not an OTLP ExportMetricsServiceRequest: {error}") from error


def read_json(data: bytes, entries: Entries) -> ExportRequest:
    """The message of a JSON body; fields that nobody knows are read over, as OTLP wants it.

    Raises:
        MalformedError: it is none.
        TooManyEntriesError: it holds more than `entries` has room for.
    """
    # Each value of JSON comes after one of these, so there are no more values; those within texts count, too. A half:
    # of a point's values most are small.
    entries.take(sum(data.count(mark) for mark in (b",", b"[", b":")) // 2)
    try:
        document: dict[str, Any] = orjson.loads(data)
        if type(document) is not dict:
            raise TypeError("it is not an object")
        return json_format.ParseDict(document, ExportRequest(), ignore_unknown_fields=True, max_recursion_depth=_DEPTH)
    except (ValueError, json_format.ParseError, TypeError, AttributeError) as error:
        raise MalformedError(f"the body is not OTLP's JSON: {str(error)[:300]}") from error


_EXPANSION = 4
"""OTLP's objects are larger than remote write's, so a body may be this much smaller."""
_COMMIT_SECONDS = 60


class Taken(NamedTuple):
    """A request under way; `rejected_points` were refused for what `message` says, all others are or will be stored."""

    push: Push
    rejected_points: int
    message: str


class OtlpService:
    """Takes requests from any thread, one at a time."""

    def __init__(self, ingest: IngestService, store: Reader, rules: OtlpRules) -> None:
        self.ingest = ingest
        self._rules = rules
        self._sums = DeltaSums(store, ingest.limits.retention_ms)
        self._lock = threading.Lock()

    def take(self, body: bytes, *, json: bool, gzip: bool, sender: Sender = Sender()) -> Taken:
        """Queue what a body holds; with deltas in it this waits until that is on disk, since the next add to it.

        Raises:
            MalformedError, WriteTooLargeError: nothing of it is stored.
            StoreBusyError, StoreClosedError, StoreWriteError: nothing of it is stored, and sending it again is right.
        """
        limits = self.ingest.limits
        with self._lock, self.ingest.counting_refusals():
            entries = Entries(limits.entries)
            data = unzip(body, limits.decompressed_bytes // _EXPANSION) if gzip else body
            request = read_json(data, entries) if json else read_protobuf(data, entries)
            rows = translate(request, self._rules, entries)
            return self._add(rows, entries, sender) if rows.deltas else self._append(rows, set(), sender)

    def _add(self, rows: Translated, entries: Entries, sender: Sender) -> Taken:
        try:
            added = self._sums.add(rows, self.ingest.clock(), entries)
            taken = self._append(rows, added.dropped, sender)
            if taken.push.stored is not None:
                taken.push.stored.result(_COMMIT_SECONDS)
        except BaseException:
            self._sums.forget_all()
            raise
        if taken.push.rejected:
            self._sums.forget(added.touched)
        self._sums.shrink()
        if not added.late:
            return taken
        self.ingest.counts.refuse_samples(Reason.DELTA_LATE, len(added.late))
        late = f"{len(added.late)} deltas came after later ones of their series, to which they cannot be added any more"
        message = "; ".join(part for part in (taken.message, late) if part)
        return Taken(taken.push, taken.rejected_points + len(added.late), message)

    def _append(self, rows: Translated, dropped: set[int], sender: Sender) -> Taken:
        kept = [row for row in range(len(rows.series)) if row not in dropped]
        push = self.ingest.push_columns(lambda known: self._columns(rows, kept, known), sender)
        if rows.refused_points:
            self.ingest.counts.refuse_samples(Reason.UNTRANSLATABLE, rows.refused_points)
        refused = {rows.points[kept[row]] for row in push.refused_rows}
        message = "; ".join(part for part in (*rows.details, push.refusals()) if part)
        return Taken(push, rows.refused_points + len(refused - {-1}), message)

    def _columns(self, rows: Translated, kept: list[int], known: Mapping[bytes, int]) -> WriteColumns:
        fresh: list[FreshSeries] = []
        places: dict[bytes, int] = {}
        ids: list[int] = []
        for row in kept:
            series = rows.series[row]
            number = known.get(series)
            if number is None:
                number = places.get(series)
                if number is None:
                    prefix = series if len(series) <= LONGEST_PREFIX else None
                    fresh.append(FreshSeries(decode_labels(series), prefix))
                    number = places[series] = -len(fresh)
            ids.append(number)
        metadata = MetadataTable(self.ingest.limits)
        for name, entry in rows.metadata.items():
            metadata.add(METADATA_TYPES.index(entry.type), name.encode(), entry.help.encode(), entry.unit.encode())
        return WriteColumns(
            series=np.array(ids, np.int64),
            timestamps=np.array([rows.times[row] for row in kept], np.int64),
            values=np.array([rows.values[row] for row in kept], np.float64),
            fresh=fresh,
            metadata=metadata.entries(),
            metadata_left_out=metadata.left_out,
        )
