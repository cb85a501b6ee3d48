"""When a group of alerts is sent, and which alerts are: Alertmanager's rules (notify/dedup_stage.go), pure.

Two things differ, both so that nobody is left with half a story: an end is sent only to those who were sent the
beginning, and an end that falls into a silence is sent when the silence is over.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct

from loadwatch_backend.alerting.notify.model import NotifiedAlert, has_stopped

TOLD = 1
"""The last message named the alert as firing."""
ACKNOWLEDGED = 2
"""The last message named the alert as acknowledged."""
_PACKED = Struct(">QB")


@dataclass(frozen=True, slots=True, kw_only=True)
class Notified:
    """What one integration knows of a group: flags by fingerprint of those whose end is yet to be sent.

    An alert without `TOLD` was sent earlier, and the last message left it out, as it was held.
    """

    sent_ms: int
    alerts: Mapping[str, int]

    def pack(self) -> bytes:
        """Nine bytes for each alert."""
        return b"".join(_PACKED.pack(int(print_, 16), flags) for print_, flags in self.alerts.items())


def unpack_notified(sent_ms: int, packed: bytes) -> Notified:
    return Notified(sent_ms=sent_ms, alerts={f"{print_:016x}": flags for print_, flags in _PACKED.iter_unpack(packed)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Members:
    """A group's alerts by fingerprint, one for each; `held` are those that are silenced, inhibited or muted."""

    firing: Mapping[str, NotifiedAlert]
    resolved: Mapping[str, NotifiedAlert]
    held: Collection[str]


def members_of(alerts: Sequence[tuple[str, NotifiedAlert]], held_keys: Collection[str]) -> Members:
    """Members from alerts with their fingerprints.

    Of several with the same labels (an episode that ended and began again, or two rules) the firing one counts.
    """
    firing: dict[str, NotifiedAlert] = {}
    resolved: dict[str, NotifiedAlert] = {}
    for print_, alert in alerts:
        into = firing if alert.firing else resolved
        known = into.get(print_)
        if known is None or (alert.ends_ms or 0, alert.starts_ms) >= (known.ends_ms or 0, known.starts_ms):
            into[print_] = alert
    for print_ in firing:
        resolved.pop(print_, None)
    held = {print_ for print_, alert in (*firing.items(), *resolved.items()) if alert.key in held_keys}
    return Members(firing=firing, resolved=resolved, held=held)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What one integration is sent (fingerprints; both empty is nothing), and what it knows then."""

    firing: Sequence[str] = ()
    resolved: Sequence[str] = ()
    notified: Notified | None = None

    @property
    def sends(self) -> bool:
        return bool(self.firing or self.resolved)


def decide(
    members: Members, notified: Notified | None, now_ms: int, repeat_ms: int, *, send_resolved: bool
) -> Decision:
    """What to send when a group is due.

    New among the firing, or ended among the notified: all that fire and all that ended. Otherwise a repetition after
    `repeat_ms`, as long as one that fires is not acknowledged.
    """
    known: Mapping[str, int] = {} if notified is None else notified.alerts
    firing = [print_ for print_ in members.firing if print_ not in members.held]
    ended = [print_ for print_ in members.resolved if print_ in known and print_ not in members.held]
    # That nothing is known any more is no good news that one may do without.
    over = ended if send_resolved else [one for one in ended if has_stopped(members.resolved[one].annotations)]
    new = any(not known.get(print_, 0) & TOLD for print_ in firing)
    if not (new or over or _repeats(members, firing, notified, now_ms, repeat_ms)):
        return Decision(notified=_kept(members, notified, frozenset(ended), now_ms))
    flags = {print_: TOLD | (ACKNOWLEDGED if members.firing[print_].acknowledged else 0) for print_ in firing}
    for print_, before in known.items():
        if print_ in members.held:
            flags[print_] = before & ~(TOLD | ACKNOWLEDGED)
    return Decision(firing=firing, resolved=over, notified=Notified(sent_ms=now_ms, alerts=flags) if flags else None)


def _repeats(members: Members, firing: Sequence[str], notified: Notified | None, now_ms: int, repeat_ms: int) -> bool:
    if notified is None or now_ms - notified.sent_ms < repeat_ms:
        return False
    return any(not members.firing[print_].acknowledged for print_ in firing)


def _kept(members: Members, notified: Notified | None, ended: frozenset[str], now_ms: int) -> Notified | None:
    """What stays known without a message; a message that lies ahead of a clock that was set back counts from now."""
    if notified is None:
        return None
    alerts = {
        print_: flags
        for print_, flags in notified.alerts.items()
        if print_ not in ended and (print_ in members.firing or print_ in members.resolved)
    }
    return Notified(sent_ms=min(notified.sent_ms, now_ms), alerts=alerts) if alerts else None


def decide_acknowledgement(members: Members, notified: Notified | None) -> Decision:
    """What an integration that knows acknowledgements is sent at once, when somebody has acknowledged.

    Only once all that it was sent as firing are acknowledged; taking one back is no message, and is remembered.
    """
    if notified is None:
        return Decision()
    firing = [print_ for print_, flags in notified.alerts.items() if flags & TOLD and print_ in members.firing]
    flags = {
        print_: (flags & ~ACKNOWLEDGED)
        | (ACKNOWLEDGED if print_ in firing and members.firing[print_].acknowledged else 0)
        for print_, flags in notified.alerts.items()
    }
    after = Notified(sent_ms=notified.sent_ms, alerts=flags)
    complete = bool(firing) and all(flags[print_] & ACKNOWLEDGED for print_ in firing)
    was_complete = all(notified.alerts[print_] & ACKNOWLEDGED for print_ in firing)
    return Decision(firing=firing if complete and not was_complete else (), notified=after)


# When -----------------------------------------------------------------------------------------------------------------


def next_tick(flushed_ms: int, interval_ms: int, after_ms: int) -> int:
    """The first tick after an instant, of those that follow the last flush at the group's interval."""
    if after_ms < flushed_ms:  # The clock was set back.
        return after_ms + interval_ms
    return flushed_ms + ((after_ms - flushed_ms) // interval_ms + 1) * interval_ms


def next_due(
    members: Members, notified: Sequence[Notified | None], now_ms: int, interval_ms: int, repeat_ms: int
) -> int | None:
    """When a group that was flushed now is due again if nothing changes; None: not before a change."""
    if members.held and notified:
        return now_ms + interval_ms
    if all(alert.acknowledged for alert in members.firing.values()):
        return None
    instants = [one.sent_ms + repeat_ms for one in notified if one is not None and one.alerts]
    return None if not instants else next_tick(now_ms, interval_ms, max(min(instants), now_ms + 1) - 1)
