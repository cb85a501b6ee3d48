"""The table of a run's routes, on the wire."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import sqrt

from pydantic import Field

from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.evidence.route_folding import RouteKey, folded, folds

SHARES: Mapping[str, float] = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}
"""Ranks that a table shows."""


class RouteSource(StrEnum):
    """Who counted."""

    SAMPLES = "samples"
    """What agents and applications sent while the run was under way."""
    ACCESS_LOG = "access_log"
    """The digest of an access log that is kept with the run."""
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """A duration by its rank, seconds: within `low` and `high`, None where nothing bounds it.

    `value` is what to say for it; None where only a bound is known.
    """

    value: float | None
    low: float
    high: float | None


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
    ranks: Mapping[str, Rank] = field(default_factory=dict[str, Rank])


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
        """Length of what is known."""
        return (self.span[1] - self.span[0]) / 1_000 * self.known


def ranks_of(buckets: Mapping[float, float]) -> dict[str, Rank]:
    """Ranks from a histogram's cumulative counts by upper bound; none without requests.

    A value is the middle, in ratio, of the bucket it lies in: nearer to both its bounds than any other could be.
    """
    bounds = sorted(buckets)
    total = round(buckets[bounds[-1]]) if bounds else 0
    if total < 1:
        return {}
    found: dict[str, Rank] = {}
    for name, share in SHARES.items():
        # Growth at the window's ends is a share of a request now and then: half of one decides.
        rank = max(share * total, 1.0) - 0.5
        place = next((at for at, bound in enumerate(bounds) if buckets[bound] >= rank), len(bounds) - 1)
        high, low = bounds[place], bounds[place - 1] if place else 0.0
        if high == float("inf"):
            found[name] = Rank(value=None, low=low, high=None)
        else:
            found[name] = Rank(value=sqrt(low * high) if low > 0 else None, low=low, high=high)
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
    """Two windows in which the same routes have the same names, so that one can be held against the other."""
    sources = [{one.key: one.requests for one in window.routes} for window in (first, second)]
    same = folds(sources)
    if not same:
        return first, second

    def renamed(window: Window) -> Window:
        by = {one.key: replace(one, key=same.get(one.key, one.key)) for one in window.routes}
        return replace(window, routes=[*folded(by, same, together).values()])

    return renamed(first), renamed(second)


def together(first: Counted, second: Counted) -> Counted:
    """Two that are one route; of ranks nothing can be said."""
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
