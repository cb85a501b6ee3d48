"""The words of this slice. Times are milliseconds since the epoch."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from loadwatch_backend.catalogue.signals.model import ChangedField, Watch
from loadwatch_backend.series.store.port import Labels

Fields = Mapping[str, str]
"""Values of the watched labels; what is not known is not there."""

EVERYBODY = ""
"""As a source: what all agents together have said of a resource."""


class Subject(NamedTuple):
    """One resource as one agent sees it."""

    resource: str
    source: str


class Point(NamedTuple):
    """What was said at a time."""

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
    """When anything was said."""

    @property
    def last_ms(self) -> int:
        """When something was said last."""
        return self.times_ms[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """An agent has listed a kind of resources in full; times of the newest listings in rising order."""

    place: str
    """Agent, account, region and kind."""
    times_ms: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is kept of a subject."""

    metric: str
    place: str
    title: str
    fields: Fields
    changed_ms: int
    seen_ms: int
    gone: bool = False
    tags: tuple[str, ...] = ()
    """Of coming and going."""


class Event(StrEnum):
    """What happened."""

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
    """The identity of an agent's target."""
    return _hash(labels.get("job", ""), labels.get("instance", ""))


def place_of(labels: Labels, kind: str) -> str:
    """The identity of a kind of resources of an account and region as one agent sees them."""
    return _hash(source_of(labels), labels.get("account_id", ""), labels.get("region", ""), kind)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:40]
