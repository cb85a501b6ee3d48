"""Deliveries as the page shows them: where the log meets the database."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from loadwatch_backend.kit.errors import NotFoundError
from loadwatch_backend.notify.contract import EnvelopeKind
from loadwatch_backend.notify.outbox.outbox import unpack
from loadwatch_backend.notify.outbox.tables import AttemptRow, DeliveryRow
from loadwatch_backend.notify.schemas import (
    AttemptOut,
    DeliveryDetail,
    DeliveryOut,
    DeliveryState,
)

WORDS = 20


class DeliveryNotFoundError(NotFoundError):
    """There is no such delivery."""

    code = "delivery-not-found"


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


def delivery_out(row: DeliveryRow, now_ms: int) -> DeliveryOut:
    """A line of the log."""
    waits = row.state == DeliveryState.WAITING
    return DeliveryOut(
        id=row.id,
        kind=EnvelopeKind(row.kind),
        receiver=row.receiver,
        integration=row.integration,
        integration_kind=row.integration.rpartition("-")[0],
        subject=row.subject,
        state=DeliveryState(row.state),
        reason=row.reason,
        firing=row.firing,
        resolved=row.resolved,
        created_ms=row.created_ms,
        delivered_ms=row.delivered_ms,
        next_attempt_ms=(min(row.next_ms, now_ms) if row.early else row.next_ms) if waits else None,
        attempts=row.attempts,
        last_status_code=row.last_status,
        last_seconds=row.last_seconds,
    )


def detail_out(session: Session, row: DeliveryRow, now_ms: int) -> DeliveryDetail:
    """A delivery with its attempts and what was sent."""
    query = select(AttemptRow).where(AttemptRow.delivery_seq == row.seq).order_by(AttemptRow.number)
    return DeliveryDetail(
        delivery=delivery_out(row, now_ms),
        attempts=[
            AttemptOut(
                number=attempt.number,
                at_ms=attempt.at_ms,
                seconds=attempt.seconds,
                status_code=attempt.status_code,
                outcome=attempt.outcome,
                error=attempt.error,
                response=attempt.response,
                address=attempt.address,
            )
            for attempt in session.scalars(query)
        ],
        document=orjson.loads(unpack(row.document)),
        alert_keys=orjson.loads(unpack(row.alert_keys)),
    )
