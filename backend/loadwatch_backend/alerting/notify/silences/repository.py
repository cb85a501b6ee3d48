"""Where silences meet the database. Each change raises the gate's number, by which all servers see it at once."""

import threading
from collections.abc import Sequence

import orjson
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from loadwatch_backend.alerting.notify.file.intervals import parse_location
from loadwatch_backend.alerting.notify.file.matchers import LabelMatcher, MatchOperatorName
from loadwatch_backend.alerting.notify.groups.repository import GATE_ID, pass_gate
from loadwatch_backend.alerting.notify.groups.tables import GateRow, SilenceRow
from loadwatch_backend.alerting.notify.silences.silences import KEPT_MS, Recurrence, Silence


class SilenceBook:
    """All silences of the last 30 days, read again when the number has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number: int | None = None
        self._silences: Sequence[Silence] = ()

    def read(self, session: Session, number: int, *, lock: bool) -> Sequence[Silence]:
        """The silences.

        Args:
            session: a transaction that has read the gate.
            number: what the gate said.
            lock: whether the transaction has passed the gate, and not only read it.
        """
        with self._lock:
            if number == self._number:
                return self._silences
        query = select(SilenceRow).order_by(SilenceRow.created_ms, SilenceRow.id)
        rows = session.scalars(query.with_for_update() if lock else query).all()
        silences = tuple(map(silence_of, rows))
        with self._lock:
            self._number, self._silences = number, silences
        return silences


def find_silence(session: Session, silence_id: str) -> Silence | None:
    """Read a silence and lock its row until the transaction ends."""
    row = session.get(SilenceRow, silence_id, with_for_update=True)
    return None if row is None else silence_of(row)


def silence_of(row: SilenceRow) -> Silence:
    return Silence(
        id=row.id,
        matchers=tuple(
            LabelMatcher(one["name"], MatchOperatorName(one["operator"]), one["value"])
            for one in orjson.loads(row.matchers)
        ),
        starts_ms=row.starts_ms,
        ends_ms=row.ends_ms,
        comment=row.comment,
        author=row.author,
        recurrence=_recurrence_of(row.recurrence),
        created_ms=row.created_ms,
        updated_ms=row.updated_ms,
    )


def _recurrence_of(text: str | None) -> Recurrence | None:
    if text is None:
        return None
    given = orjson.loads(text)
    return Recurrence(
        weekdays=frozenset(given["weekdays"]),
        from_minute=given["from_minute"],
        to_minute=given["to_minute"],
        zone=parse_location(given["zone"]),
    )


def write_silence(session: Session, silence: Silence) -> None:
    pass_gate(session)
    recurrence = silence.recurrence
    session.merge(
        SilenceRow(
            id=silence.id,
            matchers=orjson.dumps(silence.matchers).decode(),
            starts_ms=silence.starts_ms,
            ends_ms=silence.ends_ms,
            comment=silence.comment,
            author=silence.author,
            recurrence=None
            if recurrence is None
            else orjson.dumps(
                {
                    "weekdays": sorted(recurrence.weekdays),
                    "from_minute": recurrence.from_minute,
                    "to_minute": recurrence.to_minute,
                    "zone": recurrence.zone.key,
                }
            ).decode(),
            created_ms=silence.created_ms,
            updated_ms=silence.updated_ms,
        )
    )
    _note_change(session)


def forget_silences(session: Session, now_ms: int) -> None:
    """Forget those that have been over for 30 days; behind the gate."""
    result = session.execute(select(SilenceRow.id).where(SilenceRow.ends_ms < now_ms - KEPT_MS).limit(1))
    if result.first() is not None:
        session.execute(delete(SilenceRow).where(SilenceRow.ends_ms < now_ms - KEPT_MS))
        _note_change(session)


def _note_change(session: Session) -> None:
    session.execute(update(GateRow).where(GateRow.id == GATE_ID).values(silences=GateRow.silences + 1))
