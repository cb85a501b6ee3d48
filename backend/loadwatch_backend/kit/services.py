"""How an endpoint reaches what it calls: the application's service of a type, whatever the application is made of."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request

from loadwatch_backend.kit.errors import UnavailableError

S = TypeVar("S")


class NotReadyError(UnavailableError):
    """The server is starting or stopping."""

    code = "not-ready"
    title = "Not ready"


def find_service(app: Any, kind: type[S]) -> S:
    """The one of a type in `app.state.services`, or all of them.

    Raises:
        NotReadyError: nothing is open.
    """
    services: object | None = getattr(app.state, "services", None)
    if services is None:
        raise NotReadyError("The store is not open; ask again in a second.")
    return next(one for one in (services, *vars(services).values()) if isinstance(one, kind))


def service(kind: type[S]) -> Callable[[Request], Awaitable[S]]:
    """A dependency: the application's service of a type."""

    async def find(request: Request) -> S:  # Async: FastAPI would send anything else to a thread.
        return find_service(request.app, kind)

    return find
