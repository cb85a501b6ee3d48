"""From costs to their document. Pure."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.evidence.cost.model import (
    Basis,
    Cost,
    Estimate,
    JobCpu,
    Reason,
    RouteCost,
    Share,
    Statement,
    StatementCost,
    StatementKey,
)
from loadwatch_backend.evidence.cost.solve import is_repeated
from loadwatch_backend.evidence.plans import PlanKey, StatementPlan, plan_of
from loadwatch_backend.evidence.runs import HeldRun, Normalised, RequestsBy
from loadwatch_backend.evidence.statements import StatementSource, name_of


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


MOST_SHOWN = 50


def cost_out(
    held: HeldRun,
    window: CostWindow,
    cost: Cost,
    base_cost: Cost | None,
    functions: CostFunctions | None,
    profile_remarks: list[str],
    plans: Mapping[PlanKey, StatementPlan],
) -> CostOut:
    whole = cost.database_seconds
    base_routes = {} if base_cost is None else {one.totals.key: one for one in base_cost.routes}
    base_statements = {} if base_cost is None else {one.statement.key: one for one in base_cost.statements}
    told = cost.reason is None
    return CostOut(
        run_id=held.run.id,
        base=None if held.base is None or base_cost is None else CostBase(id=held.base.id, name=held.base.name),
        window=window,
        from_ms=max(cost.from_ms, 0),
        to_ms=max(cost.to_ms, 0),
        reason=cost.reason,
        step_seconds=cost.step_seconds,
        late_seconds=cost.lag_seconds,
        coverage=cost.coverage,
        counted_by=cost.routes_job,
        database_seconds=whole,
        explained_share=_ratio(cost.explained_seconds, whole),
        routes=[_route(one, cost, base_routes.get(one.totals.key), told=told) for one in cost.routes[:MOST_SHOWN]],
        together=[
            _share(one.statement.key, share, whole, None)
            for one in cost.statements
            for share in one.shares
            if len(share.routes) != 1
        ],
        statements=[
            _statement(one, whole, base_statements.get(one.statement.key), plans)
            for one in cost.statements[:MOST_SHOWN]
        ],
        functions=functions,
        cpu=[_cpu(one) for one in cost.cpu],
        profile_remarks=profile_remarks,
        routes_left_out=cost.routes_left_out,
        statements_left_out=cost.statements_left_out,
        left_out_share=_ratio(cost.other_seconds, whole),
    )


def statement_id(key: StatementKey) -> str:
    return f"{key.schema}:{key.digest}"


def _route(one: RouteCost, cost: Cost, base: RouteCost | None, *, told: bool) -> CostRoute:
    totals, length = one.totals, (cost.to_ms - cost.from_ms) / 1_000
    some = told and bool(one.of_statement)
    base_some = base is not None and bool(base.of_statement)
    shares = sorted(one.of_statement.items(), key=lambda item: (-item[1].total_seconds, item[0]))
    before: Mapping[StatementKey, Share] = {} if base is None else base.of_statement
    return CostRoute(
        name=totals.key.name,
        method=totals.key.method,
        route=totals.key.route,
        requests=totals.requests,
        rate=_ratio(totals.requests, length),
        failed=totals.failed,
        not_modified=totals.not_modified,
        seconds=_mean(totals.seconds, totals.requests),
        bytes=_mean(totals.sent_bytes, totals.requests),
        calls=_estimate(one.calls) if some else None,
        database_seconds=_estimate(one.seconds) if some else None,
        share=_ratio(one.total_seconds, cost.database_seconds),
        statements=[_share(key, share, cost.database_seconds, before.get(key)) for key, share in shares[:MOST_SHOWN]],
        base_seconds=None if base is None else _mean(base.totals.seconds, base.totals.requests),
        base_calls=base.calls.value if base is not None and base_some else None,
        base_database_seconds=base.seconds.value if base is not None and base_some else None,
    )


def _share(key: StatementKey, share: Share, whole: float, base: Share | None) -> CostShare:
    return CostShare(
        statement=statement_id(key),
        routes=[one.name for one in share.routes],
        basis=share.basis,
        calls=_estimate(share.calls),
        seconds=_estimate(share.seconds),
        share=_ratio(share.total_seconds, whole),
        repeated=is_repeated(share),
        base_calls=None if base is None else base.calls.value,
        base_seconds=None if base is None else base.seconds.value,
    )


def _cpu(one: JobCpu) -> JobCpuOut:
    return JobCpuOut(
        job=one.job,
        seconds=one.seconds,
        routes=[
            RouteCpu(
                routes=[key.name for key in share.routes],
                basis=share.basis,
                each=_estimate(share.each),
                share=_ratio(share.total_seconds, one.seconds),
            )
            for share in one.shares[:MOST_SHOWN]
        ],
        untold=[key.name for key in one.untold[:MOST_SHOWN]],
    )


_AS_COUNTED = Statement.__dataclass_fields__.keys() - {"key"}


def _statement(
    one: StatementCost, whole: float, base: StatementCost | None, plans: Mapping[PlanKey, StatementPlan]
) -> CostStatement:
    of = one.statement
    source = StatementSource.POSTGRESQL if of.key.digest.isdigit() else StatementSource.MYSQL
    return CostStatement(
        id=statement_id(of.key),
        line=name_of(source, of.key.schema, of.text, [of.key.digest])[0],
        db_schema=of.key.schema,
        **{name: getattr(of, name) for name in _AS_COUNTED},
        mean_seconds=_mean(of.seconds, of.calls),
        share=_ratio(of.seconds, whole),
        examined_per_sent=_mean(of.rows_examined, of.rows_sent) if of.rows_sent else None,
        routes=[route.name for share in one.shares for route in share.routes],
        unexplained_share=_ratio(one.unexplained_seconds, of.seconds),
        base_mean_seconds=None if base is None else _mean(base.statement.seconds, base.statement.calls),
        base_calls=None if base is None else base.statement.calls,
        plan=plan_of(plans, of.key.schema, [of.key.digest]),
    )


def _estimate(one: Estimate) -> CostEstimate:
    return CostEstimate(value=one.value, low=one.low, high=one.high)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _mean(total: float | None, count: float) -> float | None:
    return total / count if total is not None and count > 0 else None
