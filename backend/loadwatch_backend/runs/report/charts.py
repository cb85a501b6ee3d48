"""The charts of a report, from a run's seconds and from the store."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from loadwatch_formats.numbers import format_value
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.catalogue.signals.legend import name_series
from loadwatch_backend.catalogue.signals.model import Signal
from loadwatch_backend.catalogue.signals.service import SignalService
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.records.model import OUTCOME_CODES, Seconds
from loadwatch_backend.runs.annotations.schemas import AnnotationOut
from loadwatch_backend.runs.report.findings import first_evidence, read
from loadwatch_backend.runs.report.numbers import elapsed_text
from loadwatch_backend.runs.report.svg import Chart, Line, Mark
from loadwatch_backend.runs.schemas import RunOut

FloatArray = npt.NDArray[np.float64]
Notes = Sequence[AnnotationOut]

SYSTEM_SIGNALS: Sequence[str] = (
    "pool_waits",
    "pool_wait_mean",
    "pool_in_use",
    "db_connected",
    "db_aborted_connects",
    "lag_max",
    "process_fds",
    "time_wait",
    "host_cpu",
    "tcp_peers",
    "host_to_host",
)
"""Signals of the system that a report draws where there are values: one for each danger of needs.md A."""
MOST_LINES = 8
LATENCY_LINES = (("p50", 0), ("p95", 2), ("p99", 3), ("max", 4))


def first_chart(run: RunOut, notes: Notes, language: Language) -> Chart | None:
    """What ran out first: the use of the limit over the run, the limit, and when harm was done; None where none did."""
    found = first_evidence(run)
    if found is None or run.diagnosis is None or found[1].chart is None:
        return None
    (finding, evidence), drawn, start_ms = found, found[1].chart, run.diagnosis.from_ms
    values = np.array([np.nan if value is None else value for value in drawn.values], np.float64)
    # Elapsed times count from the run's beginning, wherever the evidence begins.
    before = round((drawn.start_ms - start_ms) / drawn.step_ms)
    values = np.concatenate([np.full(before, np.nan), values]) if before >= 0 else values[-before:]
    harm = (max(finding.from_ms - start_ms, 0) / 1_000, max(finding.to_ms - start_ms, 0) / 1_000)
    texts = Texts("report", language)
    title = read(finding.title, language)
    said = [
        "" if evidence.limit is None else texts("at_limit", value=format_value(evidence.limit, evidence.unit)),
        texts("harm", start=elapsed_text(harm[0]), end=elapsed_text(harm[1])),
    ]
    return Chart(
        title=title,
        unit=evidence.unit,
        span_seconds=max(len(values) * drawn.step_ms / 1_000, 1.0),
        lines=[Line(name=" ".join(finding.labels.values()) or title, values=values)],
        steady=harm,
        marks=[Mark(seconds=(note.start_ms - start_ms) / 1_000, text=note.text) for note in notes],
        limit=evidence.limit,
        note=" · ".join(one for one in said if one),
    )


def load_charts(run: RunOut, seconds: Seconds | None, notes: Notes, language: Language) -> list[Chart]:
    """Requests, latency and failures over the run; none without seconds."""
    if seconds is None or len(seconds.outcomes) == 0:
        return []
    texts = Texts("report", language)
    span = float(len(seconds.outcomes))
    window = run.steady_window
    steady = None if window is None or window.source == "whole" else (window.from_seconds, window.to_seconds)
    marks = [Mark(seconds=(note.start_ms - seconds.start_ms) / 1_000, text=note.text) for note in notes]
    requests = seconds.requests.astype(np.float64)
    good = seconds.outcomes[:, OUTCOME_CODES[Outcome.OK]].astype(np.float64)
    charts = [
        Chart(
            title=texts("chart_rate"),
            unit="per_second",
            span_seconds=span,
            lines=[Line(name=texts("all"), values=requests), Line(name=texts("ok"), values=good)],
            steady=steady,
            marks=marks,
        )
    ]
    if seconds.latency is not None:
        lines = [Line(name=texts(key), values=seconds.latency[:, column]) for key, column in LATENCY_LINES]
        charts.append(
            Chart(
                title=texts("chart_latency"), unit="seconds", span_seconds=span, lines=lines, steady=steady, marks=marks
            )
        )
    failures = _failure_lines(seconds, texts)
    if failures:
        charts.append(
            Chart(
                title=texts("chart_failures"),
                unit="per_second",
                span_seconds=span,
                lines=failures,
                steady=steady,
                marks=marks,
            )
        )
    return charts


def _failure_lines(seconds: Seconds, texts: Texts) -> list[Line]:
    return [
        Line(name=texts(outcome.value), values=seconds.outcomes[:, code].astype(np.float64))
        for outcome, code in OUTCOME_CODES.items()
        if outcome is not Outcome.OK and seconds.outcomes[:, code].any()
    ]


def system_charts(run: RunOut, signals: SignalService, language: Language, notes: Notes) -> list[Chart]:
    """Signals of the store over the run; those without a value are left out."""
    end_ms = run.ended_ms or run.updated_ms
    span = max((end_ms - run.started_ms) / 1_000, 1.0)
    marks = [Mark(seconds=(note.start_ms - run.started_ms) / 1_000, text=note.text) for note in notes]
    charts: list[Chart] = []
    for id in SYSTEM_SIGNALS:
        signal = signals.definition(id)
        lines = [] if signal is None else _signal_lines(signals, signal, run.started_ms, end_ms, language)
        if signal is not None and lines:
            title = signals.full_title(id).read(language)
            charts.append(Chart(title=title, unit=signal.unit, span_seconds=span, lines=lines, marks=marks))
    return charts


def _signal_lines(signals: SignalService, signal: Signal, start_ms: int, end_ms: int, language: Language) -> list[Line]:
    try:
        found = signals.over(signal.id, start_ms, end_ms, 400)
    except ProblemError:
        return []
    title = signal.title.read(language)
    lines = [
        Line(name=name_series(title, signal.legend, _labels(labels), shared=False), values=values)
        for labels, values in found.items()
        if not np.isnan(values).all()
    ]
    lines.sort(key=lambda line: -float(np.nanmax(line.values)))
    return lines[:MOST_LINES]


def _labels(pairs: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    return {name: value for name, value in pairs if name != "__name__"}
