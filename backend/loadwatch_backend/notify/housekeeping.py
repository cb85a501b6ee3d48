"""What is old is deleted, and what could not be tried for days is given up."""

from collections.abc import Callable

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from loadwatch_backend.notify.outbox_tables import AttemptRow, DeliveryRow
from loadwatch_backend.notify.schedule import LIFETIME_MS
from loadwatch_backend.notify.schemas import DeliveryState
from loadwatch_backend.store.relational import Relational

KEPT_MS = 30 * 86_400_000
BATCH = 1_000
GIVEN_UP = "given up: it could not be tried for three days, because its integration was disabled"


def keep_house(relational: Relational, now_ms: int, fence: Callable[[Session], None]) -> int:
    """Delete deliveries that ended and are older than 30 days, in small transactions; how many there were."""
    with relational.transaction() as session:
        fence(session)
        session.execute(
            update(DeliveryRow)
            .where(DeliveryRow.state == DeliveryState.WAITING.value, DeliveryRow.next_ms < now_ms - LIFETIME_MS)
            .values(state=DeliveryState.DEAD.value, reason=GIVEN_UP, early=False)
        )
    total = 0
    while True:
        with relational.transaction() as session:
            fence(session)
            old = session.scalars(
                select(DeliveryRow.seq)
                .where(DeliveryRow.created_ms < now_ms - KEPT_MS)
                .where(DeliveryRow.state.in_([DeliveryState.DELIVERED.value, DeliveryState.DEAD.value]))
                .limit(BATCH)
            ).all()
            if not old:
                return total
            session.execute(delete(AttemptRow).where(AttemptRow.delivery_seq.in_(old)))
            session.execute(delete(DeliveryRow).where(DeliveryRow.seq.in_(old)))
            total += len(old)
