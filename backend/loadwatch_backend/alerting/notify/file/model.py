"""What a notification file says, after it has been read: receivers, routes, inhibition, time intervals.

Durations are in milliseconds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from loadwatch_backend.alerting.notify.file.intervals import TimeInterval
from loadwatch_backend.alerting.notify.file.matchers import LabelMatcher
from loadwatch_backend.alerting.notify.model import NoticeKind
from loadwatch_backend.alerting.notify.senders.model import Integration


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """A name and the ways in which it is told; none means: on the page only."""

    name: str
    integrations: Sequence[Integration] = ()

    def integration(self, id: str) -> Integration | None:
        """The one with this id."""
        return next((one for one in self.integrations if one.id == id), None)


# Routes ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One node of the route tree, with what it inherits.

    `id` is its place: `0`, `0.1`. `key` is Alertmanager's own: the matchers on the way from the root. `group_by`
    None is every label.
    """

    id: str
    key: str
    receiver: str
    matchers: Sequence[LabelMatcher] = ()
    continues: bool = False
    group_by: Sequence[str] | None = ()
    group_wait_ms: int = 30_000
    group_interval_ms: int = 300_000
    repeat_interval_ms: int = 14_400_000
    mute_time_intervals: Sequence[str] = ()
    active_time_intervals: Sequence[str] = ()
    routes: "Sequence[Route]" = ()
    line: int = 0

    def walk(self) -> "Iterator[Route]":
        """This one and all below, depth first."""
        yield self
        for child in self.routes:
            yield from child.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedInterval:
    """A named time interval: any of `intervals`; `lines` are as the file has them, for the page."""

    name: str
    intervals: Sequence[TimeInterval]
    lines: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InhibitRule:
    """Firing alerts that match `source` hold those that match `target`, where they agree on the labels `equal`.

    One that is `built_in` holds them back only from receivers that the source is sent to.
    """

    name: str = ""
    source: Sequence[LabelMatcher]
    target: Sequence[LabelMatcher]
    equal: Sequence[str] = ()
    built_in: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeRoute:
    """Which runs a receiver is told of."""

    receiver: str
    events: Sequence[NoticeKind]
    matchers: Sequence[LabelMatcher] = ()


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
    """Whether alerts are held back that follow from a finding of which somebody has been told."""

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
        """All routes by id."""
        return {route.id: route for route in (*self.root.walk(), *self.everybody)}
