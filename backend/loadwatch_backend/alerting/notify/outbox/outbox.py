"""The outbox: messages that were promised, written together with the change that they report.

What is written here and committed is sent at least once, always with the same id, whatever becomes of the process.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from loadwatch_backend.alerting.notify.model import Envelope
from loadwatch_backend.alerting.notify.outbox.messages import delivery_row, is_repeated, is_whole, unpack
from loadwatch_backend.alerting.notify.outbox.repository import (
    find_attempts,
    find_waiting_of_groups,
    hasten,
    insert_deliveries,
    known_ids,
    withdraw,
)
from loadwatch_backend.alerting.notify.outbox.tables import DeliveryRow
from loadwatch_backend.alerting.notify.schemas import AttemptOut, DeliveryDetail, DeliveryOut, DeliveryState
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Session

MOST_WAITING = 50
"""Messages of one group that wait for one integration; of more the oldest is withdrawn."""
REPLACED = "replaced: a later message of the same group tells of the same alerts"
CROWDED_OUT = (
    f"crowded out: more than {MOST_WAITING} messages of the same group wait, and the later ones tell what is so"
)


class Outbox:
    """Writes deliveries within the transactions of others."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def put(self, session: Session, envelope: Envelope) -> None:
        self.put_all(session, [envelope])

    def put_all(self, session: Session, envelopes: Sequence[Envelope]) -> None:
        """Promise many; those with a key that was there before are left out."""
        now_ms = self._clock()
        new = [(delivery_row(envelope, now_ms), envelope) for envelope in envelopes]
        keyed = [row["id"] for row, envelope in new if envelope.key]
        if keyed:
            known = known_ids(session, keyed)
            new = [(row, envelope) for row, envelope in new if row["id"] not in known]
        _make_room(session, {row["order_hash"]: is_whole(row, envelope) for row, envelope in new})
        insert_deliveries(session, [row for row, _ in new])


def _make_room(session: Session, notified: Mapping[str, frozenset[str]]) -> None:
    """Before new messages: withdraw those of their groups that they make needless, and try the first of the rest now.

    It may work now, and is to come before what comes after it. `notified`: the alerts of the newest message, by group.
    """
    waiting: dict[str, list[Any]] = {}
    for row in find_waiting_of_groups(session, sorted(notified)):
        waiting.setdefault(row.order_hash, []).append(row)
    for order_hash, before in waiting.items():
        replaced = {row.seq for row in before if is_repeated(row.firing, row.alert_keys, notified[order_hash])}
        left = [row.seq for row in before if row.seq not in replaced]
        crowded = left[: max(0, len(left) - MOST_WAITING + 1)]
        withdraw(session, sorted(replaced), REPLACED)
        withdraw(session, crowded, CROWDED_OUT)
        if len(left) > len(crowded):
            hasten(session, left[len(crowded)])


def delivery_out(row: DeliveryRow, now_ms: int) -> DeliveryOut:
    waits = row.state == DeliveryState.WAITING
    return DeliveryOut.from_object(
        row,
        integration_kind=row.integration.rpartition("-")[0],
        next_attempt_ms=(min(row.next_ms, now_ms) if row.early else row.next_ms) if waits else None,
        last_status_code=row.last_status,
    )


def detail_out(session: Session, row: DeliveryRow, now_ms: int) -> DeliveryDetail:
    return DeliveryDetail(
        delivery=delivery_out(row, now_ms),
        attempts=[AttemptOut.from_object(attempt) for attempt in find_attempts(session, row.seq)],
        document=orjson.loads(unpack(row.document)),
        alert_keys=orjson.loads(unpack(row.alert_keys)),
    )
