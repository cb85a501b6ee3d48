"""Reads discovered facts when they arrive, and writes annotations for what has changed.

Only the server that leads does so. What is known and the annotations that follow are written in one transaction that
the lead fences, so a change is told once: over restarts, and with several servers on one database.
"""

import threading
from collections.abc import Callable, Sequence

import structlog

from loadwatch_backend.app.changes.detection import Detection, Memory, detect
from loadwatch_backend.app.changes.model import Known, Subject
from loadwatch_backend.app.changes.repository import forget_unseen, load_known, load_places, save_known, save_places
from loadwatch_backend.app.changes.sightings import read_listings, read_sightings
from loadwatch_backend.app.changes.words import Note, describe
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.leadership import Leadership
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.periodic import Periodic
from loadwatch_backend.runs.annotations.schemas import AnnotationIn
from loadwatch_backend.runs.annotations.service import AnnotationService
from loadwatch_backend.series.foundation import Foundation
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader, Selection

log = structlog.get_logger(__name__)

COUNT_METRIC = "aws_discovered_resources"
"""Says that an agent has listed the resources of a `kind` in full: what is not among them is gone."""
WINDOW_MS = 900_000
"""Span that is read when facts arrive; agents send them about once a minute."""
FIRST_WINDOW_MS = 3_600_000
"""The same after a start, when agents may be sending what waited for the server."""
OFTEN_EVERY_MS = 15_000
"""What comes each second is looked at so often."""
OFTEN_WINDOW_MS = 120_000
"""Span that is read of it; `WINDOW_MS` after a start."""
AHEAD_MS = 600_000
"""Samples of an agent whose clock is ahead count too."""
PAUSE_SECONDS = 2.0
"""Between two readings: all of an agent's batch has arrived by then."""
RETRY_SECONDS = 10.0
_DAY_MS = 24 * 3_600_000
FORGET_MS = 30 * _DAY_MS
FORGET_AGENT_MS = 7 * _DAY_MS
"""Agents in containers have another name after each start, and leave as much behind as they have seen."""

Fence = Callable[[Session], None]


class ChangeWatcher:
    """Started once. `scan` may be called by itself where no thread runs."""

    def __init__(
        self,
        *,
        store: Reader,
        relational: Relational,
        fence: Fence,
        leads: Callable[[], bool],
        annotations: AnnotationService,
        library: Library,
        clock: Clock,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        """`fence` fails inside of a transaction where another server leads; annotations are added to it."""
        self._store = store
        self._relational = relational
        self._fence = fence
        self._leads = leads
        self._annotations = annotations
        self._library = library
        self._clock = clock
        self._memory: dict[Subject, Known] | None = None
        self._loaded_ms = 0
        self._places: set[str] = set()
        self._looked_ms = 0
        self._lock = threading.Lock()
        self._loop = Periodic("changes", self._turn, None, settle_seconds=pause_seconds, retry_seconds=RETRY_SECONDS)

    def start(self) -> None:
        """Begin to watch."""
        self._loop.start(None)

    def stop(self) -> None:
        """End; a reading under way is finished."""
        self._loop.close()

    def touched(self, names: "frozenset[str] | set[str]") -> None:
        """Samples of these metrics were committed."""
        changes = self._library.current().changes
        if any(changes[name].listed_by or self._is_due() for name in changes.keys() & names):
            self._loop.wake()

    def _is_due(self) -> bool:
        """Whether what comes each second is to be looked at; a clock that was set back makes it so, too."""
        return not 0 <= self._clock() - self._looked_ms < OFTEN_EVERY_MS

    def lead(self, held: bool) -> None:
        """The lead was taken or lost."""
        del held
        self._loop.wake()

    def _turn(self) -> None:
        self.scan()

    def scan(self) -> int:
        """Read what has arrived and note what has changed; how many annotations were made.

        Raises:
            LeadershipLostError: another server leads.
            ProblemError: the samples cannot be read.
        """
        with self._lock:
            if not self._leads():
                self._memory = None
                return 0
            try:
                return self._scan()
            except BaseException:
                self._memory = None  # what is in the tables is what holds
                raise

    def _scan(self) -> int:
        now_ms = self._clock()
        if now_ms - self._loaded_ms > _DAY_MS:
            self._memory = None  # read again, without what is to be forgotten
        window_ms = WINDOW_MS if self._memory is not None else FIRST_WINDOW_MS
        memory = self._memory if self._memory is not None else self._load(now_ms)
        listings = read_listings(self._select(COUNT_METRIC, now_ms - window_ms, now_ms + AHEAD_MS))
        outcomes: list[Detection] = []
        is_due = self._is_due() or self._memory is None
        for watch in self._library.current().changes.values():
            if not watch.listed_by and not is_due:
                continue
            span_ms = window_ms if watch.listed_by else OFTEN_WINDOW_MS if self._memory is not None else WINDOW_MS
            sightings = read_sightings(watch, self._select(watch.series, now_ms - span_ms, now_ms + AHEAD_MS))
            known: Memory = {subject: one for subject, one in memory.items() if one.metric == watch.series}
            if sightings or known:
                outcomes.append(detect(watch, sightings, listings, known, self._places))
        notes = describe(change for outcome in outcomes for change in outcome.changes)
        self._write(outcomes, memory, listings.keys() - self._places, notes, now_ms)
        for outcome in outcomes:
            memory |= outcome.kept
        self._memory = memory
        if is_due:
            self._looked_ms = now_ms
        return len(notes)

    def _write(
        self, outcomes: Sequence[Detection], there: Memory, places: set[str], notes: Sequence[Note], now_ms: int
    ) -> None:
        if not (places or notes or any(outcome.kept for outcome in outcomes)):
            return
        with self._relational.transaction() as session:
            self._fence(session)
            for outcome in outcomes:
                save_known(session, outcome.kept, there)
            save_places(session, places, now_ms)
            for note in notes:
                given = AnnotationIn(author=note.author, text=note.text, start_ms=note.at_ms, tags=list(note.tags))
                self._annotations.write(session, given)
        self._places |= places
        for note in notes:
            log.info("a change was noted", text=note.text, tags=list(note.tags))

    def _load(self, now_ms: int) -> dict[Subject, Known]:
        with self._relational.transaction() as session:
            self._fence(session)
            forget_unseen(session, now_ms - FORGET_MS, agents_before_ms=now_ms - FORGET_AGENT_MS)
            self._loaded_ms = now_ms
            self._places = load_places(session)
            return load_known(session)

    def _select(self, metric: str, start_ms: int, end_ms: int) -> Selection:
        return self._store.select([Matcher("__name__", MatchOperator.EQUAL, metric)], start_ms, end_ms)


def open_changes(
    ground: Foundation, leadership: Leadership, annotations: AnnotationService, library: Library
) -> ChangeWatcher:
    """Changes of what agents discover become annotations while this server leads."""
    watcher = ChangeWatcher(
        store=ground.store,
        relational=ground.relational,
        fence=leadership.check,
        leads=lambda: leadership.held,
        annotations=annotations,
        library=library,
        clock=ground.clock,
    )
    ground.stack.callback(watcher.stop)
    ground.stack.callback(leadership.subscribe(watcher.lead))
    ground.stack.callback(ground.store.on_touch(watcher.touched))
    watcher.start()
    return watcher
