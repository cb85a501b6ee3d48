"""Which alerts are one incident: those with one cause. Pure.

An alert that begins to fire joins the incident under way of its finding, or of a finding that follows from that;
without one, the incident of its run; else it is one by itself, and has no id. Once its finding becomes known it moves
there. An incident is under way for as long as one of its alerts fires, and its id stays, over a restart too.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from loadwatch_backend.alerting.alerts.evaluation.explain import RUN_LABEL, TrackedAlert
from loadwatch_backend.alerting.notify.causes import FINDING_FAMILY

KEY_DIGITS = 16
TIME_DIGITS = 16
CRITICAL = frozenset(("critical", "page", "emergency", "fatal", "disaster", "high", "error", "p1"))
INFO = frozenset(("", "info", "information", "notice", "low", "p4", "p5"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    by: str
    at_ms: int
    comment: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderWay:
    """An incident of which something fires. `acknowledged`: somebody has acknowledged all of that."""

    id: str
    acknowledged: Acknowledged | None = None


@dataclass(slots=True)
class Joining:
    """Where alerts belong.

    Attributes:
        joined: incidents by the id of an alert.
        merged: incidents that turned out to be another one, with that one.
        acknowledged: alerts whose incident was acknowledged before they joined it.
    """

    joined: dict[str, str] = field(default_factory=dict[str, str])
    merged: dict[str, str] = field(default_factory=dict[str, str])
    acknowledged: dict[str, Acknowledged] = field(default_factory=dict[str, Acknowledged])


def keys_of(alert: TrackedAlert) -> Sequence[str]:
    """Hashes of what an alert has in common with others, its own first; empty where it is alone."""
    family = alert.finding.get(FINDING_FAMILY, "")
    if family:
        return [_hashed("finding", key) for key in family.split("\n")]
    run = alert.labels.get(RUN_LABEL, "")
    return [_hashed("run", run)] if run else []


def new_incident(key: str, at_ms: int) -> str:
    """The id of one that begins: what it is about, and since when."""
    return f"{key}{max(at_ms, 0):0{TIME_DIGITS}x}"


def ids_of(key: str) -> tuple[str, str]:
    """First and last id of incidents with a key."""
    return f"{key}{'0' * TIME_DIGITS}", f"{key}{'f' * TIME_DIGITS}"


def join(alerts: Iterable[TrackedAlert], under_way: Collection[UnderWay], now_ms: int) -> Joining:
    """Where alerts belong that begin to fire, or whose finding has become known.

    One whose finding explains several incidents makes them one, the oldest of them.
    """
    found = Joining()
    known = {one.id: one for one in under_way}
    by_key: dict[str, list[str]] = {}
    for id in known:
        by_key.setdefault(id[:KEY_DIGITS], []).append(id)
    for alert in alerts:
        keys = keys_of(alert)
        if not keys:
            continue
        hits = {_followed(id, found.merged) for key in keys for id in by_key.get(key, ())}
        if not hits:
            new = new_incident(keys[0], now_ms)
            by_key.setdefault(keys[0], []).append(new)
            known[new] = UnderWay(id=new)
            hits = {new}
        # Ids end with the time at which they began.
        first, *others = sorted(hits, key=lambda id: (id[KEY_DIGITS:], id))
        found.joined[alert.id] = first
        found.merged |= dict.fromkeys(others, first)
        given = known[first].acknowledged
        if given is not None:
            found.acknowledged[alert.id] = given
    found.merged = {id: _followed(into, found.merged) for id, into in found.merged.items()}
    found.joined = {id: _followed(into, found.merged) for id, into in found.joined.items()}
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    id: str
    firing: bool
    held: bool = False
    """Another alert is sent in its place."""
    reports: bool
    """It reports its own finding."""
    active_ms: int
    severity: str


def head_of(members: Sequence[Member]) -> str:
    """Id of the alert that stands for an incident: the most severe that fires, after all are over that was.

    Of several one that is sent, then the one that reports its own finding, else the first.
    """

    def place(one: Member) -> tuple[bool, int, bool, bool, int, str]:
        return not one.firing, gravity_of(one.severity), one.held, not one.reports, one.active_ms, one.id

    return min(members, key=place).id


def gravity_of(severity: str) -> int:
    """0 is the most severe; as the page ranks them: teams name severities differently, and an unknown word warns."""
    return 0 if severity.lower() in CRITICAL else 2 if severity.lower() in INFO else 1


def _hashed(kind: str, text: str) -> str:
    return hashlib.sha256(f"{kind} {text}".encode()).hexdigest()[:KEY_DIGITS]


def _followed(id: str, merged: Mapping[str, str]) -> str:
    while id in merged:
        id = merged[id]
    return id
