"""The registry of runs: begin, follow, end, change, list, read.

Two clocks: senders give times of their own clock and what it shows as they send; rows keep both, and windows are on the
server's (docs/decisions/0079-time-of-the-server.md).
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.evidence.records.model import Seconds
from loadwatch_backend.evidence.runs import OtherRun, RunWindow
from loadwatch_backend.findings.documents import headline_of
from loadwatch_backend.findings.opinions import Opinions
from loadwatch_backend.findings.schemas import MarkedOut, MarkIn, MarkList
from loadwatch_backend.runs.analyses import Analyses
from loadwatch_backend.runs.analysis.load import Span, figures_out, figures_over
from loadwatch_backend.runs.analysis.measure import shortest_name
from loadwatch_backend.runs.analysis.schemas import FiguresOut, PercentilesOut, WindowSource
from loadwatch_backend.runs.annotations.repository import delete_annotation, find_markers
from loadwatch_backend.runs.annotations.service import AnnotationService
from loadwatch_backend.runs.errors import FindingNotFoundError, NoResultError, RunRuleError
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.registry.configuration import Configuration
from loadwatch_backend.runs.registry.documents import (
    end_of,
    is_silent,
    limits_in_order,
    read_details,
    run_out,
    seconds_out,
    summary_out,
)
from loadwatch_backend.runs.registry.places import Places, bytes_of
from loadwatch_backend.runs.registry.reference import reference_of
from loadwatch_backend.runs.registry.repository import (
    add_run,
    contexts,
    count_of,
    delete_run,
    find_analysed_ms,
    find_baseline,
    find_facets,
    find_of_scenario,
    find_others,
    find_run,
    find_runs,
    find_spans,
    has_run,
    pin,
    unpin,
)
from loadwatch_backend.runs.registry.rows import apply_patch, changes_of, end_row, markers_of, new_run_id, running_row
from loadwatch_backend.runs.registry.tables import RunReviewRow, RunRow, RunShareRow, RunSnapshotRow
from loadwatch_backend.runs.registry.windows import Window, merge_windows, window_of
from loadwatch_backend.runs.schemas import (
    Deletion,
    RunFacets,
    RunFinish,
    RunIn,
    RunList,
    RunOut,
    RunPatch,
    RunProgress,
    RunQuery,
    RunSummary,
    SecondsOut,
    SnapshotWhen,
)
from loadwatch_backend.runs.snapshots import ConfigurationDifference

SCENARIO_RUNS = 500
MOST_OTHERS = 200


FORGOTTEN_MS = 24 * 3_600_000
"""A run that nobody ended and nothing is heard of pins no more than this after its last sign of life."""


@dataclass(eq=False)
class PinnedWindows:
    """Windows of all runs, for the store's retention. Raises when the database is away: nothing is deleted then."""

    _relational: Relational
    _clock: Clock
    _held: dict[object, Window] = field(default_factory=dict[object, Window])

    @contextmanager
    def hold(self, window: Window) -> Generator[None]:
        """Pin a window whose run is not in the database yet."""
        key = object()
        self._held[key] = window
        try:
            yield
        finally:
            del self._held[key]

    def __call__(self) -> Sequence[Window]:
        """(start, end) in ms, merged."""
        now_ms = self._clock()
        with self._relational.transaction() as session:
            rows = find_spans(session)
        windows = [
            window_of(started, ended if ended is not None else _open_end(state, started, seen, planned, now_ms))
            for state, started, ended, seen, planned in rows
        ]
        return merge_windows([*windows, *self._held.copy().values()])


def _open_end(state: str, started_ms: int, seen_ms: int, planned_seconds: float | None, now_ms: int) -> int:
    if state != RunState.RUNNING:
        return max(started_ms, seen_ms)
    planned_ms = started_ms + round(min(planned_seconds or 0, 1e9) * 1_000)
    return min(max(now_ms, started_ms), max(seen_ms, planned_ms) + FORGOTTEN_MS)


@dataclass(eq=False)
class Registry:
    """Safe to use from any thread."""

    _relational: Relational
    _places: Places
    _analyses: Analyses
    _configuration: Configuration
    _opinions: Opinions
    _clock: Clock
    _retention_ms: int
    _evidence_files: EvidenceFiles
    _annotations: AnnotationService

    # Begin, follow, end -----------------------------------------------------------------------------------------------

    def create(self, given: RunIn) -> RunOut:
        """Begin a run; the same id again changes nothing."""
        self._analyses.analyst.check([*given.thresholds, *given.expectations], given.own_figures)
        now_ms = self._clock()
        run_id = given.id or new_run_id(now_ms)
        with self._relational.transaction() as session:
            known = has_run(session, run_id)
        if not known:
            try:
                with self._relational.transaction() as session:
                    add_run(session, running_row(run_id, given, now_ms))
            except ConstraintError:
                # Two of the same at once: the other one came first.
                return self.read(run_id)
            self._configuration.capture(run_id, SnapshotWhen.BEFORE)
        return self.read(run_id)

    def progress(self, run_id: str, given: RunProgress) -> None:
        """Note a sign of life; one that comes after the end is let pass."""
        with self._relational.transaction() as session:
            row = find_run(session, run_id, lock=True)
            if row.state == RunState.RUNNING:
                row.seen_ms = self._clock()
                row.progress = given.model_dump_json()

    def finish(self, run_id: str, given: RunFinish) -> RunOut:
        """End a run; the same again changes nothing."""
        now_ms = self._clock()
        with self._relational.transaction() as session:
            row = find_run(session, run_id, lock=True)
            ended = row.state == RunState.RUNNING
            if ended:
                end_row(row, given, now_ms)
                for marker in markers_of(row, given):
                    self._annotations.write(session, marker)
        if ended:
            self._configuration.capture(run_id, SnapshotWhen.AFTER)
            self._analyses.refresh(run_id)
        return self.read(run_id)

    # Change -----------------------------------------------------------------------------------------------------------

    def update(self, run_id: str, patch: RunPatch) -> RunOut:
        """Change what the patch names, then analyse the run again.

        Raises:
            RunRuleError: the steady window does not fit the run.
        """
        changes = changes_of(patch)
        figures = changes.get("own_figures", read_details(self._row(run_id)).own_figures)
        self._analyses.analyst.check([*changes.get("thresholds", ()), *changes.get("expectations", ())], figures)
        with self._relational.transaction() as session:
            row = find_run(session, run_id, lock=True)
            apply_patch(session, row, patch)
            row.updated_ms = self._clock()
        self._analyses.refresh(run_id)
        return self.read(run_id)

    def pin(self, run_id: str, *, pinned: bool) -> RunOut:
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            if not pinned:
                unpin(session, run_id)
            elif not row.scenario:
                raise RunRuleError(f"Run {run_id} has no scenario, so it cannot be the baseline of one; name it first.")
            elif row.state == RunState.RUNNING:
                raise RunRuleError(f"Run {run_id} is still running; a baseline is a run that has ended.")
            else:
                pin(session, row.scenario, run_id)
        return self.read(run_id)

    def mark(self, given: MarkIn, actor: str) -> MarkedOut:
        """Mute a finding, or mark one of a run wrong.

        Raises:
            FindingNotFoundError: the run has no such finding.
        """
        if given.finding_id is not None and not given.run:
            return self._opinions.mute(given.finding_id, given.labels, given.reason, actor)
        for finding in self.read(given.run).findings:
            if finding.key == given.key:
                return self._opinions.mark_wrong(given.run, finding, given, actor)
        raise FindingNotFoundError(
            f"Run {given.run} has no finding {given.key[:100]!r}; GET /api/runs/{given.run} lists all."
        )

    def marks(self) -> MarkList:
        return self._opinions.marks()

    def take_back(self, mark_id: int) -> None:
        self._opinions.take_back(mark_id)

    def deletion(self, run_id: str) -> Deletion:
        with self._relational.transaction() as session:
            row, places, now_ms = find_run(session, run_id), self._places.files(run_id), self._clock()
            start_ms, end_ms = window_of(row.started_ms, end_of(row, now_ms))
            files, size = self._evidence_files.usage(session, run_id)
            return Deletion(
                run=row.id,
                record_bytes=bytes_of(places.directory),
                records=row.requests or 0 if places.records.exists() else 0,
                window_from_ms=start_ms,
                window_to_ms=end_ms,
                samples_past_retention=start_ms < now_ms - self._retention_ms,
                reviews=count_of(session, RunReviewRow, row.id),
                snapshots=count_of(session, RunSnapshotRow, row.id),
                shares=count_of(session, RunShareRow, row.id),
                markers=len(find_markers(session, row.id)),
                evidence_files=files,
                evidence_bytes=size,
                was_baseline=find_baseline(session, row.scenario) == row.id,
            )

    def delete(self, run_id: str) -> None:
        """Delete a run with all that belongs to it; its window is not pinned any more."""
        with self._relational.transaction() as session:
            delete_run(session, run_id)
            for marker in find_markers(session, run_id):
                delete_annotation(session, marker)
        self._places.remove(run_id)
        self._evidence_files.forget_run(run_id)
        self._analyses.forget(run_id)

    # Read -------------------------------------------------------------------------------------------------------------

    def list(self, wanted: RunQuery) -> RunList:
        """A page of the runs that match; figures of one under way are those of its last analysis."""
        now_ms = self._clock()
        with self._relational.transaction() as session:
            rows, total = find_runs(session, wanted)
            found = RunList(runs=[*self._summaries(session, rows, now_ms)], total=total)
            under_way = [row for row in rows if row.state == RunState.RUNNING and not is_silent(row, now_ms)]
            stale = [row.id for row in under_way if self._analyses.is_stale(row, find_analysed_ms(session, row.id))]
        for run_id in stale:
            self._analyses.refresh_for_reader(run_id, later=True)
        return found

    def facets(self) -> RunFacets:
        with self._relational.transaction() as session:
            return find_facets(session)

    def read(self, run_id: str) -> RunOut:
        """One run, analysed.

        Raises:
            RunNotFoundError: there is none.
        """
        self._refresh(run_id)
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            return self._out(session, row)

    def window(self, run_id: str) -> RunWindow:
        """Times and steady window of an analysed run; raises as `read`."""
        self._refresh(run_id)
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            analysis = self._analyses.read_figures(session, row)
        steady = None if analysis is None else analysis.steady_window
        return RunWindow(
            id=row.id,
            name=row.name or row.id,
            from_ms=row.started_ms,
            to_ms=self._clock() if row.ended_ms is None else row.ended_ms,
            steady_ms=None if steady is None or steady.source is WindowSource.WHOLE else (steady.from_ms, steady.to_ms),
            requests=analysis.figures.requests if analysis and analysis.figures else None,
            steady_requests=analysis.steady.requests if analysis and analysis.steady else None,
        )

    def _refresh(self, run_id: str) -> None:
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            analysed_ms = find_analysed_ms(session, run_id)
            stale = self._analyses.is_stale(row, analysed_ms) or self._analyses.is_due(session, row)
        if stale:
            self._analyses.refresh_for_reader(run_id, later=analysed_ms is not None and row.result_token is not None)

    def name(self, run_id: str) -> str:
        """A run's name, else its id; raises as `read`."""
        return self._row(run_id).name or run_id

    def summary(self, run_id: str) -> RunSummary:
        """A run's line of the list; raises as `read`."""
        with self._relational.transaction() as session:
            row = find_run(session, run_id)
            (summary,) = self._summaries(session, [row], self._clock())
            return summary

    def reference(self, run_id: str) -> str | None:
        """The run that a run is held against; raises as `read`."""
        with self._relational.transaction() as session:
            other = reference_of(session, find_run(session, run_id))
            return None if other is None else other.id

    def others(self, run_id: str) -> Sequence[OtherRun]:
        """Other runs of a run's scenario, the newest first; raises as `read`."""
        with self._relational.transaction() as session:
            rows = find_others(session, find_run(session, run_id), MOST_OTHERS)
            return [OtherRun(id=row.id, name=row.name or row.id, started_ms=row.started_ms) for row in rows]

    def of_scenario(self, scenario: str, version: str | None) -> Sequence[RunOut]:
        """Ended runs of a scenario in order of their start, the newest ones; without endpoints and errors."""
        with self._relational.transaction() as session:
            rows = find_of_scenario(session, scenario, version, SCENARIO_RUNS)
            found = contexts(session, rows)
            now_ms = self._clock()
            return [run_out(row, self._analyses.read_figures(session, row), found[row.id], now_ms) for row in rows]

    def difference(self, run_id: str, base: str) -> ConfigurationDifference:
        return self._configuration.difference(run_id, base)

    def percentile(self, run_id: str, name: str) -> float | None:
        """Such as `p70`, over the steady window, seconds; an estimate where single requests are not kept."""
        (found,) = self._analyses.measure(self._row(run_id), [f"{name}>=0"])
        return found.actual

    def percentiles(self, run_id: str, names: Sequence[str]) -> PercentilesOut:
        """Any percentiles of a run and of its endpoints.

        Raises:
            RunRuleError: one is no percentile.
        """
        wanted: list[str] = []
        for name in names:
            shortest = shortest_name(name)
            if shortest is None:
                raise RunRuleError(f"{name!r} is no percentile; write such as p70 or p99.9, from p0.001 to p99.999.")
            wanted.append(shortest)
        return self._analyses.percentiles(self._row(run_id), list(dict.fromkeys(wanted)))

    def raw_seconds(self, run_id: str) -> Seconds | None:
        """Per-second series on the run's clock; None where nothing tells."""
        return self._analyses.seconds(self._row(run_id))

    def seconds(self, run_id: str, max_points: int) -> SecondsOut:
        """Per-second series for charts.

        Raises:
            NoResultError: nothing tells.
        """
        found = self.raw_seconds(run_id)
        if found is None:
            raise NoResultError(
                f"Run {run_id} has no per-second series: no result was imported that has any, and none were streamed."
            )
        return seconds_out(found, max_points)

    def figures(self, run_id: str, from_seconds: float, to_seconds: float) -> FiguresOut:
        """Figures over a part of the run, in seconds since its start.

        Raises:
            RunRuleError: the window is empty.
            NoResultError: nothing tells.
        """
        if not from_seconds < to_seconds:
            raise RunRuleError(f"The window from {from_seconds:g} to {to_seconds:g} s is empty.")
        row = self._row(run_id)
        first, last = (row.started_ms + round(min(at, 1e9) * 1_000) for at in (from_seconds, to_seconds))
        found = figures_over(self._analyses.load(row), Span(first, last))
        if found is None:
            raise NoResultError(f"Run {run_id} has no result, so there are no figures of any part of it.")
        return figures_out(found.figures)

    def records(self, run_id: str) -> Path:
        """The file of the run's records.

        Raises:
            NoResultError: single requests are not kept.
        """
        self._row(run_id)
        path = self._places.files(run_id).records
        if not path.exists():
            raise NoResultError(f"Run {run_id} has no records: its result does not hold single requests.")
        return path

    def _summaries(self, session: Session, rows: Sequence[RunRow], now_ms: int) -> Sequence[RunSummary]:
        found, is_muted = contexts(session, rows), self._opinions.muted(session, [row.id for row in rows])
        return [summary_out(row, found[row.id], partial(is_muted, row.id), now_ms) for row in rows]

    def _row(self, run_id: str) -> RunRow:
        with self._relational.transaction() as session:
            return find_run(session, run_id)

    def _out(self, session: Session, row: RunRow) -> RunOut:
        found = run_out(row, self._analyses.read(session, row), contexts(session, [row])[row.id], self._clock())
        judged, diagnosis = self._opinions.judged(session, found.findings, row.id), found.diagnosis
        if diagnosis is not None:
            diagnosis = diagnosis.model_copy(update={"headline": headline_of(diagnosis, judged)})
        resources = limits_in_order(found.resources, judged)
        return found.model_copy(update={"findings": judged, "diagnosis": diagnosis, "resources": resources})
