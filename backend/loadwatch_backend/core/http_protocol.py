"""uvicorn's HTTP with bounds for what strangers can hold: bytes and time before a request is whole, and connections.

The parser has no limit of its own and gathers a header's value in memory until the line ends, if it ever does.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from email.utils import formatdate
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network

import structlog
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from loadwatch_backend.core.addresses import is_loopback, is_within

logger = structlog.get_logger(__name__)

HEAD_BYTES = 64 * 1024
"""Of the request line and all headers; browsers send two to eight kilobytes, single sign-on up to thirty."""
_ANSWER = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"connection: close\r\ncontent-length: %d\r\n\r\n%s"
)


_FULL = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
CHECK_SECONDS = 20.0
"""A head, and each `BODY_BYTES` of a body, have to come within one to two of these."""
BODY_BYTES = 1024
OWN_FILES = 200
"""Open files that are not connections of clients: databases, results, connections to others."""
MOST_CONNECTIONS = 20_000
SENDER_SECONDS = 600.0
NEAR = 0.8
WARN_SECONDS = 60.0


class Connections:
    """All connections of this process; `bound` says how many there may be. For the event loop.

    A tenth is kept for this machine and for addresses that have just sent samples. An address may have a quarter of
    all, unless it is this machine or a proxy. Where there are too many, a new one takes the place of the one that
    has waited longest for its head: browsers and senders send theirs at once.
    """

    def __init__(self) -> None:
        self.open = 0
        self.refused: Counter[str] = Counter()
        self.most = MOST_CONNECTIONS
        self._proxies: Sequence[IPv4Network | IPv6Network] = ()
        self._by_address: Counter[str] = Counter()
        self._heads: dict[asyncio.Transport, None] = {}
        """Those whose head is to come, the oldest first."""
        self._senders: dict[str, float] = {}
        self._warned_at = float("-inf")

    def bound(self, files: int, proxies: Sequence[IPv4Network | IPv6Network]) -> None:
        """Derive the limit of connections from the number of files that may be open."""
        self.most = min(max(files - OWN_FILES, files // 2), MOST_CONNECTIONS)
        self._proxies = proxies

    def note_sender(self, address: str) -> None:
        self._senders[address] = time.monotonic()
        if len(self._senders) > self.most:
            del self._senders[next(iter(self._senders))]

    def begin(self, address: str) -> bool:
        """Count a connection; whether it may stay. Call `end` for it in either case."""
        self.open += 1
        self._by_address[address] += 1
        now = time.monotonic()
        is_known = is_loopback(address) or now - self._senders.get(address, float("-inf")) < SENDER_SECONDS
        reason = ""
        is_single = not (is_loopback(address) or is_within(address, self._proxies))
        if is_single and self._by_address[address] > self.most // 4:
            reason = "address"
        elif self.open > self.most - (0 if is_known else self.most // 10) and not self._end_oldest_head():
            reason = "all"
        if (reason or self.open > NEAR * self.most) and now - self._warned_at > WARN_SECONDS:
            self._warned_at = now
            (busiest, its), *_ = self._by_address.most_common(1)
            logger.warning("many connections", open=self.open, most=self.most, busiest=busiest, of_busiest=its)
        if reason:
            self.refused[reason] += 1
        return not reason

    def await_head(self, transport: asyncio.Transport, *, comes: bool) -> None:
        self._heads.pop(transport, None)
        if comes:
            self._heads[transport] = None

    def _end_oldest_head(self) -> bool:
        oldest = next(iter(self._heads), None)
        if oldest is None:
            return False
        del self._heads[oldest]
        self.refused["head"] += 1
        oldest.abort()
        return True

    def end(self, address: str) -> None:
        self.open -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]


CONNECTIONS = Connections()


@lru_cache(maxsize=1)
def _date(second: int) -> bytes:
    return formatdate(second, usegmt=True).encode()


class BoundedHttpProtocol(HttpToolsProtocol):
    """Ends connections that send more than `HEAD_BYTES`, or nothing for a while, without a request coming further."""

    _unparsed = 0
    _came_further = False
    _answering = False
    _awaited = "head"
    """What of a request is to come: its head, its body, or nothing."""
    _body_bytes = 0
    _late = False
    _check_task: asyncio.TimerHandle | None = None
    _address: str | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] - as uvicorn's
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        if not CONNECTIONS.begin(self._address):
            transport.write(_FULL)
            transport.close()
            return
        CONNECTIONS.await_head(transport, comes=True)
        self._check_task = self.loop.call_later(CHECK_SECONDS, self._check)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._check_task is not None:
            self._check_task.cancel()
        if self._address is not None:
            CONNECTIONS.await_head(self.transport, comes=False)
            CONNECTIONS.end(self._address)
            self._address = None
        super().connection_lost(exc)

    def _check(self) -> None:
        """End it where what is awaited did not come since the last time; a body that we do not read is not late."""
        late = self._awaited == "head" or (
            self._awaited == "body" and self._body_bytes < BODY_BYTES and not self.flow.read_paused
        )
        if late and self._late:
            CONNECTIONS.refused[self._awaited] += 1
            self.transport.close()
            return
        self._late, self._body_bytes = late, 0
        self._check_task = self.loop.call_later(CHECK_SECONDS, self._check)

    def _await(self, what: str) -> None:
        self._awaited, self._late, self._body_bytes = what, False, 0
        CONNECTIONS.await_head(self.transport, comes=what == "head")

    def data_received(self, data: bytes) -> None:
        """See uvicorn, which renews the header Date each second, asked for or not."""
        self.server_state.default_headers = [(b"date", _date(int(time.time()))), *self.config.encoded_headers]
        if self._awaited == "" and not self._answering:
            self._await("head")
        self._came_further = False
        super().data_received(data)
        self._unparsed = 0 if self._came_further else self._unparsed + len(data)
        if self._unparsed > HEAD_BYTES and not self.transport.is_closing():
            text = b"The request line and headers have more than %d bytes.\n" % HEAD_BYTES
            if not self._answering:
                self.transport.write(_ANSWER % (len(text), text))
            self.transport.close()

    def on_headers_complete(self) -> None:
        self._came_further = self._answering = True
        self._await("body")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._came_further = True
        self._body_bytes += len(body)
        super().on_body(body)

    def on_response_complete(self) -> None:
        self._answering = False
        super().on_response_complete()

    def on_message_complete(self) -> None:
        self._came_further = True
        self._await("")
        super().on_message_complete()
