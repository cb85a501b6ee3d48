"""Who is not told at present: integrations that fail while messages wait for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_backend.alerting.notify.file.model import Configuration
from loadwatch_backend.alerting.notify.outbox.repository import count_unfinished, find_failing
from loadwatch_backend.alerting.notify.schemas import UndeliveredOut
from loadwatch_backend.core.database.relational import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingIntegrations:
    """All of them, the one that has failed for longest first, of so many integrations of the configuration."""

    failing: Sequence[UndeliveredOut]
    integrations: int


def find_failing_integrations(session: Session, configuration: Configuration) -> FailingIntegrations:
    """Integrations of the configuration that fail while something waits for them."""
    known = {(one.name, two.id) for one in configuration.receivers.values() for two in one.integrations}
    rows = find_failing(session)
    waiting = count_unfinished(session) if rows else {}
    failing = [
        UndeliveredOut(
            receiver=row.receiver,
            integration=row.integration,
            reason=row.reason,
            since_ms=row.since_ms or row.last_failure_ms or 0,
            next_attempt_ms=row.next_ms,
            waiting=waiting[key],
        )
        for row in rows
        if (key := (row.receiver, row.integration)) in known and key in waiting
    ]
    return FailingIntegrations(failing=sorted(failing, key=lambda one: one.since_ms), integrations=len(known))
