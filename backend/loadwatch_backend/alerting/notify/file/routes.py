"""Routes, inhibition, time intervals and run notices of a notification file."""

import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from loadwatch_backend.alerting.notify.file.intervals import (
    Range,
    TimeInterval,
    TimeRange,
    parse_days_of_month,
    parse_location,
    parse_months,
    parse_time_range,
    parse_weekdays,
    parse_years,
)
from loadwatch_backend.alerting.notify.file.matchers import (
    LabelMatcher,
    LabelOperator,
    format_matchers,
    parse_matchers,
    sort_matchers,
)
from loadwatch_backend.alerting.notify.file.model import InhibitRule, NamedInterval, NoticeRoute, Receiver, Route
from loadwatch_backend.alerting.notify.model import NoticeKind
from loadwatch_backend.alerting.notify.nodes import Section, Value

ALL_LABELS = "..."
_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_EVENTS = {"started": NoticeKind.RUN_STARTED, "finished": NoticeKind.RUN_FINISHED}
DEPTH = 50
"""Levels of routes; more are a mistake, and Python's own stack has an end."""


# Routes ---------------------------------------------------------------------------------------------------------------


def read_root(section: Section, receivers: Collection[str], intervals: Collection[str]) -> Route:
    """The route tree.

    Raises:
        ConfigurationError: the root is not a fallback for all alerts, or a route is wrong.
    """
    for name in ("match", "match_re", "matchers"):
        if (given := section.take(name)) is not None and given.node.value:
            raise given.error("the root route takes every alert; it must not have matchers")
    for name in ("mute_time_intervals", "active_time_intervals"):
        if (given := section.take(name)) is not None and given.node.value:
            raise given.error(f"the root route must not have {name}; put them on a route below")
    if section.take("receiver") is None:
        raise section.error("the root route needs a receiver")
    return _read_route(section, None, "0", receivers, intervals)


def _read_route(
    section: Section, parent: Route | None, id: str, receivers: Collection[str], intervals: Collection[str]
) -> Route:
    if id.count(".") > DEPTH:
        raise section.error(f"routes are nested deeper than {DEPTH} levels")
    base = parent or Route(id="", key="", receiver="")
    matchers = read_matchers(section)
    wait, interval, repeat = (section.duration(name) for name in ("group_wait", "group_interval", "repeat_interval"))
    for name, given in (("group_interval", interval), ("repeat_interval", repeat)):
        if given == 0:
            raise section.error(f"{name} must not be 0")
    receiver = section.take("receiver")
    route = Route(
        id=id,
        key=(f"{parent.key}/" if parent else "") + format_matchers(matchers),
        receiver=base.receiver if receiver is None else _known(receiver, receivers, "receiver"),
        matchers=matchers,
        continues=section.flag("continue", False),
        group_by=_read_group_by(section.take("group_by"), base.group_by),
        group_wait_ms=base.group_wait_ms if wait is None else wait,
        group_interval_ms=interval or base.group_interval_ms,
        repeat_interval_ms=repeat or base.repeat_interval_ms,
        mute_time_intervals=_interval_names(section.take("mute_time_intervals"), intervals),
        active_time_intervals=_interval_names(section.take("active_time_intervals"), intervals),
        line=section.line,
    )
    children = tuple(
        _read_route(child, route, f"{id}.{place}", receivers, intervals)
        for place, child in enumerate(section.sections("routes"))
    )
    section.finish("a route", {"labels": "labels of routes are for templates, which Loadwatch has not"})
    return replace(route, routes=children)


def _read_group_by(value: Value | None, inherited: Sequence[str] | None) -> Sequence[str] | None:
    if value is None:
        return inherited
    names = [item.text() for item in value.items()]
    if ALL_LABELS in names:
        if set(names) != {ALL_LABELS}:
            raise value.error("group_by must not have other labels beside '...'")
        return None
    for name in names:
        if not name:
            raise value.error("group_by holds an empty label name")
        if names.count(name) > 1:
            raise value.error(f"group_by names {name!r} twice")
    return tuple(sorted(names))


def _interval_names(value: Value | None, intervals: Collection[str]) -> tuple[str, ...]:
    return () if value is None else tuple(_known(item, intervals, "time interval") for item in value.items())


def _known(value: Value, names: Collection[str], what: str) -> str:
    name = value.text()
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise value.error(f"there is no {what} of the name {name!r}{hint}")
    return name


def read_matchers(section: Section, prefix: str = "") -> tuple[LabelMatcher, ...]:
    """The keys `matchers`, `match` and `match_re`, sorted; with a prefix for inhibition: `source_matchers`."""
    found: list[LabelMatcher] = []
    for label, value in _labelled(section, f"{prefix}match"):
        found.append(LabelMatcher(label, LabelOperator.EQUAL, value.text()))
    for label, value in _labelled(section, f"{prefix}match_re"):
        # Alertmanager keeps these patterns with their anchors, also in group keys.
        found.append(value.read(lambda text, label=label: LabelMatcher(label, LabelOperator.MATCHES, f"^(?:{text})$")))
    listed = section.take(f"{prefix}matchers")
    if listed is not None:
        for item in listed.items():
            found += item.read(parse_matchers)
    return sort_matchers(found)


def _labelled(section: Section, name: str) -> Iterator[tuple[str, Value]]:
    for label, value in section.pairs(name).items():
        if not _NAME.fullmatch(label):
            raise value.error(f"{label!r} is no label name")
        yield label, value


# Inhibition -----------------------------------------------------------------------------------------------------------


def read_inhibit_rules(sections: Sequence[Section]) -> tuple[InhibitRule, ...]:
    """The list `inhibit_rules`."""
    rules: list[InhibitRule] = []
    for section in sections:
        rule = InhibitRule(
            name=section.text("name"),
            source=read_matchers(section, "source_"),
            target=read_matchers(section, "target_"),
            equal=tuple(section.texts("equal") or ()),
        )
        section.finish("inhibit_rules", {"sources": "give a rule for each source"})
        rules.append(rule)
    return tuple(rules)


# Time intervals -------------------------------------------------------------------------------------------------------


def read_intervals(document: Section) -> Mapping[str, NamedInterval]:
    """The lists `time_intervals` and the older `mute_time_intervals`."""
    found: dict[str, NamedInterval] = {}
    for key in ("mute_time_intervals", "time_intervals"):
        for section in document.sections(key):
            name = section.text("name")
            if not name:
                raise section.error("a time interval needs a name")
            if name in found:
                raise section.error(f"there are two time intervals of the name {name!r}")
            parts = section.sections("time_intervals")
            section.finish("a time interval")
            found[name] = NamedInterval(
                name=name, intervals=tuple(map(_read_interval, parts)), lines=tuple(map(_line, parts))
            )
    return found


def _read_interval(section: Section) -> TimeInterval:
    times = section.take("times")
    location = section.take("location")
    interval = TimeInterval(
        times=None if times is None else tuple(_read_times(item.section()) for item in times.items()),
        weekdays=_ranges(section.take("weekdays"), parse_weekdays),
        days_of_month=_ranges(section.take("days_of_month"), parse_days_of_month),
        months=_ranges(section.take("months"), parse_months),
        years=_ranges(section.take("years"), parse_years),
        location=None if location is None else location.read(parse_location),
    )
    section.finish("a time interval")
    return interval


def _read_times(section: Section) -> TimeRange:
    start, end = section.take("start_time"), section.take("end_time")
    section.finish("times")
    if start is None or end is None:
        raise section.error("times need both start_time and end_time")
    return end.read(lambda text: parse_time_range(start.text(), text))


def _ranges(value: Value | None, parse: Callable[[str], Range]) -> tuple[Range, ...] | None:
    return None if value is None else tuple(item.read(parse) for item in value.items())


def _line(section: Section) -> str:
    """One part of an interval as one line for the page."""
    words: list[str] = []
    for name, value in section.all().items():
        if value.is_null():
            continue
        if name == "times":
            spans = [item.section() for item in value.items()]
            texts = [f"{one.text('start_time')}-{one.text('end_time')}" for one in spans]
        elif name == "location":
            texts = [value.text()]
        else:
            texts = [item.text() for item in value.items()]
        words.append(f"{name}: {', '.join(texts)}")
    return "; ".join(words) or "always"


# Run notices ----------------------------------------------------------------------------------------------------------


def read_notices(section: Section | None, receivers: Mapping[str, Receiver]) -> tuple[NoticeRoute, ...]:
    """The part `loadwatch.run_notices`."""
    if section is None:
        return ()
    routes: list[NoticeRoute] = []
    for one in section.sections("run_notices"):
        receiver = one.take("receiver")
        if receiver is None:
            raise one.error("a run notice needs a receiver")
        routes.append(
            NoticeRoute(
                receiver=_known(receiver, receivers, "receiver"),
                events=_read_events(one.take("events")),
                matchers=read_matchers(one),
            )
        )
        one.finish("run_notices")
    section.finish("loadwatch")
    return tuple(routes)


def _read_events(value: Value | None) -> tuple[NoticeKind, ...]:
    if value is None:
        return tuple(_EVENTS.values())
    found: list[NoticeKind] = []
    for item in value.items():
        kind = _EVENTS.get(item.text())
        if kind is None:
            raise item.error(f"events must be among {', '.join(_EVENTS)}")
        found.append(kind)
    return tuple(found)
