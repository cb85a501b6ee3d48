"""A run's report in its forms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import structlog
from loadwatch_formats.numbers import format_value
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.catalogue.signals.model import Signal, name_series
from loadwatch_backend.catalogue.signals.service import SignalService
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import NotFoundError, ProblemError
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.evidence.files.service import EvidenceFiles, StoredEvidence
from loadwatch_backend.evidence.records.model import OUTCOME_CODES, Seconds
from loadwatch_backend.evidence.run_tables import RunTables
from loadwatch_backend.runs.annotations.schemas import AnnotationOut
from loadwatch_backend.runs.annotations.service import AnnotationService
from loadwatch_backend.runs.compare.metrics import lane_rates
from loadwatch_backend.runs.compare.service import CompareService
from loadwatch_backend.runs.report.findings import elapsed_text, first_evidence, read
from loadwatch_backend.runs.report.html import page_headers, render_gone, render_html
from loadwatch_backend.runs.report.markdown import render_markdown
from loadwatch_backend.runs.report.model import Attached, Report, RunReport, attach
from loadwatch_backend.runs.report.svg import Chart, Line, Mark
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.runs.service import RunServices

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
    requests, good, _ = lane_rates(seconds)
    drawn = [
        ("chart_rate", "per_second", [Line(name=texts("all"), values=requests), Line(name=texts("ok"), values=good)])
    ]
    if seconds.latency is not None:
        lines = [Line(name=texts(key), values=seconds.latency[:, column]) for key, column in LATENCY_LINES]
        drawn.append(("chart_latency", "seconds", lines))
    failures = [
        Line(name=texts(outcome.value), values=seconds.outcomes[:, code].astype(np.float64))
        for outcome, code in OUTCOME_CODES.items()
        if outcome is not Outcome.OK and seconds.outcomes[:, code].any()
    ]
    if failures:
        drawn.append(("chart_failures", "per_second", failures))
    return [
        Chart(title=texts(key), unit=unit, span_seconds=span, lines=lines, steady=steady, marks=marks)
        for key, unit, lines in drawn
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


T = TypeVar("T")
logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Document:
    filename: str
    media_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(eq=False)
class ReportService:
    """Safe to use from any thread."""

    _runs: RunServices
    _tables: RunTables
    _files: EvidenceFiles
    _annotations: AnnotationService
    _compare: CompareService
    _signals: SignalService
    _clock: Clock

    def render(self, run_id: str, form: str, language: Language, files: Sequence[str] = ()) -> Document:
        """The report of a run as `html`, `md` or `json`; with the content of those of its files.

        Raises:
            NotFoundError: there is no such run, or it has no such file.
            ReportFilesError: the files have no room.
        """
        chosen = self._chosen(run_id, files)
        if form == "json":
            # The run's document as at /api/runs/{id}, with those of its costs, routes, statements and files.
            run = self._runs.registry.read(run_id)
            document = RunReport(**dict(run), **self._kept_with(run, language, _Parts()))
            return Document(f"{run_id}.json", "application/json", document.model_dump_json(indent=2).encode())
        report = self._report(run_id, language, attach(chosen, None))
        if form == "html":
            return _page(run_id, report, language)
        return Document(f"{run_id}.md", "text/markdown; charset=utf-8", render_markdown(report, language).encode())

    def render_shared(self, secret: str, language: Language) -> Document:
        """The report that a share link opens.

        Raises:
            NotFoundError: there is no such link, or it has expired.
        """
        shared = self._runs.shares.open(secret)
        chosen = [found for one in shared.files if (found := self._kept(shared.run, one)) is not None]
        # The page's own address has the secret: what it links to is below it.
        attached = attach(chosen, lambda file_id: f"{secret}/files/{file_id}")
        return _page(shared.run, self._report(shared.run, language, attached), language)

    def open_shared(self, secret: str, file_id: str) -> StoredEvidence:
        """A file that a share link shows.

        Raises:
            NotFoundError: there is no such link, it has expired, or does not show the file.
        """
        shared = self._runs.shares.open(secret)
        found = self._kept(shared.run, file_id) if file_id in shared.files else None
        if found is None:
            raise NotFoundError("This link shows no such file, or not any more. Ask who sent it.")
        return found

    def render_gone(self, language: Language) -> Document:
        body = render_gone(language).encode()
        return Document(filename="gone.html", media_type="text/html; charset=utf-8", body=body, headers=page_headers())

    def _kept(self, run_id: str, file_id: str) -> StoredEvidence | None:
        try:
            found = self._files.open(file_id)
        except NotFoundError:
            return None
        return found if found.file.run == run_id else None

    def _chosen(self, run_id: str, files: Sequence[str]) -> list[StoredEvidence]:
        chosen: list[StoredEvidence] = []
        for file_id in dict.fromkeys(files):
            found = self._kept(run_id, file_id)
            if found is None:
                raise NotFoundError(f"The run {run_id} has no file {file_id}; it may have been deleted.")
            chosen.append(found)
        return chosen

    def _report(self, run_id: str, language: Language, attached: Mapping[str, Attached]) -> Report:
        run = self._runs.registry.read(run_id)
        baseline = None
        if run.baseline is not None and run.baseline != run_id:
            try:
                baseline = self._runs.registry.read(run.baseline)
            except NotFoundError:
                # Deleted between the two readings.
                baseline = None
        parts = _Parts()
        notes = self._annotations.list(run.started_ms, run.ended_ms or run.updated_ms, None)
        first = first_chart(run, notes, language)
        load = load_charts(run, parts.read("charts", lambda: self._runs.registry.raw_seconds(run_id)), notes, language)
        system = parts.read("charts", lambda: system_charts(run, self._signals, language, notes))
        shown = 0 if first is not None else 2
        return Report(
            run=run,
            baseline=baseline,
            difference=None
            if baseline is None
            else parts.read("baseline", lambda: self._runs.configuration.difference(run_id, baseline.id)),
            review=self._runs.reviews.read(run_id),
            notes=notes,
            opening=load[:shown] if first is None else [first],
            charts=[*load[shown:], *(system or ())],
            made_ms=self._clock(),
            log=parts.read("log", lambda: self._tables.log_patterns(run_id)),
            attached=attached,
            **self._kept_with(run, language, parts),
        )

    def _kept_with(self, run: RunOut, language: Language, parts: "_Parts") -> dict[str, Any]:
        tables = self._tables
        return {
            "cost": parts.read("why", lambda: tables.costs.of_run(tables.held(run.id), language)),
            "routes": parts.read("routes", lambda: tables.routes.of_run(tables.held(run.id), language)),
            "statements": parts.read("statements", lambda: tables.statements.of_run(tables.held(run.id), language)),
            "repeats": self._compare.repeats([run], language),
            "failed": parts.failed,
            "files": self._files.list(run.id),
        }


class _Parts:
    """Reads parts of a report, each of which the report can stand without.

    Attributes:
        failed: keys of the parts that the server failed to read; what there is nothing of is not among them.
    """

    def __init__(self) -> None:
        self.failed: list[str] = []

    def read(self, key: str, read: Callable[[], T]) -> T | None:
        """A part; None where there is nothing of it, or it failed."""
        try:
            return read()
        except Exception as error:
            if isinstance(error, ProblemError) and error.status < 500:
                return None
            logger.exception("a part of a report could not be read", part=key)
            self.failed += [] if key in self.failed else [key]
            return None


def _page(run_id: str, report: Report, language: Language) -> Document:
    body = render_html(report, language).encode()
    return Document(filename=f"{run_id}.html", media_type="text/html; charset=utf-8", body=body, headers=page_headers())
