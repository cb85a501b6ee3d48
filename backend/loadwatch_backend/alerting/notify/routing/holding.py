"""What keeps alerts quiet at one instant: silences, other alerts, and causes that somebody was notified of.

By a rule that is built in, only from receivers that they go to themselves: whoever is kept from one gets the other.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from loadwatch_backend.alerting.notify.causes import (
    FINDING_ANNOTATIONS,
    FINDING_ID,
    Cause,
    Consequences,
    Explain,
    annotations_of,
    finding_of,
)
from loadwatch_backend.alerting.notify.file.matchers import all_match
from loadwatch_backend.alerting.notify.file.model import Configuration, InhibitRule
from loadwatch_backend.alerting.notify.groups import repository
from loadwatch_backend.alerting.notify.groups.flush import notified_id
from loadwatch_backend.alerting.notify.groups.groups import TOLD
from loadwatch_backend.alerting.notify.groups.repository import Gate, find_firing, read_gate
from loadwatch_backend.alerting.notify.model import Envelope, NotifiedAlert
from loadwatch_backend.alerting.notify.outbox.messages import IntegrationKey
from loadwatch_backend.alerting.notify.outbox.repository import find_failing_integrations
from loadwatch_backend.alerting.notify.routing.routing import receiver_names, routes_of
from loadwatch_backend.alerting.notify.silences.repository import SilenceBook
from loadwatch_backend.alerting.notify.silences.silences import Silence, holding, match_silences
from loadwatch_backend.core.database.relational import Session
from loadwatch_backend.findings.snapshot import FindingsSnapshot
from loadwatch_backend.series.store.port import Labels


class Hearing:
    def __init__(self, session: Session, configuration: Configuration, *, lock: bool) -> None:
        self._session = session
        self._configuration = configuration
        self._lock = lock

    @cached_property
    def failing(self) -> frozenset[IntegrationKey]:
        found = find_failing_integrations(self._session, self._configuration).failing
        return frozenset((one.receiver, one.integration) for one in found)

    def receivers_notified(self, keys: Sequence[str]) -> Mapping[str, set[str]]:
        """Receivers whose last message of a group named the alert as firing, by the alert's key."""
        found: dict[str, set[str]] = {}
        alerts = repository.find_alerts(self._session, keys, lock=self._lock)
        memberships = repository.groups_of(self._session, alerts, lock=self._lock)
        groups = repository.find_groups(
            self._session, {id for ids in memberships.values() for id in ids}, lock=self._lock
        )
        places: dict[str, tuple[str, str]] = {}
        for group in groups.values():
            route = self._configuration.routes.get(group.route)
            if route is not None:
                for integration in self._configuration.receivers[route.receiver].integrations:
                    if (route.receiver, integration.id) not in self.failing:
                        places[notified_id(group, route.receiver, integration)] = group.id, route.receiver
        for id, notified in repository.find_notified(self._session, places, lock=self._lock).items():
            group_id, receiver = places[id]
            for key, kept in alerts.items():
                if group_id in memberships.get(key, ()) and notified.alerts.get(kept.fingerprint, 0) & TOLD:
                    found.setdefault(key, set()).add(receiver)
        return found


MOST_NAMED = 20


class Inhibitor:
    def __init__(
        self, rules: Sequence[InhibitRule], firing: Mapping[str, Labels], receivers: Callable[[Labels], Collection[str]]
    ) -> None:
        self._rules = [_Sources(rule, firing, receivers) for rule in rules]

    def inhibitors(self, key: str, labels: Labels, receiver: str) -> tuple[str, ...]:
        """Keys of alerts that hold this one back from a receiver, at most 20; none when nothing does."""
        found: dict[str, None] = {}
        for rule in self._rules:
            for source in rule.of(key, labels, receiver):
                found[source] = None
                if len(found) >= MOST_NAMED:
                    return tuple(found)
        return tuple(found)


class _Sources:
    """One rule's source alerts, by their values of the labels that must agree, and their receivers where they count."""

    def __init__(
        self, rule: InhibitRule, firing: Mapping[str, Labels], receivers: Callable[[Labels], Collection[str]]
    ) -> None:
        self._rule = rule
        self._all: dict[tuple[str, ...], list[str]] = {}
        self._one_sided: dict[tuple[str, ...], list[str]] = {}
        for key, labels in firing.items():
            if all_match(rule.source, labels):
                for receiver in receivers(labels) if rule.built_in else ("",):
                    values = self._values(labels, receiver)
                    self._all.setdefault(values, []).append(key)
                    if not all_match(rule.target, labels):
                        self._one_sided.setdefault(values, []).append(key)

    def of(self, key: str, labels: Labels, receiver: str) -> list[str]:
        """Sources for an alert on its way to a receiver.

        An alert that is itself a source is held only by those that are no target, or two would hold each other.
        """
        if not self._all or not all_match(self._rule.target, labels):
            return []
        sources = self._one_sided if all_match(self._rule.source, labels) else self._all
        return [one for one in sources.get(self._values(labels, receiver), ()) if one != key]

    def _values(self, labels: Labels, receiver: str) -> tuple[str, ...]:
        return receiver if self._rule.built_in else "", *(labels.get(name, "") for name in self._rule.equal)


FINDING_WAIT_MS = 5_000
"""So long the first message of an alert waits for its finding, as findings are evaluated every five seconds."""
FINDING_POLL_MS = 500


@dataclass(frozen=True, slots=True)
class Holder:
    """Silences that hold at an instant, inhibition by what fires then, and what follows from what stands then."""

    silences: Sequence[Silence]
    inhibitor: Inhibitor
    consequences: Consequences
    hearing: Hearing
    snapshot: FindingsSnapshot | None
    explained: Explain

    def holds(self, alert: NotifiedAlert, receiver: str) -> bool:
        return (
            bool(self.silences_of(alert.labels))
            or bool(self.inhibitor.inhibitors(alert.key, alert.labels, receiver))
            or self.consequences.cause_of(alert.key, alert.labels, receiver) is not None
        )

    def finding_due_ms(self, alert: NotifiedAlert, now_ms: int) -> int | None:
        """Until when an alert waits for the finding that may explain it; None where it does not wait.

        It has waited long enough once findings were evaluated after it began to fire.
        """
        waits = alert.firing and 0 <= now_ms - alert.starts_ms < FINDING_WAIT_MS
        if not waits or self.snapshot is None or FINDING_ID in alert.annotations:
            return None
        known = self.explained(alert.labels)
        if known is None or not any(known):
            return None
        if self.snapshot.at_ms >= alert.starts_ms:
            return None
        return min(alert.starts_ms + FINDING_WAIT_MS, now_ms + FINDING_POLL_MS)

    def with_finding(self, alert: NotifiedAlert) -> NotifiedAlert:
        """An alert with the finding of the moment, where the evaluation of its rule has not given it one yet."""
        if not alert.firing or self.snapshot is None or FINDING_ID in alert.annotations:
            return alert
        found = finding_of(alert.labels, alert.starts_ms, self.snapshot, self.explained)
        given = {} if found is None else annotations_of(found, self.snapshot)
        sent = {name: given[name] for name in FINDING_ANNOTATIONS if name in given}
        return replace(alert, annotations={**alert.annotations, **sent}) if sent else alert

    def silences_of(self, labels: Labels) -> list[Silence]:
        return match_silences(self.silences, labels)

    def inhibitors_of(self, alert: NotifiedAlert, receivers: Sequence[str]) -> tuple[str, ...]:
        """Alerts that keep it from all of its receivers; none where one of them is notified."""
        found = [self.inhibitor.inhibitors(alert.key, alert.labels, receiver) for receiver in receivers]
        return tuple(dict.fromkeys(key for keys in found for key in keys)) if all(found) else ()

    def cause_of(self, alert: NotifiedAlert, receivers: Sequence[str]) -> Cause | None:
        causes = [self.consequences.cause_of(alert.key, alert.labels, receiver) for receiver in receivers]
        return causes[0] if causes and all(causes) else None

    def note(self, envelopes: Sequence[Envelope]) -> None:
        """Messages are being written: who gets them is notified of what is in them."""
        for one in envelopes:
            if (one.receiver, one.integration) not in self.hearing.failing:
                self.consequences.note(one.alert_keys, one.receiver)


class Holders:
    """Makes holders; remembers silences and firing alerts until the gate says that they have changed."""

    def __init__(
        self, book: SilenceBook, explained: Explain, findings_now: Callable[[], FindingsSnapshot | None] = lambda: None
    ) -> None:
        self._book = book
        self._explained = explained
        self._findings_now = findings_now
        self._lock = threading.Lock()
        self._token: str | None = None
        self._firing: Mapping[str, Labels] = {}
        self._inhibitor: tuple[str, str, Inhibitor] | None = None

    def at(self, session: Session, configuration: Configuration, gate: Gate, now_ms: int, *, lock: bool) -> Holder:
        """What holds at an instant.

        Args:
            session: a transaction that has read `gate`.
            configuration: whose inhibition rules count.
            gate: what the gate says.
            now_ms: the instant.
            lock: whether the transaction has passed the gate, and not only read it.
        """
        silences = holding(self._book.read(session, gate.silences, lock=lock), now_ms)
        hearing = Hearing(session, configuration, lock=lock)
        known = self._findings_now()
        snapshot = known if configuration.holds_consequences else None
        return Holder(
            silences=silences,
            inhibitor=self._inhibitor_of(session, configuration, gate, lock=lock),
            consequences=Consequences(
                snapshot,
                self.firing(session, gate, lock=lock) if snapshot is not None and snapshot.findings else {},
                hearing.receivers_notified,
                self._explained,
            ),
            hearing=hearing,
            snapshot=known,
            explained=self._explained,
        )

    def _inhibitor_of(self, session: Session, configuration: Configuration, gate: Gate, *, lock: bool) -> Inhibitor:
        if not configuration.inhibit_rules:
            return Inhibitor((), {}, lambda _labels: ())
        with self._lock:
            made = self._inhibitor
        if made is not None and made[:2] == (gate.token, configuration.digest):
            return made[2]
        inhibitor = Inhibitor(
            configuration.inhibit_rules,
            self.firing(session, gate, lock=lock),
            lambda labels: receiver_names(routes_of(configuration, labels)),
        )
        with self._lock:
            self._inhibitor = gate.token, configuration.digest, inhibitor
        return inhibitor

    def firing(self, session: Session, gate: Gate, *, lock: bool) -> Mapping[str, Labels]:
        with self._lock:
            if self._token == gate.token:
                return self._firing
        firing = find_firing(session, lock=lock)
        with self._lock:
            self._token, self._firing = gate.token, firing
        return firing

    def firing_now(self, session: Session) -> Mapping[str, Labels]:
        return self.firing(session, read_gate(session), lock=False)

    def follow(self, before: str, after: str, alerts: Sequence[NotifiedAlert]) -> None:
        """Bring what is remembered from one token to the next, so that it need not be read again.

        A transaction that is rolled back leaves the database at the old token, and what is remembered is not used.
        """
        with self._lock:
            if self._token != before:
                return
            firing = dict(self._firing)
        for alert in alerts:
            if alert.firing:
                firing[alert.key] = alert.labels
            else:
                firing.pop(alert.key, None)
        with self._lock:
            self._token, self._firing = after, firing
