"""What is old is deleted, and what is of no use to anybody any more is given up."""

from collections.abc import Callable, Collection

import orjson

from loadwatch_backend.alerting.notify.groups.repository import find_firing
from loadwatch_backend.alerting.notify.outbox.messages import IntegrationKey, unpack
from loadwatch_backend.alerting.notify.outbox.repository import find_waiting_since, forget_ended, give_up
from loadwatch_backend.alerting.notify.outbox.schedule import CARE_MS
from loadwatch_backend.core.database.relational import Relational, Session

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
            deleted = forget_ended(session, now_ms - KEPT_MS, BATCH)
        if not deleted:
            return total
        total += deleted


def _give_up(session: Session, now_ms: int, known: Collection[IntegrationKey]) -> None:
    """What has waited for a day, and of which nothing fires or for which there is no place."""
    waiting = find_waiting_since(session, now_ms - CARE_MS)
    firing = find_firing(session, lock=False) if waiting else {}
    for row in waiting:
        has_place = (row.receiver, row.integration) in known
        if has_place and not firing.keys().isdisjoint(orjson.loads(unpack(row.alert_keys))):
            continue
        give_up(session, row.seq, GIVEN_UP if has_place else NOWHERE)
