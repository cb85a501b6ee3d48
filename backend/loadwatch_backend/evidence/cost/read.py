"""Reads what a window's requests and statements counted: the edge to the store."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from loadwatch_formats.own_traffic import NAME

from loadwatch_backend.evidence.cost.model import RouteTotals, Statement, StatementKey, Thirds
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.evidence.route_folding import OTHER_ROUTES, REQUESTS, Requests, RouteKey, busiest_job
from loadwatch_backend.evidence.routes import KeptSeconds, RouteKeys, RouteSeconds
from loadwatch_backend.evidence.series import BoolArray, Edges, Grown, read_grown, rhythm, sampled_edges
from loadwatch_backend.evidence.statements import SOURCES, Names
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader

MOST_ROUTES = 40
"""Routes beyond this number, those with the fewest requests, are taken together."""
EARLIEST, LATEST = -2, 12
"""Half steps by which requests may be counted later than their statements: logs are written in blocks."""

_ByRoute = Mapping[RouteKey, FloatArray]


@dataclass(frozen=True, kw_only=True)
class Routes:
    """Totals of the window, and [half interval, route] requests from `EARLIEST` half steps before the first interval.

    `seen` and `sampled`, [half interval], are as of `series.Grown`.
    """

    found: Sequence[RouteTotals]
    halves: FloatArray
    seen: BoolArray
    sampled: BoolArray
    job: str = ""
    left_out: int = 0


@dataclass(frozen=True, kw_only=True)
class _Counts:
    """By route: requests in half intervals (`seen` and `sampled` likewise), seconds and bytes in whole ones."""

    requests: _ByRoute
    not_modified: _ByRoute
    failed: _ByRoute
    seconds: _ByRoute
    sent: _ByRoute
    seen: BoolArray
    sampled: BoolArray
    job: str


def has_routes(store: Reader, names: Requests, from_ms: int, to_ms: int) -> bool:
    asked = [Matcher("__name__", MatchOperator.EQUAL, names.count), Matcher(names.route, MatchOperator.NOT_EQUAL, "")]
    return bool(store.series([asked], from_ms, to_ms))


def read_routes(
    store: Reader, names: Requests | None, log: KeptSeconds | None, edges: Edges, inside: BoolArray
) -> Routes:
    """Of samples by these names, else of the log; totals are of the intervals `inside`.

    Raises:
        ProblemError: of the store.
    """
    halves = halves_of(edges)
    counts = None
    if names is not None:
        counts = _of_samples(store, names, edges, halves)
    elif log is not None:
        counts = _of_log(log, edges, halves)
    if counts is None or not counts.requests:
        never = np.zeros(halves.count, dtype=np.bool_)
        return Routes(found=(), halves=np.zeros((halves.count, 0)), seen=never, sampled=never)
    return _routes_of(counts, edges, halves, inside)


def halves_of(edges: Edges) -> Edges:
    """Half intervals, with as many before and after as requests may be counted late by."""
    half = edges.step_ms / 2
    before = edges.times[0] + half * np.arange(EARLIEST, 0)
    within = edges.times[0] + half * np.arange(2 * edges.count + 1 + LATEST)
    return Edges(times=np.concatenate([before, within]), step_ms=max(edges.step_ms // 2, 1))


def total(by: Mapping[Any, FloatArray], one: object, inside: BoolArray) -> float:
    return float(by[one][inside].sum()) if one in by else 0.0


def _of_samples(store: Reader, names: Requests, edges: Edges, halves: Edges) -> _Counts | None:
    grown = read_grown(store, names.count, halves)
    job = busiest_job(grown.by(names.job_of))
    if job is None:
        return None
    key = RouteKeys(names=names, job=job).folded(grown).of
    return _Counts(
        requests=grown.by(key),
        not_modified=grown.by(lambda labels: key(labels) if labels.get(names.code) == "304" else None),
        failed=grown.by(lambda labels: key(labels) if labels.get(names.code, "").startswith("5") else None),
        seconds=read_grown(store, names.seconds, edges).by(key),
        sent=read_grown(store, names.sent_bytes, edges).by(key) if names.sent_bytes else {},
        seen=grown.seen,
        sampled=grown.sampled,
        job=job,
    )


def _of_log(log: KeptSeconds, edges: Edges, halves: Edges) -> _Counts:
    def on(values: FloatArray | None, one: RouteSeconds, at: Edges) -> FloatArray:
        return np.zeros(at.count) if values is None else log.grown(one, values, at.times)

    first, last = log.known_ms
    seen = (halves.times[:-1] >= first) & (halves.times[1:] <= last)
    return _Counts(
        requests={one.key: on(one.requests, one, halves) for one in log.routes},
        not_modified={one.key: on(one.not_modified, one, halves) for one in log.routes},
        failed={one.key: on(one.failed, one, halves) for one in log.routes},
        seconds={one.key: on(one.seconds, one, edges) for one in log.routes if one.seconds is not None},
        sent={one.key: on(one.sent_bytes, one, edges) for one in log.routes if one.sent_bytes is not None},
        seen=seen,
        sampled=seen,
        job=log.file,
    )


def _routes_of(counts: _Counts, edges: Edges, halves: Edges, inside: BoolArray) -> Routes:
    within = np.zeros(halves.count, dtype=np.bool_)
    within[-EARLIEST : -EARLIEST + 2 * edges.count] = np.repeat(inside, 2)
    by_route = counts.requests
    order = sorted(by_route, key=lambda one: (one == OTHER_ROUTES, -total(by_route, one, within), one))

    def known(by: _ByRoute, of: Sequence[RouteKey]) -> float | None:
        return sum(total(by, one, inside) for one in of) if any(one in by for one in of) else None

    def totals(key: RouteKey, of: Sequence[RouteKey]) -> RouteTotals:
        return RouteTotals(
            key=key,
            requests=sum(total(by_route, one, within) for one in of),
            not_modified=sum(total(counts.not_modified, one, within) for one in of),
            failed=sum(total(counts.failed, one, within) for one in of),
            seconds=known(counts.seconds, of),
            sent_bytes=known(counts.sent, of),
            thirds=_thirds(by_route, of, within),
            not_modified_thirds=_thirds(counts.not_modified, of, within),
        )

    kept, rest = order[:MOST_ROUTES], order[MOST_ROUTES:]
    found = [totals(one, [one]) for one in kept]
    columns = [by_route[one] for one in kept]
    if rest:
        found.append(totals(OTHER_ROUTES, rest))
        columns.append(np.sum([by_route[one] for one in rest], axis=0))
    return Routes(
        found=found,
        halves=np.column_stack(columns),
        seen=counts.seen,
        sampled=counts.sampled,
        job=counts.job,
        left_out=len(rest),
    )


def _thirds(by: _ByRoute, of: Sequence[RouteKey], within: BoolArray) -> Thirds:
    first, middle, last = (
        sum(float(by[one][part].sum()) for one in of if one in by) for part in np.array_split(np.flatnonzero(within), 3)
    )
    return first, middle, last


Source = TypeVar("Source")
MARGIN_MS = 20_000
"""Time read before and after the window, to see what clients ask when there are no requests."""
CPU, MOST_CPU_JOBS = "process_cpu_seconds_total", 3
MOST_STATEMENTS = 40
"""The longest by time are kept, and as many by calls."""
DETAILS = Statement.__dataclass_fields__.keys() - {"calls", "seconds"}
"""Fields that are read only for the statements that are kept."""


@dataclass(frozen=True, kw_only=True)
class UsedCpu:
    """CPU seconds of a job's processes in each interval; `seen` and `sampled` as of `series.Grown`."""

    used: FloatArray
    seen: BoolArray
    sampled: BoolArray


@dataclass(frozen=True, kw_only=True)
class Statements:
    """[interval, statement] calls and their time; [interval] `seen` and `sampled` as of `series.Grown`."""

    found: Sequence[Statement]
    calls: FloatArray
    times: FloatArray
    seen: BoolArray
    sampled: BoolArray
    left_out: int = 0
    other_seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Counted:
    """What was read of a window.

    Attributes:
        lengths: [interval] seconds; inside: [interval], of the window and not of the margins.
        cpu: by job.
        coverage: see `model.Cost`, as `requests_names` (its `requests`).
    """

    routes: Routes
    statements: Statements
    lengths: FloatArray
    inside: BoolArray
    coverage: float | None = None
    requests_names: Requests | None = None
    step_seconds: float = 1.0
    cpu: Mapping[str, UsedCpu] = field(default_factory=dict[str, UsedCpu])

    def requests(self, late: int = 0, cpu: UsedCpu | None = None) -> tuple[FloatArray, BoolArray, BoolArray]:
        """[interval, route] requests that were counted so many half steps later; [interval] known, and exact.

        Known and exact beside the statements, or beside the CPU time of a job.
        """
        also_seen, also_sampled = (
            (self.statements.seen, self.statements.sampled) if cpu is None else (cpu.seen, cpu.sampled)
        )
        first = late - EARLIEST
        count = len(self.lengths)
        rows = self.routes.halves[first : first + 2 * count]
        seen, sampled = (one[first : first + 2 * count] for one in (self.routes.seen, self.routes.sampled))
        known = seen[0::2] & seen[1::2] & also_seen
        return (rows.reshape(count, 2, -1).sum(axis=1), known, known & sampled[0::2] & sampled[1::2] & also_sampled)


def read_window(
    store: Reader, span: tuple[int, int], figures_ms: tuple[int, int] | None = None, log: KeptSeconds | None = None
) -> Counted:
    """What was counted from and up to `span`, ms, and in a margin on both sides; totals are of `figures_ms`.

    The requests are those of samples; where there are none, those of the log that was imported for the run.

    Raises:
        ProblemError: of the store.
    """
    from_ms, to_ms = span[0], max(span[1], span[0] + 1_000)
    begin, end = max(from_ms - MARGIN_MS, 0), to_ms + MARGIN_MS
    requests = _first(store, REQUESTS, lambda one: one.count, begin, end)
    statements = _first(store, SOURCES, _calls, begin, end)
    if requests is not None and not has_routes(store, requests, begin, end):
        requests = None
    log = log if requests is None else None
    counts = [] if statements is None else [_calls(statements)]
    counts += [] if requests is None else [requests.count]
    edges = _edges(store, counts, log, begin, end)
    first, last = figures_ms or (from_ms, to_ms)
    slack = edges.step_ms / 2
    inside = (edges.times[:-1] >= first - slack) & (edges.times[1:] <= last + slack)
    of_routes = read_routes(store, requests, log, edges, inside)
    return Counted(
        routes=of_routes,
        statements=_read_statements(store, statements, edges, inside),
        lengths=np.full(edges.count, edges.step_ms / 1_000),
        inside=inside,
        coverage=None if statements is None else _coverage(store, statements, from_ms, to_ms),
        requests_names=requests if of_routes.found else None,
        step_seconds=edges.step_ms / 1_000,
        cpu=_read_cpu(store, edges, inside) if of_routes.found else {},
    )


def _read_cpu(store: Reader, edges: Edges, inside: BoolArray) -> dict[str, UsedCpu]:
    used = read_grown(store, CPU, edges).by(lambda labels: labels.get("job", ""))
    found: dict[str, UsedCpu] = {}
    for job in sorted(used, key=lambda one: (-total(used, one, inside), one))[:MOST_CPU_JOBS]:
        own = read_grown(store, CPU, edges, [Matcher("job", MatchOperator.EQUAL, job)])
        found[job] = UsedCpu(used=used[job], seen=own.seen, sampled=own.sampled)
    return found


def has_counts(store: Reader, from_ms: int, to_ms: int) -> bool:
    return (
        _first(store, SOURCES, _calls, from_ms, to_ms) is not None
        or _first(store, REQUESTS, lambda one: one.count, from_ms, to_ms) is not None
    )


def _first(
    store: Reader, sources: Sequence[Source], metric: Callable[[Source], str], begin: int, end: int
) -> Source | None:
    for one in sources:
        if store.series([[Matcher("__name__", MatchOperator.EQUAL, metric(one))]], begin, end):
            return one
    return None


def _calls(names: Names) -> str:
    return names.fields["calls"]


def _edges(store: Reader, metrics: Sequence[str], log: KeptSeconds | None, begin: int, end: int) -> Edges:
    """Edges at the sampling rhythm of the slowest metric, or of the log."""
    rhythms = [found for metric in metrics if (found := rhythm(store, metric, begin, end)) is not None]
    if log is not None:
        rhythms.append((log.step_ms, 0))
    return sampled_edges(begin, end, *max(rhythms, default=(1_000, 0)))


def _read_statements(store: Reader, names: Names | None, edges: Edges, inside: BoolArray) -> Statements:
    if names is None:
        empty, never = np.zeros((edges.count, 0)), np.zeros(edges.count, dtype=np.bool_)
        return Statements(found=(), calls=empty, times=empty, seen=never, sampled=never)

    def key(labels: Mapping[str, str]) -> StatementKey | None:
        digest = labels.get(names.digest, "")
        return StatementKey(labels.get(names.schema, ""), digest) if digest not in ("", NAME) else None

    counted, timed = read_grown(store, _calls(names), edges), read_grown(store, names.fields["seconds"], edges)
    calls, times = counted.by(key), timed.by(key)
    totals = {
        one: (float(values[inside].sum()), total(times, one, inside)) for one, values in calls.items() if one in times
    }
    by_time = sorted(totals, key=lambda one: (-totals[one][1], one))
    by_calls = sorted(totals, key=lambda one: (-totals[one][0], one))
    chosen = {*by_time[:MOST_STATEMENTS], *by_calls[:MOST_STATEMENTS]}
    kept = [one for one in by_time if one in chosen and totals[one][0] > 0]
    rest = [one for one in by_time if one not in chosen and totals[one][0] > 0]
    texts = _texts(store, names, counted, key, kept)
    details = _details(store, names, edges, inside, key, kept)
    return Statements(
        found=[
            Statement(
                key=one,
                text=texts.get(one, ""),
                calls=totals[one][0],
                seconds=totals[one][1],
                **{field: values[one] for field, values in details.items() if one in values},
            )
            for one in kept
        ],
        calls=np.column_stack([calls[one] for one in kept]) if kept else np.zeros((edges.count, 0)),
        times=np.column_stack([times[one] for one in kept]) if kept else np.zeros((edges.count, 0)),
        seen=counted.seen,
        sampled=counted.sampled,
        left_out=len(rest),
        other_seconds=sum(totals[one][1] for one in rest),
    )


def _of_digests(names: Names, kept: Sequence[StatementKey]) -> Matcher:
    return Matcher(names.digest, MatchOperator.REGEX, "|".join(sorted({re.escape(one.digest) for one in kept})))


def _texts(
    store: Reader,
    names: Names,
    counted: Grown,
    key: Callable[[Mapping[str, str]], StatementKey | None],
    kept: Sequence[StatementKey],
) -> dict[StatementKey, str]:
    found = {one: labels.get(names.text, "") for labels in counted.labels if (one := key(labels)) is not None}
    if names.info and kept and not any(found.values()):
        asked = [[Matcher("__name__", MatchOperator.EQUAL, metric), _of_digests(names, kept)] for metric in names.info]
        labels = store.series(asked, 0, 2**62)
        by_digest = {one[names.digest]: one.get(names.text, "") for one in labels if names.digest in one}
        return {one: by_digest.get(one.digest, "") for one in kept}
    return found


def _details(
    store: Reader,
    names: Names,
    edges: Edges,
    inside: BoolArray,
    key: Callable[[Mapping[str, str]], StatementKey | None],
    kept: Sequence[StatementKey],
) -> dict[str, dict[StatementKey, float]]:
    if not kept:
        return {}
    matcher = _of_digests(names, kept)
    return {
        field: {
            one: float(values[inside].sum())
            for one, values in read_grown(store, metric, edges, [matcher]).by(key).items()
        }
        for field, metric in names.fields.items()
        if field in DETAILS
    }


def _coverage(store: Reader, names: Names, from_ms: int, to_ms: int) -> float | None:
    """The lowest of the databases' median coverages; None where none is known."""
    selection = store.select([Matcher("__name__", MatchOperator.EQUAL, names.coverage)], from_ms, to_ms)
    found: list[float] = []
    for begin, end in zip(selection.offsets[:-1].tolist(), selection.offsets[1:].tolist(), strict=True):
        values = selection.values[begin:end]
        values = values[np.isfinite(values)]
        if len(values):
            found.append(float(np.median(values)))
    least = min(found, default=None)
    return None if names.at_least and least == 1 else least
