"""A run's report in its forms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from loadwatch_backend.catalogue.signals.service import SignalService
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import NotFoundError, ProblemError
from loadwatch_backend.core.language import Language
from loadwatch_backend.evidence.files.service import EvidenceFiles, StoredEvidence
from loadwatch_backend.evidence.run_tables import RunTables
from loadwatch_backend.runs.annotations.service import AnnotationService
from loadwatch_backend.runs.compare.service import CompareService
from loadwatch_backend.runs.report.attached import Attached, attach
from loadwatch_backend.runs.report.charts import first_chart, load_charts, system_charts
from loadwatch_backend.runs.report.html import page_headers, render_gone, render_html
from loadwatch_backend.runs.report.markdown import render_markdown
from loadwatch_backend.runs.report.model import Report, RunReport
from loadwatch_backend.runs.service import RunServices

T = TypeVar("T")
logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A report as it is sent."""

    filename: str
    media_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class ReportService:
    """Safe to use from any thread."""

    def __init__(
        self,
        *,
        runs: RunServices,
        tables: RunTables,
        files: EvidenceFiles,
        annotations: AnnotationService,
        compare: CompareService,
        signals: SignalService,
        clock: Clock,
    ) -> None:
        self._runs = runs
        self._tables = tables
        self._files = files
        self._annotations = annotations
        self._compare = compare
        self._signals = signals
        self._clock = clock
        self._forms: Mapping[str, Callable[[str, Language, Sequence[str]], Document]] = {
            "html": self._html,
            "md": self._markdown,
            "json": self._json,
        }

    def render(self, run_id: str, form: str, language: Language, files: Sequence[str] = ()) -> Document:
        """The report of a run as `html`, `md` or `json`; with the content of those of its files.

        Raises:
            NotFoundError: there is no such run, or it has no such file.
            ReportFilesError: the files have no room.
        """
        return self._forms[form](run_id, language, files)

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
        """What a browser shows of a share link that opens nothing."""
        body = render_gone(language).encode()
        return Document(filename="gone.html", media_type="text/html; charset=utf-8", body=body, headers=page_headers())

    def _html(self, run_id: str, language: Language, files: Sequence[str]) -> Document:
        return _page(run_id, self._report(run_id, language, attach(self._chosen(run_id, files), None)), language)

    def _markdown(self, run_id: str, language: Language, files: Sequence[str]) -> Document:
        report = self._report(run_id, language, attach(self._chosen(run_id, files), None))
        body = render_markdown(report, language).encode()
        return Document(filename=f"{run_id}.md", media_type="text/markdown; charset=utf-8", body=body)

    def _json(self, run_id: str, language: Language, files: Sequence[str]) -> Document:
        """The run's document as at /api/runs/{id}, with those of its costs, routes, statements and files."""
        self._chosen(run_id, files)
        run, tables, parts = self._runs.registry.read(run_id), self._tables, _Parts()
        document = RunReport(
            **dict(run),
            cost=parts.read("why", lambda: tables.costs.of_run(tables.held(run_id), language)),
            routes=parts.read("routes", lambda: tables.routes.of_run(tables.held(run_id), language)),
            statements=parts.read("statements", lambda: tables.statements.of_run(tables.held(run_id), language)),
            repeats=list(self._compare.repeats([run], language)),
            failed=parts.failed,
            files=self._files.list(run_id),
        )
        body = document.model_dump_json(indent=2).encode()
        return Document(filename=f"{run_id}.json", media_type="application/json", body=body)

    def _kept(self, run_id: str, file_id: str) -> StoredEvidence | None:
        """A file of the run; None where it is no more."""
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
        tables, parts = self._tables, _Parts()
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
            cost=parts.read("why", lambda: tables.costs.of_run(tables.held(run_id), language)),
            routes=parts.read("routes", lambda: tables.routes.of_run(tables.held(run_id), language)),
            statements=parts.read("statements", lambda: tables.statements.of_run(tables.held(run_id), language)),
            log=parts.read("log", lambda: tables.log_patterns(run_id)),
            repeats=self._compare.repeats([run], language),
            failed=parts.failed,
            files=self._files.list(run_id),
            attached=attached,
        )


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
