"""Locust's `_stats_history.csv`: a row per second (and with `--csv-full-history` one per endpoint, too).

A row tells the totals up to then, so the requests that ended between two rows are exact; Locust does not tell when they
began. Its percentiles are those of the last 10 s with `--csv-full-history`, and of the whole test so far without it:
the latter are no series.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import FloatArray, Seconds
from loadwatch_backend.runs.importers.importer import Part
from loadwatch_backend.runs.importers.reading.documents import number
from loadwatch_backend.runs.importers.spread import Period, seconds_of_periods
from loadwatch_backend.runs.importers.tools.locust.totals import AGGREGATED, Failures, Totals, named_rows, totals_of
from loadwatch_backend.runs.importers.tools.plain_csv import Damages

HISTORY_HEADER = b"Timestamp,User Count,Type,Name,"
_LATEST = 1e11
_LONGEST_END_MS = 60_000
_SHARES = (50.0, 90.0, 95.0, 99.0, 100.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What the history tells.

    Attributes:
        full: whether the rows of endpoints are in it, so that percentiles are of 10 s.
        last: totals of the last row of the whole test; its percentiles only where they are of the whole test.
        last_rows: the last totals of each endpoint.
        restarts: how often the totals fell, as with `--reset-stats`.
    """

    full: bool
    start_ms: int
    end_ms: int
    seconds: Seconds | None
    last: Totals
    last_rows: Sequence[Totals]
    restarts: int


@dataclass(frozen=True, slots=True)
class _Tick:
    """The rows of one instant: the whole test's, and those of endpoints before it."""

    at_ms: int
    users: float | None
    whole: Totals
    endpoints: Mapping[tuple[str, str], Totals]


def read_history(
    part: Part, damages: Damages, failures: Failures, at_end: tuple[int, Sequence[Totals]] | None = None
) -> History | None:
    """The whole file, in memory that grows with its seconds only; None when it has no row of the whole test.

    `at_end` are the rows of the end of the test, with its time: what ended after the last row of the history.
    """
    first: _Tick | None = None
    before: _Tick | None = None
    periods: list[Period] = []
    restarts = 0
    full = False
    for tick in _ticks(part, damages):
        full = full or bool(tick.endpoints)
        if before is None:
            first = before = tick
            continue
        fell = tick.whole.requests < before.whole.requests
        restarts += fell
        periods.append(_period(_Tick(before.at_ms, None, _NOTHING, {}) if fell else before, tick, failures))
        before = tick
    if first is None or before is None:
        return None
    ended = None if at_end is None else _tick_at(*at_end, before)
    if ended is not None and ended.whole.requests > before.whole.requests:
        periods.append(replace(_period(before, ended, failures), latency=None))
        before = ended
    if not full:
        periods = [replace(period, latency=None) for period in periods]
    return History(
        full=full,
        start_ms=first.at_ms,
        end_ms=before.at_ms,
        seconds=seconds_of_periods(periods),
        # Requests/s of a row is a mean of 10 s, not the whole test's.
        last=replace(before.whole, rate=None, percentiles={} if full else before.whole.percentiles),
        last_rows=[replace(row, rate=None, percentiles={}) for row in before.endpoints.values()],
        restarts=restarts,
    )


_NOTHING = totals_of({})


def _tick_at(at_ms: int, rows: Sequence[Totals], last: _Tick) -> _Tick | None:
    whole = next((row for row in rows if row.name == AGGREGATED and not row.method), None)
    if whole is None:
        return None
    endpoints = {(row.method, row.name): row for row in rows if row is not whole}
    # A test that is stopped does not last long after its last row: a clock that was set back or ahead is not followed.
    at_ms = min(max(at_ms, last.at_ms), last.at_ms + _LONGEST_END_MS)
    return _Tick(at_ms, None, whole, endpoints if last.endpoints else {})


def _period(before: _Tick, tick: _Tick, failures: Failures) -> Period:
    requests, failed, size = _growth(before.whole, tick.whole)
    kinds: Counter[Outcome] = Counter()
    for name, totals in tick.endpoints.items():
        kinds[failures.only_kind(name)] += _growth(before.endpoints.get(name, _NOTHING), totals)[1]
    if sum(kinds.values()) > failed:
        kinds.clear()
    kinds[failures.only_kind()] += failed - sum(kinds.values())
    kinds[Outcome.OK] += requests - failed
    return Period(
        start_ms=before.at_ms,
        end_ms=max(tick.at_ms, before.at_ms + 1),
        outcomes=kinds,
        latency=_latency(tick.whole),
        bytes_in=size,
        users=tick.users,
    )


def _ticks(part: Part, damages: Damages) -> Iterator[_Tick]:
    """An instant is whole with its row of the whole test, which Locust writes last."""
    endpoints: dict[tuple[str, str], Totals] = {}
    latest = 0
    for line, row in named_rows(part, damages):
        at = number(row.get("Timestamp"))
        if at is None or not latest <= at < _LATEST:
            damages.add(line, "the time is no number, or lies before the line above")
            continue
        latest = int(at)
        totals = totals_of(row, "Total ")
        if totals.name == AGGREGATED and not totals.method:
            yield _Tick(latest * 1000, number(row.get("User Count")), totals, endpoints)
            endpoints = {}
        else:
            endpoints[(totals.method, totals.name)] = totals


def _growth(before: Totals, after: Totals) -> tuple[int, int, int]:
    """Requests, failures and bytes between two rows."""
    requests = max(0, after.requests - before.requests)
    failures = min(requests, max(0, after.failures - before.failures))
    return requests, failures, max(0, after.size - before.size)


def _latency(totals: Totals) -> FloatArray | None:
    """Of the last 10 s, seconds. Locust writes 0 for every share when it has none yet."""
    found = [totals.percentiles.get(share) for share in _SHARES]
    if not any(found):
        return None
    return np.array([np.nan if value is None else value / 1000 for value in found])
