"""Reads what a window's requests by route counted, in half intervals: samples of the store, or a kept log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from loadwatch_backend.evidence.cost.model import RouteTotals, Thirds
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.evidence.route_folding import OTHER_ROUTES, Requests, RouteKey, busiest_job, by_source, folds
from loadwatch_backend.evidence.routes.kept_digest import KeptSeconds, RouteSeconds
from loadwatch_backend.evidence.series import BoolArray, Edges, read_grown
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader

MOST_ROUTES = 40
"""Of more, those with fewest requests are taken together."""
EARLIEST, LATEST = -2, 12
"""Half steps by which requests may be counted later than their statements: logs are written in blocks."""

_ByRoute = Mapping[RouteKey, FloatArray]


@dataclass(frozen=True, kw_only=True)
class Routes:
    """Totals of the window, and requests in half intervals; see `read.Counted`."""

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
    """Whether any series of these names says a route."""
    asked = [
        Matcher("__name__", MatchOperator.EQUAL, names.count),
        Matcher(names.route, MatchOperator.NOT_EQUAL, ""),
    ]
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
    """What grew in these intervals; 0 of what is not there."""
    return float(by[one][inside].sum()) if one in by else 0.0


def _of_samples(store: Reader, names: Requests, edges: Edges, halves: Edges) -> _Counts | None:
    grown = read_grown(store, names.count, halves)
    job = busiest_job(grown.by(names.job_of))
    if job is None:
        return None

    def counted(labels: Mapping[str, str]) -> RouteKey | None:
        if labels.get("job", "") != job or not labels.get(names.route):
            return None
        return RouteKey(labels.get(names.method, ""), labels[names.route])

    same = folds(by_source(grown.labels, grown.values.sum(axis=1).tolist(), counted))

    def key(labels: Mapping[str, str]) -> RouteKey | None:
        found = counted(labels)
        return None if found is None else same.get(found, found)

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
