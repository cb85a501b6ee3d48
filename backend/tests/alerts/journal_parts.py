"""A journal on a real database, with a dispatcher that remembers in a table of its own what it took."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from loadwatch_backend.alerting.alerts.history.journal import Journal
from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.alerting.notify.schemas import DeliveryOut, Quiet
from loadwatch_backend.core.database.leadership import Leadership
from loadwatch_backend.core.database.relational import Relational, open_relational
from sqlalchemy import text
from sqlalchemy.orm import Session


@dataclass
class Ledger:
    """`alerts.ports.Dispatch` that writes down what it is given, in the transaction that it is given it in."""

    fails: bool = False
    given: list[NotifiedAlert] = field(default_factory=list[NotifiedAlert])
    annotated: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def take(self, session: Session, alerts: Sequence[NotifiedAlert], now_ms: int) -> None:
        session.execute(
            text("INSERT INTO taken VALUES (:alert, :ends, :at)"),
            [{"alert": one.key, "ends": one.ends_ms, "at": now_ms} for one in alerts],
        )
        self.given += alerts
        if self.fails:
            raise OSError("the disk is full")

    def annotate(self, session: Session, annotations: Mapping[str, Mapping[str, str]]) -> None:
        del session
        self.annotated.update({key: dict(given) for key, given in annotations.items()})

    def quiet(self, alerts: Sequence[NotifiedAlert], now_ms: int) -> Mapping[str, Quiet]:
        del now_ms
        return {one.key: Quiet(receivers=("pager",)) for one in alerts}

    def notified(self, keys: Sequence[str], since_ms: int, now_ms: int) -> Sequence[DeliveryOut]:
        del keys, since_ms, now_ms
        return []


@dataclass
class Books:
    """Everything that is needed to write."""

    relational: Relational
    lead: Leadership
    ledger: Ledger
    journal: Journal
    told: list[int] = field(default_factory=list[int])

    def taken(self) -> list[tuple[str, int | None]]:
        """What the dispatcher was given, in order."""
        with self.relational.transaction() as session:
            return [(row[0], row[1]) for row in session.execute(text("SELECT alert, ends FROM taken"))]


@contextmanager
def open_books(url: str, holder: str = "a") -> Generator[Books]:
    """On a database; leads from the start."""
    relational = open_relational(url)
    with relational.engine.begin() as connection:
        connection.execute(text("CREATE TABLE IF NOT EXISTS taken (alert VARCHAR(64), ends BIGINT, at BIGINT)"))
    lead = Leadership(relational, "alerts", holder)
    lead.start()
    ledger = Ledger()
    told: list[int] = []
    journal = Journal(relational, lead, ledger, "https://watch.example.org/", wake_notifier=lambda: told.append(1))
    try:
        yield Books(relational=relational, lead=lead, ledger=ledger, journal=journal, told=told)
    finally:
        lead.stop()
        relational.close()
