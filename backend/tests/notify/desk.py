"""A dispatcher with its real database, file and outbox, and a clock that tests move."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from loadwatch_backend.alerting.notify.file.configuration import ConfigurationFile
from loadwatch_backend.alerting.notify.groups.dispatch import Dispatcher
from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.alerting.notify.outbox.messages import unpack
from loadwatch_backend.alerting.notify.outbox.outbox import Outbox
from loadwatch_backend.alerting.notify.outbox.tables import DeliveryRow
from loadwatch_backend.alerting.notify.routing.holding import Holders
from loadwatch_backend.alerting.notify.routing.service import RoutingService
from loadwatch_backend.alerting.notify.schemas import MatcherDocument, MatchOperatorName, SilenceIn
from loadwatch_backend.alerting.notify.silences.repository import SilenceBook
from loadwatch_backend.alerting.notify.silences.service import SilenceService
from loadwatch_backend.core.database.relational import default_url, open_relational
from loadwatch_backend.findings.snapshot import FindingsSnapshot
from sqlalchemy import select

from backend.tests.notify.causes.moments import EXPLAINED

START_MS = 1_800_000_000_000
SECOND = 1_000


@dataclass
class Sent:
    """One delivery that was written."""

    receiver: str
    integration: str
    document: dict[str, Any]
    keys: list[str]
    order_key: str

    @property
    def status(self) -> str:
        return self.document["status"]

    @property
    def alerts(self) -> list[tuple[str, str]]:
        """Status and name of each alert."""
        return sorted((one["status"], one["labels"]["alertname"]) for one in self.document["alerts"])


class Desk:
    """`take`, `tick`, `sent`; may be closed and opened again over the same database, as after a kill."""

    def __init__(self, folder: Path, text: str, url: str | None = None) -> None:
        self.now_ms = START_MS
        self.url = url or default_url(folder)
        self.alone = url is None
        self.path = folder / "notifications.yml"
        self.path.write_text(text)
        self.moment: FindingsSnapshot | None = None
        self.after_flush: Callable[[], None] = lambda: None
        self._seen = 0
        self.open()

    def open(self) -> None:
        self.relational = open_relational(self.url, alone=self.alone)
        self.file = ConfigurationFile(self.path, lambda: self.now_ms)
        assert self.file.in_force.error == ""
        book = SilenceBook()
        self.holders = Holders(book, EXPLAINED, lambda: self.moment)
        self.dispatcher = Dispatcher(
            relational=self.relational,
            file=self.file,
            holders=self.holders,
            outbox=Outbox(lambda: self.now_ms),
            external_url="https://watch.example.org",
        )
        self.silences = SilenceService(self.relational, book, self.holders, lambda: self.now_ms)
        self.routing = RoutingService(self.relational, self.file, self.holders, lambda: self.now_ms)

    def close(self) -> None:
        self.relational.close()

    def reopen(self) -> None:
        """As after a kill: everything in memory is gone."""
        self.close()
        self.open()

    def write(self, text: str) -> None:
        """Change the file."""
        self.path.write_text(text)
        assert self.file.reload().error == ""

    def take(self, *alerts: NotifiedAlert) -> None:
        with self.relational.transaction() as session:
            self.dispatcher.take(session, alerts, self.now_ms)

    def wait(self, seconds: float) -> None:
        """Let time pass as the notifier does: it sleeps until the next group is due, and flushes."""
        end = self.now_ms + round(seconds * SECOND)
        while True:
            delay = self.dispatcher.flush(self.now_ms)
            self.after_flush()
            if delay is None or self.now_ms + delay > end:
                break
            self.now_ms += max(delay, 1)
        self.now_ms = end
        self.dispatcher.flush(self.now_ms)
        self.after_flush()

    def sent(self) -> list[Sent]:
        """Deliveries since the last time of asking."""
        with self.relational.transaction() as session:
            query = select(DeliveryRow).where(DeliveryRow.seq > self._seen).order_by(DeliveryRow.seq)
            rows = session.scalars(query).all()
            found = [
                Sent(
                    receiver=row.receiver,
                    integration=row.integration,
                    document=orjson.loads(unpack(row.document)),
                    keys=orjson.loads(unpack(row.alert_keys)),
                    order_key=row.order_key,
                )
                for row in rows
            ]
            self._seen = max([self._seen, *(row.seq for row in rows)])
        return found

    def silence(self, seconds: float, **labels: str) -> str:
        """A silence from now; its id."""
        given = SilenceIn(
            matchers=[
                MatcherDocument(name=name, operator=MatchOperatorName.EQUAL, value=value)
                for name, value in labels.items()
            ],
            starts_ms=self.now_ms,
            ends_ms=self.now_ms + round(seconds * SECOND),
            comment="maintenance",
        )
        return self.silences.create(given, "ada").id


def firing(desk: Desk, name: str, key: str | None = None, **labels: str) -> NotifiedAlert:
    """An alert that begins to fire now."""
    return NotifiedAlert(
        key=key or name,
        labels={"alertname": name, **labels},
        annotations={"summary": f"{name} is wrong"},
        starts_ms=desk.now_ms,
        ends_ms=None,
        generator_url="https://watch.example.org/?from=1",
    )


def resolved(desk: Desk, alert: NotifiedAlert) -> NotifiedAlert:
    """The same alert, over now."""
    return NotifiedAlert(
        key=alert.key,
        labels=alert.labels,
        annotations=alert.annotations,
        starts_ms=alert.starts_ms,
        ends_ms=desk.now_ms,
        generator_url=alert.generator_url,
        acknowledged=alert.acknowledged,
    )


def statuses(sent: Sequence[Sent]) -> list[list[tuple[str, str]]]:
    """What was told, delivery by delivery."""
    return [one.alerts for one in sent]
