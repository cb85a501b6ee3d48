"""Answers that are evaluated in their turn and sent while they are written."""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from loadwatch_backend.core.cancellation import CancelledError
from loadwatch_backend.core.middleware import ASKER
from loadwatch_backend.core.services import gone
from loadwatch_backend.series.promql.admission import QueryQueue, Ticket

SEND_SECONDS = 30.0
"""How long a client may take for one piece of an answer; its memory is kept so long."""


async def answer(
    request: Request,
    queue: QueryQueue,
    write: Callable[[Ticket], Iterator[bytes]],
    media_type: str = "application/json",
) -> Response:
    """The answer of whoever asks, when their turn has come.

    `write` runs in a thread of the queue and gives the answer piece by piece, the first of them there; errors that it
    raises before are the answer.
    """

    def begin(ticket: Ticket) -> tuple[bytes, Iterator[bytes], bytes]:
        pieces = iter(write(ticket))
        first, second = next(pieces, b""), next(pieces, b"")
        ticket.settle()
        return first, pieces, second

    # Of whoever signed in or brought a token; of the address where nobody has to.
    user = str(request.scope.get(ASKER) or (request.client.host if request.client else ""))
    (first, rest, second), ticket = await queue.run(user, partial(gone, request.receive), begin)
    if not second:
        queue.close(ticket)
        return Response(first, media_type=media_type)
    return _StreamedAnswer(queue, ticket, [first, second], rest, media_type)


class _StreamedAnswer(Response):
    """Holds the memory of its result until it is sent."""

    def __init__(
        self, queue: QueryQueue, ticket: Ticket, first: list[bytes], rest: Iterator[bytes], media_type: str
    ) -> None:
        # Without a body there is no Content-Length.
        super().__init__(media_type=media_type)
        del self.headers["content-length"]
        self._queue = queue
        self._ticket = ticket
        self._first = first
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See Starlette. Returning before the end, when the client is gone or slow, aborts the response."""
        del scope
        watch = asyncio.ensure_future(gone(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            while not watch.done():
                piece = self._first.pop(0) if self._first else await self._queue.next_piece(self._rest, self._ticket)
                async with asyncio.timeout(SEND_SECONDS):
                    await send({"type": "http.response.body", "body": piece, "more_body": bool(piece)})
                if not piece:
                    return
        except (TimeoutError, CancelledError):
            return
        finally:
            watch.cancel()
            self._queue.close(self._ticket)
