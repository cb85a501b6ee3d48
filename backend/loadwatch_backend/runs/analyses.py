"""The analysis of runs, kept: computed when a run changes, so that its page reads no records.

Runs that have settled are then measured by what actions expect of them.

Runs that an older version analysed get what lists show of them since, one by one, while nothing else goes on.
"""

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import orjson
import structlog

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.records.model import LoadResult, Seconds
from loadwatch_backend.evidence.records.result_file import load
from loadwatch_backend.findings.documents import compare_findings
from loadwatch_backend.findings.schemas import FindingsAgain, FindingsOut
from loadwatch_backend.findings.service import LIVE_WINDOW_MS, LatestRun
from loadwatch_backend.runs.analysis.analyst import Analyst
from loadwatch_backend.runs.analysis.load import Load
from loadwatch_backend.runs.analysis.own_figures import SETTLED_MS, Subject
from loadwatch_backend.runs.analysis.reconciliation import LONGEST_DRAIN_MS
from loadwatch_backend.runs.analysis.schemas import Analysis, PercentilesOut, ThresholdOut
from loadwatch_backend.runs.errors import NoResultError, RunNotFoundError
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.documents import (
    RunDetails,
    end_of,
    is_silent,
    kept_limits,
    pack,
    read_details,
    read_window,
    unpack,
    write_limits,
    write_sparkline,
)
from loadwatch_backend.runs.registry.places import Places
from loadwatch_backend.runs.registry.reference import find_reference, find_trials
from loadwatch_backend.runs.registry.repository import (
    find_analysed_ms,
    find_analysis,
    find_ended_since,
    find_just_ended,
    find_neighbours,
    find_run,
    find_running,
    find_without_course,
    keep,
)
from loadwatch_backend.runs.registry.tables import RunAnalysisRow, RunRow
from loadwatch_backend.runs.registry.windows import LONGEST_RUN_MS

logger = structlog.get_logger(__name__)

LIVE_MS = 5_000
"""How old the analysis of a running run may be."""
LATE_MS = 15_000
"""Samples of agents may come this long after the end of a run: it is analysed once more then."""
DRAINING_MS = 60_000
"""How old the analysis of a run that has just ended may be."""
LEAST_SKEW_MS = 1_000
"""A smaller difference of the clocks may as well be the time that the message took."""
CLOSE_SECONDS = 3.0
RETRY_MS = 60_000
"""Pause before an analysis that failed is tried again."""


_FACTS = RunDetails.model_fields.keys() & {field.name for field in fields(Subject)}


class Analyses:
    """Computes, keeps and reads analyses; safe to use from any thread."""

    def __init__(self, relational: Relational, places: Places, analyst: Analyst, clock: Clock) -> None:
        self.analyst = analyst
        self._relational = relational
        self._places = places
        self._clock = clock
        self._lock = threading.Lock()
        self._failed: dict[str, int] = {}
        self._latest: tuple[FindingsOut | None, str, int | None] | None = None
        self._later: threading.Thread | None = None

    def subject(self, row: RunRow, result: LoadResult | None = None) -> Subject:
        """A run as the analysis sees it; its result is read from its files unless it is given."""
        details = read_details(row)
        files = None if row.result_token is None else self._places.files(row.id)
        if result is None and files is not None:
            result = load(files)
        with self._relational.transaction() as session:
            previous_ms, next_ms = find_neighbours(session, row)
            before, baseline = find_reference(session, row)
            trials = find_trials(session, row)
        ended_ms = end_of(row, self._clock())
        facts: dict[str, Any] = {name: getattr(details, name) for name in _FACTS}
        return Subject(
            **facts,
            id=row.id,
            state=RunState(row.state),
            started_ms=max(row.started_ms, ended_ms - LONGEST_RUN_MS),
            ended_ms=ended_ms,
            steady=read_window(row),
            load=result,
            files=files,
            before=before,
            baseline=baseline,
            trials=trials,
            previous_ms=previous_ms,
            next_ms=next_ms,
            skew_ms=0 if row.skew_ms is None or abs(row.skew_ms) < LEAST_SKEW_MS else row.skew_ms,
        )

    def read(self, session: Session, row: RunRow) -> Analysis | None:
        kept = find_analysis(session, row.id)
        return None if kept is None else Analysis.model_validate_json(unpack(kept.document))

    def read_figures(self, session: Session, row: RunRow) -> Analysis | None:
        """The stored analysis without endpoints, errors and findings, its bulk; for hundreds of runs."""
        kept = find_analysis(session, row.id)
        if kept is None:
            return None
        document = orjson.loads(unpack(kept.document))
        if document.get("findings") is not None:
            # Of what was said only what stands beside the findings, such as the costs of routes.
            document["findings"] |= {"findings": [], "checked": [], "missing": [], "observations": []}
        return Analysis.model_validate({**document, "endpoints": [], "errors": []})

    def latest(self) -> LatestRun | None:
        """What is kept of the run that began last of those under way, else of the one that has just ended.

        Where that is stale it is analysed for whoever asks next.
        """
        now_ms = self._clock()
        with self._relational.transaction() as session:
            row = next((row for row in find_running(session, now_ms) if not is_silent(row, now_ms)), None)
            row = row or find_just_ended(session, now_ms - LIVE_WINDOW_MS, now_ms)
            if row is None:
                return None
            known, analysed_ms = self._latest, find_analysed_ms(session, row.id)
            if known is None or known[1:] != (row.id, analysed_ms):
                kept = self.read(session, row)
                known = self._latest = (None if kept is None else kept.findings, row.id, analysed_ms)
            stale = self.is_stale(row, analysed_ms)
            latest = LatestRun(id=row.id, ended_ms=row.ended_ms, found=known[0])
        if stale:
            self.refresh_for_reader(latest.id, later=True)
        return latest

    def is_stale(self, row: RunRow, analysed_ms: int | None) -> bool:
        now_ms = self._clock()
        if now_ms - self._failed.get(row.id, -RETRY_MS) < RETRY_MS:
            return False
        if analysed_ms is None or analysed_ms < row.updated_ms or row.p95_sparkline is None:
            return True
        if row.state == RunState.RUNNING:
            return now_ms - analysed_ms >= LIVE_MS
        for after_ms in (LATE_MS, SETTLED_MS):
            late_ms = (row.ended_ms or 0) + after_ms
            if analysed_ms < late_ms <= now_ms and now_ms - late_ms < RETRY_MS * 60:
                return True
        # A backlog may take minutes to reach the database; the counts are read again while it may.
        draining = now_ms < (row.ended_ms or 0) + LONGEST_DRAIN_MS
        return draining and row.state != RunState.IMPORTED and now_ms - analysed_ms >= DRAINING_MS

    def is_due(self, session: Session, row: RunRow) -> bool:
        """Whether its last analysis asked for another one by now: what it could not tell then is known."""
        kept = self.read_figures(session, row)
        now_ms = self._clock()
        is_late = kept is not None and kept.again_ms is not None and kept.again_ms <= now_ms
        return is_late and now_ms - self._failed.get(row.id, -RETRY_MS) >= RETRY_MS

    def refresh_for_reader(self, run_id: str, *, later: bool) -> bool:
        """Analyse unless somebody does so at this moment: then the analysis that is kept will do, and it says False.

        With `later` the reader is not kept waiting: reading the records of a large run takes seconds.
        """
        if not self._lock.acquire(blocking=False):
            return False
        if later:
            self._later = threading.Thread(
                target=self._refresh_and_release, args=(run_id,), name="analysis", daemon=True
            )
            self._later.start()
        else:
            self._refresh_and_release(run_id)
        return True

    def _refresh_and_release(self, run_id: str) -> None:
        try:
            self.refresh(run_id)
        except RunNotFoundError:
            logger.info("a run was deleted before it was analysed", run=run_id)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Wait up to `CLOSE_SECONDS` for an analysis under way; a reader starts it again after a restart."""
        if self._later is not None:
            self._later.join(CLOSE_SECONDS)

    def refresh(self, run_id: str, *, anew: bool = False) -> None:
        """Analyse a run and keep what is found; a mistake of the analysis is logged and costs nothing else.

        With `anew` findings that were said stay no longer: what they are made of is there only now.
        """
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            kept = self.read(session, row)
        try:
            said = None if kept is None or anew else kept.findings
            analysis = self.analyst.analyse(replace(self.subject(row), said=said))
        except Exception:
            logger.exception("a run could not be analysed", run=run_id)
            self._failed[run_id] = self._clock()
            return
        self._failed.pop(run_id, None)
        try:
            with self._relational.transaction() as session:
                store_analysis(session, find_run(session, run_id), analysis)
        except (RunNotFoundError, ConstraintError):
            logger.info("a run was deleted while it was analysed", run=run_id)

    def find_again(self, run_id: str, *, keep: bool) -> FindingsAgain:
        """The findings of a run by this version of the engine, beside what was said; kept only when asked for.

        Raises:
            RunNotFoundError: there is none.
            NoResultError: the samples could not be read.
        """
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
        analysis = self.analyst.analyse(self.subject(row))
        if analysis.findings is None:
            raise NoResultError(f"The samples of run {run_id} could not be read; the server's log says why.")
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            kept = self.read(session, row)
            if keep:
                store_analysis(session, row, analysis)
        said = None if kept is None else kept.findings
        return FindingsAgain(
            said=said, now=analysis.findings, changes=compare_findings(said, analysis.findings), kept=keep
        )

    def measure(self, row: RunRow, expressions: Sequence[str]) -> list[ThresholdOut]:
        return self.analyst.measure(expressions, self.subject(row)) if expressions else []

    def problem_of(self, expression: str, row: RunRow) -> Words:
        """Why an expression is no threshold of a run; empty where it is one, or is empty itself."""
        try:
            self.analyst.check([expression] if expression.strip() else [], read_details(row).own_figures)
        except ProblemError as error:
            return Words(error.detail, error.detail_ja or error.detail)
        return SILENT

    def percentiles(self, row: RunRow, names: Sequence[str]) -> PercentilesOut:
        return self.analyst.percentiles(names, self.subject(row))

    def load(self, row: RunRow) -> Load:
        """The run's load; its seconds are `offset_ms` before the run's clock."""
        return self.analyst.load(self.subject(row))

    def seconds(self, row: RunRow) -> Seconds | None:
        """Per-second series on the run's clock."""
        found = self.load(row)
        if found.seconds is None:
            return None
        return replace(found.seconds, start_ms=found.seconds.start_ms + found.offset_ms)

    def forget(self, run_id: str) -> None:
        self._failed.pop(run_id, None)


def store_analysis(session: Session, row: RunRow, analysis: Analysis) -> None:
    figures = analysis.figures
    row.verdict = analysis.verdict
    row.requests = None if figures is None else figures.requests
    row.rate = None if figures is None else figures.rate
    row.success_ratio = None if figures is None else figures.success_ratio
    row.p95_seconds = None if figures is None else figures.latency_seconds.p95
    row.sparkline = write_sparkline(analysis.sparkline)
    row.p95_sparkline = write_sparkline(analysis.p95_sparkline)
    row.limits = write_limits(kept_limits(analysis.findings))
    document = pack(analysis.model_dump_json().encode())
    keep(session, RunAnalysisRow(run_id=row.id, analysed_ms=analysis.analysed_ms, document=document))


DUE_SECONDS = 5.0
DUE_MS = 86_400_000
"""A run that ended longer ago is analysed again when somebody reads it."""
LOOK_SECONDS = 30.0
MOST_CORE = 0.02
"""Share of a core that it may cost: after a large run it waits longer."""
MOST_RUNS = 1_000
"""How many runs are brought up to date by one server before its next start: the newest, which lists show first."""


@dataclass(eq=False)
class CatchUp:
    """May run on several servers at once: it triggers only what a reader of the run's page triggers."""

    _relational: Relational
    _analyses: Analyses
    _clock: Clock
    _score: Callable[[], None]
    _used: Callable[[], float] = time.thread_time
    """Gives the CPU time of the present thread, seconds."""
    _tried: set[str] = field(default_factory=set[str])
    _older_in: float = LOOK_SECONDS

    def turn(self) -> None:
        """Analyse and measure what is due, and bring one older run up to date when that has its turn.

        Raises:
            ProblemError, DatabaseError: the runs or their samples cannot be read.
        """
        self._older_in -= DUE_SECONDS
        self.analyse_due()
        self._score()
        if self._older_in <= 0:
            begun = self._used()
            goes_on = self.tick()
            self._older_in = max(LOOK_SECONDS, (self._used() - begun) / MOST_CORE) if goes_on else math.inf

    def analyse_due(self) -> None:
        """Analyse those again of which more is known by now: by what the database says, so also after a restart."""
        now_ms = self._clock()
        with self._relational.transaction() as session:
            due = [row.id for row in find_ended_since(session, now_ms - DUE_MS) if self._is_due(session, row, now_ms)]
        for run_id in due:
            self._analyses.refresh_for_reader(run_id, later=False)

    def _is_due(self, session: Session, row: RunRow, now_ms: int) -> bool:
        analysed_ms = find_analysed_ms(session, row.id)
        ended_ms = row.ended_ms or 0
        if analysed_ms is None or analysed_ms >= ended_ms + LONGEST_DRAIN_MS:
            return False
        is_recent = now_ms < ended_ms + LONGEST_DRAIN_MS
        return (is_recent and self._analyses.is_stale(row, analysed_ms)) or self._analyses.is_due(session, row)

    def tick(self) -> bool:
        """Analyse the newest run that lacks something, once in this server's life; whether there is more to do."""
        now_ms = self._clock()
        with self._relational.transaction() as session:
            if any(not is_silent(row, now_ms) for row in find_running(session, now_ms)):
                return True
            found = find_without_course(session, MOST_RUNS)
        waiting = [id for id in found if id not in self._tried]
        if not waiting or len(self._tried) >= MOST_RUNS:
            return False
        if self._analyses.refresh_for_reader(waiting[0], later=False):
            self._tried.add(waiting[0])
        return True
