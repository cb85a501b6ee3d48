"""Sessions for browsers, and the gates that all other routers stand behind."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Request, Response

from loadwatch_backend.access.audit import ACTOR, SUBJECT
from loadwatch_backend.access.credentials import (
    Cookie,
    CookieKind,
    Credentials,
    ProxyClaim,
    Visit,
    bearer_of,
    cookie_name,
)
from loadwatch_backend.access.principal import Access, Principal, PrincipalKind, Scope
from loadwatch_backend.access.schemas import SessionIn, SessionOut
from loadwatch_backend.access.wiring import AccessServices
from loadwatch_backend.core.errors import ForbiddenError, UnauthorizedError
from loadwatch_backend.core.middleware import ASKER, FROM_PROXY
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import service

router = APIRouter(prefix="/api/session", tags=["session"], responses=PROBLEM_RESPONSES)

# The gates are coroutines although most of them wait for nothing: FastAPI sends plain functions to a thread, which
# would cost each request three hops. Only those who bring what the database must know cost one hop and one query.


Services = Annotated[AccessServices, Depends(service(AccessServices))]


async def identify(request: Request, services: Services) -> Principal | None:
    credentials, gate = credentials_of(request, services), services.gate
    principal = gate.identify_at_once(credentials)
    if principal is None and gate.needs_lookup(credentials):
        principal = await to_thread.run_sync(gate.identify_stored, credentials, limiter=services.gate_threads)
    request.scope[ACTOR] = principal
    if principal is not None and principal.kind is not PrincipalKind.LOCAL:
        request.scope[ASKER] = f"{principal.kind}:{principal.name}"
    return principal


Asker = Annotated[Principal | None, Depends(identify)]


def require(scope: Scope) -> Callable[[Principal | None], Awaitable[Principal]]:
    async def gate(principal: Asker) -> Principal:
        if principal is None:
            raise UnauthorizedError(
                "This needs a token: send `Authorization: Bearer <token>`, or sign in on the page. "
                "`loadwatch token create` makes one."
            )
        if not principal.may(scope):
            raise ForbiddenError(
                f"{principal.name!r} may not do this: it needs the scope {scope.value!r}, and there is "
                f"{', '.join(sorted(principal.scopes)) or 'none'}. Ask an administrator, or use another token."
            )
        return principal

    return gate


async def actor_of(principal: Asker) -> Principal:
    if principal is None:
        raise UnauthorizedError("This needs a token or a session.")
    return principal


Actor = Annotated[Principal, Depends(actor_of)]


@router.get("", summary="Read who is signed in")
def read_session(services: Services, principal: Asker) -> SessionOut:
    """Whether the server asks for a login, and who is signed in."""
    return services.gate.session(principal)


@router.post("", summary="Sign in with a token")
def create_session(services: Services, body: SessionIn, request: Request, response: Response) -> SessionOut:
    """Exchange a token with the scope `read` for a cookie that scripts cannot read."""
    signed_in = services.gate.open_session(body.token, visit_of(request), cookie_of(request, CookieKind.SESSION))
    set_cookies(request, response, signed_in.cookies)
    return signed_in.session


@router.delete("", status_code=204, summary="Sign out")
def delete_session(services: Services, principal: Asker, request: Request, response: Response) -> None:
    """End the session and forget the cookie; also fine without one."""
    del principal  # asked for so that the audit log knows who it was
    services.gate.end_session(cookie_of(request, CookieKind.SESSION))
    set_cookies(request, response, [Cookie(kind=CookieKind.SESSION, value=None)])


# What lasts longer than a request ---------------------------------------------------------------------------------


LOOK_SECONDS = 1.0
"""How soon an ended session is noticed: whatever ends it (another server, the command line) tells only the database."""


async def leave_of(request: Request, services: Services, principal: Asker) -> "Callable[[], Coroutine[Any, Any, None]]":
    """A coroutine function that returns once the principal is signed out or has other rights."""
    if principal is None:
        raise UnauthorizedError("This needs a token or a session.")
    credentials, gate = credentials_of(request, services), services.gate

    async def leave() -> None:
        while await to_thread.run_sync(gate.holds, credentials, principal, limiter=services.watch_threads):
            await asyncio.sleep(LOOK_SECONDS)

    async def never() -> None:
        await asyncio.Event().wait()

    return never if gate.access is Access.OPEN else leave


Leave = Annotated[Callable[[], Coroutine[Any, Any, None]], Depends(leave_of)]

# Requests as plain data -----------------------------------------------------------------------------------------------


def is_secure(request: Request) -> bool:
    """Whether the browser speaks https, to us or to a trusted proxy."""
    # Not `request.url`, which is put together from all headers first: this is asked at each request.
    return request.scope.get("scheme") == "https"


def visit_of(request: Request) -> Visit:
    return Visit(
        address=request.client.host if request.client else "",
        browser=request.headers.get("user-agent", ""),
        secure=is_secure(request),
    )


def cookie_of(request: Request, kind: CookieKind) -> str | None:
    """A cookie's value. Over https only the prefixed one counts, which no other site of the domain can set."""
    if "cookie" not in request.headers:
        return None
    return request.cookies.get(cookie_name(kind, secure=is_secure(request)))


def set_cookies(request: Request, response: Response, cookies: "tuple[Cookie, ...] | list[Cookie]") -> None:
    secure = is_secure(request)
    for cookie in cookies:
        response.set_cookie(
            cookie_name(cookie.kind, secure=secure),
            cookie.value or "",
            max_age=cookie.seconds if cookie.value is not None else 0,
            path="/",
            httponly=True,
            # The provider sends the browser back from another site; what it brings opens nothing by itself.
            samesite="lax" if cookie.kind is CookieKind.OIDC else "strict",
            secure=secure,
        )


def credentials_of(request: Request, services: AccessServices) -> Credentials:
    return Credentials(
        authorization=request.headers.get("authorization"),
        session=cookie_of(request, CookieKind.SESSION),
        claim=_claim_of(request, services),
        address=request.client.host if request.client else "",
    )


def _claim_of(request: Request, services: AccessServices) -> ProxyClaim | None:
    """Whom a trusted proxy has signed in. Two headers of one name are one that the proxy let through: not believed."""
    names = services.headers
    if names is None:
        return None
    users = request.headers.getlist(names.proxy_user_header)
    if not users or bearer_of(request.headers.get("authorization")):
        return None
    every = (names.proxy_name_header, names.proxy_role_header, names.proxy_groups_header)
    twice = any(len(request.headers.getlist(name)) > 1 for name in (names.proxy_user_header, *every) if name)
    if twice or not request.scope.get(FROM_PROXY):
        services.gate.note_ignored_header(request.client.host if request.client else "")
        return None
    full_name, role, groups = (request.headers.get(name, "") if name else "" for name in every)
    return ProxyClaim(user=users[0].strip(), full_name=full_name, role=role, groups=groups)


def note_subject(request: Request, subject: str) -> None:
    request.scope[SUBJECT] = subject
