"""What requests cost, on the wire."""

from enum import StrEnum

from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.evidence.cost.model import Basis, Reason
from loadwatch_backend.evidence.plans.schemas import StatementPlan
from loadwatch_backend.evidence.request_counts import Normalised, RequestsBy


class CostWindow(StrEnum):
    """What the figures cover."""

    STEADY = "steady"
    WHOLE = "whole"


class CostEstimate(Schema):
    """A figure with the bounds that hold it in 95 of 100 cases."""

    value: float
    low: float
    high: float


class CostShare(Schema):
    """What a request of a route (or of several that cannot be told apart) asks of one statement."""

    statement: str = Field(description="Id of the statement.")
    routes: list[str] = Field(description="Such as `GET /users/:id`; several where their rates always moved together.")
    basis: Basis = Field(
        description="`alone`: counted while only that route had requests; `fitted`: over the seconds of the run; "
        "`together`: of all these routes, none of which can be told alone."
    )
    calls: CostEstimate = Field(description="Calls per request.")
    seconds: CostEstimate = Field(description="Database time per request.")
    share: float = Field(description="Of all database time of the window.")
    repeated: bool = Field(description="N+1: each request calls it at least five times, however it is reckoned.")
    base_calls: float | None = Field(description="The same in the run that this one is held against.")
    base_seconds: float | None


class CostRoute(Schema):
    """A route, what its requests took, and what they asked of the database."""

    name: str
    method: str
    route: str
    requests: float
    rate: float = Field(description="Requests per second over the window.")
    failed: float = Field(description="Answers with status 5xx.")
    not_modified: float = Field(description="Answers with status 304.")
    seconds: float | None = Field(description="Mean time of a request; null where nobody measured.")
    bytes: float | None = Field(description="Mean size of an answer.")
    calls: CostEstimate | None = Field(description="Statements per request, all that could be told; null without any.")
    database_seconds: CostEstimate | None = Field(description="Database time per request.")
    share: float = Field(description="Of all database time of the window.")
    statements: list[CostShare]
    base_seconds: float | None
    base_calls: float | None
    base_database_seconds: float | None


class CostStatement(Schema):
    """A statement over the window."""

    id: str
    line: str = Field(description="Id of its line in the table of the run's statements (`statements`).")
    db_schema: str
    text: str = Field(description="Its digest: literals are placeholders.")
    calls: float
    seconds: float = Field(description="All calls together.")
    mean_seconds: float | None
    share: float = Field(description="Of all database time of the window.")
    lock_seconds: float | None
    examined_per_sent: float | None = Field(description="Rows examined per row sent.")
    rows_examined: float | None
    rows_sent: float | None
    rows_affected: float | None
    tmp_disk_tables: float | None
    no_index_used: float | None = Field(description="Calls that read without an index.")
    errors: float | None
    routes: list[str] = Field(description="Who asks it, by time, longest first.")
    unexplained_share: float = Field(description="Of its own time: what no route explains.")
    base_mean_seconds: float | None
    base_calls: float | None
    plan: StatementPlan | None = Field(description="How the database runs it; null where no agent asked (`plans`).")


class CostFunction(Schema):
    """A function of the CPU profiles: what it took itself (flat), and with all that it called (cum)."""

    name: str
    file: str
    words: str | None = Field(description="What a known function means, in the language asked for.")
    share: float = Field(description="Of the processor time of all profiles: itself.")
    cum_share: float = Field(description="The same with all that it called.")
    flat: float
    cum: float
    base_flat: float | None = Field(description="The same in the run that this one is held against.")
    base_cum: float | None


class CpuRoute(Schema):
    """A route by the labels that the application puts on its stacks."""

    name: str
    share: float = Field(description="Of the processor time of all profiles.")
    base_share: float | None


class CostFunctions(Schema):
    """Where the processor worked, by the CPU profiles that the run kept."""

    profiles: int = Field(description="How many were read together.")
    unit: str = Field(description="Of the values: `seconds`, or what else the profiles count, such as `count`.")
    per: Normalised = Field(description="What the values are divided by.")
    requests_by: RequestsBy | None = Field(description="Who counted the requests that they are divided by.")
    total: float
    base_total: float | None
    functions: list[CostFunction] = Field(description="By what they took themselves.")
    by_route: list[CpuRoute] = Field(description="Empty where the application labels nothing.")


class RouteCpu(Schema):
    """CPU time that each request of a route takes, by regression over the run; the application labels nothing."""

    routes: list[str] = Field(description="Several where they cannot be told apart.")
    basis: Basis = Field(description="As of statements.")
    each: CostEstimate = Field(description="CPU seconds per request.")
    share: float = Field(description="Of all CPU time of the job.")


class JobCpuOut(Schema):
    """What requests cost a program (a job's processes) in CPU time."""

    job: str
    seconds: float = Field(description="CPU time over the window.")
    routes: list[RouteCpu] = Field(description="By CPU time.")
    untold: list[str] = Field(
        description="Routes of which it cannot be told: they cost too little, or too few seconds were measured, or "
        "their rates hardly moved."
    )


class CostBase(Schema):
    """The run that another is held against."""

    id: str
    name: str


class CostOut(Schema):
    """Why a run was as slow as it was: routes, and the statements that their requests ask."""

    run_id: str
    base: CostBase | None
    window: CostWindow
    from_ms: Milliseconds
    to_ms: Milliseconds
    reason: Reason | None = Field(description="Why routes and statements cannot be joined; null where they are.")
    step_seconds: float = Field(description="Length of the intervals that were compared.")
    late_seconds: float = Field(description="By how much requests were counted later than their statements.")
    coverage: float | None = Field(description="Share of what the database ran that the statements hold.")
    counted_by: str = Field(description="The job that counted the requests.")
    database_seconds: float
    explained_share: float = Field(description="Of all database time: what routes explain.")
    routes: list[CostRoute] = Field(description="By database time, then by their own.")
    together: list[CostShare] = Field(description="What routes asked that cannot be told apart.")
    statements: list[CostStatement] = Field(description="By time.")
    functions: CostFunctions | None = Field(description="None where the run kept no CPU profile that can be read.")
    cpu: list[JobCpuOut] = Field(default=[], description="Of the three jobs that used most.")
    profile_remarks: list[str] = Field(description="Why there are no functions, and what to do; empty where there are.")
    routes_left_out: int
    statements_left_out: int
    left_out_share: float = Field(description="Of all database time: statements beyond the bound.")
