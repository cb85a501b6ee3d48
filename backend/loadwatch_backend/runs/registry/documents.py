"""Rows to documents and back, and what ran out as it is kept in a row; pure but for the rows' own loading."""

import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import orjson
from loadwatch_formats import run_facts
from loadwatch_formats.outcomes import OUTCOMES
from loadwatch_formats.run_facts import FACTS
from loadwatch_formats.times import format_rfc3339
from pydantic import Field, TypeAdapter

from loadwatch_backend.core.schemas import Milliseconds, Schema
from loadwatch_backend.core.texts.words import message_of
from loadwatch_backend.evidence.records.model import FloatArray, Seconds
from loadwatch_backend.findings.model import Certainty, DiagnosisState, Severity
from loadwatch_backend.findings.schemas import DiagnosisOut, FindingOut, FindingsOut, TextOut
from loadwatch_backend.runs.analysis.schemas import (
    Analysis,
    ClockOut,
    FiguresOut,
    LatencyOut,
    RemarkOut,
    ReportedFigure,
    ResourceReached,
    ThresholdOut,
    ThresholdState,
    WindowSource,
)
from loadwatch_backend.runs.fields import RunState, Window, stored
from loadwatch_backend.runs.key_figures import key_figures
from loadwatch_backend.runs.registry.tables import COLUMNS, FACT_COLUMNS, RunRow, read_column, write_column
from loadwatch_backend.runs.registry.windows import LONGEST_RUN_MS
from loadwatch_backend.runs.schemas import (
    CheckedFacts,
    FirstLimit,
    Generator,
    ImportOut,
    LimitState,
    RunOut,
    RunProgress,
    RunSummary,
    SecondsOut,
)

MOST_KEPT = 20
"""Most accusing findings kept of one run; the first is shown, and the others are counted."""

SAMPLE_MS = 1_000
IsMuted = Callable[[str, Mapping[str, str]], bool]
"""Whether a finding of this id and these labels is muted or marked wrong."""


class KeptLimit(Schema):
    """A finding that accuses, without its evidence."""

    id: str
    title: TextOut
    certainty: Certainty
    labels: dict[str, str]
    from_ms: Milliseconds


class KeptLimits(Schema):
    """What the row of a run holds; causes before consequences."""

    state: LimitState
    found: list[KeptLimit] = Field(default_factory=list[KeptLimit])


def kept_limits(said: FindingsOut | None) -> KeptLimits:
    """What is kept of findings; None where there are none to read, of an older version or without samples."""
    if said is None:
        return KeptLimits(state=LimitState.UNKNOWN)
    accusing = [one for one in said.findings if one.severity is not Severity.INFO][:MOST_KEPT]
    if accusing:
        found = [KeptLimit.model_validate(one, from_attributes=True) for one in accusing]
        return KeptLimits(state=LimitState.FOUND, found=found)
    cannot_tell = said.state is DiagnosisState.CANNOT_TELL
    return KeptLimits(state=LimitState.CANNOT_TELL if cannot_tell else LimitState.NONE)


def write_limits(kept: KeptLimits) -> str:
    return kept.model_dump_json()


def first_limit(kept: str | None, started_ms: int, is_muted: IsMuted) -> FirstLimit | None:
    """What a list says, as the run's page does: the first that is not muted; None before the run is analysed."""
    if kept is None:
        return None
    limits = KeptLimits.model_validate_json(kept)
    said = [one for one in limits.found if not is_muted(one.id, one.labels)]
    if not said:
        return FirstLimit(state=LimitState.MUTED if limits.found else limits.state)
    first = said[0]
    return FirstLimit(
        state=LimitState.FOUND,
        id=first.id,
        title=first.title,
        certainty=first.certainty,
        after_seconds=(first.from_ms - started_ms) / 1_000,
        more=len(said) - 1,
    )


def limits_in_order(resources: Sequence[ResourceReached], findings: Sequence[FindingOut]) -> list[ResourceReached]:
    """Limits with their place, as every page and report has them.

    Those that were full and that a finding accuses, by when they were full; then the others that were full, then the
    rest, the fullest first: a host's CPU that was full while nobody waited is not what ran out first.
    """
    accused = [
        (one.resource, labels)
        for one in findings
        if not one.muted and one.severity is not Severity.INFO
        for labels in ([one.labels | {"instance": name} for name in one.instances] or [one.labels])
    ]
    full = sorted(
        (one for one in resources if one.first_full_ms is not None),
        key=lambda one: (one.first_full_ms or 0, -one.ratio_max),
    )
    others = sorted((one for one in resources if one.first_full_ms is None), key=lambda one: -one.ratio_max)
    harmful = [one for one in full if any(_is_about(one, resource, labels) for resource, labels in accused)]
    ordered: list[ResourceReached] = []
    for number, one in enumerate(harmful, 1):
        before = ordered[-1] if ordered else None
        # Times that are closer than samples come have no order.
        known = max(SAMPLE_MS, one.interval_ms or 0, 0 if before is None else before.interval_ms or 0)
        same = before is not None and (one.first_full_ms or 0) - (before.first_full_ms or 0) < known
        ordered.append(one.model_copy(update={"place": before.place if same and before is not None else number}))
    return [*ordered, *(one for one in [*full, *others] if one not in harmful)]


def _is_about(limit: ResourceReached, resource: str, labels: Mapping[str, str]) -> bool:
    """Whether a finding of these labels is about the limit; of a host, one of them may not name the job."""
    if resource and resource != limit.resource and not limit.resource.startswith("aws_"):
        return False
    names = limit.labels.keys() | labels.keys()
    if "job" in names and not ("job" in limit.labels and "job" in labels):
        names -= {"job"}
    return all(limit.labels.get(name) == labels.get(name) for name in names)


SILENT_MS = 120_000
"""Without a sign of life for this long a running run is said to be silent."""
JUMP_MS = 2_000
"""A change of the clocks' difference beyond this is a jump."""
NO_LATENCY = LatencyOut(min=None, mean=None, p50=None, p90=None, p95=None, p99=None, max=None)

_COLUMNS = (RunOut.model_fields.keys() & COLUMNS) - CheckedFacts.model_fields.keys()
_FIGURES = RunOut.model_fields.keys() & FiguresOut.model_fields.keys()
_NO_FIGURES: Mapping[str, object] = {
    **dict.fromkeys(_FIGURES),
    "latency_seconds": NO_LATENCY,
    "outcomes": {},
    "status_codes": {},
}
_ANALYSIS = (RunOut.model_fields.keys() & Analysis.model_fields.keys()) - COLUMNS - {"remarks"}
"""Fields of a run's document that its row, its figures and its analysis have under the same names."""
_SPARKLINE: TypeAdapter[list[float | None]] = TypeAdapter(list[float | None])


class RunDetails(Schema, run_facts.RunFields):  # pyright: ignore[reportGeneralTypeIssues] - frozen by its configuration
    """The facts of a run, with what of it no list filters or sorts by."""

    __annotations__ = stored()
    generator: Generator | None = None
    source: ImportOut | None = None
    remarks: list[RemarkOut] = Field(default_factory=list[RemarkOut])
    reported: list[ReportedFigure] = Field(default_factory=list[ReportedFigure])


class Context(NamedTuple):
    """What other tables say of a run. `baseline` is the pinned run of its scenario."""

    baseline: str | None
    has_snapshots: bool
    reviewed: bool


def pack(document: bytes) -> bytes:
    """Compress JSON; level 6 takes 10 ms for a thousand endpoints and a tenth of the space."""
    return zlib.compress(document, 6)


def unpack(packed: bytes) -> bytes:
    return zlib.decompress(packed)


def fact_values(facts: run_facts.RunFields) -> dict[str, object]:
    return {fact.name: getattr(facts, fact.name) for fact in FACTS}


def read_columns(row: RunRow) -> dict[str, object]:
    return {name: read_column(row, name) for name in FACT_COLUMNS}


def read_details(row: RunRow) -> RunDetails:
    return RunDetails.model_validate({**orjson.loads(row.details), **read_columns(row)})


def write_details(row: RunRow, changes: Mapping[str, object]) -> None:
    for name in changes.keys() & FACT_COLUMNS:
        write_column(row, name, changes[name])
    if changes.keys() - FACT_COLUMNS:
        details = read_details(row).model_copy(update=changes)
        row.details = details.model_dump_json(exclude=set(FACT_COLUMNS))


def read_sparkline(row: RunRow) -> list[float | None]:
    """Requests per second, at most 60 values."""
    return _SPARKLINE.validate_json(row.sparkline)


def write_sparkline(values: list[float | None]) -> str:
    return orjson.dumps(values).decode()


def read_window(row: RunRow) -> Window | None:
    if row.steady_from is None or row.steady_to is None:
        return None
    return Window(from_seconds=row.steady_from, to_seconds=row.steady_to)


def is_silent(row: RunRow, now_ms: int) -> bool:
    """Whether the run is marked as running, but nothing was heard of it for `SILENT_MS`."""
    return row.state == RunState.RUNNING and now_ms - row.seen_ms > SILENT_MS


def end_of(row: RunRow, now_ms: int) -> int:
    """The end on the server's clock; of a running run the present, or the last sign of life of a silent one."""
    if row.ended_ms is not None:
        return row.ended_ms
    last_ms = row.seen_ms if is_silent(row, now_ms) else now_ms
    return min(max(row.started_ms, last_ms), row.started_ms + LONGEST_RUN_MS)


def clock_of(row: RunRow) -> ClockOut:
    start, end = row.skew_ms, row.skew_end_ms
    return ClockOut(
        skew_seconds=None if start is None else start / 1_000,
        skew_end_seconds=None if end is None else end / 1_000,
        jumped=start is not None and end is not None and abs(end - start) > JUMP_MS,
    )


OF_VEGETA = "vegeta-estimates"


def remarks_of_tool(remarks: Sequence[RemarkOut], tool: str) -> list[RemarkOut]:
    """Drops remarks on vegeta's own report where another tool wrote the file in vegeta's format."""
    is_vegeta = not tool or "vegeta" in tool.lower()
    return [one for one in remarks if is_vegeta or one.code != OF_VEGETA]


def run_out(row: RunRow, analysis: Analysis | None, context: Context, now_ms: int) -> RunOut:
    details = read_details(row)
    figures = None if analysis is None else analysis.figures
    fields = {
        **_values(details, CheckedFacts.model_fields),
        **_values(row, _COLUMNS),
        **(_NO_FIGURES if figures is None else _values(figures, _FIGURES)),
        **(_not_analysed(details) if analysis is None else _analysed(analysis)),
        "silent": is_silent(row, now_ms),
        "is_baseline": context.baseline == row.id,
        "baseline": context.baseline,
        "started_at": format_rfc3339(row.started_ms),
        "ended_at": None if row.ended_ms is None else format_rfc3339(row.ended_ms),
        "clock": clock_of(row),
        "source": details.source,
        "remarks": [*remarks_of_tool(details.remarks, row.tool), *([] if analysis is None else analysis.remarks)],
        "progress": None if row.progress is None else RunProgress.model_validate_json(row.progress),
        "has_snapshots": context.has_snapshots,
        "sparkline": read_sparkline(row),
        "key_figures": key_figures(
            whole=figures,
            steady=None if analysis is None or _is_whole(analysis) else analysis.steady,
            target_rate=details.target_rate,
            thresholds=[] if analysis is None else analysis.thresholds,
            reconciliation=None if analysis is None else analysis.reconciliation,
            own=[] if analysis is None else analysis.own_figures,
        ),
    }
    return RunOut.model_validate(fields)


def _values(of: object, names: Iterable[str]) -> dict[str, object]:
    return {name: getattr(of, name) for name in names}


def _not_analysed(details: RunDetails) -> dict[str, object]:
    return {
        **dict.fromkeys(_ANALYSIS),
        **{name: [] for name in ("verdict_reasons", "endpoints", "errors", "expectations", "resources", "findings")},
        "own_figures": [],
        "endpoints_window": "whole",
        "thresholds": [_unmeasured(text) for text in details.thresholds],
        "diagnosis": None,
    }


def _analysed(analysis: Analysis) -> dict[str, object]:
    found = analysis.findings
    said = set(DiagnosisOut.model_fields)
    return {
        **_values(analysis, _ANALYSIS),
        "findings": [] if found is None else found.findings,
        "diagnosis": None if found is None else DiagnosisOut.model_validate(found.model_dump(include=said)),
    }


def _unmeasured(expression: str) -> ThresholdOut:
    """A threshold of a run that was begun while another one is analysed."""
    said = message_of("measured", "not-analysed")
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
    return analysis.steady_window is None or analysis.steady_window.source is WindowSource.WHOLE


def summary_out(row: RunRow, context: Context, is_muted: IsMuted, now_ms: int) -> RunSummary:
    fields = {
        **{name: read_column(row, name) for name in RunSummary.model_fields.keys() & COLUMNS},
        "silent": is_silent(row, now_ms),
        "is_baseline": context.baseline == row.id,
        "sparkline": read_sparkline(row),
        "p95_sparkline": None if row.p95_sparkline is None else _SPARKLINE.validate_json(row.p95_sparkline),
        "first_limit": first_limit(row.limits, row.started_ms, is_muted),
        "reviewed": context.reviewed,
    }
    return RunSummary.model_validate(fields)


LATENCY_NAMES = ("p50", "p90", "p95", "p99", "max")


def reduce_extremes(values: FloatArray, width: int) -> FloatArray:
    """Two values for each `width` seconds: the smallest and the largest, in the order in which they occurred.

    Returns:
        float64[2 * ceil(n / width)]; NaN where all values of a pair are NaN.
    """
    rows = -(-len(values) // width)
    padded = np.full(rows * width, np.nan)
    padded[: len(values)] = values
    table = padded.reshape(rows, width)
    empty = np.isnan(table).all(axis=1)
    low = np.argmin(np.where(np.isnan(table), np.inf, table), axis=1)
    high = np.argmax(np.where(np.isnan(table), -np.inf, table), axis=1)
    each = np.arange(rows)
    pairs = np.stack([table[each, np.minimum(low, high)], table[each, np.maximum(low, high)]], axis=1)
    pairs[empty] = np.nan
    return pairs.reshape(-1)


def seconds_out(seconds: Seconds, max_points: int) -> SecondsOut:
    count = len(seconds.outcomes)
    step = 1 if count <= max_points else math.ceil(count / (max_points // 2 * 2))

    def shown(values: FloatArray) -> list[float | None]:
        return _numbers(values if step == 1 else reduce_extremes(values, 2 * step))

    latency = seconds.latency
    rate = shown(seconds.requests.astype(np.float64))
    return SecondsOut(
        start_ms=max(seconds.start_ms, 0),
        step_ms=1_000 * step,
        count=len(rate),
        reduced=step > 1,
        exact=seconds.exact,
        outcomes={
            outcome.value: shown(seconds.outcomes[:, code].astype(np.float64))
            for code, outcome in enumerate(OUTCOMES)
            if seconds.outcomes[:, code].any()
        },
        rate=rate,
        latency_seconds={}
        if latency is None
        else {name: shown(latency[:, column]) for column, name in enumerate(LATENCY_NAMES)},
        bytes_in=None if seconds.bytes_in is None else shown(seconds.bytes_in.astype(np.float64)),
        bytes_out=None if seconds.bytes_out is None else shown(seconds.bytes_out.astype(np.float64)),
        users=None if seconds.users is None else shown(seconds.users),
    )


def _numbers(values: FloatArray) -> list[float | None]:
    plain: Sequence[float] = values.tolist()
    return [value if math.isfinite(value) else None for value in plain]
