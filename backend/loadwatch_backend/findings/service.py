"""Findings of a run, and of the present; safe to use from any thread."""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.cost.model import Cost
from loadwatch_backend.evidence.cost.service import Costs
from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.evidence.profiles.known import LockWaits
from loadwatch_backend.evidence.profiles.run_waits import lock_waits_of_run
from loadwatch_backend.evidence.records.model import FloatArray, Seconds
from loadwatch_backend.findings.documents import findings_out
from loadwatch_backend.findings.engine import diagnose
from loadwatch_backend.findings.load import STREAMED, load_of_seconds, load_of_tables
from loadwatch_backend.findings.measures.process_ends import LIFE_METRICS
from loadwatch_backend.findings.model import Detector, Diagnosis, DiagnosisState, Finding, Severity, key_of
from loadwatch_backend.findings.programs import with_real_labels
from loadwatch_backend.findings.read import Span, grid_of, read_tables
from loadwatch_backend.findings.registry import DETECTORS, METRICS
from loadwatch_backend.findings.schemas import FindingOut, FindingsOut
from loadwatch_backend.findings.uses import UseReader
from loadwatch_backend.findings.window import APART_MS, Baseline, Counts, Generator, Sweep, Totals, Window
from loadwatch_backend.series.store.port import Reader

logger = structlog.get_logger(__name__)

LIVE_WINDOW_MS = 300_000
LONGEST_EPISODE_MS = 3_600_000
"""How far back the beginning of an episode that reaches into the live window is looked for."""
LIVE_EVERY_MS = 5_000
"""Longest age of the live findings; one computation serves all callers."""
MOST_CORE = 0.04
"""Share of a core that the present may cost: where one look takes longer, looks are further apart."""
LONGEST_EVERY_MS = 60_000
NO_MARGIN_MS = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLoad:
    """The load of a run, on the run's clock; see `records.model.Seconds`."""

    seconds: Seconds
    start_ms: int
    target: FloatArray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a run knows of itself beside its load; each as in `findings.window.Window`, `run` its id."""

    run: str = ""
    generator: Generator | None = None
    counts: Counts | None = None
    totals: Totals | None = None
    steady: Span | None = None
    baseline: Baseline | None = None
    sweep: Sweep | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestRun:
    """The run that began last of those under way, else the one that ended last; `found` is what its document says."""

    id: str
    ended_ms: int | None
    found: FindingsOut | None


class Findings:
    """Diagnoses which resource ran out, in a run or at present."""

    def __init__(
        self,
        store: Reader,
        clock: Clock,
        used: Callable[[], float] = time.thread_time,
        *,
        began: Callable[[], int | None] = lambda: None,
        latest: Callable[[], LatestRun | None] = lambda: None,
        costs: Costs | None = None,
        files: EvidenceFiles | None = None,
        library: Library | None = None,
    ) -> None:
        """`used` tells the CPU time of the present thread, seconds; `began`, when the latest run began, ms."""
        self._costs = Costs(store, clock) if costs is None else costs
        self._uses = UseReader(store, clock, Library() if library is None else library)
        self._files = files
        self._store = store
        self._clock = clock
        self._used = used
        self._began = began
        self._latest = latest
        self._every_ms = self._run_every_ms = LIVE_EVERY_MS
        self._lock = threading.Lock()
        self._live: FindingsOut | None = None
        self._before: tuple[int, list[FindingOut]] = (0, [])

    def of_run(self, span: Span, load: RunLoad | None, about: About) -> FindingsOut:
        """What is said of a run.

        Raises:
            ProblemError: of the store.
        """
        begun = self._used()
        grid = grid_of(span)
        cost = self._cost(span, about.run)
        window = Window(
            grid=grid,
            from_ms=span.from_ms,
            to_ms=max(span.to_ms, span.from_ms + 1),
            tables=read_tables(self._store, METRICS, grid),
            load=None if load is None else load_of_seconds(load.seconds, load.start_ms, grid, load.target),
            generator=about.generator,
            counts=about.counts,
            totals=about.totals,
            steady_ms=None if about.steady is None else (about.steady.from_ms, about.steady.to_ms),
            baseline=self._costed(about.baseline, cost),
            sweep=about.sweep,
            cost=cost,
            lock_waits=self._lock_waits(about.run),
            of_run=True,
        )
        requests = None if about.totals is None else about.totals.requests
        if load is not None:
            requests = int(load.seconds.requests.sum())
        found = findings_out(_diagnose(self._uses.add(window)), self._clock(), requests, cost)
        self._run_every_ms = self._pace(begun)
        return found

    def _lock_waits(self, run_id: str) -> Sequence[LockWaits]:
        """Lock waits from a run's profiles; empty where they cannot be read, and other findings go on."""
        if self._files is None or not run_id:
            return ()
        try:
            return lock_waits_of_run(self._files, run_id)
        except Exception as error:
            logger.error("the profiles of a run could not be read", run=run_id, exc_info=error)
            return ()

    def _costed(self, baseline: Baseline | None, own: Cost | None) -> Baseline | None:
        """The baseline with the cost of its requests, where the run has a cost to compare it with."""
        if baseline is None or baseline.span_ms is None or own is None or not own.routes:
            return baseline
        span = Span(from_ms=baseline.span_ms[0], to_ms=baseline.span_ms[1])
        return replace(baseline, cost=self._cost(span, baseline.run))

    def _cost(self, span: Span, run_id: str) -> Cost | None:
        """Routes and statements of a run; None where they cannot be had: other findings do without."""
        try:
            return self._costs.counted((span.from_ms, max(span.to_ms, span.from_ms + 1_000)), run_id)
        except Exception as error:
            logger.error("the costs of a run could not be found", from_ms=span.from_ms, exc_info=error)
            return None

    def is_fresh(self, said: FindingsOut) -> bool:
        return 0 <= self._clock() - said.said_ms < self._run_every_ms

    def live(self) -> FindingsOut:
        """What is said of the last five minutes: of the latest run, where it began within them, and of before it.

        What lasts for longer is told from its beginning, which is looked for in the last hour.

        Raises:
            ProblemError: of the store.
        """
        with self._lock:
            now_ms = self._clock()
            newest_ms = min(self._store.newest_ms() or now_ms, now_ms)
            # A little before now the newest samples may still be under way; older than that, silence must show.
            end_ms = newest_ms if now_ms - newest_ms < LIVE_EVERY_MS else now_ms
            kept = self._live
            if kept is not None and 0 <= end_ms - kept.to_ms < self._every_ms:
                return kept
            begun = self._used()
            span = Span(from_ms=max(end_ms - LIVE_WINDOW_MS, 0), to_ms=end_ms)
            grid = grid_of(span, NO_MARGIN_MS)
            tables = read_tables(self._store, METRICS, grid)
            load, began_ms = load_of_tables(tables, grid), self._began() or 0
            window = Window(grid=grid, from_ms=span.from_ms, to_ms=span.to_ms, tables=tables, load=load)
            window = self._uses.add(window)
            before: Sequence[FindingOut] = ()
            if span.from_ms < began_ms < end_ms:
                before = self._before_run(window, began_ms)
                window = replace(window, from_ms=began_ms)
            window = replace(window, earlier=self._reader_of_earlier(end_ms, began_ms))
            found = findings_out(_diagnose(window), now_ms)
            keys = {one.key for one in found.findings}
            findings = [*found.findings, *(one for one in before if one.key not in keys)]
            self._live = found.model_copy(update={"findings": findings})
            self._every_ms = self._pace(begun)
            return self._live

    def present(self) -> FindingsOut:
        """What pages say of the present: what the latest run's own document says, and what began after that run.

        Without a run that lasts or has just ended, or where its document is old, the same as `live`.

        Raises:
            ProblemError: of the store.
        """
        live, run = self.live(), self._latest()
        if run is None or run.found is None:
            return live
        ended_ms = run.ended_ms
        if run.found.to_ms < live.to_ms - (LONGEST_EVERY_MS + LIVE_EVERY_MS if ended_ms is None else LIVE_WINDOW_MS):
            return live
        later = [
            one
            for one in live.findings
            if ended_ms is not None and one.from_ms > ended_ms and one.severity is not Severity.INFO
        ]
        keys = {one.key for one in later}
        own = [one for one in run.found.findings if one.key not in keys]
        keys |= {one.key for one in own}
        before = [one for one in live.findings if one.before_run and one.key not in keys]
        state = DiagnosisState.FOUND if later else run.found.state
        return run.found.model_copy(update={"run": run.id, "state": state, "findings": [*later, *own, *before]})

    def _before_run(self, window: Window, began_ms: int) -> Sequence[FindingOut]:
        """Findings above INFO in the minutes before a run, kept while that run is the latest."""
        if self._before[0] != began_ms:
            said = findings_out(_diagnose(replace(window, to_ms=began_ms)), began_ms).findings
            accusing = [
                one.model_copy(update={"before_run": True}) for one in said if one.severity is not Severity.INFO
            ]
            self._before = (began_ms, accusing)
        return self._before[1]

    def _reader_of_earlier(self, end_ms: int, began_ms: int) -> Callable[[Detector, Sequence[Finding]], Window | None]:
        """Reads back to where an episode may have begun, no further than to the beginning of the latest run."""
        last = self._live
        known = {
            key_of(one.id, labels): one.from_ms
            for one in ([] if last is None else last.findings)
            if not one.before_run
            for labels in ([{**one.labels, "instance": name} for name in one.instances] or [one.labels])
        }
        bound_ms = max(end_ms - LONGEST_EPISODE_MS, began_ms)

        def read(detector: Detector, cut: Sequence[Finding]) -> Window | None:
            # What was found before spares to look through the whole hour again.
            first_ms = min(known.get(one.key, 0) for one in cut) - 2 * APART_MS
            from_ms = max(bound_ms, first_ms)
            grid = grid_of(Span(from_ms=from_ms, to_ms=end_ms), NO_MARGIN_MS)
            try:
                tables = read_tables(self._store, {*STREAMED, *LIFE_METRICS, *detector.needs, *detector.reads}, grid)
                uses = self._uses.read(grid, detector.kind.id) if detector.measures else ()
            except ProblemError as error:
                logger.warning("an hour could not be read", detector=detector.kind.id, exc_info=error)
                return None
            load, is_open = load_of_tables(tables, grid), from_ms > began_ms
            return Window(
                grid=grid, from_ms=from_ms, to_ms=end_ms, tables=tables, uses=uses, load=load, is_open=is_open
            )

        return read

    def _pace(self, begun: float) -> int:
        """Interval between looks in ms, from the CPU time used since `begun`; at least `LIVE_EVERY_MS`."""
        cost_ms = (self._used() - begun) * 1_000
        return round(min(max(LIVE_EVERY_MS, cost_ms / MOST_CORE), LONGEST_EVERY_MS))


def _diagnose(window: Window) -> Diagnosis:
    diagnosis = diagnose(window, DETECTORS)
    for id, error in diagnosis.failed.items():
        logger.error("a detector of findings failed", detector=id, exc_info=error)
    return with_real_labels(diagnosis, window)
