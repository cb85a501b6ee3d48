"""Routes of runs; safe to use from any thread."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.kept_digests import KeptDigests
from loadwatch_backend.evidence.missing import ROUTE_COLLECTORS, Fault, fault_remarks, read_faults
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.evidence.route_folding import (
    OTHER_ROUTES,
    REQUESTS,
    Requests,
    RouteKey,
    busiest_job,
    by_source,
    folds,
)
from loadwatch_backend.evidence.routes.kept_digest import parse_digest, parse_seconds
from loadwatch_backend.evidence.routes.schemas import (
    SHARES,
    Counted,
    Rank,
    RouteFigures,
    RouteRank,
    RouteRanks,
    RoutesBase,
    RouteSource,
    RoutesWindow,
    RunRoute,
    RunRoutes,
    Window,
    classes_of,
    ranks_of,
    with_same_names,
)
from loadwatch_backend.evidence.runs import HeldRun, RunWindow
from loadwatch_backend.evidence.series import MOST_SERIES, BoolArray, Edges, Grown, read_grown, rhythm
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader

MOST_INTERVALS, MOST_BUCKET_INTERVALS = 600, 30
MOST_ROUTES = 100
"""By requests; all others are one line."""
_ROUTES_AT_ONCE = 10
"""Whose buckets are read together: a route has 70 for each method and instance."""

_Totals = dict[RouteKey, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Keys:
    """Which route a series is of; `same` are names that are others' (`route_folding`)."""

    names: Requests
    job: str
    same: Mapping[RouteKey, RouteKey] = field(default_factory=dict[RouteKey, RouteKey])

    def of(self, labels: Mapping[str, str]) -> RouteKey | None:
        """None of those that another job counted."""
        if self.names.job_of(labels) != self.job:
            return None
        key = RouteKey(labels.get(self.names.method, ""), labels[self.names.route])
        return self.same.get(key, key)


def read_window(store: Reader, from_ms: int, to_ms: int) -> Window:
    """The routes of a window, ms since the epoch, from the sample before its start to the one after its end.

    Raises:
        ProblemError: of the store.
    """
    to_ms = max(to_ms, from_ms + 1_000)
    rhythms = ((one, rhythm(store, one.count, from_ms, to_ms)) for one in REQUESTS)
    names, (interval, phase) = next(((one, found) for one, found in rhythms if found), (REQUESTS[0], (1_000, 0)))
    edges = _edges((from_ms, to_ms), interval, phase, MOST_INTERVALS)
    grown = read_grown(store, names.count, edges)
    job = busiest_job(grown.by(names.job_of))
    if job is None:
        return Window(source=RouteSource.NONE, span=(from_ms, to_ms), known=0.0)
    of_job = Matcher("job", MatchOperator.EQUAL, job)
    plain = _Keys(names=names, job=job)
    keys = replace(plain, same=folds(by_source(grown.labels, grown.values.sum(axis=1).tolist(), plain.of)))
    requests = _totals(grown, keys)
    order = sorted(
        (key for key, count in requests.items() if count > 0),
        key=lambda one: (one.route == OTHER_ROUTES.route, -requests[one], one),
    )
    kept, rest = order[:MOST_ROUTES], order[MOST_ROUTES:]
    duration = names.seconds.removesuffix("_sum")
    seconds = _read(store, keys, names.seconds, edges, of_job)
    timed = _read(store, keys, f"{duration}_count", edges, of_job)
    sent = _read(store, keys, names.sent_bytes, edges, of_job) if names.sent_bytes else {}
    statuses = _statuses(grown, keys)
    coarse = _edges((from_ms, to_ms), interval, phase, MOST_BUCKET_INTERVALS)
    buckets = _buckets(store, keys, f"{duration}_bucket", coarse, of_job, kept)
    found = [
        Counted(
            key=key,
            requests=requests[key],
            statuses=statuses.get(key, {}),
            seconds=seconds.get(key),
            timed=timed.get(key, 0.0),
            sent_bytes=sent.get(key),
            ranks=ranks_of(buckets.get(key, {})),
        )
        for key in kept
    ]
    if rest:
        together: Counter[str] = Counter()
        for key in rest:
            together.update(statuses.get(key, {}))
        found.append(
            Counted(
                key=OTHER_ROUTES,
                requests=sum(requests[key] for key in rest),
                statuses=together,
                seconds=_sum(seconds, rest),
                timed=_sum(timed, rest) or 0.0,
                sent_bytes=_sum(sent, rest),
            )
        )
    return Window(
        source=RouteSource.SAMPLES,
        span=(int(edges.times[0]), int(edges.times[-1])),
        known=float(np.average(grown.seen, weights=np.diff(edges.times))),
        routes=found,
        counted_by=job,
        left_out=len(rest),
        cut=len(grown.labels) >= MOST_SERIES,
    )


@dataclass(frozen=True, kw_only=True)
class TotalRequests:
    """Requests of all routes together between edges, where somebody counted (`seen`)."""

    edges: Edges
    counts: FloatArray
    seen: BoolArray

    def between(self, from_ms: int, to_ms: int) -> float | None:
        """Requests of a span, of intervals that lie in it in part as much; None where not all of it was counted."""
        at = self.edges.times
        share = np.clip((np.minimum(at[1:], to_ms) - np.maximum(at[:-1], from_ms)) / np.diff(at), 0, 1)
        step = self.edges.step_ms
        if to_ms <= from_ms or from_ms < at[0] - step or to_ms > at[-1] + step or not np.all(self.seen[share > 0]):
            return None
        return float((self.counts * share).sum())


def read_requests(store: Reader, from_ms: int, to_ms: int) -> TotalRequests | None:
    """Requests of a window by whoever counted most of them; None where nobody counted any by route.

    Raises:
        ProblemError: of the store.
    """
    to_ms = max(to_ms, from_ms + 1_000)
    for names in REQUESTS:
        found = rhythm(store, names.count, from_ms, to_ms)
        if found is not None:
            edges = _edges((from_ms, to_ms), *found, MOST_INTERVALS)
            grown = read_grown(store, names.count, edges)
            by_job = grown.by(names.job_of)
            job = busiest_job(by_job)
            return None if job is None else TotalRequests(edges=edges, counts=by_job[job], seen=grown.seen)
    return None


def _edges(span: tuple[int, int], interval: int, phase: int, most: int) -> Edges:
    """At instants of samples, from the one before the start to the one after the end: lines are counted when read."""
    first = (span[0] - phase) // interval * interval + phase
    steps = max(-(-(span[1] - first) // interval), 1)
    places = np.round(np.linspace(0, steps, min(steps, most) + 1))
    return Edges(times=first + interval * places, step_ms=max(steps // most, 1) * interval)


def _totals(grown: Grown, keys: _Keys) -> _Totals:
    return {key: float(values.sum()) for key, values in grown.by(keys.of).items()}


def _read(store: Reader, keys: _Keys, metric: str, edges: Edges, of_job: Matcher) -> _Totals:
    return _totals(read_grown(store, metric, edges, [of_job]), keys)


def _statuses(grown: Grown, keys: _Keys) -> dict[RouteKey, dict[str, float]]:
    def key(labels: Mapping[str, str]) -> tuple[RouteKey, str] | None:
        route, status = keys.of(labels), labels.get(keys.names.code, "")
        return (route, status) if route is not None and status else None

    found: defaultdict[RouteKey, dict[str, float]] = defaultdict(dict)
    for (route, status), values in grown.by(key).items():
        found[route][status] = float(values.sum())
    return found


def _buckets(
    store: Reader, keys: _Keys, metric: str, edges: Edges, of_job: Matcher, kept: Sequence[RouteKey]
) -> dict[RouteKey, dict[float, float]]:
    """Growth by upper bound; none of routes with more series than are read."""

    def key(labels: Mapping[str, str]) -> tuple[RouteKey, float] | None:
        route = keys.of(labels)
        try:
            return None if route is None else (route, float(labels.get("le", "")))
        except ValueError:
            return None

    found: dict[RouteKey, dict[float, float]] = {route: {} for route in kept}
    whole: set[RouteKey] = set(kept)
    routes = sorted({one.route for one in kept} | {one.route for one, name in keys.same.items() if name in whole})
    for begin in range(0, len(routes), _ROUTES_AT_ONCE):
        some = "|".join(map(re.escape, routes[begin : begin + _ROUTES_AT_ONCE]))
        grown = read_grown(store, metric, edges, [of_job, Matcher(keys.names.route, MatchOperator.REGEX, some)])
        by_bound = grown.by(key)
        if len(grown.labels) >= MOST_SERIES:
            whole -= {route for route, _ in by_bound}
        for (route, bound), values in by_bound.items():
            if route in whole:
                found[route][bound] = found[route].get(bound, 0.0) + float(values.sum())
    return {route: bounds for route, bounds in found.items() if route in whole}


def _sum(by: _Totals, keys: Sequence[RouteKey]) -> float | None:
    known = [by[key] for key in keys if key in by]
    return sum(known) if known else None


ENOUGH = 0.95
MOST_GONE = 50


def routes_out(
    run: RunWindow,
    window: Window,
    base: RunWindow | None,
    other: Window | None,
    language: Language,
    faults: Sequence[Fault] = (),
) -> RunRoutes:
    """The document of a table, held against another run's; `faults` of collectors that should have counted."""
    compared = base is not None and other is not None and other.source is not RouteSource.NONE
    before = _figures(other) if compared and other is not None else {}
    here = _figures(window)
    errors = [_error(rank) for one in window.routes for rank in one.ranks.values()]
    return RunRoutes(
        run_id=run.id,
        base=RoutesBase(id=base.id, name=base.name) if compared and base is not None else None,
        source=window.source,
        window=RoutesWindow.STEADY if window.steady else RoutesWindow.WHOLE,
        from_ms=max(window.span[0], 0),
        to_ms=max(window.span[1], 0),
        known=window.known,
        counted_by=window.counted_by,
        rank_error=max(errors, default=None),
        requests=sum(one.requests for one in window.routes),
        remarks=[*_remarks(run, window, Texts("routes", language)), *fault_remarks(faults, language)],
        routes=[
            RunRoute(**figures.model_dump(), name=key.name, method=key.method, route=key.route, base=before.get(key))
            for key, figures in sorted(
                here.items(), key=lambda item: (-(item[1].share or 0.0), -item[1].requests, item[0])
            )
        ],
        routes_left_out=window.left_out,
        gone=[key.name for key in before if key not in here][:MOST_GONE],
    )


def _figures(window: Window) -> dict[RouteKey, RouteFigures]:
    known = [one.seconds for one in window.routes if one.seconds is not None]
    return {one.key: _route(one, window.seconds, sum(known)) for one in window.routes if one.requests > 0}


def _route(one: Counted, seconds: float, whole: float) -> RouteFigures:
    return RouteFigures(
        requests=one.requests,
        rate=one.requests / seconds if seconds > 0 else 0.0,
        share=one.seconds / whole if one.seconds is not None and whole > 0 else None,
        statuses=classes_of(one.statuses),
        mean_seconds=one.seconds / one.timed if one.seconds is not None and one.timed > 0 else None,
        ranks=RouteRanks(**{name: _rank(one.ranks[name]) for name in SHARES})
        if len(one.ranks) == len(SHARES)
        else None,
        bytes=one.sent_bytes,
    )


def _rank(rank: Rank) -> RouteRank:
    return RouteRank(value=rank.value, low=rank.low, high=rank.high)


def _error(rank: Rank) -> float:
    return rank.high / rank.value - 1 if rank.value and rank.high is not None else 0.0


def _remarks(run: RunWindow, window: Window, say: Texts) -> list[str]:
    if window.source is RouteSource.NONE:
        return [say("nobody", run=run.id)]
    remarks: list[str] = []
    if window.known < ENOUGH:
        remarks.append(say("partly", known=f"{window.known:.0%}"))
    if window.cut:
        remarks.append(say("cut"))
    if window.routes and all(one.seconds is None for one in window.routes):
        remarks.append(say("untimed"))
    if window.whole_file:
        remarks.append(say("whole_file"))
    elif window.source is RouteSource.ACCESS_LOG:
        remarks.append(say("file", file=window.counted_by, outside=f"{window.outside:,}"))
        if run.steady_ms is not None and not window.steady:
            remarks.append(say("moved"))
    if window.unreadable:
        remarks.append(say("unreadable", lines=f"{window.unreadable:,}"))
    return remarks


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTables:
    """Finds the routes of a run: a log that was imported for it comes first, since its lines have their own times.

    Every call raises ProblemError of the store.
    """

    store: Reader
    logs: KeptDigests

    def of_run(self, held: HeldRun, language: Language) -> RunRoutes:
        """The table of a run, held against another run; of the steady window where it has one."""
        run, other = held.run, held.base
        counted = self._counted(run, whole=held.whole)
        before = None if other is None else self._counted(other, whole=held.whole)
        if before is not None:
            counted, before = with_same_names(counted, before)
        faults: Sequence[Fault] = ()
        if counted.source is RouteSource.NONE:
            faults = read_faults(self.store, ROUTE_COLLECTORS, *run.span)
        shown = replace(run, steady_ms=None) if held.whole else run
        return routes_out(shown, counted, other, before, language, faults)

    def requests(self, run: RunWindow, *, steady: bool) -> float | None:
        """Requests of all routes together, of the steady window or the whole run; None where not all were counted."""
        window = self._counted(run, whole=not steady)
        if (
            window.source is RouteSource.NONE
            or window.known < ENOUGH
            or window.steady is not steady
            or window.whole_file
        ):
            return None
        return sum(one.requests for one in window.routes)

    def counter(self, run: RunWindow) -> Callable[[int, int], float | None]:
        """Requests of all routes together, of any span of the run in ms; None where not all of it was counted."""
        content = self.logs.content(run.id)
        kept = None if content is None else parse_seconds(content)
        if kept is not None:
            return kept.requests
        counted = read_requests(self.store, *run.span)
        return _nothing if counted is None else counted.between

    def _counted(self, run: RunWindow, *, whole: bool) -> Window:
        steady = None if whole else run.steady_ms
        content = self.logs.content(run.id)
        kept = None if content is None else parse_digest(content, steady)
        if kept is not None:
            return kept
        return replace(read_window(self.store, *(steady or run.span)), steady=steady is not None)


def _nothing(from_ms: int, to_ms: int) -> float | None:
    del from_ms, to_ms
    return None
