"""The audit log: who did what, to what, with what outcome, from where.

An entry is written before the answer leaves. It holds names and ids, never bodies: no secret can get into it.
"""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import structlog
from anyio import to_thread
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loadwatch_backend.access.limits import FailureLimit
from loadwatch_backend.access.principal import Principal
from loadwatch_backend.access.repository import add_entry, find_entries, forget_entries
from loadwatch_backend.access.schemas import AuditEntryOut, AuditList
from loadwatch_backend.access.tables import NAME_LENGTH, TEXT_LENGTH, AuditRow
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import DatabaseError
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.middleware import REFUSAL, SAFE_METHODS


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An audited action; `made` is the path of keys in the response to the name of what was created."""

    name: str
    made: tuple[str, ...] = ()


def _made(name: str, *made: str) -> Action:
    return Action(name=name, made=made)


ACTIONS: dict[str, Action | None] = {
    # Sign-ins write entries of their own: who it was is known at their end only.
    "POST /api/session": None,
    "POST /api/session/password": None,
    "POST /api/setup": _made("setup", "principal", "name"),
    "DELETE /api/session": _made("session.logout"),
    "PUT /api/session/password": _made("session.password"),
    "DELETE /api/session/sessions/{session_id}": _made("session.end"),
    "POST /api/users": _made("user.create", "name"),
    "PATCH /api/users/{user_id}": _made("user.update", "name"),
    "DELETE /api/users/{user_id}": _made("user.delete"),
    "DELETE /api/users/{user_id}/sessions/{session_id}": _made("user.session.end"),
    "POST /api/tokens": _made("token.create", "record", "name"),
    "DELETE /api/tokens/{token_id}": _made("token.revoke"),
    "POST /api/targets/answers": _made("target.answer"),
    "POST /api/store/compact": _made("store.compact"),
    "POST /api/panels": _made("panel.pin", "id"),
    "DELETE /api/panels/{panel_id}": _made("panel.remove"),
    "POST /api/annotations": _made("annotation.create", "id"),
    "PATCH /api/annotations/{annotation_id}": _made("annotation.update"),
    "DELETE /api/annotations/{annotation_id}": _made("annotation.delete"),
    "POST /api/runs": _made("run.create", "id"),
    "PATCH /api/runs/{run_id}": _made("run.update"),
    "DELETE /api/runs/{run_id}": _made("run.delete"),
    "POST /api/runs/{run_id}/finish": _made("run.finish"),
    # The load tool's figures, each second or so: samples in all but name.
    "POST /api/runs/{run_id}/progress": None,
    "POST /api/runs/{run_id}/findings": _made("run.findings"),
    "POST /api/findings/marks": _made("finding.mark", "id"),
    "DELETE /api/findings/marks/{mark_id}": _made("finding.unmark"),
    "PUT /api/runs/{run_id}/baseline": _made("run.baseline.set"),
    "DELETE /api/runs/{run_id}/baseline": _made("run.baseline.clear"),
    "PUT /api/runs/{run_id}/review": _made("run.review"),
    "POST /api/runs/{run_id}/shares": _made("share.create", "id"),
    "DELETE /api/shares/{share_id}": _made("share.delete"),
    "POST /api/runs/{run_id}/evidence": _made("evidence.add", "id"),
    "POST /api/runs/{run_id}/profiles": _made("profile.import", "id"),
    "POST /api/profile-orders": _made("profile.order"),
    # Agents at work on orders: samples in all but name.
    "POST /api/profiles/orders/{order_id}/begin": None,
    "POST /api/profiles/orders/{order_id}/failure": None,
    "POST /api/profiles/orders/{order_id}/profile": None,
    "PATCH /api/evidence/{file_id}": _made("evidence.update"),
    "DELETE /api/evidence/{file_id}": _made("evidence.delete"),
    "POST /api/imports": _made("import.create", "id"),
    "DELETE /api/imports/{import_id}": _made("import.cancel"),
    "POST /api/archives": _made("archive.import", "id"),
    "POST /api/meetings": _made("meeting.create", "id"),
    "PUT /api/alerts/{alert_id}/acknowledgement": _made("alert.acknowledge"),
    "DELETE /api/alerts/{alert_id}/acknowledgement": _made("alert.unacknowledge"),
    "POST /api/alerts/{alert_id}/dismiss": _made("alert.dismiss"),
    "POST /api/rules/reload": _made("rules.reload"),
    "POST /api/routes/reload": _made("routes.reload"),
    "POST /api/backup": _made("backup.make"),
    "POST /api/connect/watch": _made("agent.configure", "written", "path"),
    "POST /api/silences": _made("silence.create", "id"),
    "PUT /api/silences/{silence_id}": _made("silence.update"),
    "POST /api/silences/{silence_id}/expire": _made("silence.expire"),
    "POST /alertmanager/api/v2/silences": _made("alertmanager.silence.create", "silenceID"),
    "DELETE /alertmanager/api/v2/silence/{silence_id}": _made("alertmanager.silence.expire"),
    # Always refused: rules make alerts.
    "POST /alertmanager/api/v2/alerts": None,
    "POST /api/receivers/{name}/test": _made("receiver.test"),
    "POST /api/receivers/{name}/integrations/{integration}/retry": _made("receiver.retry"),
    "POST /api/receivers/{name}/integrations/{integration}/stop": _made("receiver.stop"),
    "POST /api/deliveries/{delivery_id}/retry": _made("delivery.retry"),
    "POST /api/deliveries/{delivery_id}/stop": _made("delivery.stop"),
    # Reads each collector of lines that are shown, and changes nothing.
    "POST /api/connect/check": None,
    # Questions that are too long for an address, and samples.
    "POST /api/signals/query": None,
    "POST /api/routes/resolve": None,
    "POST /api/silences/preview": None,
    "POST /prometheus/api/v1/write": None,
    "POST /prometheus/api/v1/otlp/v1/metrics": None,
    "POST /prometheus/api/v1/query": None,
    "POST /prometheus/api/v1/query_range": None,
    "POST /prometheus/api/v1/series": None,
    "POST /prometheus/api/v1/labels": None,
    "POST /prometheus/api/v1/query_exemplars": None,
}
"""By method and path as in the API document; None for what is not audited."""


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

    def write_failed_sign_in(self, code: str, address: str, subject: str = "", way: str = "") -> None:
        detail = {"way": way} if way else {}
        self.write(
            AuditEvent(
                action="session.login", actor=None, subject=subject, outcome=code, address=address, detail=detail
            )
        )

    def list(self, start_ms: int, end_ms: int, actor: str, action: str, before: int | None, limit: int) -> AuditList:
        """Entries of the span, newest first; `action` is the whole or the part before a dot."""
        with self._relational.transaction() as session:
            rows = find_entries(session, start_ms, end_ms, actor, action, before, limit + 1)
        entries = [AuditEntryOut.from_object(row, detail=json.loads(row.detail)) for row in rows[:limit]]
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


ACTOR = "loadwatch.actor"
"""Key of the ASGI scope under which the principal of a request is kept."""
SUBJECT = "loadwatch.subject"
"""Key of the ASGI scope under which a handler puts the subject when the path holds only an id."""


class AuditMiddleware:
    """Holds the head of the answer back until the entry is on disk.

    Plain ASGI, inside everything that changes the answer's bytes. Nothing of the request's body is read.
    """

    def __init__(self, app: ASGIApp, *, log_of: Callable[[Any], AuditLog]) -> None:
        self.app = app
        self._log_of = log_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in SAFE_METHODS:
            await self.app(scope, receive, send)
            return
        held: Message | None = None

        async def send_audited(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start":
                held = message
                return
            if held is not None:
                await self._write(scope, held["status"], message.get("body", b""))
                head, held = held, None
                await send(head)
            await send(message)

        try:
            await self.app(scope, receive, send_audited)
        except Exception:
            await self._write(scope, 500, b"")
            raise

    async def _write(self, scope: Scope, status: int, body: bytes) -> None:
        template = getattr(scope.get("route"), "path", "")
        action = ACTIONS.get(f"{scope['method']} {template}")
        if action is None:
            return
        client = scope.get("client")
        event = AuditEvent(
            action=action.name,
            actor=cast("Principal | None", scope.get(ACTOR)),
            subject=_subject(scope, action, status, body),
            outcome="ok" if status < 400 else str(scope.get(REFUSAL, ProblemError.code)),
            address=client[0] if client else "",
        )
        await to_thread.run_sync(self._log_of(scope["app"]).write, event)


def _subject(scope: Scope, action: Action, status: int, body: bytes) -> str:
    if SUBJECT in scope:
        return str(scope[SUBJECT])
    if action.made and status < 300:
        found = _value(body, action.made)
        if found:
            return found
    return "/".join(str(value) for value in scope.get("path_params", {}).values())


def _value(body: bytes, path: tuple[str, ...]) -> str:
    try:
        value: Any = json.loads(body)
    except ValueError:
        return ""
    for key in path:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return str(value) if isinstance(value, str | int) else ""
