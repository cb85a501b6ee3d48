"""What is old is deleted, and what is of no use to anybody any more is given up."""

from collections.abc import Callable, Collection

import orjson
from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from loadwatch_backend.notify.groups.repository import find_firing
from loadwatch_backend.notify.outbox.outbox import IntegrationKey, unpack
from loadwatch_backend.notify.outbox.schedule import CARE_MS
from loadwatch_backend.notify.outbox.tables import AttemptRow, DeliveryRow
from loadwatch_backend.notify.schemas import DeliveryState
from loadwatch_backend.store.relational import Relational

ENDED = (DeliveryState.DELIVERED.value, DeliveryState.WITHDRAWN.value, DeliveryState.DEAD.value)
KEPT_MS = 30 * 86_400_000
BATCH = 1_000
GIVEN_UP = "given up: nothing in it fires any more, and it could not be delivered for 24 hours"
NOWHERE = "given up: for 24 hours the configuration has had no such receiver or integration"


def keep_house(
    relational: Relational, now_ms: int, fence: Callable[[Session], None], known: Collection[IntegrationKey]
) -> int:
    """Give up what is over, and delete deliveries that ended and are older than 30 days; how many were deleted.

    In small transactions. `known` are the integrations of the configuration.
    """
    with relational.transaction() as session:
        fence(session)
        _give_up(session, now_ms, known)
    total = 0
    while True:
        with relational.transaction() as session:
            fence(session)
            old = session.scalars(
                select(DeliveryRow.seq)
                .where(DeliveryRow.created_ms < now_ms - KEPT_MS)
                .where(DeliveryRow.state.in_(ENDED))
                .limit(BATCH)
            ).all()
            if not old:
                return total
            session.execute(delete(AttemptRow).where(AttemptRow.delivery_seq.in_(old)))
            session.execute(delete(DeliveryRow).where(DeliveryRow.seq.in_(old)))
            total += len(old)


def _give_up(session: Session, now_ms: int, known: Collection[IntegrationKey]) -> None:
    """What has waited for a day, and of which nothing fires or for which there is no place."""
    waiting = session.execute(
        select(DeliveryRow.seq, DeliveryRow.receiver, DeliveryRow.integration, DeliveryRow.alert_keys).where(
            DeliveryRow.state == DeliveryState.WAITING.value, DeliveryRow.created_ms < now_ms - CARE_MS
        )
    ).all()
    firing = find_firing(session, lock=False) if waiting else {}
    for row in waiting:
        has_place = (row.receiver, row.integration) in known
        if has_place and not firing.keys().isdisjoint(orjson.loads(unpack(row.alert_keys))):
            continue
        session.execute(
            update(DeliveryRow)
            .where(DeliveryRow.seq == row.seq, DeliveryRow.state == DeliveryState.WAITING.value)
            .values(state=DeliveryState.DEAD.value, reason=GIVEN_UP if has_place else NOWHERE, early=False)
        )
