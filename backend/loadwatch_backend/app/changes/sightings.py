"""From samples of the store to what each agent said of each resource, and when. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from loadwatch_backend.catalogue.signals.model import ChangedField, Watch
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Labels, Selection

Fields = Mapping[str, str]
"""Values of the watched labels; what is not known is not there."""

EVERYBODY = ""
"""As a source: what all agents together have said of a resource."""


class Subject(NamedTuple):
    """One resource as one agent sees it."""

    resource: str
    source: str


class Point(NamedTuple):
    time_ms: int
    labels: Labels
    fields: Fields


@dataclass(slots=True, kw_only=True)
class ResourceHistory:
    """What one agent said of one resource within the span that was read, in rising time; one point for each change."""

    watch: Watch
    subject: Subject
    points: Sequence[Point]
    times_ms: Sequence[int]

    @property
    def last_ms(self) -> int:
        return self.times_ms[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The newest full listings of a kind of resources by one agent; times in rising order."""

    place: str
    """Agent, account, region and kind."""
    times_ms: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    metric: str
    place: str
    title: str
    fields: Fields
    changed_ms: int
    seen_ms: int
    gone: bool = False
    tags: tuple[str, ...] = ()
    """Tags of the annotations of its coming and going; with `untold` there are none."""


class Event(StrEnum):
    CHANGED = "changed"
    CAME = "came"
    WENT = "went"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something to tell."""

    event: Event
    watch: Watch
    title: str
    at_ms: int
    tags: tuple[str, ...] = ()
    field: ChangedField | None = None
    before: str = ""
    after: str = ""


def resource_of(watch: Watch, labels: Labels) -> str:
    """The identity of a resource: a hash, since ARNs are long."""
    return _hash(watch.series, *(labels.get(label, "") for label in ("account_id", "region", "name", *watch.key)))


def source_of(labels: Labels) -> str:
    return _hash(labels.get("job", ""), labels.get("instance", ""))


def place_of(labels: Labels, kind: str) -> str:
    """The identity of a kind of resources of an account and region as one agent sees them."""
    return _hash(source_of(labels), labels.get("account_id", ""), labels.get("region", ""), kind)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]


LAST_SECOND = 253_402_300_799
"""The latest time that a date can hold; what is beyond it, or no number, is no time."""
_Row = tuple[Labels, list[int], list[float]]


def read_sightings(watch: Watch, selection: Selection) -> dict[Subject, ResourceHistory]:
    """What was said of each resource; series of one resource that follow one another are joined in rising time."""
    rows: dict[Subject, list[_Row]] = {}
    for labels, times, values in selection.each():
        live = values.view(np.uint64) != STALE_NAN_BITS
        if live.any():
            subject = Subject(resource_of(watch, labels), source_of(labels))
            rows.setdefault(subject, []).append((labels, times[live].tolist(), values[live].tolist()))
    return {subject: _sighting(watch, subject, some) for subject, some in rows.items()}


def _sighting(watch: Watch, subject: Subject, rows: Sequence[_Row]) -> ResourceHistory:
    if len(rows) == 1 and watch.value is None:  # nearly always: nothing has changed
        labels, times, _ = rows[0]
        points = [Point(times[0], labels, fields_of(watch, labels, 1.0))]
        return ResourceHistory(watch=watch, subject=subject, points=points, times_ms=times)
    if len(rows) == 1:
        # Numbers that come each second and hardly ever change: what is alike is left out before it costs anything.
        labels, times, values = rows[0]
        kept = [0, *(index for index in range(1, len(values)) if values[index] != values[index - 1])]
        points = [Point(times[index], labels, fields_of(watch, labels, values[index])) for index in kept]
        return ResourceHistory(watch=watch, subject=subject, points=points, times_ms=times)
    said = [
        Point(time, labels, fields_of(watch, labels, value))
        for labels, times, values in rows
        for time, value in zip(times, values, strict=True)
    ]
    said.sort(key=lambda point: point.time_ms)
    points = [point for place, point in enumerate(said) if not place or said[place - 1].fields != point.fields]
    return ResourceHistory(watch=watch, subject=subject, points=points, times_ms=[point.time_ms for point in said])


def read_listings(selection: Selection) -> dict[str, Listing]:
    """When each agent listed each kind, by place."""
    found: dict[str, Listing] = {}
    for labels, times, values in selection.each():
        live = times[values.view(np.uint64) != STALE_NAN_BITS]
        if len(live):
            place = place_of(labels, labels.get("kind", ""))
            found[place] = Listing(place=place, times_ms=tuple(live.tolist()))
    return found


def fields_of(watch: Watch, labels: Labels, value: float) -> Fields:
    """The watched values of a sample; empty ones are not known and left out."""
    found: dict[str, str] = {}
    for label, field in watch.fields.items():
        if (field.unless and labels.get(field.unless)) or (field.form == "time" and not 0 <= value < LAST_SECOND):
            continue
        text = labels.get(label, "") if label else f"{value:.15g}"
        if text:
            found[label] = text
    return found


def title_of(watch: Watch, labels: Labels) -> str:
    return "/".join(text for label in watch.name if (text := labels.get(label, ""))) or labels.get("name", "")
