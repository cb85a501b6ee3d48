"""What a request costs, as values. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from loadwatch_backend.evidence.route_folding import Requests, RouteKey

SUMS = frozenset({"other", "prepared"})
"""Digests that stand for many statements; none of these is reported as repeated (N+1)."""


Thirds = tuple[float, float, float]


class Basis(StrEnum):
    """What a figure stands on, surest first."""

    ALONE = "alone"
    """Counted in seconds in which only that route had requests."""
    FITTED = "fitted"
    """Fitted over the seconds of the run: the route's rate moved apart from those of all others."""
    TOGETHER = "together"
    """The rates of several routes moved together: the figure is of all of them, and none can be told alone."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with the interval that holds it in 95 of 100 cases."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> "Estimate":
        return Estimate(self.value * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True, slots=True, order=True)
class StatementKey:
    """A statement: its schema and its digest, or the database and the query's number in PostgreSQL."""

    schema: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement over the window.

    Attributes:
        calls, seconds: how often it ended, and how long it took, all calls together.
        lock_seconds, rows_sent, rows_examined, rows_affected, tmp_disk_tables, no_index_used, errors: totals; None
            where nobody counted.
    """

    key: StatementKey
    text: str
    calls: float
    seconds: float
    lock_seconds: float | None = None
    rows_sent: float | None = None
    rows_examined: float | None = None
    rows_affected: float | None = None
    tmp_disk_tables: float | None = None
    no_index_used: float | None = None
    errors: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteTotals:
    """A route over the window.

    Attributes:
        requests: how many ended; not_modified: of those with status 304; failed: 5xx.
        seconds: time that its requests took together; None where nobody measured.
        sent_bytes: of its answers; None where nobody counted.
        thirds, not_modified_thirds: requests, and those of them with status 304, in each third of the window.
    """

    key: RouteKey
    requests: float
    not_modified: float = 0.0
    failed: float = 0.0
    seconds: float | None = None
    sent_bytes: float | None = None
    thirds: Thirds = (0.0, 0.0, 0.0)
    not_modified_thirds: Thirds = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What routes ask of one statement.

    Attributes:
        routes: one of them; several where they cannot be told apart.
        calls: per request (of any of them); seconds: per request.
        total_calls, total_seconds: over the window.
        least_calls: per request at the least, looked at in several ways; what an accusation stands on.
    """

    routes: tuple[RouteKey, ...]
    basis: Basis
    calls: Estimate
    seconds: Estimate
    total_calls: float
    total_seconds: float
    least_calls: float


@dataclass(frozen=True, kw_only=True)
class StatementCost:
    """A statement and who asks it.

    Attributes:
        shares: by time, longest first.
        background_seconds: of clients that are there without requests; unexplained_seconds: what no route explains.
    """

    statement: Statement
    shares: Sequence[Share] = ()
    background_seconds: float = 0.0
    unexplained_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuShare:
    """CPU seconds that each request of a route takes; of several that cannot be told apart, of any of them."""

    routes: tuple[RouteKey, ...]
    basis: Basis
    each: Estimate
    total_seconds: float


@dataclass(frozen=True, kw_only=True)
class JobCpu:
    """What requests cost a program in CPU time, by regression over the intervals of the window.

    Attributes:
        seconds: of all its processes.
        shares: by time, longest first; untold: routes whose CPU time cannot be told.
    """

    job: str
    seconds: float
    shares: Sequence[CpuShare] = ()
    untold: Sequence[RouteKey] = ()


@dataclass(frozen=True, kw_only=True)
class RouteCost:
    totals: RouteTotals
    calls: Estimate
    seconds: Estimate
    total_seconds: float
    of_statement: Mapping[StatementKey, Share] = field(default_factory=dict[StatementKey, Share])


class Reason(StrEnum):
    """Why nothing can be said."""

    NO_ROUTES = "no-routes"
    NO_STATEMENTS = "no-statements"
    NO_REQUESTS = "no-requests"
    TOO_SHORT = "too-short"


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What the requests of a window cost.

    Attributes:
        from_ms, to_ms: the window.
        reason: why nothing can be said of routes and statements together; None where it can.
        routes: by database time, longest first; statements likewise.
        database_seconds: of all statements.
        coverage: least share of what the database ran that the statements hold; None where nobody said.
        routes_job: who counted the requests; requests: under which names, None where nobody did.
        cpu: of the programs that used most.
        routes_left_out, statements_left_out: beyond the bound; other_seconds: the time of those statements.
    """

    from_ms: int
    to_ms: int
    reason: Reason | None = None
    routes: Sequence[RouteCost] = ()
    statements: Sequence[StatementCost] = ()
    database_seconds: float = 0.0
    step_seconds: float = 0.0
    lag_seconds: float = 0.0
    coverage: float | None = None
    routes_job: str = ""
    requests: Requests | None = None
    routes_left_out: int = 0
    statements_left_out: int = 0
    other_seconds: float = 0.0
    cpu: Sequence[JobCpu] = ()

    @property
    def explained_seconds(self) -> float:
        """Database time that routes explain, those that cannot be told apart included."""
        return sum(share.total_seconds for one in self.statements for share in one.shares)
