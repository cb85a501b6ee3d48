"""Tables of statements as documents. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.missing import Fault, fault_remarks
from loadwatch_backend.evidence.plans.schemas import PlanKey, StatementPlan, plan_of
from loadwatch_backend.evidence.request_counts import RequestCount
from loadwatch_backend.evidence.statements.model import WITHOUT_TEXT, Line, StatementSource, Window, by_id
from loadwatch_backend.evidence.statements.schemas import (
    StatementBase,
    StatementOut,
    StatementsOut,
    StatementsWindow,
)

ENOUGH = 0.95
MOST_GONE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The statements of one run; `requests` is None where nobody counted, `unread` a kept digest that is none.

    `moved`: a digest of the run's former steady window is kept. `faults`: of collectors that should have counted, where
    nobody did.
    """

    run: str
    span: tuple[int, int]
    steady: bool
    unread: bool
    moved: bool = False
    counted: Window
    lines: Sequence[Line]
    faults: Sequence[Fault] = ()
    requests: RequestCount | None
    plans: Mapping[PlanKey, StatementPlan] = field(default_factory=dict[PlanKey, StatementPlan])


def statements_out(table: Table, base: Table | None, language: Language) -> StatementsOut:
    """The document of a table, held against another one."""
    others = by_id(() if base is None else base.lines)
    here = by_id(table.lines)
    compared = base is not None and base.counted.source is not StatementSource.NONE
    return StatementsOut(
        run=table.run,
        window=StatementsWindow.STEADY if table.steady else StatementsWindow.WHOLE,
        from_ms=table.span[0],
        to_ms=table.span[1],
        source=table.counted.source,
        known=table.counted.known,
        coverage=table.counted.coverage,
        remarks=[*_remarks(table, Texts("statements", language)), *fault_remarks(table.faults, language)],
        calls=sum(line.counted.calls for line in table.lines),
        seconds=sum(line.counted.seconds for line in table.lines),
        requests=None if table.requests is None else table.requests.requests,
        requests_by=None if table.requests is None else table.requests.by,
        statements=[_statement(line, table, base, others.get(line.id)) for line in table.lines],
        base=base.run if base is not None and compared else None,
        base_statements_gone=[
            line.fingerprint for line in (base.lines if base is not None and compared else ()) if line.id not in here
        ][:MOST_GONE],
    )


def _statement(line: Line, table: Table, base: Table | None, other: Line | None) -> StatementOut:
    counted = line.counted
    sent, examined = counted.rows_sent, counted.rows_examined
    return StatementOut(
        id=line.id,
        fingerprint=line.fingerprint,
        database=counted.schema,
        digests=[digest for digest in counted.digests if digest not in WITHOUT_TEXT],
        calls=counted.calls,
        calls_per_second=counted.calls / max(table.counted.seconds * table.counted.known, 1e-9),
        calls_per_request=_per_request(counted.calls, table),
        seconds=counted.seconds,
        share=line.share,
        mean_seconds=counted.seconds / counted.calls if counted.calls else 0.0,
        p95_seconds=counted.p95,
        lock_seconds=counted.lock_seconds,
        errors=counted.errors,
        rows_affected=counted.rows_affected,
        rows_sent=sent,
        rows_examined=examined,
        rows_examined_per_row_sent=examined / sent if examined is not None and sent else None,
        tmp_tables=counted.tmp_tables,
        tmp_disk_tables=counted.tmp_disk_tables,
        no_index_used=counted.no_index_used,
        plan=plan_of(table.plans, counted.schema, counted.digests),
        base=None
        if other is None or base is None
        else StatementBase(
            calls=other.counted.calls,
            calls_per_request=_per_request(other.counted.calls, base),
            seconds=other.counted.seconds,
            mean_seconds=other.counted.seconds / other.counted.calls if other.counted.calls else 0.0,
            share=other.share,
        ),
    )


def _per_request(calls: float, table: Table) -> float | None:
    """None too where only a part of the window was counted: the requests of the rest would make it too small."""
    requests = 0.0 if table.requests is None else table.requests.requests
    return calls / requests if requests and table.counted.known >= ENOUGH else None


def _remarks(table: Table, say: Texts) -> list[str]:
    counted = table.counted
    remarks = [say("unread")] if table.unread else []
    if counted.source is StatementSource.NONE:
        return [*remarks, say("nobody", run=table.run)]
    if counted.known < ENOUGH:
        remarks.append(say("partly", known=f"{counted.known:.0%}"))
    if counted.coverage is not None and counted.coverage < ENOUGH:
        named = "coverage_postgresql" if counted.source is StatementSource.POSTGRESQL else "coverage"
        remarks.append(say(named, coverage=f"{counted.coverage:.0%}"))
    elif counted.coverage is None and counted.source is StatementSource.MYSQL:
        remarks.append(say("coverage_unknown"))
    if any(line.fingerprint == "other" and line.share > 1 - ENOUGH for line in table.lines):
        remarks.append(say("others"))
    if counted.source is StatementSource.SLOW_LOG:
        of_run = say("slow_log_of_run", file=counted.file, outside=f"{counted.outside:,}")
        remarks.append(of_run if counted.file else say("slow_log"))
    if table.moved:
        remarks.append(say("moved"))
    return remarks
