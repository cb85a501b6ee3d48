"""Compares what agents say now with what is known of before. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from loadwatch_backend.app.changes.model import (
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
)
from loadwatch_backend.app.changes.sightings import title_of
from loadwatch_backend.catalogue.signals.model import Presence, Watch

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
    """What is to be told, and what is to be kept."""

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


def sighting_place(sighting: ResourceHistory) -> str:
    """The place of a sighting."""
    return place_of(sighting.points[-1].labels, sighting.watch.listed_by)


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
            if not after or after == before or (before and one.form == "time" and not _is_later(before, after)):
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


def _is_later(before: str, after: str) -> bool:
    return float(after) - float(before) > MOMENT_SECONDS


def _moment_ms(text: str, seen_ms: int) -> int:
    """The time that is told, unless it is too far from when it was seen to be by the same clock."""
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
        place=sighting_place(sighting),
        title=title_of(watch, last.labels),
        fields=fields,
        changed_ms=last.time_ms,
        seen_ms=sighting.last_ms,
        tags=("untold",) if untold else ("scale-out",) if scales else (),
    )
