"""Reads discovered facts when they arrive, and writes annotations for what has changed.

Only the server that leads does so. What is known and the annotations that follow are written in one transaction that
the lead fences, so a change is told once: over restarts, and with several servers on one database.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from loadwatch_backend.app.changes.repository import forget_unseen, load_known, load_places, save_known, save_places
from loadwatch_backend.app.changes.sightings import (
    EVERYBODY,
    Change,
    Event,
    Fields,
    Known,
    Listing,
    Point,
    ResourceHistory,
    Subject,
    place_of,
    read_listings,
    read_sightings,
    title_of,
)
from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.model import Presence, Watch
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.leadership import Leadership
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.periodic import Periodic
from loadwatch_backend.core.texts.numbers import duration
from loadwatch_backend.runs.annotations.schemas import AnnotationIn
from loadwatch_backend.runs.annotations.service import AnnotationService
from loadwatch_backend.series.foundation import Foundation
from loadwatch_backend.series.store.port import Matcher, MatchOperator, Reader, Selection

MOMENT_SECONDS = 10.0
"""A host's clock that is set moves the times at which its processes started by so much, and no process was started."""
GONE_MS = 150_000
"""So long after its last sample a resource is gone, when its kind is still listed: two listings and a half."""
MOMENT_SLACK_MS = 120_000
KEEP_SEEN_MS = 6 * 3_600_000
"""`seen_ms` is written anew after this time only: it serves nothing but forgetting."""

Memory = Mapping[Subject, Known]


@dataclass(slots=True, kw_only=True)
class Detection:
    changes: list[Change] = field(default_factory=list[Change])
    kept: dict[Subject, Known] = field(default_factory=dict[Subject, Known])


def detect(
    watch: Watch,
    sightings: Mapping[Subject, ResourceHistory],
    listings: Mapping[str, Listing],
    memory: Memory,
    places: set[str],
) -> Detection:
    """Changes of the resources of one metric.

    Args:
        watch: the metric.
        sightings: what was said in the span.
        listings: when the kinds were listed in full.
        memory: what is known of subjects of this metric.
        places: places that were listed before this reading: a resource that is new there has come since.
    """
    outcome = Detection()
    joined = _Joined(memory, outcome)
    for subject, sighting in sightings.items():
        known = memory.get(subject)
        if known is None or known.gone:
            _came(watch, sighting, known, joined, places, outcome)
        else:
            _follow(watch, sighting, known, joined, outcome)
    for subject, known in memory.items():
        if subject.source != EVERYBODY and not known.gone:
            seen = sightings.get(subject)
            last_ms = seen.last_ms if seen is not None else max(known.seen_ms, known.changed_ms)
            _went(watch, subject, known, last_ms, sightings, listings, joined, outcome)
    return outcome


class _Joined:
    """What all agents together have said; the first to tell a change is believed, the others repeat it."""

    def __init__(self, memory: Memory, outcome: Detection) -> None:
        self._memory = memory
        self._outcome = outcome
        self._sources: dict[str, list[Subject]] = {}
        for subject in memory:
            if subject.source != EVERYBODY:
                self._sources.setdefault(subject.resource, []).append(subject)

    def get(self, resource: str) -> Known | None:
        subject = Subject(resource, EVERYBODY)
        return self._outcome.kept.get(subject) or self._memory.get(subject)

    def put(self, resource: str, known: Known) -> None:
        self._outcome.kept[Subject(resource, EVERYBODY)] = known

    def others_see(self, subject: Subject, sightings: Mapping[Subject, ResourceHistory], last_ms: int) -> bool:
        """Whether another agent has seen the resource after this one did; one that has ended sees nothing."""
        kept = self._outcome.kept
        return any(
            other in sightings
            and sightings[other].last_ms > last_ms
            and not (kept.get(other) or self._memory[other]).gone
            for other in self._sources.get(subject.resource, ())
            if other.source != subject.source
        )


def _came(
    watch: Watch, sighting: ResourceHistory, known: Known | None, joined: _Joined, places: set[str], outcome: Detection
) -> None:
    since_ms = known.changed_ms if known is not None else -1
    times_ms = [time_ms for time_ms in sighting.times_ms if time_ms > since_ms]
    if not times_ms:
        return
    last = sighting.points[-1]
    fields: dict[str, str] = {}
    for point in sighting.points:
        fields |= point.fields
    fresh = _known(watch, sighting, last, fields)
    everybody = joined.get(sighting.subject.resource)
    if everybody is not None and not everybody.gone:
        # An agent in another's place: what has changed in between is told by it.
        _follow(watch, sighting, replace(everybody, changed_ms=max(since_ms, everybody.changed_ms)), joined, outcome)
        outcome.kept[sighting.subject] = fresh
        return
    outcome.kept[sighting.subject] = fresh
    joined.put(sighting.subject.resource, fresh)
    if watch.presence and "untold" not in fresh.tags and fresh.place in places:
        tags = fresh.tags or ("appeared",)
        outcome.changes.append(Change(event=Event.CAME, watch=watch, title=fresh.title, at_ms=times_ms[0], tags=tags))


def _follow(watch: Watch, sighting: ResourceHistory, known: Known, joined: _Joined, outcome: Detection) -> None:
    fields, changed_ms = dict(known.fields), known.changed_ms
    for point in sighting.points:
        if point.time_ms <= known.changed_ms:
            continue
        for label, one in watch.fields.items():
            before, after = fields.get(label, ""), point.fields.get(label, "")
            if not after or after == before:
                continue
            if before and one.form == "time" and float(after) - float(before) <= MOMENT_SECONDS:
                continue
            fields[label] = after
            changed_ms = point.time_ms
            everybody = joined.get(sighting.subject.resource) or known
            told = everybody.fields.get(label, "")
            if point.time_ms >= everybody.changed_ms:
                merged = {**everybody.fields, label: after}
                joined.put(sighting.subject.resource, replace(everybody, fields=merged, changed_ms=point.time_ms))
            # What another agent has told already, or what it has since seen change again, is not told twice.
            is_news = before and told != after and point.time_ms >= everybody.changed_ms
            if is_news and (not one.only_to or after == one.only_to):
                tag = one.fall_tag if one.fall_tag and not label and float(after) < float(before) else one.tag
                outcome.changes.append(
                    Change(
                        event=Event.CHANGED,
                        watch=watch,
                        title=title_of(watch, point.labels),
                        at_ms=_moment_ms(after, point.time_ms) if one.form == "time" else point.time_ms,
                        tags=(tag,),
                        field=one,
                        before=before,
                        after=after,
                    )
                )
    if fields != known.fields or sighting.last_ms - known.seen_ms > KEEP_SEEN_MS:
        last = sighting.points[-1]
        outcome.kept[sighting.subject] = replace(_known(watch, sighting, last, fields), changed_ms=changed_ms)
        everybody = joined.get(sighting.subject.resource)
        if everybody is not None:
            joined.put(sighting.subject.resource, replace(everybody, seen_ms=sighting.last_ms))


def _moment_ms(text: str, seen_ms: int) -> int:
    """The told time, or `seen_ms` where the told one is later or too long before: another clock's."""
    told_ms = round(float(text) * 1_000)
    return told_ms if seen_ms - MOMENT_SLACK_MS <= told_ms <= seen_ms else seen_ms


def _went(
    watch: Watch,
    subject: Subject,
    known: Known,
    last_ms: int,
    sightings: Mapping[Subject, ResourceHistory],
    listings: Mapping[str, Listing],
    joined: _Joined,
    outcome: Detection,
) -> None:
    listing = listings.get(known.place)
    if listing is None or listing.times_ms[-1] - last_ms < GONE_MS:
        return
    at_ms = next((time for time in listing.times_ms if time > last_ms), listing.times_ms[-1])
    outcome.kept[subject] = replace(known, gone=True, changed_ms=last_ms)
    if joined.others_see(subject, sightings, last_ms):
        return
    everybody = joined.get(subject.resource)
    if everybody is None or everybody.gone:
        return
    joined.put(subject.resource, replace(everybody, gone=True, changed_ms=last_ms))
    if watch.presence and "untold" not in known.tags:
        tags = ("scale-in",) if "scale-out" in known.tags else ("gone",)
        outcome.changes.append(Change(event=Event.WENT, watch=watch, title=known.title, at_ms=at_ms, tags=tags))


def _known(watch: Watch, sighting: ResourceHistory, last: Point, fields: Fields) -> Known:
    presence = watch.presence or Presence()
    untold = bool(presence.unless and last.labels.get(presence.unless))
    scales = bool(presence.scales and last.labels.get(presence.scales))
    return Known(
        metric=watch.series,
        place=place_of(last.labels, watch.listed_by),
        title=title_of(watch, last.labels),
        fields=fields,
        changed_ms=last.time_ms,
        seen_ms=sighting.last_ms,
        tags=("untold",) if untold else ("scale-out",) if scales else (),
    )


MOST_NAMES = 10
MOST_NOTES = 50
"""Annotations of one look; what is beyond them is summed up in one."""
_TEXT_LENGTH = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    text: str
    tags: tuple[str, ...]
    at_ms: int
    author: str


def describe(changes: Iterable[Change]) -> list[Note]:
    """The annotations for changes, in order of time.

    Changes of one resource at one time are one annotation, and so are resources of one kind that came or went together.
    """
    groups: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        subject = change.title if change.event is Event.CHANGED else change.tags
        noun = change.watch.noun[0]
        groups.setdefault((change.event, noun, subject, change.at_ms), []).append(change)
    notes = sorted((_note(group) for group in groups.values()), key=lambda note: note.at_ms)
    if len(notes) <= MOST_NOTES:
        return notes
    rest = notes[MOST_NOTES - 1 :]
    tags = tuple(dict.fromkeys(tag for note in rest for tag in note.tags))[:20]
    text = f"{len(rest)} more changes at about the same time; the first: {rest[0].text}"
    last = Note(text=text[:_TEXT_LENGTH], tags=tags, at_ms=rest[0].at_ms, author=rest[0].author)
    return [*notes[: MOST_NOTES - 1], last]


def _note(group: Sequence[Change]) -> Note:
    first = group[0]
    tags = (first.watch.origin, *dict.fromkeys(tag for change in group for tag in change.tags))
    text = _sentence(group) if first.event is Event.CHANGED else _presence(group)
    return Note(text=text[:_TEXT_LENGTH], tags=tags, at_ms=first.at_ms, author=first.watch.origin)


def _sentence(group: Sequence[Change]) -> str:
    first = group[0]
    parts = [_part(change) for change in group]
    title = f"{first.watch.noun[0]} {first.title}"
    return ("Failover of the " if "failover" in first.tags else "") + f"{title}: {'; '.join(parts)}."


def _part(change: Change) -> str:
    if change.field is not None and change.field.form == "time":
        return f"started again, {duration(float(change.after) - float(change.before))} after its start before"
    words = change.field.words if change.field is not None else ""
    return f"{words} is {_readable(change.after)}, was {_readable(change.before)}"


def _readable(text: str) -> str:
    return {"true": "on", "false": "off"}.get(text, text)


def _presence(group: Sequence[Change]) -> str:
    first, count = group[0], len(group)
    came = first.event is Event.CAME
    names = sorted(change.title for change in group)
    listed = ", ".join(names[:MOST_NAMES]) + (f" and {count - MOST_NAMES} more" if count > MOST_NAMES else "")
    if count == 1:
        return f"{first.watch.noun[0]} {listed} {'has come' if came else 'is gone'}."
    return f"{count} {first.watch.noun[-1]} {'have come' if came else 'are gone'}: {listed}."


log = structlog.get_logger(__name__)

COUNT_METRIC = "aws_discovered_resources"
"""Says that an agent has listed the resources of a `kind` in full: what is not among them is gone."""
WINDOW_MS = 900_000
"""Span that is read when facts arrive; agents send them about once a minute."""
FIRST_WINDOW_MS = 3_600_000
"""The same after a start, when agents may be sending what waited for the server."""
OFTEN_EVERY_MS = 15_000
"""How often metrics whose samples come each second are looked at."""
OFTEN_WINDOW_MS = 120_000
"""The span that is read of such metrics; `WINDOW_MS` after a start."""
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
    """Call `start` once. Where no thread runs, `scan` may be called by itself."""

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
        self._loop.start(None)

    def stop(self) -> None:
        """End; a reading under way is finished."""
        self._loop.close()

    def touched(self, names: "frozenset[str] | set[str]") -> None:
        """Samples of these metrics were committed: wake the thread if one of them is due for a look."""
        changes = self._library.current().changes
        if any(changes[name].listed_by or self._is_due() for name in changes.keys() & names):
            self._loop.wake()

    def _is_due(self) -> bool:
        """Whether metrics that come each second are due for a look; always after a clock was set back."""
        return not 0 <= self._clock() - self._looked_ms < OFTEN_EVERY_MS

    def lead(self, held: bool) -> None:
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
