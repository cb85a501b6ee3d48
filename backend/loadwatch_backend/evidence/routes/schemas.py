"""The table of a run's routes, on the wire."""

from enum import StrEnum

from pydantic import Field

from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.evidence.routes.model import RouteSource


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
