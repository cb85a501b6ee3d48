"""The outbox: messages that were promised, written together with what they tell of.

What is written here and committed is sent at least once, always with the same id, whatever becomes of the process.
"""

import base64
import hashlib
import secrets
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import ColumnElement, and_, exists, func, insert, or_, select, tuple_, update
from sqlalchemy.orm import Session, aliased

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.notify.contract import Envelope, EnvelopeKind
from loadwatch_backend.notify.outbox_tables import SUBJECT_LENGTH, DeliveryRow
from loadwatch_backend.notify.schedule import CLOCK_SLACK_MS
from loadwatch_backend.notify.schemas import DeliveryState
from loadwatch_backend.notify.senders.model import Message, cut

IntegrationKey = tuple[str, str]
"""Receiver and integration."""

HOLDING_ATTEMPTS = 2
"""A message that failed so often no longer holds up those after it: one that a receiver cannot take must not keep the
on-call person from all that follows. See docs/decisions/0051-order-within-a-group.md."""
OVERTAKEN = "overtaken: a later message of the same group, with all that fires in it, was delivered first"
INSERT_ROWS = 500


def new_delivery_id(now_ms: int) -> str:
    """`msg_` and 26 characters: 48 bits of time, then 80 random ones, so that ids sort by age."""
    number = now_ms.to_bytes(6, "big") + secrets.token_bytes(10)
    return "msg_" + base64.b32hexencode(number).decode().rstrip("=").lower()


def keyed_delivery_id(envelope: Envelope) -> str:
    """The id of a message that is written once, however often it is handed over."""
    text = "\0".join((envelope.key, envelope.receiver, envelope.integration))
    return "msg_" + hashlib.sha256(text.encode()).hexdigest()[:32]


def pack(document: bytes) -> bytes:
    """Compress; documents of many alerts repeat their labels."""
    return zlib.compress(document, 1)


def unpack(packed: bytes) -> bytes:
    """The document's bytes as they were written."""
    return zlib.decompress(packed)


class Outbox:
    """Writes deliveries within the transactions of others."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def put(self, session: Session, envelope: Envelope) -> None:
        """Promise one message."""
        self.put_all(session, [envelope])

    def put_all(self, session: Session, envelopes: Sequence[Envelope]) -> None:
        """Promise many; those with a key that was there before are left out."""
        now_ms = self._clock()
        rows = [delivery_row(envelope, now_ms) for envelope in envelopes]
        keyed = [row["id"] for row, envelope in zip(rows, envelopes, strict=True) if envelope.key]
        if keyed:
            known = set(session.scalars(select(DeliveryRow.id).where(DeliveryRow.id.in_(keyed))))
            rows = [row for row in rows if row["id"] not in known]
        _hasten(session, sorted({row["order_hash"] for row in rows}))
        for start in range(0, len(rows), INSERT_ROWS):
            session.execute(insert(DeliveryRow), rows[start : start + INSERT_ROWS])


def delivery_row(envelope: Envelope, now_ms: int) -> dict[str, Any]:
    """The columns of a new delivery, due at once."""
    alerts: Sequence[Mapping[str, Any]] = envelope.document.get("alerts", ())
    resolved = sum(1 for alert in alerts if alert.get("status") == "resolved")
    order = "\0".join((envelope.receiver, envelope.integration, envelope.order_key))
    return {
        "id": keyed_delivery_id(envelope) if envelope.key else new_delivery_id(now_ms),
        "kind": envelope.kind.value,
        "receiver": envelope.receiver,
        "integration": envelope.integration,
        "order_hash": hashlib.sha256(order.encode()).hexdigest()[:32],
        "order_key": envelope.order_key,
        "subject": cut(envelope.subject, SUBJECT_LENGTH),
        "document": pack(orjson.dumps(envelope.document)),
        "alert_keys": pack(orjson.dumps(list(envelope.alert_keys))),
        "firing": len(alerts) - resolved,
        "resolved": resolved,
        "state": DeliveryState.WAITING.value,
        "reason": "",
        "created_ms": now_ms,
        "next_ms": now_ms,
        "delay_ms": 0,
        "early": False,
        "step": 0,
        "attempts": 0,
        "claim": "",
    }


def _hasten(session: Session, order_hashes: Sequence[str]) -> None:
    """Try what still waits in the same group before what comes after it: it may work now."""
    for start in range(0, len(order_hashes), INSERT_ROWS):
        # Read first: an update that finds nothing still locks gaps of the index on MySQL.
        waiting = session.scalars(
            select(DeliveryRow.seq)
            .where(DeliveryRow.order_hash.in_(order_hashes[start : start + INSERT_ROWS]))
            .where(DeliveryRow.state == DeliveryState.WAITING.value)
        ).all()
        for seq in waiting:
            hasten(session, seq)


# What is due ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """A delivery that may be tried now."""

    seq: int
    receiver: str
    integration: str
    message: Message
    attempts: int
    step: int
    next_ms: int
    delay_ms: int
    order_hash: str
    head: int | None
    """The oldest message of its group that waits still after it failed several times; None when there is none."""

    @property
    def key(self) -> IntegrationKey:
        """Where it goes."""
        return self.receiver, self.integration


def find_due(session: Session, now_ms: int, busy: Collection[IntegrationKey], limit: int) -> Sequence[DueDelivery]:
    """What may be tried now, oldest first, without integrations that are `busy`, and in order within each group."""
    before = aliased(DeliveryRow)
    head = (
        select(func.min(before.seq))
        .where(before.order_hash == DeliveryRow.order_hash, before.seq < DeliveryRow.seq)
        .where(before.state == DeliveryState.WAITING.value)
        .correlate(DeliveryRow)
        .scalar_subquery()
    )
    query = (
        select(DeliveryRow, head)
        .where(DeliveryRow.state == DeliveryState.WAITING.value, _is_due(DeliveryRow, now_ms), ~_is_held(now_ms))
        .order_by(DeliveryRow.next_ms, DeliveryRow.seq)
        .limit(limit)
    )
    if busy:
        query = query.where(tuple_(DeliveryRow.receiver, DeliveryRow.integration).not_in(sorted(busy)))
    return [_due(row, first) for row, first in session.execute(query)]


def _is_due(row: type[DeliveryRow], now_ms: int) -> ColumnElement[bool]:
    """`schedule.is_due` as a condition."""
    set_back = row.next_ms - row.delay_ms > now_ms + CLOCK_SLACK_MS
    return or_(row.early.is_(True), row.next_ms <= now_ms, set_back)


def _is_held(now_ms: int) -> ColumnElement[bool]:
    """Whether one before it in its group is under way, goes first, or is still to be tried again."""
    before = aliased(DeliveryRow)
    waits = and_(
        before.state == DeliveryState.WAITING.value,
        or_(before.attempts < HOLDING_ATTEMPTS, _is_due(before, now_ms)),
    )
    return exists().where(
        before.order_hash == DeliveryRow.order_hash,
        before.seq < DeliveryRow.seq,
        or_(before.state == DeliveryState.SENDING.value, waits),
    )


def _due(row: DeliveryRow, head: int | None) -> DueDelivery:
    return DueDelivery(
        seq=row.seq,
        receiver=row.receiver,
        integration=row.integration,
        message=message_of(row),
        attempts=row.attempts,
        step=row.step,
        next_ms=row.next_ms,
        delay_ms=row.delay_ms,
        order_hash=row.order_hash,
        head=head,
    )


def message_of(row: DeliveryRow) -> Message:
    """The message of a row."""
    body = unpack(row.document)
    return Message(
        id=row.id,
        kind=EnvelopeKind(row.kind),
        receiver=row.receiver,
        subject=row.subject,
        document=orjson.loads(body),
        body=body,
        order_key=row.order_key,
        created_ms=row.created_ms,
    )


def claim(session: Session, seq: int, token: str) -> bool:
    """Take a delivery to send it; False when somebody else has it or it is no longer to be sent."""
    return _changed(
        session,
        update(DeliveryRow)
        .where(DeliveryRow.seq == seq, DeliveryRow.state == DeliveryState.WAITING.value)
        .values(state=DeliveryState.SENDING.value, claim=token),
    )


def take_back(session: Session, mine: Collection[str]) -> int:
    """Make deliveries wait again that are claimed by nobody who could still send them; how many there were.

    Only the server that leads sends, so what is claimed and not by a claim in `mine` was claimed by a process that is
    gone, or that has lost the lead.
    """
    query = update(DeliveryRow).where(DeliveryRow.state == DeliveryState.SENDING.value)
    if mine:
        query = query.where(DeliveryRow.claim.not_in(sorted(mine)))
    result = session.execute(query.values(state=DeliveryState.WAITING.value, claim="", early=True))
    return _rows(result)


def hasten_integration(session: Session, key: IntegrationKey) -> int:
    """Try all that waits for an integration at once; how many there are."""
    waiting = session.scalars(
        select(DeliveryRow.seq).where(
            DeliveryRow.receiver == key[0],
            DeliveryRow.integration == key[1],
            DeliveryRow.state == DeliveryState.WAITING.value,
            DeliveryRow.early.is_(False),
        )
    ).all()
    for start in range(0, len(waiting), INSERT_ROWS):
        session.execute(
            update(DeliveryRow)
            .where(DeliveryRow.seq.in_(waiting[start : start + INSERT_ROWS]))
            .where(DeliveryRow.state == DeliveryState.WAITING.value)
            .values(early=True)
        )
    return len(waiting)


def hasten(session: Session, seq: int) -> None:
    """Try one that waits at once."""
    query = update(DeliveryRow).where(DeliveryRow.seq == seq, DeliveryRow.state == DeliveryState.WAITING.value)
    session.execute(query.values(early=True))


def overtake(session: Session, row: DeliveryRow) -> None:
    """A message of a group was delivered: those before it would tell of what is no longer so.

    Messages of alerts hold all that fires in their group, so the last one says it all; news of runs do not.
    """
    if row.kind == EnvelopeKind.ALERT:
        session.execute(
            update(DeliveryRow)
            .where(DeliveryRow.order_hash == row.order_hash, DeliveryRow.seq < row.seq)
            .where(DeliveryRow.state == DeliveryState.WAITING.value)
            .values(state=DeliveryState.DEAD.value, reason=OVERTAKEN, early=False)
        )


def _changed(session: Session, query: Any) -> bool:
    return _rows(session.execute(query)) == 1


def _rows(result: Any) -> int:
    return int(result.rowcount)
