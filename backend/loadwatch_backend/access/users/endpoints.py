"""Users, tokens, the first administrator, and the audit log over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from loadwatch_backend.access.audit import ACTOR
from loadwatch_backend.access.credentials import CookieKind
from loadwatch_backend.access.endpoints import Actor, Services, cookie_of, note_subject, set_cookies, visit_of
from loadwatch_backend.access.schemas import (
    AuditList,
    PasswordChange,
    PasswordLogin,
    SessionOut,
    SetupIn,
    TokenCreated,
    TokenIn,
    TokenList,
    UserIn,
    UserList,
    UserOut,
    UserPatch,
    UserSessionList,
)
from loadwatch_backend.access.sign_in.oidc_sign_in import OidcOffError, OidcSignIn, Redirect, Return
from loadwatch_backend.access.sign_in.sign_in import Browser
from loadwatch_backend.core.schemas import LAST_MILLISECOND, PROBLEM_RESPONSES, Milliseconds
from loadwatch_backend.core.services import Lane

setup_router = APIRouter(prefix="/api/setup", tags=["session"], responses=PROBLEM_RESPONSES)
own_router = APIRouter(prefix="/api/session", tags=["session"], responses=PROBLEM_RESPONSES)
users_router = APIRouter(prefix="/api/users", tags=["users"], responses=PROBLEM_RESPONSES)
tokens_router = APIRouter(prefix="/api/tokens", tags=["tokens"], responses=PROBLEM_RESPONSES)
audit_router = APIRouter(prefix="/api/audit", tags=["audit"], responses=PROBLEM_RESPONSES)

SIGN_IN = Lane("the provider", threads=4, waiting=100, seconds=30.0)
UserId = Annotated[int, Path(ge=1, le=2**53)]
ShortId = Annotated[str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


def _oidc(services: Services) -> OidcSignIn:
    if services.oidc is None:
        raise OidcOffError("No OpenID Connect provider is configured: LOADWATCH_OIDC_ISSUER.")
    return services.oidc


def browser_of(request: Request) -> Browser:
    return Browser(
        visit=visit_of(request),
        session=cookie_of(request, CookieKind.SESSION),
        device=cookie_of(request, CookieKind.DEVICE),
    )


Oidc = Annotated[OidcSignIn, Depends(_oidc)]
Here = Annotated[Browser, Depends(browser_of)]


@setup_router.post("", status_code=201, summary="Make the first administrator")
def create_first_user(
    services: Services, body: SetupIn, browser: Here, request: Request, response: Response
) -> SessionOut:
    """With the secret of the one-time link that the server printed at its first start. It works once."""
    signed_in = services.sign_in.setup(body, browser)
    request.scope[ACTOR] = signed_in.principal
    set_cookies(request, response, signed_in.cookies)
    return signed_in.session


@own_router.post("/password", summary="Sign in with a password")
def sign_in_with_password(
    services: Services, body: PasswordLogin, browser: Here, request: Request, response: Response
) -> SessionOut:
    """Exchange name and password for a cookie. Wrong ones cost time, and after a few the name is locked for a while."""
    signed_in = services.sign_in.sign_in(body, browser)
    set_cookies(request, response, signed_in.cookies)
    return signed_in.session


@own_router.put("/password", summary="Change one's own password")
def change_own_password(services: Services, body: PasswordChange, actor: Actor, browser: Here) -> SessionOut:
    """Other sessions of the user end."""
    return services.sign_in.change_password(body, actor, browser.visit.address)


@own_router.get("/sessions", summary="List one's own sessions")
def list_own_sessions(services: Services, actor: Actor) -> UserSessionList:
    """Browsers in which one is signed in."""
    return services.sign_in.own_sessions(actor)


@own_router.delete("/sessions/{session_id}", status_code=204, summary="End one of one's own sessions")
def delete_own_session(services: Services, session_id: ShortId, actor: Actor) -> None:
    """The browser is signed out with its next request."""
    services.sign_in.end_own_session(actor, session_id)


@own_router.get("/oidc", summary="Sign in at the OpenID Connect provider", response_class=RedirectResponse)
@SIGN_IN.endpoint
def start_oidc(
    service: Oidc,
    request: Request,
    browser: Here,
    next: Annotated[str, Query(max_length=2_000, description="Path of the page to come back to.")] = "/",
) -> Response:
    """Send the browser to the provider."""
    return _redirect(request, service.start(next, browser.visit.address))


@own_router.get("/oidc/callback", summary="Come back from the provider", response_class=RedirectResponse)
@SIGN_IN.endpoint
def finish_oidc(
    service: Oidc,
    request: Request,
    browser: Here,
    state: Annotated[str, Query(max_length=500)] = "",
    code: Annotated[str, Query(max_length=4_000)] = "",
    error: Annotated[str, Query(max_length=500)] = "",
) -> Response:
    """The provider sends the browser here; the answer leads to the page: signed in, or with `sign_in_error`."""
    back = Return(state=state, code=code, error=error, cookie=cookie_of(request, CookieKind.OIDC))
    return _redirect(request, service.finish(back, browser))


def _redirect(request: Request, to: Redirect) -> Response:
    response = RedirectResponse(to.location, status_code=303)
    set_cookies(request, response, to.cookies)
    return response


@users_router.get("", summary="List users")
def list_users(services: Services) -> UserList:
    """All users by name."""
    return services.users.list()


@users_router.post("", status_code=201, summary="Add a user")
def create_user(services: Services, body: UserIn) -> UserOut:
    """A user who signs in with a password."""
    return services.users.create(body)


@users_router.patch("/{user_id}", summary="Change a user")
def update_user(services: Services, user_id: UserId, body: UserPatch) -> UserOut:
    """Change the fields given. The last administrator can be neither disabled nor demoted."""
    return services.users.update(user_id, body)


@users_router.delete("/{user_id}", status_code=204, summary="Delete a user")
def delete_user(services: Services, user_id: UserId, request: Request) -> None:
    """Delete one and end the sessions; what they did stays in the audit log."""
    note_subject(request, services.users.delete(user_id))


@users_router.get("/{user_id}/sessions", summary="List a user's sessions")
def list_user_sessions(services: Services, user_id: UserId, actor: Actor) -> UserSessionList:
    """Browsers in which the user is signed in."""
    return services.users.sessions(user_id, actor)


@users_router.delete("/{user_id}/sessions/{session_id}", status_code=204, summary="End a user's session")
def delete_user_session(services: Services, user_id: UserId, session_id: ShortId) -> None:
    """The browser is signed out with its next request."""
    services.users.end_session(user_id, session_id)


@tokens_router.get("", summary="List tokens")
def list_tokens(services: Services) -> TokenList:
    """Names, scopes and last use; never the tokens."""
    return services.tokens.list()


@tokens_router.post("", status_code=201, summary="Make a token")
def create_token(services: Services, body: TokenIn, actor: Actor) -> TokenCreated:
    """The answer is the only place where the token is shown."""
    return services.tokens.create(body, actor.name)


@tokens_router.delete("/{token_id}", status_code=204, summary="Revoke a token")
def delete_token(services: Services, token_id: ShortId, request: Request) -> None:
    """It is refused from the next request on."""
    note_subject(request, services.tokens.revoke(token_id))


@audit_router.get("", summary="Read the audit log")
def list_audit(
    services: Services,
    start_ms: Annotated[Milliseconds, Query()] = 0,
    end_ms: Annotated[Milliseconds, Query()] = LAST_MILLISECOND,
    actor: Annotated[str, Query(max_length=100)] = "",
    action: Annotated[str, Query(max_length=100, description="The whole or the head: `silence`.")] = "",
    before: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> AuditList:
    """Who changed what, newest first; refused attempts and logins among them."""
    return services.audit.list(start_ms, end_ms, actor, action, before, limit)
