"""Where messages and their integrations meet the database. Every function works inside the caller's transaction."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import ColumnElement, and_, delete, exists, func, insert, or_, select, tuple_, update
from sqlalchemy.orm import Session, aliased, defer

from loadwatch_backend.alerting.notify.file.model import Configuration
from loadwatch_backend.alerting.notify.groups.repository import chunks
from loadwatch_backend.alerting.notify.model import EnvelopeKind
from loadwatch_backend.alerting.notify.outbox.messages import DueDelivery, IntegrationKey, message_of, unpack
from loadwatch_backend.alerting.notify.outbox.schedule import RETRY_SLACK_MS, is_due
from loadwatch_backend.alerting.notify.outbox.tables import AttemptRow, DeliveryRow, IntegrationRow
from loadwatch_backend.alerting.notify.schemas import DeliveryState, UndeliveredOut
from loadwatch_backend.core.errors import NotFoundError

HOLDING_ATTEMPTS = 2
"""A message that failed so often no longer holds up those after it: one that a receiver cannot take must not keep the
on-call person from all that follows. See docs/decisions/0050-outbox.md."""
OVERTAKEN = "overtaken: a later message of the same group, with all that fires in it, was delivered first"
MOST_OF_ALERTS = 1_000
WORDS = 20
UNFINISHED = (DeliveryState.WAITING.value, DeliveryState.SENDING.value)
ENDED = (DeliveryState.DELIVERED.value, DeliveryState.WITHDRAWN.value, DeliveryState.DEAD.value)

_WAITS = DeliveryRow.state == DeliveryState.WAITING.value

# The log --------------------------------------------------------------------------------------------------------------


class DeliveryNotFoundError(NotFoundError, code="delivery-not-found"):
    """There is no such delivery."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFilter:
    """What deliveries of a list have in common; empty filters nothing."""

    states: Sequence[DeliveryState] = ()
    receiver: str = ""
    words: str = ""
    tests: bool = True


def find_delivery(session: Session, delivery_id: str, *, lock: bool = False) -> DeliveryRow:
    """One delivery.

    Raises:
        DeliveryNotFoundError: there is none.
    """
    query = select(DeliveryRow).where(DeliveryRow.id == delivery_id)
    row = session.scalars(query.with_for_update() if lock else query).one_or_none()
    if row is None:
        raise DeliveryNotFoundError(f"There is no delivery {delivery_id}; they are kept for 30 days.")
    return row


def find_deliveries(
    session: Session, wanted: DeliveryFilter, before: int | None, limit: int
) -> tuple[Sequence[DeliveryRow], int | None]:
    """A page of deliveries, newest first, and where the next one begins."""
    query = select(DeliveryRow).where(*_conditions(wanted)).order_by(DeliveryRow.seq.desc()).limit(limit + 1)
    if wanted.states:
        query = query.where(DeliveryRow.state.in_([state.value for state in wanted.states]))
    if before is not None:
        query = query.where(DeliveryRow.seq < before)
    rows = session.scalars(query).all()
    return rows[:limit], rows[limit - 1].seq if len(rows) > limit else None


def find_of_alerts(session: Session, keys: Sequence[str], since_ms: int) -> list[DeliveryRow]:
    """Of each integration the first message of alerts that fire which it took; where it took none, the last.

    The message of an alert's end is among later messages; of very many only the first are read.
    """
    wanted, found = set(keys), dict[IntegrationKey, DeliveryRow]()
    query = (
        select(DeliveryRow)
        .options(defer(DeliveryRow.document))
        .where(DeliveryRow.kind == EnvelopeKind.ALERT.value, DeliveryRow.created_ms >= since_ms, DeliveryRow.firing > 0)
        .order_by(DeliveryRow.seq)
        .limit(MOST_OF_ALERTS)
    )
    for row in session.scalars(query):
        key = (row.receiver, row.integration)
        taken = key in found and found[key].delivered_ms is not None
        if not taken and not wanted.isdisjoint(orjson.loads(unpack(row.alert_keys))):
            found[key] = row
    return list(found.values())


def count_deliveries(session: Session, wanted: DeliveryFilter) -> dict[DeliveryState, int]:
    """How many there are in each state, whatever states are asked for."""
    query = select(DeliveryRow.state, func.count()).where(*_conditions(wanted)).group_by(DeliveryRow.state)
    found = {DeliveryState(state): count for state, count in session.execute(query)}
    return {state: found.get(state, 0) for state in DeliveryState}


def _conditions(wanted: DeliveryFilter) -> list[ColumnElement[bool]]:
    conditions = [DeliveryRow.subject.icontains(word, autoescape=True) for word in wanted.words.split()[:WORDS]]
    if not wanted.tests:
        conditions.append(DeliveryRow.kind != EnvelopeKind.TEST.value)
    if wanted.receiver:
        conditions.append(DeliveryRow.receiver == wanted.receiver)
    return conditions


def find_attempts(session: Session, seq: int) -> Sequence[AttemptRow]:
    return session.scalars(select(AttemptRow).where(AttemptRow.delivery_seq == seq).order_by(AttemptRow.number)).all()


def add_row(session: Session, row: DeliveryRow | AttemptRow) -> None:
    """Write a new one; it has its number then."""
    session.add(row)
    session.flush()


def lock_delivery(session: Session, seq: int) -> DeliveryRow | None:
    """One delivery, which nobody else changes before the transaction ends."""
    return session.scalars(select(DeliveryRow).where(DeliveryRow.seq == seq).with_for_update()).one_or_none()


def count_by_integration(session: Session) -> dict[tuple[str, str, str], int]:
    """Number of deliveries by receiver, integration and state, without those that were delivered."""
    query = (
        select(DeliveryRow.receiver, DeliveryRow.integration, DeliveryRow.state, func.count())
        .where(DeliveryRow.state != DeliveryState.DELIVERED.value)
        .group_by(DeliveryRow.receiver, DeliveryRow.integration, DeliveryRow.state)
    )
    return {(name, integration, state): count for name, integration, state, count in session.execute(query)}


def oldest_unfinished_ms(session: Session) -> int | None:
    return session.scalar(select(func.min(DeliveryRow.created_ms)).where(DeliveryRow.state.in_(UNFINISHED)))


# Integrations ---------------------------------------------------------------------------------------------------------


def find_integrations(session: Session) -> dict[IntegrationKey, IntegrationRow]:
    return {(row.receiver, row.integration): row for row in session.scalars(select(IntegrationRow))}


def find_integration(session: Session, key: IntegrationKey) -> IntegrationRow:
    """One integration; a new row when nothing is known of it yet."""
    row = session.get(IntegrationRow, key)
    if row is None:
        row = IntegrationRow(receiver=key[0], integration=key[1])
        settle_integration(row)
        session.add(row)
    return row


def settle_integration(row: IntegrationRow) -> None:
    """Reset what is recorded of an integration's failures."""
    row.failing = row.refused = False
    row.reason = row.target = ""
    row.since_ms = None
    row.step = row.next_ms = row.delay_ms = 0


def find_failing(session: Session) -> Sequence[IntegrationRow]:
    return session.scalars(select(IntegrationRow).where(IntegrationRow.failing.is_(True))).all()


def count_unfinished(session: Session) -> dict[IntegrationKey, int]:
    query = (
        select(DeliveryRow.receiver, DeliveryRow.integration, func.count())
        .where(DeliveryRow.state.in_(UNFINISHED))
        .group_by(DeliveryRow.receiver, DeliveryRow.integration)
    )
    return {(receiver, integration): count for receiver, integration, count in session.execute(query)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingIntegrations:
    """Failing integrations, the longest failing first, and how many integrations are configured."""

    failing: Sequence[UndeliveredOut]
    integrations: int


def find_failing_integrations(session: Session, configuration: Configuration) -> FailingIntegrations:
    known = {(one.name, two.id) for one in configuration.receivers.values() for two in one.integrations}
    rows = find_failing(session)
    waiting = count_unfinished(session) if rows else {}
    failing = [
        UndeliveredOut.from_object(
            row,
            since_ms=row.since_ms or row.last_failure_ms or 0,
            next_attempt_ms=row.next_ms,
            waiting=waiting[key],
        )
        for row in rows
        if (key := (row.receiver, row.integration)) in known and key in waiting
    ]
    return FailingIntegrations(failing=sorted(failing, key=lambda one: one.since_ms), integrations=len(known))


# New messages ---------------------------------------------------------------------------------------------------------


def known_ids(session: Session, ids: Sequence[str]) -> set[str]:
    return set(session.scalars(select(DeliveryRow.id).where(DeliveryRow.id.in_(ids))))


def insert_deliveries(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    for some in chunks(rows):
        session.execute(insert(DeliveryRow), some)


def find_waiting_of_groups(session: Session, hashes: Sequence[str]) -> Iterator[Any]:
    """Seq, `order_hash`, number of alerts that fire, and keys of what waits in these groups, in order.

    Read before they are changed: an update that finds nothing still locks gaps of the index on MySQL.
    """
    for some in chunks(hashes):
        yield from session.execute(
            select(DeliveryRow.seq, DeliveryRow.order_hash, DeliveryRow.firing, DeliveryRow.alert_keys)
            .where(DeliveryRow.order_hash.in_(some), _WAITS)
            .order_by(DeliveryRow.seq)
        )


def withdraw(
    session: Session, seqs: Sequence[int], reason: str, state: DeliveryState = DeliveryState.WITHDRAWN
) -> None:
    _update_waiting(session, seqs, state=state.value, reason=reason, early=False)


def _update_waiting(session: Session, seqs: Sequence[int], **values: Any) -> None:
    for some in chunks(seqs):
        session.execute(update(DeliveryRow).where(DeliveryRow.seq.in_(some), _WAITS).values(**values))


# What is due ----------------------------------------------------------------------------------------------------------


_FIRST = aliased(DeliveryRow)
_BEFORE = aliased(DeliveryRow)
"""Built once: it is used each second, and building an alias costs more than the query."""
_ANY_WAITING = select(DeliveryRow.seq).where(_WAITS).limit(1)
_HEAD = (
    select(func.min(_FIRST.seq))
    .where(_FIRST.order_hash == DeliveryRow.order_hash, _FIRST.seq < DeliveryRow.seq)
    .where(_FIRST.state == DeliveryState.WAITING.value)
    .correlate(DeliveryRow)
    .scalar_subquery()
)


def any_waiting(session: Session) -> bool:
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
        .where(_WAITS, _is_due(DeliveryRow, now_ms), ~_is_held(now_ms))
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


def claim(session: Session, seq: int, token: str) -> bool:
    """Take a delivery to send it; False when somebody else has it or it is no longer to be sent."""
    query = update(DeliveryRow).where(DeliveryRow.seq == seq, _WAITS)
    return _rows(session.execute(query.values(state=DeliveryState.SENDING.value, claim=token))) == 1


def take_back(session: Session, mine: Collection[str]) -> int:
    """Make deliveries wait again that are claimed by nobody who could still send them; how many there were.

    Only the server that leads sends, so what is claimed and not by a claim in `mine` was claimed by a process that is
    gone, or that has lost the lead.
    """
    query = update(DeliveryRow).where(DeliveryRow.state == DeliveryState.SENDING.value)
    if mine:
        query = query.where(DeliveryRow.claim.not_in(sorted(mine)))
    return _rows(session.execute(query.values(state=DeliveryState.WAITING.value, claim="", early=True)))


def hasten_integration(session: Session, key: IntegrationKey, now_ms: int) -> int:
    """Make all that waits for an integration due, and the integration too; how many messages there are.

    Should it fail again, the rest waits for its next turn as before.
    """
    session.execute(
        update(IntegrationRow)
        .where(IntegrationRow.receiver == key[0], IntegrationRow.integration == key[1])
        .values(next_ms=now_ms, delay_ms=0)
    )
    waiting = _waiting_of(session, key)
    _update_waiting(session, waiting, next_ms=now_ms, delay_ms=0)
    return len(waiting)


def withdraw_all(session: Session, key: IntegrationKey, reason: str) -> int:
    waiting = _waiting_of(session, key)
    withdraw(session, waiting, reason)
    return len(waiting)


def _waiting_of(session: Session, key: IntegrationKey) -> Sequence[int]:
    place = DeliveryRow.receiver == key[0], DeliveryRow.integration == key[1]
    return session.scalars(select(DeliveryRow.seq).where(*place, _WAITS)).all()


def hasten(session: Session, seq: int) -> None:
    _update_waiting(session, [seq], early=True)


def overtake(session: Session, row: DeliveryRow) -> None:
    """A message of a group was delivered: those before it would report what is no longer so.

    Messages of alerts hold all that fires in their group, so the last one says it all; news of runs do not.
    """
    if row.kind == EnvelopeKind.ALERT:
        session.execute(
            update(DeliveryRow)
            .where(DeliveryRow.order_hash == row.order_hash, DeliveryRow.seq < row.seq, _WAITS)
            .values(state=DeliveryState.WITHDRAWN.value, reason=OVERTAKEN, early=False)
        )


def _rows(result: Any) -> int:
    return int(result.rowcount)


# What is over ---------------------------------------------------------------------------------------------------------


def find_waiting_since(session: Session, before_ms: int) -> Sequence[Any]:
    """Seq, receiver, integration and keys of alerts of what has waited since then."""
    return session.execute(
        select(DeliveryRow.seq, DeliveryRow.receiver, DeliveryRow.integration, DeliveryRow.alert_keys).where(
            _WAITS, DeliveryRow.created_ms < before_ms
        )
    ).all()


def forget_ended(session: Session, before_ms: int, limit: int) -> int:
    """Delete some that ended and are older; how many."""
    old = session.scalars(
        select(DeliveryRow.seq)
        .where(DeliveryRow.created_ms < before_ms)
        .where(DeliveryRow.state.in_(ENDED))
        .limit(limit)
    ).all()
    if old:
        session.execute(delete(AttemptRow).where(AttemptRow.delivery_seq.in_(old)))
        session.execute(delete(DeliveryRow).where(DeliveryRow.seq.in_(old)))
    return len(old)
