"""A server's sending half on a database of its own."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loadwatch_backend.alerting.notify.file.model import Configuration, Receiver, Route
from loadwatch_backend.alerting.notify.model import Envelope, EnvelopeKind
from loadwatch_backend.alerting.notify.outbox.outbox import Outbox
from loadwatch_backend.alerting.notify.outbox.service import DeliveryService
from loadwatch_backend.alerting.notify.outbox.tables import AttemptRow, DeliveryRow
from loadwatch_backend.alerting.notify.outbox.worker import Workers
from loadwatch_backend.alerting.notify.senders.model import Integration, SendContext
from loadwatch_backend.alerting.notify.senders.sockets import (
    Dialer,
    NetworkPolicy,
    Resolver,
    parse_allowed,
    system_resolver,
)
from loadwatch_backend.alerting.notify.senders.transport import Transport
from loadwatch_backend.alerting.notify.senders.webhook import WebhookIntegration
from loadwatch_backend.core.clock import Clock, system_clock
from loadwatch_backend.core.database.relational import Base, Relational, default_url, open_relational
from loadwatch_backend.core.secret import Secret
from sqlalchemy import Table, func, select
from sqlalchemy.orm import Session


def document(name: str = "PoolWaits", status: str = "firing") -> dict[str, Any]:
    """An Alertmanager v4 body of one alert."""
    ends = "0001-01-01T00:00:00Z" if status == "firing" else "2026-11-21T14:30:00.000Z"
    labels = {"alertname": name, "severity": "critical", "job": "api"}
    annotations = {"summary": "Requests wait for a connection", "runbook_url": "https://docs.example.org/pool"}
    return {
        "version": "4",
        "groupKey": f'{{}}:{{alertname="{name}"}}',
        "truncatedAlerts": 0,
        "status": status,
        "receiver": "team",
        "groupLabels": {"alertname": name},
        "commonLabels": labels,
        "commonAnnotations": annotations,
        "externalURL": "https://watch.example.org",
        "alerts": [
            {
                "status": status,
                "labels": labels,
                "annotations": annotations,
                "startsAt": "2026-11-21T14:20:00.000Z",
                "endsAt": ends,
                "generatorURL": "https://watch.example.org/?from=1",
                "fingerprint": "d2f1a4b5c6e7f809",
            }
        ],
    }


def envelope(name: str = "PoolWaits", *, integration: str = "webhook-0", **more: Any) -> Envelope:
    """A message to the receiver `team`; its order key is the name."""
    given: dict[str, Any] = {
        "kind": EnvelopeKind.ALERT,
        "receiver": "team",
        "integration": integration,
        "order_key": name,
        "subject": f"[FIRING] {name}",
        "document": document(name),
        **more,
    }
    return Envelope(**given)


def webhook(url: str, place: int = 0, **more: Any) -> WebhookIntegration:
    """A webhook with time for a busy machine."""
    given: dict[str, Any] = {"timeout_ms": 60_000, **more}
    return WebhookIntegration(id=f"webhook-{place}", send_resolved=True, url=Secret(url), **given)


def configuration(*integrations: Integration, name: str = "team") -> Configuration:
    """One receiver."""
    receiver = Receiver(name=name, integrations=integrations)
    return Configuration(digest="1", root=Route(id="0", key="{}", receiver=name), receivers={name: receiver})


def transport(networks: Sequence[str] = ("127.0.0.0/8",), resolver: Resolver = system_resolver) -> Transport:
    """Loopback is allowed unless a test says otherwise."""
    return Transport(Dialer(policy=NetworkPolicy(allowed=parse_allowed(networks)), resolver=resolver))


def no_fence(session: Session) -> None:
    """Always the leader."""


@dataclass
class ShiftedClock:
    """The system's clock, moved by a test."""

    ahead_ms: int = 0

    def __call__(self) -> int:
        return system_clock() + self.ahead_ms


@dataclass
class Sending:
    """An outbox and its workers."""

    relational: Relational
    outbox: Outbox
    workers: Workers
    context: SendContext
    integrations: list[Integration] = field(default_factory=list[Integration])

    def service(self) -> DeliveryService:
        """What people see of it and do with it."""
        return DeliveryService(
            relational=self.relational,
            configuration=lambda: configuration(*self.integrations),
            context=self.context,
            external_url="https://watch.example.org",
            wake=self.workers.wake,
        )

    def put(self, *envelopes: Envelope) -> None:
        """Promise messages and wake the workers."""
        with self.relational.transaction() as session:
            self.outbox.put_all(session, envelopes)
        self.workers.wake()

    def table(self, name: str) -> Table:
        """A table by its name."""
        return Base.metadata.tables[name]

    def rows(self) -> list[DeliveryRow]:
        """All deliveries, oldest first."""
        with self.relational.transaction() as session:
            return list(session.scalars(select(DeliveryRow).order_by(DeliveryRow.seq)))

    def attempts(self, seq: int = 1) -> list[AttemptRow]:
        """Attempts of a delivery."""
        query = select(AttemptRow).where(AttemptRow.delivery_seq == seq).order_by(AttemptRow.number)
        with self.relational.transaction() as session:
            return list(session.scalars(query))

    def change(self, seq: int, **values: Any) -> None:
        """Change a delivery's row."""
        with self.relational.transaction() as session:
            row = session.get_one(DeliveryRow, seq)
            for name, value in values.items():
                setattr(row, name, value)

    def wait(self, is_so: Callable[[list[DeliveryRow]], bool], seconds: float = 120.0) -> list[DeliveryRow]:
        """The rows, once they are as asked."""
        ends = time.monotonic() + seconds
        while not is_so(rows := self.rows()):
            assert time.monotonic() < ends, [(row.seq, row.state, row.attempts, row.reason) for row in rows]
            time.sleep(0.01)
        return rows

    def count(self, state: str) -> int:
        """How many deliveries are in a state."""
        with self.relational.transaction() as session:
            query = select(func.count()).select_from(DeliveryRow).where(DeliveryRow.state == state)
            return session.scalar(query) or 0

    def wait_state(self, state: str, count: int = 1) -> list[DeliveryRow]:
        """Until so many are in a state; these."""
        ends = time.monotonic() + 240
        while self.count(state) < count:
            assert time.monotonic() < ends, [(row.seq, row.state, row.attempts, row.reason) for row in self.rows()][:40]
            time.sleep(0.02)
        rows = self.rows()
        return [row for row in rows if row.state == state]

    def wait_attempts(self, count: int, seq: int = 1) -> DeliveryRow:
        """Until a delivery was tried so often and rests."""
        rows = self.wait(lambda rows: rows[seq - 1].attempts >= count and rows[seq - 1].state != "sending")
        return rows[seq - 1]


@contextmanager
def run_sending(
    folder: Path,
    *integrations: Integration,
    clock: Clock = system_clock,
    networks: Sequence[str] = ("127.0.0.0/8",),
    resolver: Resolver = system_resolver,
    url: str | None = None,
    start: bool = True,
    fence: Callable[[Session], None] = no_fence,
) -> Generator[Sending]:
    """Send until the block ends."""
    relational = open_relational(url or default_url(folder), alone=url is None)
    known = list(integrations)
    context = SendContext(transport=transport(networks, resolver), clock=clock)
    workers = Workers(
        relational=relational,
        configuration=lambda: configuration(*known),
        context=context,
        fence=fence,
        random=lambda: 0.0,
    )
    sending = Sending(relational, Outbox(clock), workers, context, known)
    if start:
        workers.start()
    try:
        yield sending
    finally:
        workers.stop()
        context.transport.close()
        relational.close()
