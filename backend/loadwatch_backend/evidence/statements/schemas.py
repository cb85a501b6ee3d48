"""Statements of a run, on the wire."""

from enum import StrEnum

from pydantic import Field

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.evidence.plans.schemas import StatementPlan
from loadwatch_backend.evidence.request_counts import RequestsBy
from loadwatch_backend.evidence.statements.model import StatementSource


class StatementsWindow(StrEnum):
    """What the figures cover."""

    STEADY = "steady"
    WHOLE = "whole"


class StatementBase(Schema):
    """The same statement in the run that this one is held against."""

    calls: float
    calls_per_request: float | None
    seconds: float
    mean_seconds: float
    share: float


class StatementOut(Schema):
    """One statement; what its source does not tell is null."""

    id: str = Field(description="The same for the same statement in every run.")
    fingerprint: str = Field(
        description="The text without values; `other` is all further ones, `prepared` executions without a known text."
    )
    database: str = Field(description="Database that it ran in; empty where unknown.")
    digests: list[str] = Field(description="The source's names for it.")
    calls: float
    calls_per_second: float
    calls_per_request: float | None = Field(description="Null where nobody counted requests.")
    seconds: float = Field(description="Time of all calls.")
    share: float = Field(description="Of the time of all statements.")
    mean_seconds: float
    p95_seconds: float | None
    lock_seconds: float | None = Field(description="Of all calls: waiting for locks of tables.")
    errors: float | None
    rows_affected: float | None
    rows_sent: float | None
    rows_examined: float | None
    rows_examined_per_row_sent: float | None = Field(description="Null where nothing was sent.")
    tmp_tables: float | None
    tmp_disk_tables: float | None
    no_index_used: float | None = Field(description="Calls that read a table without an index.")
    plan: StatementPlan | None = Field(description="How the database runs it; null where no agent asked (`plans`).")
    base: StatementBase | None = Field(description="Null where the other run has no such statement, or there is none.")


class StatementsOut(Schema):
    """All statements of a run, by time."""

    run: str
    window: StatementsWindow
    from_ms: Milliseconds
    to_ms: Milliseconds
    source: StatementSource
    known: float = Field(description="Share of the window in which somebody counted.")
    coverage: float | None = Field(description="Share of what was executed that is told apart by its text.")
    remarks: list[str] = Field(description="What is missing, and what to do, in words.")
    calls: float
    seconds: float
    requests: float | None = Field(description="Of the window; null where nobody counted.")
    requests_by: RequestsBy | None = Field(description="Who counted them.")
    statements: list[StatementOut]
    base: str | None = Field(description="Id of the run that this one is held against.")
    base_statements_gone: list[str] = Field(description="Fingerprints that the other run has and this one has not.")
