"""What one service's part of discovery is, and what it sees of the world while it looks."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, TypeVar, cast

from loadwatch_collectors.collector import Labels, MissingPrivilege, Sample
from loadwatch_collectors.sources.aws.client.client import AwsClient, Document
from loadwatch_collectors.sources.aws.client.errors import ForbiddenError
from loadwatch_collectors.sources.aws.model import AccountRegion, Pairs, PresetKind, Resource
from loadwatch_collectors.sources.aws.presets import PresetFile
from loadwatch_collectors.sources.aws.settings import SelectSettings


def matches_names(patterns: Sequence[str], names: Iterable[str]) -> bool:
    """Whether any of the names matches any of the patterns; no pattern matches everything."""
    return not patterns or any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


def matches_tags(wanted: Mapping[str, str], tags: Pairs) -> bool:
    """Whether all wanted tags are there; their values may have wildcards."""
    there = dict(tags)
    return all(key in there and fnmatchcase(there[key], pattern) for key, pattern in wanted.items())


def has_wildcard(pattern: str) -> bool:
    return any(sign in pattern for sign in "*?[")


class Selection:
    def __init__(self, presets: Iterable[PresetFile | PresetKind], select: Mapping[str, SelectSettings]) -> None:
        self._by_kind: dict[str, list[tuple[str, SelectSettings]]] = {}
        self._own: set[str] = set()
        for preset in presets:
            own = preset.name in select and preset.name != preset.group
            chosen = select.get(preset.name if own else preset.group) or select.get(preset.name) or SelectSettings()
            self._by_kind.setdefault(preset.kind, []).append((preset.name, chosen))
            if own:
                self._own.add(preset.kind)

    def wants(self, kind: str) -> bool:
        return kind in self._by_kind

    def has_own(self, kind: str) -> bool:
        """Whether the configuration chooses by a preset of this kind itself, and not only by its group."""
        return kind in self._own

    def tag_filters(self, kind: str) -> list[dict[str, str]]:
        """The sets of tags that are asked for, for which a resource's tags must be known."""
        return [dict(chosen.tags) for _, chosen in self._by_kind.get(kind, ()) if chosen.tags]

    def presets_of(self, kind: str, names: Sequence[str], tags: Pairs) -> tuple[str, ...]:
        return tuple(
            preset
            for preset, chosen in self._by_kind.get(kind, ())
            if matches_names(chosen.names, names) and matches_tags(chosen.tags, tags)
        )


_T = TypeVar("_T")

REMEDY = "Allow {action} in the policy of the agent's role; `loadwatch iam-policy` prints all that is needed."


class Permission(NamedTuple):
    action: str
    lost: str

    def missing(self) -> MissingPrivilege:
        return MissingPrivilege(permission=self.action, lost=self.lost, remedy=REMEDY.format(action=self.action))


class Item(NamedTuple):
    resource: Resource
    facts: tuple[Sample, ...] = ()


class Kept(NamedTuple):
    read: float
    value: Any


@dataclass(slots=True, kw_only=True)
class Look:
    """One look of one part at one place. Times are of the monotonic clock."""

    client: AwsClient
    selection: Selection
    place: AccountRegion
    now: float
    deadline: float
    kept: dict[str, Kept]
    """Answers of expensive calls; those that a whole look did not use are dropped after it."""
    keep_seconds: float
    lost: Mapping[str, str] = field(default_factory=dict[str, str])
    tags: Callable[[str, Sequence[Mapping[str, str]]], Mapping[str, Pairs]] | None = None
    used: set[str] = field(default_factory=set[str])
    """Details of this look, and below those that were read in it."""
    fresh: set[str] = field(default_factory=set[str])
    missing: dict[str, MissingPrivilege] = field(default_factory=dict[str, MissingPrivilege])

    def pages(self, service: str, operation: str, parameters: Mapping[str, Any] | None = None) -> Iterator[Document]:
        return self.client.pages(service, operation, parameters, deadline=self.deadline)

    def rows(
        self, service: str, operation: str, key: str, parameters: Mapping[str, Any] | None = None
    ) -> Iterator[Document]:
        for page in self.pages(service, operation, parameters):
            yield from page.get(key) or ()

    def call(self, service: str, operation: str, parameters: Mapping[str, Any] | None = None) -> Document:
        return self.client.call(service, operation, parameters, deadline=self.deadline)

    def optional(self, read: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return read()
        except ForbiddenError as error:
            self.note(error.action)
            return otherwise

    def note(self, action: str) -> None:
        lost = self.lost.get(action, "facts about some resources")
        self.missing[action] = Permission(action=action, lost=lost).missing()

    def detail(self, key: str, read: Callable[[], _T], otherwise: _T, *, keep_seconds: float | None = None) -> _T:
        """A dear detail of one resource, read again when it is too old and there is time; else what is kept.

        Details that are not read in time are read in the next look, so a place with thousands of resources is known
        after a few looks and none of them takes longer than its deadline.
        """
        self.used.add(key)
        kept = self.kept.get(key)
        age = self.keep_seconds if keep_seconds is None else keep_seconds
        if kept is not None and self.now - kept.read < age:
            return kept.value
        action = key.partition(" ")[0]
        if action in self.missing or self.is_late():
            return kept.value if kept is not None else otherwise
        try:
            value = read()
        except ForbiddenError as error:
            self.note(error.action)
            self.missing.setdefault(action, self.missing[error.action])
            return kept.value if kept is not None else otherwise
        self.kept[key] = Kept(self.now, value)
        self.fresh.add(key)
        return value

    def is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def choose(self, kind: str, names: Sequence[str], arn: str, tags: Pairs | None) -> tuple[str, ...]:
        """The presets that read a resource; empty when none does. `tags` are None where describe calls lack them."""
        if tags is None:
            filters = self.selection.tag_filters(kind)
            lookup = self.tags
            there: Mapping[str, Pairs] = {}
            if filters and lookup is not None:
                there = self.optional(lambda: lookup(kind, filters), there)
            tags = there.get(arn, ())
        return self.selection.presets_of(kind, (*names, arn), tags)

    def forget_unused(self) -> None:
        for key in self.kept.keys() - self.used:
            del self.kept[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    name: str
    kinds: tuple[str, ...]
    read: Callable[[Look], Iterable[Item]]
    permissions: tuple[Permission, ...]
    often: bool = False
    """Whether roles or numbers of members change under load, so that it looks each minute."""


def inner(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A document within a document; empty when it is not there."""
    found = document.get(key)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def listed(document: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """A list of documents within a document; empty when it is not there."""
    found = document.get(key)
    return cast("Sequence[Mapping[str, Any]]", found) if isinstance(found, list) else ()


def tag_pairs(tags: Iterable[Mapping[str, Any]] | None, key: str = "Key", value: str = "Value") -> Pairs:
    """A list of tags as AWS writes it, sorted."""
    return tuple(sorted((str(tag[key]), str(tag.get(value) or "")) for tag in tags or ()))


GIB = 1024**3


def base_labels(place: AccountRegion, name: str) -> Labels:
    """The labels that every series about one resource has; `name` is its ARN or id."""
    return (("account_id", place.account_id), ("name", name), ("region", place.region))


def info(metric: str, place: AccountRegion, name: str, **labels: object) -> Sample:
    """An info series. Labels that are None or empty are left out; booleans are written `true` and `false`."""
    own = tuple((label, text) for label, value in labels.items() if (text := _text(value)))
    return Sample(metric, 1.0, base_labels(place, name) + own)


def number(
    metric: str, place: AccountRegion, name: str, value: float | None, dimensions: Pairs = ()
) -> tuple[Sample, ...]:
    """A number about a resource, with the labels of its CloudWatch series, so that both match; none if it is None."""
    if value is None:
        return ()
    labels = base_labels(place, name) + tuple((f"dimension_{key}", text) for key, text in dimensions)
    return (Sample(metric, float(value), labels),)


def attributes(**values: object) -> Pairs:
    """What presets may ask for: sorted, empty ones left out, booleans written `true` and `false`."""
    return tuple(sorted((name, text) for name, value in values.items() if (text := _text(value))))


def partition(region: str) -> str:
    """The first part of an ARN of a region: `aws`, `aws-cn` or `aws-us-gov`."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
