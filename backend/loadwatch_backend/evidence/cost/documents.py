"""From costs to their document. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loadwatch_backend.evidence.cost.model import (
    Basis,
    Cost,
    Estimate,
    JobCpu,
    RouteCost,
    Share,
    StatementCost,
    StatementKey,
)
from loadwatch_backend.evidence.cost.schemas import (
    CostBase,
    CostEstimate,
    CostFunctions,
    CostOut,
    CostRoute,
    CostShare,
    CostStatement,
    CostWindow,
    JobCpuOut,
    RouteCpu,
)
from loadwatch_backend.evidence.cost.solve import MANY
from loadwatch_backend.evidence.plans.schemas import PlanKey, StatementPlan, plan_of
from loadwatch_backend.evidence.route_folding import RouteKey
from loadwatch_backend.evidence.runs import RunWindow
from loadwatch_backend.evidence.statements.model import StatementSource, name_of

MOST_SHOWN = 50
"""Of each table; what is beyond is the tail of the tail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A run and what it cost, held against another."""

    run: RunWindow
    window: CostWindow
    cost: Cost
    base: RunWindow | None = None
    base_cost: Cost | None = None
    functions: CostFunctions | None = None
    profile_remarks: Sequence[str] = ()
    plans: Mapping[PlanKey, StatementPlan] = field(default_factory=dict[PlanKey, StatementPlan])


def is_repeated(share: Share) -> bool:
    """Whether each request of one route asks the same again and again (N+1)."""
    return len(share.routes) == 1 and share.basis is not Basis.TOGETHER and share.least_calls >= MANY


def cost_out(held: Held) -> CostOut:
    """The document of a run's costs."""
    cost = held.cost
    whole = cost.database_seconds
    base_routes = {} if held.base_cost is None else {one.totals.key: one for one in held.base_cost.routes}
    base_statements = {} if held.base_cost is None else {one.statement.key: one for one in held.base_cost.statements}
    told = cost.reason is None
    return CostOut(
        run_id=held.run.id,
        base=None if held.base is None or held.base_cost is None else CostBase(id=held.base.id, name=held.base.name),
        window=held.window,
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
            _statement(one, whole, base_statements.get(one.statement.key), held.plans)
            for one in cost.statements[:MOST_SHOWN]
        ],
        functions=held.functions,
        cpu=[_cpu(one) for one in cost.cpu],
        profile_remarks=list(held.profile_remarks),
        routes_left_out=cost.routes_left_out,
        statements_left_out=cost.statements_left_out,
        left_out_share=_ratio(cost.other_seconds, whole),
    )


def statement_id(key: StatementKey) -> str:
    """One text for both parts."""
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
        routes=[_name(one) for one in share.routes],
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
                routes=[_name(key) for key in share.routes],
                basis=share.basis,
                each=_estimate(share.each),
                share=_ratio(share.total_seconds, one.seconds),
            )
            for share in one.shares[:MOST_SHOWN]
        ],
        untold=[_name(key) for key in one.untold[:MOST_SHOWN]],
    )


def _statement(
    one: StatementCost, whole: float, base: StatementCost | None, plans: Mapping[PlanKey, StatementPlan]
) -> CostStatement:
    of = one.statement
    sent = of.rows_sent
    source = StatementSource.POSTGRESQL if of.key.digest.isdigit() else StatementSource.MYSQL
    return CostStatement(
        id=statement_id(of.key),
        line=name_of(source, of.key.schema, of.text, [of.key.digest])[0],
        db_schema=of.key.schema,
        text=of.text,
        calls=of.calls,
        seconds=of.seconds,
        mean_seconds=_mean(of.seconds, of.calls),
        share=_ratio(of.seconds, whole),
        lock_seconds=of.lock_seconds,
        examined_per_sent=_mean(of.rows_examined, sent) if sent else None,
        rows_examined=of.rows_examined,
        rows_sent=sent,
        rows_affected=of.rows_affected,
        tmp_disk_tables=of.tmp_disk_tables,
        no_index_used=of.no_index_used,
        errors=of.errors,
        routes=[_name(route) for share in one.shares for route in share.routes],
        unexplained_share=_ratio(one.unexplained_seconds, of.seconds),
        base_mean_seconds=None if base is None else _mean(base.statement.seconds, base.statement.calls),
        base_calls=None if base is None else base.statement.calls,
        plan=plan_of(plans, of.key.schema, [of.key.digest]),
    )


def _name(key: RouteKey) -> str:
    return key.name


def _estimate(one: Estimate) -> CostEstimate:
    return CostEstimate(value=one.value, low=one.low, high=one.high)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def _mean(total: float | None, count: float) -> float | None:
    return total / count if total is not None and count > 0 else None
