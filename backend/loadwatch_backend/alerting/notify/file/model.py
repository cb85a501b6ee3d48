"""What a notification file says, after it has been read: receivers, routes, inhibition, time intervals.

Durations are in milliseconds.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

from pydantic import AfterValidator, BeforeValidator, Field, SkipValidation

from loadwatch_backend.alerting.notify.file.intervals import TimeInterval
from loadwatch_backend.alerting.notify.file.matchers import (
    LabelMatcher,
    MatcherError,
    MatchOperatorName,
    parse_matchers,
    sort_matchers,
)
from loadwatch_backend.alerting.notify.model import NoticeKind
from loadwatch_backend.alerting.notify.record import (
    INTERNAL,
    Duration,
    Flag,
    Joined,
    Raw,
    Record,
    Text,
    error_at,
    list_of,
    one_of,
    text_of,
)
from loadwatch_backend.alerting.notify.senders.model import Integration
from loadwatch_backend.core.secret import SecretError, secrets_in

ALL_LABELS = "..."
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_EVENTS = {"started": NoticeKind.RUN_STARTED, "finished": NoticeKind.RUN_FINISHED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """A name and its integrations; none means: on the page only."""

    name: str
    integrations: Sequence[Integration] = ()

    def integration(self, id: str) -> Integration | None:
        return next((one for one in self.integrations if one.id == id), None)


# Routes ---------------------------------------------------------------------------------------------------------------


def _older_keys(key: str) -> tuple[str, str]:
    return key.removesuffix("ers"), key.removesuffix("ers") + "_re"


def _with_older(key: str, listed: Any, older: Mapping[str, Any], folder: Path) -> Any:
    """The list `matchers` with what the mappings `match` and `match_re` say."""
    del key, folder
    found: list[LabelMatcher] = []
    for name, labels in older.items():
        if not isinstance(labels, dict):
            raise error_at((name,), "must be a mapping of keys")
        for label, given in cast("dict[str, object]", labels).items():
            text = "" if given is None else given
            if not _NAME.fullmatch(label):
                raise error_at((name, label), f"{label!r} is no label name")
            if not isinstance(text, str):
                raise error_at((name, label), "must be a text")
            # Alertmanager keeps these patterns with their anchors, also in group keys.
            pattern = name.endswith("_re")
            operator, value = (
                (MatchOperatorName.MATCHES, f"^(?:{text})$") if pattern else (MatchOperatorName.EQUAL, text)
            )
            try:
                found.append(LabelMatcher(label, operator, value))
            except MatcherError as error:
                raise error_at((name, label), str(error)) from None
    return found if listed is None else [*listed, *found] if isinstance(listed, list) else listed


def _matchers(value: object) -> object:
    if not isinstance(value, list):
        return value
    found: list[LabelMatcher] = []
    for place, one in enumerate(cast("list[object]", value)):
        try:
            found += [one] if isinstance(one, LabelMatcher) else parse_matchers(text_of(one))
        except ValueError as error:
            raise error_at((place,), str(error)) from None
    return sort_matchers(found)


Matchers = Annotated[tuple[LabelMatcher, ...], BeforeValidator(_matchers), Joined(_older_keys, _with_older)]
"""Sorted; from the lists and mappings that Alertmanager's file has had."""


def _not_zero(milliseconds: int) -> int:
    if not milliseconds:
        raise ValueError("must not be 0")
    return milliseconds


def _labels(names: tuple[str, ...]) -> tuple[str, ...] | None:
    if ALL_LABELS in names:
        if set(names) != {ALL_LABELS}:
            raise ValueError("must not have other labels beside '...'")
        return None
    for name in names:
        if not name:
            raise ValueError("must not hold an empty label name")
        if names.count(name) > 1:
            raise ValueError(f"must not name {name!r} twice")
    return tuple(sorted(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Record):
    """One node of the route tree, with what it inherits.

    `id` is its place: `0`, `0.1`. `key` is Alertmanager's own: the matchers on the way from the root. `group_by`
    None is every label.
    """

    unsupported: ClassVar[Mapping[str, str]] = {"labels": "labels of routes are for templates, which Loadwatch has not"}
    missing: ClassVar[Mapping[str, str]] = {"receiver": "the root route needs a receiver"}
    id: Annotated[str, INTERNAL] = ""
    key: Annotated[str, INTERNAL] = ""
    receiver: Raw
    matchers: Matchers = ()
    continues: Annotated[Flag, Field(alias="continue")] = False
    group_by: Annotated[tuple[Raw, ...], AfterValidator(_labels)] | None = ()
    group_wait_ms: Annotated[Duration, Field(alias="group_wait")] = 30_000
    group_interval_ms: Annotated[Duration, AfterValidator(_not_zero), Field(alias="group_interval")] = 300_000
    repeat_interval_ms: Annotated[Duration, AfterValidator(_not_zero), Field(alias="repeat_interval")] = 14_400_000
    mute_time_intervals: tuple[Raw, ...] = ()
    active_time_intervals: tuple[Raw, ...] = ()
    routes: "Annotated[Sequence[Route], SkipValidation, BeforeValidator(list_of)]" = ()
    """The file's data until `document` has read those, too."""
    line: Annotated[int, INTERNAL] = 0

    def walk(self) -> "Iterator[Route]":
        yield self
        for child in self.routes:
            yield from child.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedInterval(Record):
    """A named time interval: any of `intervals`; `lines` are as the file has them, for the page."""

    missing: ClassVar[Mapping[str, str]] = {"name": "a time interval needs a name"}
    name: Text
    intervals: Annotated[tuple[TimeInterval, ...], Field(alias="time_intervals")] = ()
    lines: Annotated[tuple[str, ...], INTERNAL] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InhibitRule(Record):
    """Firing alerts that match `source` hold those that match `target`, where they agree on the labels `equal`.

    One that is `built_in` holds them back only from receivers that the source is sent to.
    """

    unsupported: ClassVar[Mapping[str, str]] = {"sources": "give a rule for each source"}
    name: Text = ""
    source: Annotated[Matchers, Field(alias="source_matchers")] = ()
    target: Annotated[Matchers, Field(alias="target_matchers")] = ()
    equal: tuple[Raw, ...] = ()
    built_in: Annotated[bool, INTERNAL] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeRoute(Record):
    missing: ClassVar[Mapping[str, str]] = {"receiver": "a run notice needs a receiver"}
    receiver: Raw
    events: tuple[Annotated[NoticeKind, one_of(_EVENTS)], ...] = tuple(_EVENTS.values())
    matchers: Matchers = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPart(Record):
    """The part `loadwatch`, which Alertmanager has not."""

    default_inhibit_rules: Flag = True
    inhibit_by_findings: Flag = True
    run_notices: tuple[NoticeRoute, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """A whole notification file. `digest` changes with anything that changes where alerts go."""

    digest: str
    root: Route
    receivers: Mapping[str, Receiver]
    inhibit_rules: Sequence[InhibitRule] = ()
    time_intervals: Mapping[str, NamedInterval] = field(default_factory=dict[str, NamedInterval])
    notices: Sequence[NoticeRoute] = ()
    holds_consequences: bool = True
    """Whether alerts are held back that follow from a finding of which somebody has been notified."""

    @cached_property
    def everybody(self) -> "Sequence[Route]":
        """A route to each receiver that alerts can reach, for those that are everybody's: see `routing.routes_of`."""
        names = dict.fromkeys(route.receiver for route in self.root.walk())
        return [
            Route(
                id=f"everybody:{place}",
                key=f"{{everybody}}:{name}",
                receiver=name,
                group_by=self.root.group_by,
                group_wait_ms=0,
                group_interval_ms=self.root.group_interval_ms,
                repeat_interval_ms=self.root.repeat_interval_ms,
            )
            for place, name in enumerate(names)
            if self.receivers[name].integrations
        ]

    @cached_property
    def routes(self) -> "Mapping[str, Route]":
        return {route.id: route for route in (*self.root.walk(), *self.everybody)}


def unreadable_secrets(configuration: Configuration) -> list[str]:
    reasons: dict[str, None] = {}
    for receiver in configuration.receivers.values():
        for integration in receiver.integrations:
            for secret in secrets_in(integration):
                try:
                    secret.reveal()
                except SecretError as error:
                    reasons[f"receiver {receiver.name!r}, {integration.id}: {error}"] = None
    return list(reasons)
