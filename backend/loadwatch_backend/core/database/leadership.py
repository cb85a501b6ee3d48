"""One of the servers on one relational database leads: it evaluates rules and sends notifications.

A row holds who leads, an epoch and a beat. The leader raises the beat; a follower that sees neither holder nor beat
change for `patience_seconds` of its own monotonic clock takes the row over by compare-and-set. No wall clock is in it,
so clocks that differ or are set do no harm. A leader that lost the row without noticing (it was stopped, the database
was away) is fenced: `check` inside of its transactions fails. See docs/decisions/0045-one-server-leads.md.
"""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy import BigInteger, CursorResult, String, Update, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.orm import Mapped, Session, mapped_column

from loadwatch_backend.core.database.outages import Outage, outage_of, reason_of
from loadwatch_backend.core.database.relational import BINARY_TEXT, Base, Relational
from loadwatch_backend.core.periodic import Periodic

log = structlog.get_logger(__name__)

BEAT_SECONDS = 2.0
PATIENCE_SECONDS = 8.0
LOOK_SECONDS = 0.5
"""How often a follower looks: a leader that stops well gives the lead back, and this is how soon that is seen."""

ANSWER_SECONDS = 30.0
"""The database that has not answered for so long hangs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standstill:
    seconds: float
    outage: Outage
    reason: str


Listener = Callable[[bool], None]


class LeadershipLostError(Exception):
    """Another server leads now: the transaction that asked must not be committed."""


class LeadershipRow(Base):
    """Who leads. `holder` is empty when the last leader gave it back."""

    __tablename__ = "leaderships"
    __table_args__ = BINARY_TEXT

    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    holder: Mapped[str] = mapped_column(String(64))
    epoch: Mapped[int] = mapped_column(BigInteger)
    beat: Mapped[int] = mapped_column(BigInteger)


_TABLE: Any = LeadershipRow.__table__
_COLUMNS = _TABLE.c
_FOUND = select(_COLUMNS.holder, _COLUMNS.epoch, _COLUMNS.beat).where(_COLUMNS.name == bindparam("of_name"))
_MINE = (
    update(_TABLE)
    .where(_COLUMNS.name == bindparam("of_name"), _COLUMNS.holder == bindparam("of_holder"))
    .where(_COLUMNS.epoch == bindparam("of_epoch"))
)
_BEAT = _MINE.values(beat=_COLUMNS.beat + 1)
"""Made once, as the others: to put it together costs several times what it costs to ask it, each second."""


def load_holder(data: Path) -> str:
    """The name of the server on a data directory, made at its first start.

    Only one process at a time uses a data directory, so a row that bears this name is of a process that has ended.
    """
    path = data / "server.id"
    if path.exists() and (known := path.read_text("ascii").strip()):
        return known
    made = secrets.token_hex(16)
    path.write_text(made + "\n", "ascii")
    return made


class Leadership:
    """Safe to use from any thread. Listeners are called from the thread of the leadership: be quick."""

    def __init__(
        self,
        relational: Relational,
        name: str,
        holder: str,
        *,
        beat_seconds: float = BEAT_SECONDS,
        patience_seconds: float = PATIENCE_SECONDS,
        look_seconds: float = LOOK_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._relational = relational
        self._name = name
        self._holder = holder
        self._beat_seconds = beat_seconds
        self._patience_seconds = patience_seconds
        self._look_seconds = look_seconds
        self._monotonic = monotonic
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()
        self._epoch: int | None = None
        self._beaten = 0.0
        self._seen: tuple[str, int, int] | None = None
        self._seen_since = 0.0
        self._first = True
        self._failure: tuple[Outage, str] | None = None
        self._answered = monotonic()
        self._loop = Periodic("leadership", self._turn, look_seconds)

    @property
    def held(self) -> bool:
        return self._epoch is not None

    @property
    def standstill(self) -> Standstill | None:
        """For how long and why the database has not taken what is written; None while it does."""
        silent = self._monotonic() - self._answered
        if self._failure is None and silent < ANSWER_SECONDS:
            return None
        outage, reason = self._failure or (Outage.DATABASE, "no answer")
        return Standstill(seconds=silent, outage=outage, reason=reason)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call back with each change, and now if the lead is held already; returns a function that ends it."""
        with self._lock:
            self._listeners = [*self._listeners, listener]
            if self.held:
                listener(True)

        def stop() -> None:
            with self._lock:
                self._listeners = [kept for kept in self._listeners if kept is not listener]

        return stop

    def start(self) -> None:
        self._loop.start(self._turn())

    def stop(self) -> None:
        """Give the lead back, so that another server takes it within half a second."""
        self._loop.close()
        epoch = self._epoch
        self._set(None)
        if epoch is not None:
            try:
                with self._relational.transaction() as session:
                    self._change(session, _MINE.values(holder=""), epoch)
            except SQLAlchemyError as error:
                log.warning("the lead could not be given back; others wait for it", error=_first_line(error))

    def check(self, session: Session) -> None:
        """Fence a transaction: it can only be committed while this server leads. Call it first in the transaction.

        It locks the row until the transaction ends, so nobody takes the lead over in between.

        Raises:
            LeadershipLostError: another server leads.
        """
        epoch = self._epoch
        if epoch is None or not self._change(session, _BEAT, epoch):
            raise LeadershipLostError("another server on this database leads")
        self._beaten = self._monotonic()

    # The thread -------------------------------------------------------------------------------------------------------

    def _turn(self) -> float:
        try:
            if self._epoch is not None:
                self._keep(self._epoch)
            else:
                self._look()
            self._failure = None
            self._answered = self._monotonic()
        except SQLAlchemyError as error:
            if self._failure is None:
                log.error("the database does not answer about who leads", error=_first_line(error))
            self._failure = (outage_of(error) or Outage.DATABASE, reason_of(error))
            # Others take over after their patience: let go before that.
            if self.held and self._monotonic() - self._beaten > self._patience_seconds - self._beat_seconds:
                self._set(None)
        return self._beat_seconds if self.held else self._look_seconds

    def _keep(self, epoch: int) -> None:
        with self._relational.transaction(even_if_away=True) as session:
            self._relational.pass_over(session)
            mine = self._change(session, _BEAT, epoch)
        if mine:
            self._beaten = self._monotonic()
        else:
            log.warning("another server leads now", leadership=self._name)
            self._set(None)

    def _change(self, session: Session, change: Update, epoch: int, holder: str | None = None) -> bool:
        """Change the row if it is of `epoch` and of this server, or of `holder`; whether it was."""
        whose = self._holder if holder is None else holder
        done = session.execute(change, {"of_name": self._name, "of_holder": whose, "of_epoch": epoch})
        assert isinstance(done, CursorResult)
        return done.rowcount == 1

    def _look(self) -> None:
        with self._relational.transaction(even_if_away=True) as session:
            row = session.execute(_FOUND, {"of_name": self._name}).one_or_none()
        now = self._monotonic()
        found = None if row is None else (row.holder, row.epoch, row.beat)
        if found != self._seen:
            self._seen, self._seen_since = found, now
        own = self._first and found is not None and found[0] == self._holder
        self._first = False
        if found is None:
            self._take_new()
        elif not found[0] or own or now - self._seen_since >= self._patience_seconds:
            self._take_over(*found)

    def _take_new(self) -> None:
        try:
            with self._relational.transaction(even_if_away=True) as session:
                session.execute(insert(LeadershipRow).values(name=self._name, holder=self._holder, epoch=1, beat=0))
        except IntegrityError:
            return  # another server was first
        self._set(1)

    def _take_over(self, holder: str, epoch: int, beat: int) -> None:
        change = _MINE.where(_COLUMNS.beat == beat).values(holder=self._holder, epoch=epoch + 1, beat=0)
        with self._relational.transaction(even_if_away=True) as session:
            taken = self._change(session, change, epoch, holder)
        if taken:
            if holder not in ("", self._holder):
                log.warning("took the lead over from a server that has gone", leadership=self._name)
            self._set(epoch + 1)

    def _set(self, epoch: int | None) -> None:
        with self._lock:
            changed = (epoch is None) is not (self._epoch is None)
            self._epoch = epoch
            self._seen = None
            self._beaten = self._seen_since = self._monotonic()
            if changed:
                for listener in self._listeners:
                    listener(epoch is not None)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
