"""Deliveries as the page shows them."""

import orjson

from loadwatch_backend.alerting.notify.model import EnvelopeKind
from loadwatch_backend.alerting.notify.outbox.messages import unpack
from loadwatch_backend.alerting.notify.outbox.repository import find_attempts
from loadwatch_backend.alerting.notify.outbox.tables import DeliveryRow
from loadwatch_backend.alerting.notify.schemas import AttemptOut, DeliveryDetail, DeliveryOut, DeliveryState
from loadwatch_backend.core.database.relational import Session


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
    return DeliveryDetail(
        delivery=delivery_out(row, now_ms),
        attempts=[AttemptOut.model_validate(attempt) for attempt in find_attempts(session, row.seq)],
        document=orjson.loads(unpack(row.document)),
        alert_keys=orjson.loads(unpack(row.alert_keys)),
    )
