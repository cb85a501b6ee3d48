"""Writes an entry for every request that changes something, before its answer leaves.

Plain ASGI, inside everything that changes the answer's bytes. Nothing of the request's body is read.
"""

import json
from typing import Any, cast

from anyio import to_thread
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loadwatch_backend.access.audit.actions import ACTIONS, Action
from loadwatch_backend.access.audit.audit import AuditEvent
from loadwatch_backend.access.principal import Principal
from loadwatch_backend.access.wiring import AccessServices
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.middleware import REFUSAL, SAFE_METHODS
from loadwatch_backend.core.services import find_service

ACTOR = "loadwatch.actor"
"""Where a request's scope keeps who is asking."""
SUBJECT = "loadwatch.subject"
"""Where a handler may keep what it was done to, when the path holds only an id."""


class AuditMiddleware:
    """Holds the head of the answer back until the entry is on disk."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and write down what came of it."""
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
                await _write(scope, held["status"], message.get("body", b""))
                head, held = held, None
                await send(head)
            await send(message)

        try:
            await self.app(scope, receive, send_audited)
        except Exception:
            await _write(scope, 500, b"")
            raise


async def _write(scope: Scope, status: int, body: bytes) -> None:
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
    await to_thread.run_sync(find_service(scope["app"], AccessServices).audit.write, event)


def _subject(scope: Scope, action: Action, status: int, body: bytes) -> str:
    if SUBJECT in scope:
        return str(scope[SUBJECT])
    if action.made and status < 300:
        found = _value(body, action.made)
        if found:
            return found
    return "/".join(str(value) for value in scope.get("path_params", {}).values())


def _value(body: bytes, path: tuple[str, ...]) -> str:
    """The text or number that the keys lead to in a JSON answer; empty when they lead nowhere."""
    try:
        value: Any = json.loads(body)
    except ValueError:
        return ""
    for key in path:
        value = cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None
    return str(value) if isinstance(value, str | int) else ""
