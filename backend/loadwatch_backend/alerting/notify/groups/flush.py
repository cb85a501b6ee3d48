"""What one group's messages are at one instant: which integrations are sent what, and when the group is due again."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loadwatch_backend.alerting.notify.documents import alert_document, group_document, sort_alerts, subject_of
from loadwatch_backend.alerting.notify.file.model import Configuration, Route
from loadwatch_backend.alerting.notify.groups.groups import (
    Decision,
    Members,
    Notified,
    decide,
    decide_acknowledgement,
    next_due,
)
from loadwatch_backend.alerting.notify.groups.repository import Group, KeptAlert
from loadwatch_backend.alerting.notify.model import Envelope, EnvelopeKind
from loadwatch_backend.alerting.notify.outbox.messages import IntegrationKey
from loadwatch_backend.alerting.notify.routing.routing import short_hash
from loadwatch_backend.alerting.notify.senders.model import Integration
from loadwatch_backend.alerting.notify.senders.registry import sender_of

LATEST_MS = 1 << 62
TOLD_LEAST_MS = 7 * 86_400_000
"""What was sent is remembered at least so long after the last message."""


@dataclass(slots=True, kw_only=True)
class Changes:
    envelopes: list[Envelope] = field(default_factory=list[Envelope])
    notified: dict[str, tuple[Notified | None, int]] = field(default_factory=dict[str, tuple[Notified | None, int]])
    times: list[Group] = field(default_factory=list[Group])
    ended: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    gone: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Flush:
    external_url: str
    configuration: Configuration
    group: Group
    route: Route
    members: Members
    now_ms: int

    @property
    def integrations(self) -> Sequence[Integration]:
        return self.configuration.receivers[self.route.receiver].integrations

    def run(
        self,
        notified: dict[str, Notified],
        alerts: Sequence[KeptAlert],
        changes: Changes,
        avoided: Collection[IntegrationKey],
    ) -> None:
        """Decide for each integration, and say when the group is due again. `notified` is updated.

        Integrations that are `avoided` are sent nothing before they were sent something.
        """
        after: list[Notified | None] = []
        owed: set[str] = set()
        passed_over = False
        for integration in self.integrations:
            id = notified_id(self.group, self.route.receiver, integration)
            before = notified.get(id)
            if before is None and (self.route.receiver, integration.id) in avoided:
                passed_over = True
                continue
            decision = decide(
                self.members,
                before,
                self.now_ms,
                self.route.repeat_interval_ms,
                send_resolved=integration.send_resolved,
            )
            self._note(id, integration, before, decision, notified, changes)
            after.append(decision.notified)
            if decision.notified is not None and integration.send_resolved:
                owed.update(decision.notified.alerts)
        ended = [
            one.alert.key
            for one in alerts
            if not one.alert.firing and not (one.fingerprint in self.members.held and one.fingerprint in owed)
        ]
        if ended:
            changes.ended[self.group.id] = ended
        if len(ended) == len(alerts):
            changes.gone.append(self.group.id)
            return
        due_ms = next_due(self.members, after, self.now_ms, self.route.group_interval_ms, self.route.repeat_interval_ms)
        if passed_over:
            due_ms = min(self.now_ms + self.route.group_interval_ms, due_ms or LATEST_MS)
        delay_ms = 0 if due_ms is None else due_ms - self.now_ms
        changes.times.append(self.group._replace(flushed_ms=self.now_ms, due_ms=due_ms, delay_ms=delay_ms))

    def acknowledge(self, notified: dict[str, Notified], changes: Changes) -> None:
        for integration in self.integrations:
            id = notified_id(self.group, self.route.receiver, integration)
            before = notified.get(id)
            if sender_of(integration).rules.acknowledges and before is not None:
                decision = decide_acknowledgement(self.members, before)
                self._note(id, integration, before, decision, notified, changes)

    def _note(
        self,
        id: str,
        integration: Integration,
        before: Notified | None,
        decision: Decision,
        notified: dict[str, Notified],
        changes: Changes,
    ) -> None:
        if decision.sends:
            changes.envelopes.append(self._envelope(id, integration, decision))
        if decision.notified != before:
            forget_ms = self.now_ms + max(2 * self.route.repeat_interval_ms, TOLD_LEAST_MS)
            changes.notified[id] = decision.notified, forget_ms
        if decision.notified is None:
            notified.pop(id, None)
        else:
            notified[id] = decision.notified

    def _envelope(self, id: str, integration: Integration, decision: Decision) -> Envelope:
        named = {print_: self.members.firing[print_] for print_ in decision.firing}
        named |= {print_: self.members.resolved[print_] for print_ in decision.resolved}
        alerts = sort_alerts(named)
        document: dict[str, Any] = group_document(
            [alert_document(print_, alert, integration.language) for print_, alert in alerts],
            receiver=self.route.receiver,
            group_key=self.group.group_key,
            group_labels=self.group.labels,
            external_url=self.external_url,
            most=integration.max_alerts,
        )
        firing = [self.members.firing[print_] for print_ in decision.firing]
        if sender_of(integration).rules.acknowledges and firing and all(one.acknowledged for one in firing):
            document["loadwatch"] = {"acknowledged": True}
        return Envelope(
            kind=EnvelopeKind.ALERT,
            receiver=self.route.receiver,
            integration=integration.id,
            order_key=f"alerts:{id}",
            subject=subject_of(document, integration.language),
            document=document,
            alert_keys=[alert.key for _, alert in alerts],
        )


def notified_id(group: Group, receiver: str, integration: Integration) -> str:
    return short_hash(group.group_key, receiver, integration.id)


def notified_ids(configuration: Configuration, routes: Mapping[str, Route], groups: Iterable[Group]) -> list[str]:
    return [
        notified_id(group, routes[group.route].receiver, integration)
        for group in groups
        if group.route in routes
        for integration in configuration.receivers[routes[group.route].receiver].integrations
    ]
