"""Rows to documents and back; pure but for the rows' own loading."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import orjson
from loadwatch_formats import run_facts
from loadwatch_formats.run_facts import FACTS
from loadwatch_formats.times import format_rfc3339
from pydantic import Field, TypeAdapter

from loadwatch_backend.findings.schemas import DiagnosisOut
from loadwatch_backend.kit.schemas import Schema
from loadwatch_backend.runs.analysis.schemas import (
    Analysis,
    ClockOut,
    LatencyOut,
    RemarkOut,
    ThresholdOut,
    ThresholdState,
    WindowSource,
)
from loadwatch_backend.runs.facts import stored
from loadwatch_backend.runs.fields import RunState, Verdict, Window
from loadwatch_backend.runs.imports.schemas import ImportOut
from loadwatch_backend.runs.key_figures import key_figures
from loadwatch_backend.runs.registry.limits import IsMuted, first_limit
from loadwatch_backend.runs.registry.tables import FACT_COLUMNS, RunRow, read_column, write_column
from loadwatch_backend.runs.registry.windows import LONGEST_RUN_MS
from loadwatch_backend.runs.schemas import CheckedFacts, Generator, RunOut, RunProgress, RunSummary
from loadwatch_backend.texts.thresholds import MEASURED

SILENT_MS = 120_000
"""Without a sign of life for this long a running run is said to be silent."""
JUMP_MS = 2_000
"""A change of the clocks' difference beyond this is a jump."""
NO_LATENCY = LatencyOut(min=None, mean=None, p50=None, p90=None, p95=None, p99=None, max=None)

_LISTS = ("verdict_reasons", "endpoints", "errors", "thresholds", "expectations", "resources")
_SPARKLINE: TypeAdapter[list[float | None]] = TypeAdapter(list[float | None])


class RunDetails(Schema, run_facts.RunFields):  # pyright: ignore[reportGeneralTypeIssues] - frozen by its configuration
    """The facts of a run, with what of it no list filters or sorts by."""

    __annotations__ = stored()
    generator: Generator | None = None
    source: ImportOut | None = None
    remarks: list[RemarkOut] = Field(default_factory=list[RemarkOut])


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What other tables say of a run. `baseline` is the pinned run of its scenario."""

    baseline: str | None
    has_snapshots: bool
    reviewed: bool


def pack(document: bytes) -> bytes:
    """Compress JSON; level 6 takes 10 ms for a thousand endpoints and a tenth of the space."""
    return zlib.compress(document, 6)


def unpack(packed: bytes) -> bytes:
    """What `pack` was given."""
    return zlib.decompress(packed)


def fact_values(facts: run_facts.RunFields) -> dict[str, object]:
    """What is said of a run, by field."""
    return {fact.name: getattr(facts, fact.name) for fact in FACTS}


def read_columns(row: RunRow) -> dict[str, object]:
    """The facts that have columns."""
    return {name: read_column(row, name) for name in FACT_COLUMNS}


def read_details(row: RunRow) -> RunDetails:
    """What columns and the JSON document of a run hold."""
    return RunDetails.model_validate({**orjson.loads(row.details), **read_columns(row)})


def write_details(row: RunRow, changes: Mapping[str, object]) -> None:
    """Change some fields of `RunDetails`, each where it is kept."""
    for name in changes.keys() & FACT_COLUMNS:
        write_column(row, name, changes[name])
    if changes.keys() - FACT_COLUMNS:
        details = read_details(row).model_copy(update=changes)
        row.details = details.model_dump_json(exclude=set(FACT_COLUMNS))


def read_sparkline(row: RunRow) -> list[float | None]:
    """Requests per second, at most 60 values."""
    return _SPARKLINE.validate_json(row.sparkline)


def write_sparkline(values: list[float | None]) -> str:
    """As `read_sparkline` reads it."""
    return orjson.dumps(values).decode()


def read_window(row: RunRow) -> Window | None:
    """The steady window set by hand."""
    if row.steady_from is None or row.steady_to is None:
        return None
    return Window(from_seconds=row.steady_from, to_seconds=row.steady_to)


def is_silent(row: RunRow, now_ms: int) -> bool:
    """Said to be running, and nothing was heard of it."""
    return row.state == RunState.RUNNING and now_ms - row.seen_ms > SILENT_MS


def end_of(row: RunRow, now_ms: int) -> int:
    """The end on the server's clock; of a running run the present, or the last sign of life of a silent one."""
    if row.ended_ms is not None:
        return row.ended_ms
    last_ms = row.seen_ms if is_silent(row, now_ms) else now_ms
    return min(max(row.started_ms, last_ms), row.started_ms + LONGEST_RUN_MS)


def clock_of(row: RunRow) -> ClockOut:
    """Both clocks."""
    start, end = row.skew_ms, row.skew_end_ms
    return ClockOut(
        skew_seconds=None if start is None else start / 1_000,
        skew_end_seconds=None if end is None else end / 1_000,
        jumped=start is not None and end is not None and abs(end - start) > JUMP_MS,
    )


OF_VEGETA = "vegeta-estimates"


def remarks_of_tool(remarks: Sequence[RemarkOut], tool: str) -> list[RemarkOut]:
    """Without what is said of vegeta's own report where another tool wrote the file in vegeta's format."""
    is_vegeta = not tool or "vegeta" in tool.lower()
    return [one for one in remarks if is_vegeta or one.code != OF_VEGETA]


def run_out(row: RunRow, analysis: Analysis | None, context: Context, now_ms: int) -> RunOut:
    """The document of one run."""
    details = read_details(row)
    figures = None if analysis is None else analysis.figures
    fields = {
        **{name: getattr(details, name) for name in CheckedFacts.model_fields},
        "id": row.id,
        "state": RunState(row.state),
        "silent": is_silent(row, now_ms),
        "verdict": None if row.verdict is None else Verdict(row.verdict),
        "is_baseline": context.baseline == row.id,
        "baseline": context.baseline,
        "started_at": format_rfc3339(row.started_ms),
        "ended_at": None if row.ended_ms is None else format_rfc3339(row.ended_ms),
        "started_ms": row.started_ms,
        "ended_ms": row.ended_ms,
        "created_ms": row.created_ms,
        "updated_ms": row.updated_ms,
        "exit_code": row.exit_code,
        "abort_reason": row.abort_reason,
        "clock": clock_of(row),
        "source": details.source,
        "remarks": [*remarks_of_tool(details.remarks, row.tool), *([] if analysis is None else analysis.remarks)],
        "progress": None if row.progress is None else RunProgress.model_validate_json(row.progress),
        "has_snapshots": context.has_snapshots,
        "requests": None if figures is None else figures.requests,
        "success_ratio": None if figures is None else figures.success_ratio,
        "rate": None if figures is None else figures.rate,
        "latency_seconds": NO_LATENCY if figures is None else figures.latency_seconds,
        "outcomes": {} if figures is None else figures.outcomes,
        "status_codes": {} if figures is None else figures.status_codes,
        "bytes_in": None if figures is None else figures.bytes_in,
        "bytes_out": None if figures is None else figures.bytes_out,
        "wait_seconds": None if figures is None else figures.wait_seconds,
        "throughput": None if figures is None else figures.throughput,
        "sparkline": read_sparkline(row),
        "key_figures": key_figures(
            whole=figures,
            steady=None if analysis is None or _is_whole(analysis) else analysis.steady,
            target_rate=details.target_rate,
            thresholds=[] if analysis is None else analysis.thresholds,
            reconciliation=None if analysis is None else analysis.reconciliation,
        ),
        **_analysed(analysis),
        **({"thresholds": [_unmeasured(text) for text in details.thresholds]} if analysis is None else {}),
    }
    return RunOut.model_validate(fields)


def _unmeasured(expression: str) -> ThresholdOut:
    """A threshold of a run that was begun while another one is analysed."""
    said = MEASURED["not-analysed"]
    return ThresholdOut(
        expression=expression,
        metric=expression,
        operator="",
        limit=None,
        unit="",
        actual=None,
        window="",
        state=ThresholdState.UNKNOWN,
        detail=said.en,
        detail_ja=said.ja,
    )


def _is_whole(analysis: Analysis) -> bool:
    """Whether what is called steady is all of the run."""
    return analysis.steady_window is None or analysis.steady_window.source is WindowSource.WHOLE


def _analysed(analysis: Analysis | None) -> Mapping[str, object]:
    if analysis is None:
        return {
            **{field: [] for field in _LISTS},
            "findings": [],
            **dict.fromkeys(("steady_window", "steady", "ramp", "reconciliation", "generator", "diagnosis")),
        }
    return {
        "verdict_reasons": analysis.verdict_reasons,
        "endpoints": analysis.endpoints,
        "endpoints_window": analysis.endpoints_window,
        "errors": analysis.errors,
        "steady_window": analysis.steady_window,
        "steady": analysis.steady,
        "thresholds": analysis.thresholds,
        "expectations": analysis.expectations,
        "ramp": analysis.ramp,
        "resources": analysis.resources,
        "findings": [] if analysis.findings is None else analysis.findings.findings,
        "diagnosis": analysis.findings
        and DiagnosisOut.model_validate(analysis.findings.model_dump(include=set(DiagnosisOut.model_fields))),
        "reconciliation": analysis.reconciliation,
        "generator": analysis.generator,
    }


def summary_out(row: RunRow, context: Context, is_muted: IsMuted, now_ms: int) -> RunSummary:
    """A run's line in the list."""
    facts = {name: value for name, value in read_columns(row).items() if name in RunSummary.model_fields}
    return RunSummary(
        **facts,
        id=row.id,
        state=RunState(row.state),
        silent=is_silent(row, now_ms),
        verdict=None if row.verdict is None else Verdict(row.verdict),
        is_baseline=context.baseline == row.id,
        started_ms=row.started_ms,
        ended_ms=row.ended_ms,
        requests=row.requests,
        rate=row.rate,
        success_ratio=row.success_ratio,
        p95_seconds=row.p95_seconds,
        sparkline=read_sparkline(row),
        p95_sparkline=None if row.p95_sparkline is None else _SPARKLINE.validate_json(row.p95_sparkline),
        first_limit=first_limit(row.limits, row.started_ms, is_muted),
        reviewed=context.reviewed,
    )
