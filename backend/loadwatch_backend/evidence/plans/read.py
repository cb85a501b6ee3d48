"""Plans of statements as agents found them: the edge to the store."""

from collections.abc import Mapping

from loadwatch_formats.statements.plans import MYSQL_PLAN, POSTGRESQL_PLAN, read_plan

from loadwatch_backend.evidence.plans.schemas import PlanKey, PlanStep, StatementPlan
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator, Reader

_NAMES = {MYSQL_PLAN: ("schema", "digest"), POSTGRESQL_PLAN: ("datname", "queryid")}
AROUND_MS = 60_000
"""Agents say every half minute that a plan still stands: a short run may lie between two such times."""


def read_plans(store: Reader, from_ms: int, to_ms: int) -> Mapping[PlanKey, StatementPlan]:
    """The newest plan of each statement in a window, ms since the epoch.

    Raises:
        ProblemError: of the store.
    """
    found: dict[PlanKey, StatementPlan] = {}
    from_ms, to_ms = max(from_ms - AROUND_MS, 0), to_ms + AROUND_MS
    for metric, names in _NAMES.items():
        selection = store.select([Matcher("__name__", MatchOperator.EQUAL, metric)], from_ms, to_ms)
        for place, labels in enumerate(selection.labels):
            times = selection.timestamps[selection.offsets[place] : selection.offsets[place + 1]]
            plan = _plan(labels, int(times[-1])) if len(times) else None
            key = (labels.get(names[0], ""), labels.get(names[1], ""))
            if plan is not None and (key not in found or found[key].seen_ms < plan.seen_ms):
                found[key] = plan
    return found


def _plan(labels: Labels, seen_ms: int) -> StatementPlan | None:
    plan = read_plan(labels.get("plan", ""), labels.get("reason", ""))
    if plan is None:
        return None
    return StatementPlan(
        seen_ms=seen_ms,
        example=labels.get("example", ""),
        steps=[
            PlanStep(table=step.table, access=step.access, key=step.key, rows=step.rows, extra=step.extra)
            for step in plan.steps
        ],
        left_out=plan.left_out,
        reason=plan.reason,
    )
