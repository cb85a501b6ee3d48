"""Where an alert goes: the route tree, group labels and keys, as Alertmanager's dispatch/route.go; all pure."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from loadwatch_formats.times import format_rfc3339

from loadwatch_backend.alerting.notify.file.matchers import all_match
from loadwatch_backend.alerting.notify.file.model import Configuration, NamedInterval, Route
from loadwatch_backend.alerting.notify.model import Envelope, EnvelopeKind, Notice, NoticeText
from loadwatch_backend.core.text import quote
from loadwatch_backend.series.store.port import Labels

EVERYBODY_LABEL = "notify"
EVERYBODY = "everybody"
_OFFSET = 14_695_981_039_346_656_037
_PRIME = 1_099_511_628_211
_MASK = (1 << 64) - 1


def match_routes(route: Route, labels: Labels) -> list[Route]:
    """The routes that take an alert: depth first, the first child that matches unless it continues."""
    if not all_match(route.matchers, labels):
        return []
    found: list[Route] = []
    for child in route.routes:
        matches = match_routes(child, labels)
        found += matches
        if matches and not child.continues:
            break
    return found or [route]


def routes_of(configuration: Configuration, labels: Labels) -> list[Route]:
    """Where an alert goes: by the tree, and one with the label `notify="everybody"` to all other receivers as well.

    That is for alerts about notifications themselves, whose own receiver may be the one that does not answer.
    """
    found = match_routes(configuration.root, labels)
    if not is_everybodys(labels):
        return found
    reached = {route.receiver for route in found}
    return [*found, *(route for route in configuration.everybody if route.receiver not in reached)]


def is_everybodys(labels: Labels) -> bool:
    return labels.get(EVERYBODY_LABEL) == EVERYBODY


def group_labels(route: Route, labels: Labels) -> dict[str, str]:
    if route.group_by is None:
        return dict(sorted(labels.items()))
    return {name: labels[name] for name in route.group_by if name in labels}


def group_key(route: Route, labels: Labels) -> str:
    """Alertmanager's `groupKey`: the matchers on the way to the route, and the group's labels."""
    inner = ", ".join(f"{name}={quote(value)}" for name, value in sorted(labels.items()))
    return f"{route.key}:{{{inner}}}"


def short_hash(*texts: str) -> str:
    """32 characters that stand for some texts, for keys of tables."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def fingerprint(labels: Labels) -> str:
    """Prometheus' fingerprint: FNV-1a over names and values in order (common/model/signature.go)."""
    hashed = _OFFSET
    for name in sorted(labels):
        for byte in b"%b\xff%b\xff" % (name.encode(), labels[name].encode()):
            hashed = ((hashed ^ byte) * _PRIME) & _MASK
    return f"{hashed:016x}"


def muting_intervals(route: Route, intervals: Mapping[str, NamedInterval], at_ms: int) -> tuple[str, ...]:
    """The time intervals that keep a route quiet at an instant.

    Those of `mute_time_intervals` that hold; else all of `active_time_intervals` when none of them holds.
    """
    muting = tuple(name for name in route.mute_time_intervals if holds(intervals, name, at_ms))
    if muting or not route.active_time_intervals:
        return muting
    if any(holds(intervals, name, at_ms) for name in route.active_time_intervals):
        return ()
    return tuple(route.active_time_intervals)


def holds(intervals: Mapping[str, NamedInterval], name: str, at_ms: int) -> bool:
    named = intervals.get(name)
    return named is not None and any(one.contains(at_ms) for one in named.intervals)


def receiver_names(routes: Sequence[Route]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(route.receiver for route in routes))


def announce(configuration: Configuration, notice: Notice) -> list[Envelope]:
    receivers = dict.fromkeys(
        route.receiver
        for route in configuration.notices
        if notice.kind in route.events and all_match(route.matchers, notice.labels)
    )
    return [
        Envelope(
            kind=EnvelopeKind.RUN,
            receiver=name,
            integration=integration.id,
            order_key=f"run:{short_hash(name, integration.id)}",
            subject=notice.texts[integration.language].title,
            document=_notice_document(notice, notice.texts[integration.language]),
            key=notice.key,
        )
        for name in receivers
        for integration in configuration.receivers[name].integrations
    ]


def _notice_document(notice: Notice, text: NoticeText) -> dict[str, Any]:
    return {
        "version": "loadwatch/1",
        "type": notice.kind.value,
        "key": notice.key,
        "at": format_rfc3339(notice.at_ms),
        "title": text.title,
        "text": text.text,
        "url": notice.url,
        "labels": dict(notice.labels),
        "facts": [{"label": label, "text": said} for label, said in text.facts],
        "findings": [asdict(one) for one in text.findings],
    }
