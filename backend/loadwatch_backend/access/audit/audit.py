"""The audit log: who did what, to what, with what outcome, from where.

An entry is written before the answer leaves. It holds names and ids, never bodies: no secret can get into it.
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from loadwatch_backend.access.audit.repository import add_entry, find_entries, forget_entries
from loadwatch_backend.access.limits import FailureLimit
from loadwatch_backend.access.principal import Principal, PrincipalKind
from loadwatch_backend.access.schemas import AuditEntryOut, AuditList
from loadwatch_backend.access.tables import NAME_LENGTH, TEXT_LENGTH, AuditRow
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import DatabaseError
from loadwatch_backend.core.database.relational import Relational

KEPT_MS = 400 * 86_400_000
PRUNE_EVERY_MS = 6 * 3600_000
STRANGERS_A_MINUTE = 10
"""Entries for one address that has not signed in: a flood must not fill the disk. The rest is counted."""

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Something that somebody did or tried to do; `actor` is None for a stranger."""

    action: str
    actor: Principal | None
    subject: str = ""
    outcome: str = "ok"
    address: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])


class AuditLog:
    """Writes and reads entries; from worker threads only."""

    def __init__(self, relational: Relational, clock: Clock) -> None:
        self._relational = relational
        self._clock = clock
        self._strangers = FailureLimit(most=STRANGERS_A_MINUTE, seconds=60)
        self._lock = threading.Lock()
        self._pruned_ms = 0
        self.failed_total = 0
        self.suppressed_total = 0

    def write(self, event: AuditEvent) -> None:
        """Keep an entry. A database that refuses it must not undo what was done: that is logged and counted."""
        if event.actor is None and self._strangers.wait_after(event.address):
            self.suppressed_total += 1
            return
        now_ms = self._clock()
        try:
            with self._relational.transaction() as session:
                add_entry(session, _row(event, now_ms))
                if self._is_time_to_prune(now_ms):
                    forget_entries(session, now_ms - KEPT_MS)
        except DatabaseError as error:
            self.failed_total += 1
            logger.error(
                "audit entry lost",
                action=event.action,
                subject=event.subject,
                reason=str(getattr(error, "orig", error)),
            )

    def list(self, start_ms: int, end_ms: int, actor: str, action: str, before: int | None, limit: int) -> AuditList:
        """Entries of the span, newest first; `action` is the whole or the part before a dot."""
        with self._relational.transaction() as session:
            rows = find_entries(session, start_ms, end_ms, actor, action, before, limit + 1)
        entries = [_out(row) for row in rows[:limit]]
        return AuditList(entries=entries, next_before=entries[-1].id if len(rows) > limit else None)

    def _is_time_to_prune(self, now_ms: int) -> bool:
        with self._lock:
            if abs(now_ms - self._pruned_ms) < PRUNE_EVERY_MS:
                return False
            self._pruned_ms = now_ms
            return True


def _row(event: AuditEvent, now_ms: int) -> AuditRow:
    return AuditRow(
        at_ms=now_ms,
        actor=(event.actor.name if event.actor else "")[:NAME_LENGTH],
        actor_kind=event.actor.kind.value if event.actor else None,
        action=event.action,
        subject=event.subject[:TEXT_LENGTH],
        outcome=event.outcome[:NAME_LENGTH],
        address=event.address[:NAME_LENGTH],
        detail=json.dumps(dict(event.detail), ensure_ascii=False),
    )


def _out(row: AuditRow) -> AuditEntryOut:
    return AuditEntryOut(
        id=row.id,
        at_ms=row.at_ms,
        actor=row.actor,
        actor_kind=None if row.actor_kind is None else PrincipalKind(row.actor_kind),
        action=row.action,
        subject=row.subject,
        outcome=row.outcome,
        address=row.address,
        detail=json.loads(row.detail),
    )
