"""Users, tokens, the first administrator, and the audit log over HTTP."""

from typing import Annotated, cast

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from loadwatch_backend.access.endpoints import Actor
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
from loadwatch_backend.access.users import UserService
from loadwatch_backend.kit.schemas import LAST_MILLISECOND, PROBLEM_RESPONSES, Milliseconds

setup_router = APIRouter(prefix="/api/setup", tags=["session"], responses=PROBLEM_RESPONSES)
own_router = APIRouter(prefix="/api/session", tags=["session"], responses=PROBLEM_RESPONSES)
users_router = APIRouter(prefix="/api/users", tags=["users"], responses=PROBLEM_RESPONSES)
tokens_router = APIRouter(prefix="/api/tokens", tags=["tokens"], responses=PROBLEM_RESPONSES)
audit_router = APIRouter(prefix="/api/audit", tags=["audit"], responses=PROBLEM_RESPONSES)

UserId = Annotated[int, Path(ge=1, le=2**53)]
ShortId = Annotated[str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]


def user_service(request: Request) -> UserService:
    """The application's users."""
    return cast(UserService, request.app.state.users)


Users = Annotated[UserService, Depends(user_service)]


@setup_router.post("", status_code=201, summary="Make the first administrator")
def create_first_user(service: Users, body: SetupIn) -> SessionOut:
    """With the secret of the one-time link that the server printed at its first start. It works once."""
    return service.setup(body)


@own_router.post("/password", summary="Sign in with a password")
def sign_in_with_password(service: Users, body: PasswordLogin, request: Request, response: Response) -> SessionOut:
    """Exchange name and password for a cookie. Wrong ones cost time, and after a few the name is locked for a while."""
    return service.sign_in(body, request, response)


@own_router.put("/password", summary="Change one's own password")
def change_own_password(service: Users, body: PasswordChange, actor: Actor, request: Request) -> SessionOut:
    """Other sessions of the user end."""
    return service.change_password(body, actor, request)


@own_router.get("/sessions", summary="List one's own sessions")
def list_own_sessions(service: Users, actor: Actor, request: Request) -> UserSessionList:
    """Browsers in which one is signed in."""
    return service.own_sessions(actor, request)


@own_router.delete("/sessions/{session_id}", status_code=204, summary="End one of one's own sessions")
def delete_own_session(service: Users, session_id: ShortId, actor: Actor) -> None:
    """The browser is signed out with its next request."""
    service.end_own_session(actor, session_id)


@own_router.get("/oidc", summary="Sign in at the OpenID Connect provider", response_class=RedirectResponse)
def start_oidc(service: Users, request: Request) -> Response:
    """Send the browser to the provider."""
    return service.start_oidc(request)


@own_router.get("/oidc/callback", summary="Come back from the provider", response_class=RedirectResponse)
def finish_oidc(service: Users, request: Request) -> Response:
    """The provider sends the browser here; the answer leads to the page, signed in."""
    return service.finish_oidc(request)


@users_router.get("", summary="List users")
def list_users(service: Users) -> UserList:
    """All users by name."""
    return service.list()


@users_router.post("", status_code=201, summary="Add a user")
def create_user(service: Users, body: UserIn) -> UserOut:
    """A user who signs in with a password."""
    return service.create(body)


@users_router.patch("/{user_id}", summary="Change a user")
def update_user(service: Users, user_id: UserId, body: UserPatch, actor: Actor) -> UserOut:
    """Change the fields given. The last administrator can be neither disabled nor demoted."""
    return service.update(user_id, body, actor)


@users_router.delete("/{user_id}", status_code=204, summary="Delete a user")
def delete_user(service: Users, user_id: UserId, actor: Actor) -> None:
    """Delete one and end the sessions; what they did stays in the audit log."""
    service.delete(user_id, actor)


@users_router.get("/{user_id}/sessions", summary="List a user's sessions")
def list_user_sessions(service: Users, user_id: UserId) -> UserSessionList:
    """Browsers in which the user is signed in."""
    return service.sessions(user_id)


@users_router.delete("/{user_id}/sessions/{session_id}", status_code=204, summary="End a user's session")
def delete_user_session(service: Users, user_id: UserId, session_id: ShortId) -> None:
    """The browser is signed out with its next request."""
    service.end_session(user_id, session_id)


@tokens_router.get("", summary="List tokens")
def list_tokens(service: Users) -> TokenList:
    """Names, scopes and last use; never the tokens."""
    return service.tokens()


@tokens_router.post("", status_code=201, summary="Make a token")
def create_token(service: Users, body: TokenIn, actor: Actor) -> TokenCreated:
    """The answer is the only place where the token is shown."""
    return service.create_token(body, actor)


@tokens_router.delete("/{token_id}", status_code=204, summary="Revoke a token")
def delete_token(service: Users, token_id: ShortId) -> None:
    """It is refused from the next request on."""
    service.delete_token(token_id)


@audit_router.get("", summary="Read the audit log")
def list_audit(
    service: Users,
    start_ms: Annotated[Milliseconds, Query()] = 0,
    end_ms: Annotated[Milliseconds, Query()] = LAST_MILLISECOND,
    actor: Annotated[str, Query(max_length=100)] = "",
    action: Annotated[str, Query(max_length=100, description="The whole or the head: `silence`.")] = "",
    before: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> AuditList:
    """Who changed what, newest first; refused attempts and logins among them."""
    return service.audit(start_ms, end_ms, actor, action, before, limit)
