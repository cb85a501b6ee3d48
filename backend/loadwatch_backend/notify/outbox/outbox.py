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
from loadwatch_backend.notify.outbox.schedule import RETRY_SLACK_MS, is_due
from loadwatch_backend.notify.outbox.tables import SUBJECT_LENGTH, DeliveryRow, IntegrationRow
from loadwatch_backend.notify.schemas import DeliveryState
from loadwatch_backend.notify.senders.model import Message, cut

IntegrationKey = tuple[str, str]
"""Receiver and integration."""

HOLDING_ATTEMPTS = 2
"""A message that failed so often no longer holds up those after it: one that a receiver cannot take must not keep the
on-call person from all that follows. See docs/decisions/0051-order-within-a-group.md."""
MOST_WAITING = 50
"""Messages of one group that wait for one integration; of more the oldest is withdrawn."""
OVERTAKEN = "overtaken: a later message of the same group, with all that fires in it, was delivered first"
REPLACED = "replaced: a later message of the same group tells of the same alerts"
CROWDED_OUT = (
    f"crowded out: more than {MOST_WAITING} messages of the same group wait, and the later ones tell what is so"
)
INSERT_ROWS = 500
URGENT = frozenset({"critical", "page"})
"""Values of the label `severity`; a message with such an alert that fires goes before others."""


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
        new = [(delivery_row(envelope, now_ms), envelope) for envelope in envelopes]
        keyed = [row["id"] for row, envelope in new if envelope.key]
        if keyed:
            known = set(session.scalars(select(DeliveryRow.id).where(DeliveryRow.id.in_(keyed))))
            new = [(row, envelope) for row, envelope in new if row["id"] not in known]
        _make_room(session, {row["order_hash"]: _told_whole(row, envelope) for row, envelope in new})
        rows = [row for row, _ in new]
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
        "refused": False,
        "urgency": _urgency(alerts),
        "attempts": 0,
        "claim": "",
    }


def _urgency(alerts: Sequence[Mapping[str, Any]]) -> int:
    """0 before 1 before 2: what fires and is critical, what fires, and the rest."""
    firing = [alert.get("labels", {}) for alert in alerts if alert.get("status") == "firing"]
    return 2 if not firing else 0 if any(labels.get("severity") in URGENT for labels in firing) else 1


def _make_room(session: Session, told: Mapping[str, frozenset[str]]) -> None:
    """Before new messages: withdraw those of their groups that they make needless, and try the first of the rest now.

    It may work now, and is to come before what comes after it. `told` is, by group, what the newest message tells of.
    """
    waiting: dict[str, list[Any]] = {}
    hashes = sorted(told)
    for start in range(0, len(hashes), INSERT_ROWS):
        # Read first: an update that finds nothing still locks gaps of the index on MySQL.
        query = (
            select(DeliveryRow.seq, DeliveryRow.order_hash, DeliveryRow.firing, DeliveryRow.alert_keys)
            .where(DeliveryRow.order_hash.in_(hashes[start : start + INSERT_ROWS]))
            .where(DeliveryRow.state == DeliveryState.WAITING.value)
            .order_by(DeliveryRow.seq)
        )
        for row in session.execute(query):
            waiting.setdefault(row.order_hash, []).append(row)
    for order_hash, before in waiting.items():
        replaced = {row.seq for row in before if _is_told_again(row.firing, row.alert_keys, told[order_hash])}
        left = [row.seq for row in before if row.seq not in replaced]
        crowded = left[: max(0, len(left) - MOST_WAITING + 1)]
        _withdraw(session, sorted(replaced), REPLACED)
        _withdraw(session, crowded, CROWDED_OUT)
        if len(left) > len(crowded):
            hasten(session, left[len(crowded)])


def _told_whole(row: Mapping[str, Any], envelope: Envelope) -> frozenset[str]:
    """Keys of the alerts of a message that tells of each as firing; of another, none."""
    whole = len(envelope.alert_keys) == row["firing"] and "loadwatch" not in envelope.document
    return frozenset(envelope.alert_keys) if whole else frozenset()


def _is_told_again(firing: int, packed: bytes, told: frozenset[str]) -> bool:
    """Whether a message tells of nothing but alerts that fire and that another one tells of as well."""
    if not told or not firing:
        return False
    keys: list[str] = orjson.loads(unpack(packed))
    return len(keys) == firing and told >= frozenset(keys)


def _withdraw(session: Session, seqs: Sequence[int], reason: str) -> None:
    for start in range(0, len(seqs), INSERT_ROWS):
        session.execute(
            update(DeliveryRow)
            .where(DeliveryRow.seq.in_(seqs[start : start + INSERT_ROWS]))
            .where(DeliveryRow.state == DeliveryState.WAITING.value)
            .values(state=DeliveryState.WITHDRAWN.value, reason=reason, early=False)
        )


# What is due ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DueDelivery:
    """A delivery that may be tried now."""

    seq: int
    receiver: str
    integration: str
    message: Message
    attempts: int
    early: bool
    order_hash: str
    head: int | None
    """The oldest message of its group that waits still after it failed several times; None when there is none."""

    @property
    def key(self) -> IntegrationKey:
        """Where it goes."""
        return self.receiver, self.integration


_FIRST = aliased(DeliveryRow)
_BEFORE = aliased(DeliveryRow)
"""Made once: an alias costs more than the question, which is asked each second."""
_ANY_WAITING = select(DeliveryRow.seq).where(DeliveryRow.state == DeliveryState.WAITING.value).limit(1)
_HEAD = (
    select(func.min(_FIRST.seq))
    .where(_FIRST.order_hash == DeliveryRow.order_hash, _FIRST.seq < DeliveryRow.seq)
    .where(_FIRST.state == DeliveryState.WAITING.value)
    .correlate(DeliveryRow)
    .scalar_subquery()
)


def any_waiting(session: Session) -> bool:
    """Whether there is anything to send, now or later."""
    return session.scalar(_ANY_WAITING) is not None


def find_due(
    session: Session,
    now_ms: int,
    busy: Collection[IntegrationKey],
    limit: int,
    resting: Collection[IntegrationKey] = (),
) -> Sequence[DueDelivery]:
    """What may be tried now, in order within each group, without integrations that are `busy`.

    Of those that are `resting`, as they fail, only what was never tried or is asked for.
    """
    query = (
        select(DeliveryRow, _HEAD)
        .where(DeliveryRow.state == DeliveryState.WAITING.value, _is_due(DeliveryRow, now_ms), ~_is_held(now_ms))
        .order_by(DeliveryRow.next_ms, DeliveryRow.urgency, DeliveryRow.seq)
        .limit(limit)
    )
    place = tuple_(DeliveryRow.receiver, DeliveryRow.integration)
    if busy:
        query = query.where(place.not_in(sorted(busy)))
    if resting:
        query = query.where(or_(place.not_in(sorted(resting)), DeliveryRow.attempts == 0, DeliveryRow.early.is_(True)))
    return [_due(row, first, now_ms) for row, first in session.execute(query)]


def _is_due(row: type[DeliveryRow], now_ms: int) -> ColumnElement[bool]:
    """`schedule.is_due` as a condition."""
    set_back = row.next_ms - row.delay_ms > now_ms + RETRY_SLACK_MS
    return or_(row.early.is_(True), row.next_ms <= now_ms, set_back)


def _is_held(now_ms: int) -> ColumnElement[bool]:
    """Whether one before it in its group is under way, goes first, or is to be tried again no later than it."""
    before = _BEFORE
    waits = and_(
        before.state == DeliveryState.WAITING.value,
        or_(
            before.attempts < HOLDING_ATTEMPTS,
            before.early.is_(True),
            and_(_is_due(before, now_ms), before.next_ms <= DeliveryRow.next_ms),
        ),
    )
    return exists().where(
        before.order_hash == DeliveryRow.order_hash,
        before.seq < DeliveryRow.seq,
        or_(before.state == DeliveryState.SENDING.value, waits),
    )


def _due(row: DeliveryRow, head: int | None, now_ms: int) -> DueDelivery:
    return DueDelivery(
        seq=row.seq,
        receiver=row.receiver,
        integration=row.integration,
        message=message_of(row),
        attempts=row.attempts,
        early=not is_due(row.next_ms, row.delay_ms, now_ms),
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


def hasten_integration(session: Session, key: IntegrationKey, now_ms: int) -> int:
    """Make all that waits for an integration due, and the integration too; how many messages there are.

    Should it fail again, the rest waits for its next turn as before.
    """
    session.execute(
        update(IntegrationRow)
        .where(IntegrationRow.receiver == key[0], IntegrationRow.integration == key[1])
        .values(next_ms=now_ms, delay_ms=0)
    )
    waiting = session.scalars(_waiting_of(key).with_only_columns(DeliveryRow.seq)).all()
    for start in range(0, len(waiting), INSERT_ROWS):
        session.execute(
            update(DeliveryRow)
            .where(DeliveryRow.seq.in_(waiting[start : start + INSERT_ROWS]))
            .where(DeliveryRow.state == DeliveryState.WAITING.value)
            .values(next_ms=now_ms, delay_ms=0)
        )
    return len(waiting)


def withdraw_all(session: Session, key: IntegrationKey, reason: str) -> int:
    """Stop trying what waits for an integration; how many messages there were."""
    waiting = session.scalars(_waiting_of(key).with_only_columns(DeliveryRow.seq)).all()
    _withdraw(session, waiting, reason)
    return len(waiting)


def _waiting_of(key: IntegrationKey) -> Any:
    return select(DeliveryRow).where(
        DeliveryRow.receiver == key[0],
        DeliveryRow.integration == key[1],
        DeliveryRow.state == DeliveryState.WAITING.value,
    )


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
            .values(state=DeliveryState.WITHDRAWN.value, reason=OVERTAKEN, early=False)
        )


def _changed(session: Session, query: Any) -> bool:
    return _rows(session.execute(query)) == 1


def _rows(result: Any) -> int:
    return int(result.rowcount)
