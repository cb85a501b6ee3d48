"""What endpoints share: the application's service of a type, whatever that is made of, and files as bodies."""

import asyncio
import functools
import inspect
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from loadwatch_backend.core.errors import UnavailableError
from loadwatch_backend.core.uploads import UploadBrokenError

S = TypeVar("S")
T = TypeVar("T")


class NotReadyError(UnavailableError, code="not-ready", title="Not ready"):
    """The server is starting or stopping."""


class LaneBusyError(UnavailableError, code="busy", title="Busy"):
    """Too many of the same kind wait already, or this one has waited for too long."""


class Lane:
    """Threads of their own for endpoints that compute long or wait for a lock or for others.

    The threads that all plain endpoints share are 40: so many that wait would stop the whole API. Here the queue is
    bounded, nobody waits for longer than `seconds`, and what nobody waits for any more is not begun.
    """

    def __init__(self, name: str, *, threads: int, waiting: int, seconds: float) -> None:
        self.name = name
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._places = threading.Semaphore(threads + waiting)

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """Do the work in its turn, for as long as whoever asks is there.

        Raises:
            LaneBusyError: there are too many, or it takes too long.
        """
        if not self._places.acquire(blocking=False):
            raise LaneBusyError(f"Too many requests wait for {self.name} already; ask again in some seconds.")
        future = self._threads.submit(copy_context().run, work)
        future.add_done_callback(lambda _: self._places.release())
        result, left = asyncio.wrap_future(future), asyncio.ensure_future(gone(request.receive))
        try:
            await asyncio.wait((result, left), timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            if result.done():
                return result.result()
            raise LaneBusyError(f"This has waited {self._seconds:g} s for {self.name}; ask again in some seconds.")
        finally:
            left.cancel()
            future.cancel()  # Now: what `result` passes on comes a turn of the loop later, and may find it begun.
            result.cancel()

    def endpoint(self, function: Callable[..., T]) -> Callable[..., Coroutine[Any, Any, T]]:
        """Wrap a synchronous endpoint so that it runs in this lane."""
        signature = inspect.signature(function)
        named = next((one.name for one in signature.parameters.values() if one.annotation is Request), None)
        name = named or "lane_request"

        @functools.wraps(function)
        async def run(**values: Any) -> T:
            request = values[name] if named else values.pop(name)
            return await self.run(request, functools.partial(function, **values))

        parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in signature.parameters.values()]
        if named is None:
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=Request))
        run.__dict__["__signature__"] = signature.replace(parameters=parameters)
        return run


REPORTS = Lane("reports", threads=2, waiting=100, seconds=60.0)
"""Whatever reads much of the store or of results for one answer."""


async def gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


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
    size = request.headers.get("content-length", "")
    return int(size) if size.isdigit() else None
