"""Takes requests in any order, writes them as records, and sums them up exactly in bounded memory.

One pass over what an importer gives: requests, bytes and outcomes per second are counted, the rest goes to Parquet.
Everything that needs order (percentiles) is computed at the end from the Parquet file, see `seconds` and `quantiles`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import OUTCOMES
from loadwatch_formats.run_spans import LONGEST_RUN_DAYS

from loadwatch_backend.evidence.records.columns import Columns, Names
from loadwatch_backend.evidence.records.figures import (
    LONGEST_NS,
    NS,
    figures_by_endpoint,
    figures_of_run,
    latency_by_second,
    with_wait,
)
from loadwatch_backend.evidence.records.model import OTHER_ENDPOINTS, Endpoint, Figures, FloatArray, IntArray, Seconds
from loadwatch_backend.evidence.records.parquet import RecordReader, RecordWriter

ENDPOINTS_KEPT = 10_000
"""Distinct endpoint names of a run; the requests of later ones are counted together."""
ENDPOINTS_SHOWN = 1_000
ERRORS_KEPT = 1_000
ERRORS_SHOWN = 50
LARGEST_BYTES = 2**50
"""Largest size of one request; a larger one is damaged, and a few of them would overflow a sum."""
_REACH = LONGEST_RUN_DAYS * 86_400 * NS
_SIZES = ("bytes_in", "bytes_out")
_LATEST_NS = 2**63 - 1 - 2 * LONGEST_NS


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """Requests that were left out, and the first of them by number (from 1, in the order of the file)."""

    count: int = 0
    first: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    figures: Figures
    first_ns: int | None = None
    end_ns: int | None = None
    endpoints: Sequence[Endpoint] = ()
    endpoints_overflowed: bool = False
    endpoints_distinct: int = 0
    errors: Sequence[tuple[str, int]] = ()
    seconds: Seconds | None = None


class Accumulator:
    """One run's requests; `endpoints` and `errors` give the codes that `Columns` uses."""

    def __init__(self, records: Path) -> None:
        self._path = records
        self._writer: RecordWriter | None = None
        self.endpoints = Names(ENDPOINTS_KEPT)
        self.errors = Names(ERRORS_KEPT)
        self.records = 0
        self.received = 0
        self.bad_times = Rejected()
        self.bad_latencies = Rejected()
        self.bad_sizes = Rejected()
        self._anchor: int | None = None
        self._first_ns = 2**63 - 1
        self._last_ns = -1
        self._end_ns = -1
        self._first = 0
        self._outcomes = np.zeros((0, len(OUTCOMES)), dtype=np.int64)
        self._bytes: dict[str, IntArray] = {}
        self._by_endpoint = np.zeros(0, dtype=np.int64)
        self._by_error = np.zeros(0, dtype=np.int64)
        self._users: dict[int, float] = {}

    def add(self, columns: Columns) -> None:
        """Takes some requests. What cannot be true (times far from all others, negative latencies) is left out."""
        before = self.received
        self.received += len(columns.time_ns)
        columns = self._believable(self._sized(columns, before), before)
        if not len(columns.time_ns):
            return
        if self._writer is None:
            self._writer = RecordWriter(self._path)
        self.records += len(columns.time_ns)
        self._first_ns = min(self._first_ns, int(columns.time_ns.min()))
        self._last_ns = max(self._last_ns, int(columns.time_ns.max()))
        self._end_ns = max(self._end_ns, int((columns.time_ns + columns.latency_ns).max()))
        self._count(columns)
        self._writer.write(columns, self.endpoints.names, self.errors.names)

    def users(self, at_ms: IntArray, users: FloatArray) -> None:
        """Active users at instants; the last of a second counts."""
        self._users.update(zip((at_ms // 1000).tolist(), users.tolist(), strict=True))

    def close(self) -> None:
        """Ends the file of records without a summary."""
        if self._writer is not None:
            self._writer.abandon()
            self._writer = None

    def finish(self) -> Summary:
        """Closes the records and sums up. Of no requests there is no file of records."""
        if self._writer is None:
            return Summary(figures=Figures(requests=0, duration_seconds=0.0))
        self._writer.close(self.endpoints.names, self.errors.names)
        self._writer = None
        with RecordReader(self._path) as reader:
            duration = (self._last_ns - self._first_ns) / NS
            figures = figures_of_run(reader, duration)
            return Summary(
                figures=with_wait(figures, self._last_ns, self._end_ns),
                first_ns=self._first_ns,
                end_ns=self._end_ns,
                endpoints=self._endpoints(reader, figures, duration),
                endpoints_overflowed=self.endpoints.overflowed,
                endpoints_distinct=len(self.endpoints.names),
                errors=_most(self.errors.names, self._by_error, ERRORS_SHOWN),
                seconds=self._seconds(reader),
            )

    def _sized(self, columns: Columns, before: int) -> Columns:
        """Marks impossible sizes as unknown (-1); the requests themselves still count."""
        absurd = np.zeros(len(columns.time_ns), dtype=np.bool_)
        sizes = {name: values for name in _SIZES if (values := getattr(columns, name)) is not None and len(values)}
        for name, values in sizes.items():
            if int(values.max()) > LARGEST_BYTES:
                absurd |= values > LARGEST_BYTES
                sizes[name] = np.where(values > LARGEST_BYTES, -1, values)
        if not absurd.any():
            return columns
        self.bad_sizes = _more(self.bad_sizes, absurd, before)
        return replace(columns, **sizes)

    def _believable(self, columns: Columns, before: int) -> Columns:
        bad = (columns.latency_ns < 0) | (columns.latency_ns > LONGEST_NS)
        if bad.any():
            self.bad_latencies = _more(self.bad_latencies, bad, before)
            numbers = np.flatnonzero(~bad)
            columns = columns.where(~bad)
        else:
            numbers = None
        if not len(columns.time_ns):
            return columns
        times = columns.time_ns
        if self._anchor is None:
            self._anchor = int(np.partition(times, len(times) // 2)[len(times) // 2])
        low, high = (self._first_ns, self._last_ns) if self.records else (self._anchor, self._anchor)
        earliest = max(0, self._anchor - _REACH, high - _REACH)
        latest = min(_LATEST_NS, self._anchor + _REACH, low + _REACH)
        far = (times < earliest) | (times > latest)
        near = times[~far]
        if len(near) and max(high, int(near.max())) - min(low, int(near.min())) > _REACH:
            # Each is near enough to those before, and not to the others of these: most of them are the run.
            near = np.sort(near)
            begins = near if not self.records else np.append(near[near < low], low)
            counts = np.searchsorted(near, begins + _REACH, side="right") - np.searchsorted(near, begins)
            begin = int(begins[np.argmax(counts)])
            far |= (times < begin) | (times > begin + _REACH)
        if not far.any():
            return columns
        marks = far
        if numbers is not None:
            marks = np.zeros(len(bad), dtype=np.bool_)
            marks[numbers[far]] = True
        self.bad_times = _more(self.bad_times, marks, before)
        return columns.where(~far)

    def _count(self, columns: Columns) -> None:
        second = columns.time_ns // NS
        low, high = int(second.min()), int(second.max())
        self._cover(low, high)
        places = second - self._first
        # In place: a run of 31 days with few requests has as many seconds as one with many.
        np.add.at(self._outcomes.reshape(-1), places * len(OUTCOMES) + columns.outcome, 1)
        for name, values in (("bytes_in", columns.bytes_in), ("bytes_out", columns.bytes_out)):
            if values is None or int(values.max()) < 0:
                continue
            sums = self._bytes.setdefault(name, np.zeros(len(self._outcomes), dtype=np.int64))
            np.add.at(sums, places, np.maximum(values, 0))
        self._by_endpoint = _tally(self._by_endpoint, columns.endpoint, len(self.endpoints.names))
        if columns.error is not None:
            self._by_error = _tally(self._by_error, columns.error, len(self.errors.names))

    def _cover(self, low: int, high: int) -> None:
        """Makes the grid reach from `low` to `high`; it grows in steps, so a long run does not copy it each time."""
        rows = len(self._outcomes)
        if rows and low >= self._first and high < self._first + rows:
            return
        first = min(low, self._first) if rows else low
        end = max(high + 1, self._first + rows) if rows else high + 1
        if rows and end > self._first + rows:
            end = max(end, self._first + rows * 3 // 2)
        before, after = (self._first - first, end - self._first - rows) if rows else (0, end - first)
        self._outcomes = np.pad(self._outcomes, ((before, after), (0, 0)))
        self._bytes = {name: np.pad(sums, (before, after)) for name, sums in self._bytes.items()}
        self._first = first

    def _seconds(self, reader: RecordReader) -> Seconds:
        low = self._first_ns // NS - self._first
        high = self._last_ns // NS - self._first + 1
        outcomes = self._outcomes[low:high]
        first = self._first + low
        sums = {name: values[low:high] for name, values in self._bytes.items()}
        latency = latency_by_second(reader, first, outcomes.sum(axis=1))
        return Seconds(
            start_ms=first * 1000,
            outcomes=outcomes,
            latency=latency[:, :-1],
            fastest=latency[:, -1],
            bytes_in=sums.get("bytes_in"),
            bytes_out=sums.get("bytes_out"),
            users=self._user_series(first, high - low),
            exact=True,
        )

    def _user_series(self, first: int, rows: int) -> FloatArray | None:
        if not self._users:
            return None
        at = np.array(sorted(self._users), dtype=np.int64)
        values = np.array([self._users[second] for second in at.tolist()])
        place = np.searchsorted(at, first + np.arange(rows), side="right") - 1
        return np.where(place >= 0, values[np.maximum(place, 0)], np.nan)

    def _endpoints(self, reader: RecordReader, figures: Figures, duration: float) -> list[Endpoint]:
        names, counts = self.endpoints.names, self._by_endpoint
        if len(names) == 1:
            return [Endpoint(name=names[0], figures=figures)]
        ordered = sorted(range(len(names)), key=lambda code: (names[code] == OTHER_ENDPOINTS, -counts[code]))
        ordered = [code for code in ordered if counts[code]]
        shown = [code for code in ordered if names[code] != OTHER_ENDPOINTS]
        rest = len(ordered) > len(shown) or len(shown) > ENDPOINTS_SHOWN
        shown = shown[: ENDPOINTS_SHOWN - 1] if rest else shown
        slots = {names[code]: slot for slot, code in enumerate(shown)}
        found = figures_by_endpoint(reader, slots, len(shown) + rest, duration)
        titles = [names[code] for code in shown] + [OTHER_ENDPOINTS] * rest
        return [Endpoint(name=name, figures=part) for name, part in zip(titles, found, strict=True)]


def _tally(counts: IntArray, codes: npt.NDArray[np.int32], names: int) -> IntArray:
    if names > len(counts):
        counts = np.pad(counts, (0, max(names, 2 * len(counts)) - len(counts)))
    known = codes if not len(codes) or codes.min() >= 0 else codes[codes >= 0]
    return counts + np.bincount(known, minlength=len(counts))


def _most(names: Sequence[str], counts: IntArray, most: int) -> list[tuple[str, int]]:
    pairs = [(name, int(counts[code])) for code, name in enumerate(names) if code < len(counts) and counts[code]]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:most]


def _more(known: Rejected, bad: npt.NDArray[np.bool_], before: int) -> Rejected:
    first = known.first or before + int(np.argmax(bad)) + 1
    return Rejected(count=known.count + int(bad.sum()), first=first)
