"""How databases run statements, as agents found it."""

from collections.abc import Mapping, Sequence

from loadwatch_formats.statements.plans import MYSQL_PLAN, POSTGRESQL_PLAN, NoPlan, read_plan
from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator, Reader


class PlanStep(Schema):
    """One line of a plan."""

    table: str | None = Field(description="Null where the step reads no table.")
    access: str | None = Field(description="How it is read, in the server's words: `ALL`, `ref`, `Seq Scan`.")
    key: str | None = Field(description="The index.")
    rows: float | None = Field(description="Rows that the server expects to read.")
    extra: str | None


class StatementPlan(Schema):
    """How the server runs a statement, by EXPLAIN; without any value of it."""

    seen_ms: Milliseconds = Field(description="The last time at which the agent held it for true.")
    example: str = Field(description="The execution that was explained, its values masked; empty of a generic plan.")
    steps: list[PlanStep]
    left_out: int = Field(description="Steps beyond the bound.")
    reason: NoPlan | None = Field(description="Why there are no steps.")


PlanKey = tuple[str, str]
"""Database, and what its server calls the statement."""


def plan_of(plans: Mapping[PlanKey, StatementPlan], schema: str, digests: Sequence[str]) -> StatementPlan | None:
    """Of a statement that may have several names; one with steps comes first."""
    known = [plans[schema, digest] for digest in digests if (schema, digest) in plans]
    return next((plan for plan in known if plan.steps), known[0] if known else None)


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
        steps=[PlanStep.model_validate(step, from_attributes=True) for step in plan.steps],
        left_out=plan.left_out,
        reason=plan.reason,
    )
