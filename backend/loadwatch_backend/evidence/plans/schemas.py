"""Plans of statements, on the wire."""

from collections.abc import Mapping, Sequence

from loadwatch_formats.statements.plans import NoPlan
from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema


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
