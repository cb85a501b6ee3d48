"""Sessions for browsers, and the gates that all other routers stand behind."""

from collections.abc import Awaitable, Callable
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Request, Response

from loadwatch_backend.access.principal import Principal, Scope
from loadwatch_backend.access.schemas import SessionIn, SessionOut
from loadwatch_backend.access.service import SESSION_COOKIE, SESSION_SECONDS, AccessService, Credentials
from loadwatch_backend.kit.errors import ForbiddenError, UnauthorizedError
from loadwatch_backend.kit.schemas import PROBLEM_RESPONSES

router = APIRouter(prefix="/api/session", tags=["session"], responses=PROBLEM_RESPONSES)


# The gates are coroutines although they wait for nothing: FastAPI sends plain functions to a thread, which would cost
# each request three hops. All they read is one small file, and that only when it has changed.


async def access_service(request: Request) -> AccessService:
    """The application's gatekeeper."""
    return cast(AccessService, request.app.state.access)


Service = Annotated[AccessService, Depends(access_service)]


async def identify(request: Request, service: Service) -> Principal | None:
    """Who is asking; None for a stranger."""
    credentials = Credentials(
        authorization=request.headers.get("authorization"), session=request.cookies.get(SESSION_COOKIE)
    )
    return service.identify(credentials)


Asker = Annotated[Principal | None, Depends(identify)]


def require(scope: Scope) -> Callable[[Principal | None], Awaitable[Principal]]:
    """The gate for routes that ask for a scope."""

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
    """Who is doing it, for routes behind a gate."""
    if principal is None:
        raise UnauthorizedError("This needs a token or a session.")
    return principal


Actor = Annotated[Principal, Depends(actor_of)]


@router.get("", summary="Read who is signed in")
def read_session(service: Service, principal: Asker) -> SessionOut:
    """Whether the server asks for a login, and who is signed in; never an error."""
    return service.session(principal)


@router.post("", summary="Sign in with a token")
def create_session(service: Service, body: SessionIn, request: Request, response: Response) -> SessionOut:
    """Exchange an administrator's token for a cookie that scripts cannot read."""
    principal, session = service.open_session(body.token)
    if session is not None:
        response.set_cookie(
            SESSION_COOKIE,
            session,
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
    return service.session(principal)


@router.delete("", status_code=204, summary="Sign out")
def delete_session(response: Response) -> None:
    """Forget the cookie; also fine without one."""
    response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict")
