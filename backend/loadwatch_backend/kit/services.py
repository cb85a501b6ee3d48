"""What endpoints share: the application's service of a type, whatever that is made of, and files as bodies."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from loadwatch_backend.kit.errors import UnavailableError
from loadwatch_backend.kit.uploads import UploadBrokenError

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


async def request_body(request: Request) -> AsyncGenerator[bytes]:
    """The body in pieces; a sender that goes away is an error of its own, not of ours."""
    try:
        async for piece in request.stream():
            yield piece
    except ClientDisconnect as error:
        raise UploadBrokenError("The connection was closed before the end of the file; send it again.") from error


def announced_size(request: Request) -> int | None:
    """Size of the body, where the sender says so."""
    size = request.headers.get("content-length", "")
    return int(size) if size.isdigit() else None
