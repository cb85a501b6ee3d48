"""Requests of a run by route: one table, from samples or from an access log that was imported for the run."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import sqrt
from typing import Any, cast

import numpy as np
import orjson
from pydantic import Field

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.kept_digests import MALFORMED, Digest, KeptDigests, number
from loadwatch_backend.evidence.missing import ROUTE_COLLECTORS, Fault, fault_remarks, read_faults
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.evidence.route_folding import (
    OTHER_ROUTES,
    REQUESTS,
    Requests,
    RouteKey,
    busiest_job,
    by_source,
    folded,
    folds,
)
from loadwatch_backend.evidence.runs import HeldRun, RunWindow
from loadwatch_backend.evidence.series import MOST_SERIES, BoolArray, Edges, Grown, read_grown, rhythm
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader

SHARES: Mapping[str, float] = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
"""Quantiles that a table shows; `max` is 1."""


class RouteSource(StrEnum):
    """Who counted."""

    SAMPLES = "samples"
    """What agents and applications sent while the run was under way."""
    ACCESS_LOG = "access_log"
    """The digest of an access log that is kept with the run."""
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """One route and method over the window.

    Attributes:
        requests: how many; statuses: of them by exact status, empty where nobody told.
        seconds: durations together, of `timed` requests; None where nobody measured.
        sent_bytes: of the answers; None where nobody counted.
        ranks: by the names of `SHARES`; empty where nobody measured.
    """

    key: RouteKey
    requests: float
    statuses: Mapping[str, float] = field(default_factory=dict[str, float])
    seconds: float | None = None
    timed: float = 0.0
    sent_bytes: float | None = None
    ranks: Mapping[str, "RouteRank"] = field(default_factory=dict[str, "RouteRank"])


@dataclass(frozen=True, kw_only=True)
class Window:
    """All routes of a window.

    Attributes:
        span: what is covered, ms since the epoch.
        known: share of it in which somebody counted, 0 to 1.
        counted_by: the job, or the name of the log.
        left_out: routes that are taken together as other.
        cut: whether there were more series than are read, so that requests are missing.
        unreadable, outside: lines of a log that are in no figure; those outside the run.
        whole_file: whether a kept digest is of its whole file, whatever the run's window.
    """

    source: RouteSource
    span: tuple[int, int]
    steady: bool = False
    known: float = 1.0
    routes: Sequence[Counted] = ()
    counted_by: str = ""
    left_out: int = 0
    cut: bool = False
    unreadable: int = 0
    outside: int = 0
    whole_file: bool = False

    @property
    def seconds(self) -> float:
        return (self.span[1] - self.span[0]) / 1_000 * self.known


def ranks_of(buckets: Mapping[float, float]) -> dict[str, "RouteRank"]:
    """Ranks from a histogram's cumulative counts by upper bound; none without requests.

    A value is the middle, in ratio, of the bucket it lies in: nearer to both its bounds than any other could be.
    """
    bounds = sorted(buckets)
    total = round(buckets[bounds[-1]]) if bounds else 0
    if total < 1:
        return {}
    found: dict[str, RouteRank] = {}
    for name, share in SHARES.items():
        # Growth at the window's ends is a share of a request now and then: half of one decides.
        rank = max(share * total, 1.0) - 0.5
        place = next((at for at, bound in enumerate(bounds) if buckets[bound] >= rank), len(bounds) - 1)
        high, low = bounds[place], bounds[place - 1] if place else 0.0
        if high == float("inf"):
            found[name] = RouteRank(value=None, low=low, high=None)
        else:
            found[name] = RouteRank(value=sqrt(low * high) if low > 0 else None, low=low, high=high)
    return found


def classes_of(statuses: Mapping[str, float]) -> dict[str, float]:
    """Requests by class of status; 304 apart, since it has no body; `none` is of those that nobody answered."""
    found: dict[str, float] = {}
    for status, count in sorted(statuses.items()):
        known = len(status) == 3 and status.isascii() and status.isdigit()
        name = "304" if status == "304" else f"{status[0]}xx" if known else "none"
        found[name] = found.get(name, 0.0) + count
    return {name: count for name, count in sorted(found.items()) if count > 0}


def with_same_names(first: Window, second: Window) -> tuple[Window, Window]:
    sources = [{one.key: one.requests for one in window.routes} for window in (first, second)]
    same = folds(sources)
    if not same:
        return first, second

    def renamed(window: Window) -> Window:
        by = {one.key: replace(one, key=same.get(one.key, one.key)) for one in window.routes}
        return replace(window, routes=[*folded(by, same, together).values()])

    return renamed(first), renamed(second)


def together(first: Counted, second: Counted) -> Counted:
    """Adds two that are one route; their quantiles cannot be combined and are left out."""
    known = [one.seconds for one in (first, second) if one.seconds is not None]
    sent = [one.sent_bytes for one in (first, second) if one.sent_bytes is not None]
    codes = first.statuses.keys() | second.statuses.keys()
    return Counted(
        key=first.key,
        requests=first.requests + second.requests,
        statuses={code: first.statuses.get(code, 0.0) + second.statuses.get(code, 0.0) for code in sorted(codes)},
        seconds=sum(known) if known else None,
        timed=first.timed + second.timed,
        sent_bytes=sum(sent) if sent else None,
    )


class RoutesWindow(StrEnum):
    """What the figures cover."""

    STEADY = "steady"
    WHOLE = "whole"


class RoutesBase(Schema):
    """The run that another is held against."""

    id: str
    name: str


class RouteRank(Schema):
    """A duration by its rank, in seconds, with the bounds that hold it."""

    value: float | None = Field(description="Null where only a bound is known: it is at most `high`, or above `low`.")
    low: float
    high: float | None


class RouteRanks(Schema):
    """Half of the requests took no longer than `p50`, and so on."""

    p50: RouteRank
    p90: RouteRank
    p99: RouteRank
    max: RouteRank


class RouteFigures(Schema):
    """What was counted of one route."""

    requests: float
    rate: float = Field(description="Requests per second.")
    share: float | None = Field(description="Of the time of all requests; null where nobody measured.")
    statuses: dict[str, float] = Field(
        description="Requests by class of status, such as `2xx`; `304` apart, `none` for those that nobody answered; "
        "empty where nobody told."
    )
    mean_seconds: float | None
    ranks: RouteRanks | None = Field(description="Null where nobody measured, or for many routes together.")
    bytes: float | None = Field(description="Of all answers together; null where nobody counted.")


class RunRoute(RouteFigures):
    """One route, beside what it was in the run that this one is held against."""

    name: str = Field(description="Such as `GET /users/:id`.")
    method: str
    route: str
    base: RouteFigures | None = Field(description="Null where the other run has no such route, or there is none.")


class RunRoutes(Schema):
    """Routes of a run, those with the most time first, else with the most requests."""

    run_id: str
    base: RoutesBase | None
    source: RouteSource
    window: RoutesWindow
    from_ms: Milliseconds
    to_ms: Milliseconds
    known: float = Field(description="Share of the window in which somebody counted.")
    counted_by: str = Field(description="The job that counted the requests, or the name of the log.")
    rank_error: float | None = Field(description="How far a rank with a value may be off, as a share of it.")
    requests: float
    remarks: list[str] = Field(description="What is missing, and what to do, in words.")
    routes: list[RunRoute]
    routes_left_out: Count = Field(description="They are taken together as `other`.")
    gone: list[str] = Field(description="Names of routes that the other run has and this one has not.")


MOST_CELLS = 1_000_000
_LARGEST = 2.0**53
_LONGEST_STEP = 86_400


@dataclass(frozen=True, kw_only=True)
class RouteSeconds:
    """Steps of one route that had requests: when each begins (ms), and its sums; None where nobody told."""

    key: RouteKey
    at_ms: FloatArray
    requests: FloatArray
    not_modified: FloatArray
    failed: FloatArray
    seconds: FloatArray | None
    sent_bytes: FloatArray | None


@dataclass(frozen=True, kw_only=True)
class KeptSeconds:
    """All routes of a log, in steps of `step_ms`; `known_ms` is from when to when it says all."""

    file: str
    step_ms: int
    known_ms: tuple[int, int]
    routes: Sequence[RouteSeconds]

    def grown(self, one: RouteSeconds, values: FloatArray, times: FloatArray) -> FloatArray:
        """[interval] of the edges `times`, ms: what was counted in each, evenly spread over a step."""
        ends = np.cumsum(values)
        if not len(ends):
            return np.zeros(max(len(times) - 1, 0))
        at = np.column_stack([one.at_ms, one.at_ms + self.step_ms]).ravel()
        return np.diff(np.interp(times, at, np.column_stack([ends - values, ends]).ravel()))

    def requests(self, from_ms: int, to_ms: int) -> float | None:
        """Requests of a span; None where the log does not say all of it, give or take a step at either end."""
        if from_ms < self.known_ms[0] - self.step_ms or to_ms > self.known_ms[1] + self.step_ms or to_ms <= from_ms:
            return None
        times = np.asarray([from_ms, to_ms], dtype=np.float64)
        return float(sum(self.grown(one, one.requests, times).sum() for one in self.routes))


def parse_seconds(content: bytes) -> KeptSeconds | None:
    """Those of a digest; None where it has none, or is none of its kind."""
    try:
        document: Any = orjson.loads(content)
        told: Any = document.get("seconds")
        if told is None:
            return None
        step, begin = int(told["step"]), int(told["from_ms"])
        known = int(told["known_ms"][0]), int(told["known_ms"][1])
        run: Any = document.get("run") or {}
        rows: Any = told["routes"][:MOST_KEPT_ROUTES]
        if not 1 <= step <= _LONGEST_STEP or sum(len(row["at"]) for row in rows) > MOST_CELLS:
            return None
        return KeptSeconds(
            file=str(run.get("file", ""))[:200],
            step_ms=step * 1_000,
            known_ms=known,
            routes=[_kept_route(cast(Mapping[str, Any], row), begin, step * 1_000) for row in rows],
        )
    except MALFORMED:
        return None


def _kept_route(row: Mapping[str, Any], begin_ms: int, step_ms: int) -> RouteSeconds:
    steps = _column(row["at"], len(row["at"]))
    if np.any(np.diff(steps) < 1):
        raise ValueError("steps are not in order")
    return RouteSeconds(
        key=RouteKey(str(row["method"])[:20], str(row["route"])[:600]),
        at_ms=begin_ms + step_ms * steps,
        requests=_column(row["count"], len(steps)),
        not_modified=_column(row.get("not_modified"), len(steps)),
        failed=_column(row.get("failed"), len(steps)),
        seconds=_column(row["seconds"], len(steps)) if "seconds" in row else None,
        sent_bytes=_column(row["bytes"], len(steps)) if "bytes" in row else None,
    )


def _column(values: Any, count: int) -> FloatArray:
    if values is None:
        return np.zeros(count)
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (count,) or not np.all((column >= 0) & (column <= _LARGEST)):
        raise ValueError("a column is of another length, or holds no counts")
    return column


MOST_KEPT_ROUTES = 2_000
_UNREAD = ("unreadable", "too_long", "undated")


def parse_digest(content: bytes, steady_ms: tuple[int, int] | None) -> Window | None:
    """The routes of a digest: of the steady window if that is asked and in it, else of all; None of anything else."""
    try:
        digest = Digest(content, steady_ms)
        span = digest.span()
        if span is None:
            return None
        rows: Any = digest.rows("routes")
        error = min(number(digest.lines.get("percentile_error", 0.0)), 1.0)
        return Window(
            source=RouteSource.ACCESS_LOG,
            # Of a whole file it is the times of its first and last line.
            span=(span[0], max(span[1] + (1 if digest.run is None else 0), span[0] + 1_000)),
            steady=digest.steady is not None,
            routes=[_counted(cast(Mapping[str, Any], row), error) for row in rows[:MOST_KEPT_ROUTES]],
            counted_by=digest.file,
            unreadable=int(sum(number(digest.lines.get(name, 0)) for name in _UNREAD)),
            outside=digest.outside,
            whole_file=digest.run is None,
        )
    except MALFORMED:
        return None


def _counted(row: Mapping[str, Any], error: float) -> Counted:
    requests, total, mean = number(row["count"]), row.get("sum"), row.get("mean")
    size: Any = row.get("bytes")
    if isinstance(size, Mapping):  # as agents wrote it before 26 November 2026
        size = cast(Mapping[str, Any], size).get("sum")
    statuses: Mapping[str, Any] = row.get("status") or {}
    known = total is not None
    return Counted(
        key=RouteKey(str(row["method"])[:20], str(row["route"])[:600]),
        requests=requests,
        statuses={str(status)[:3]: number(count) for status, count in statuses.items()},
        seconds=number(total) if known else None,
        # Not each request has a duration: their number is what the mean is of.
        timed=number(total) / number(mean) if known and mean else requests,
        sent_bytes=None if size is None else number(size),
        ranks={
            name: _kept_rank(number(row[name]), 0.0 if name == "max" else error)
            for name in SHARES
            if row.get(name) is not None
        },
    )


def _kept_rank(value: float, error: float) -> RouteRank:
    return RouteRank(value=value, low=value * (1 - error), high=value * (1 + error))


MOST_INTERVALS, MOST_BUCKET_INTERVALS = 600, 30
MOST_ROUTES = 100
"""By requests; all others are one line."""
_ROUTES_AT_ONCE = 10
"""Routes whose buckets are read together: each has 70 series per method and instance."""

_Totals = dict[RouteKey, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteKeys:
    """Which route a series is of; `same` are names that are others' (`route_folding`)."""

    names: Requests
    job: str
    same: Mapping[RouteKey, RouteKey] = field(default_factory=dict[RouteKey, RouteKey])

    def of(self, labels: Mapping[str, str]) -> RouteKey | None:
        """The route of a series; None where another job counted it."""
        if self.names.job_of(labels) != self.job:
            return None
        key = RouteKey(labels.get(self.names.method, ""), labels[self.names.route])
        return self.same.get(key, key)

    def folded(self, requests: Grown) -> "RouteKeys":
        """These keys with routes folded by the requests of each source."""
        return replace(self, same=folds(by_source(requests.labels, requests.values.sum(axis=1).tolist(), self.of)))


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
    keys = RouteKeys(names=names, job=job).folded(grown)
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


def _totals(grown: Grown, keys: RouteKeys) -> _Totals:
    return {key: float(values.sum()) for key, values in grown.by(keys.of).items()}


def _read(store: Reader, keys: RouteKeys, metric: str, edges: Edges, of_job: Matcher) -> _Totals:
    return _totals(read_grown(store, metric, edges, [of_job]), keys)


def _statuses(grown: Grown, keys: RouteKeys) -> dict[RouteKey, dict[str, float]]:
    def key(labels: Mapping[str, str]) -> tuple[RouteKey, str] | None:
        route, status = keys.of(labels), labels.get(keys.names.code, "")
        return (route, status) if route is not None and status else None

    found: defaultdict[RouteKey, dict[str, float]] = defaultdict(dict)
    for (route, status), values in grown.by(key).items():
        found[route][status] = float(values.sum())
    return found


def _buckets(
    store: Reader, keys: RouteKeys, metric: str, edges: Edges, of_job: Matcher, kept: Sequence[RouteKey]
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
        ranks=RouteRanks(**{name: one.ranks[name] for name in SHARES}) if len(one.ranks) == len(SHARES) else None,
        bytes=one.sent_bytes,
    )


def _error(rank: RouteRank) -> float:
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
        return (lambda _from, _to: None) if counted is None else counted.between

    def _counted(self, run: RunWindow, *, whole: bool) -> Window:
        steady = None if whole else run.steady_ms
        content = self.logs.content(run.id)
        kept = None if content is None else parse_digest(content, steady)
        if kept is not None:
            return kept
        return replace(read_window(self.store, *(steady or run.span)), steady=steady is not None)
