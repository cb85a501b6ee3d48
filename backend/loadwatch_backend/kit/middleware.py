"""What happens around every request: checks before it, headers after it, and its duration.

Plain ASGI: wrapping the response object instead would break streams and cost a task for each request.
"""

import secrets
import time
from collections.abc import Callable, Collection, Sequence
from ipaddress import IPv4Network, IPv6Network
from urllib.parse import urlsplit

import orjson
import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from loadwatch_backend.kit.addresses import client_address, is_allowed_host, is_within
from loadwatch_backend.kit.errors import ForbiddenError, PayloadTooLargeError, ProblemError
from loadwatch_backend.kit.schemas import PROBLEM_MEDIA_TYPE

logger = structlog.get_logger(__name__)

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

SECURITY_HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
API_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""For documents that no browser should ever render; pages bring their own policy."""

Observer = Callable[[Scope, int, float], None]
"""Told of every finished request: scope, status, seconds."""


class ForeignHostError(ForbiddenError):
    """The request calls the server by a name that is not one of its own."""

    code = "foreign-host"
    title = "Unknown host name"


class ForeignOriginError(ForbiddenError):
    """A page of another site tries to change something here."""

    code = "foreign-origin"
    title = "Request from another site"


class InternalError(ProblemError):
    """Our own mistake; the log has the rest under the same id."""

    code = "internal"


class BodyTooLargeError(PayloadTooLargeError):
    """The body is larger than the routes of /api take."""

    code = "body-too-large"


REFUSAL = "loadwatch.refusal"
"""Where a request's scope keeps the code of the problem that it was answered with."""


async def send_problem(error: ProblemError, scope: Scope, send: Send) -> None:
    """Answer with problem details."""
    scope[REFUSAL] = error.code
    body = orjson.dumps(error.problem(scope["path"]))
    headers = [(b"content-type", PROBLEM_MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


FROM_PROXY = "loadwatch.from_proxy"
"""Where a request's scope keeps whether a trusted proxy sent it."""


class ClientMiddleware:
    """Puts the browser's address and scheme into the scope, by what trusted proxies say and nobody else.

    `external` is the page's address: a browser that calls the server by its name speaks its scheme.
    """

    def __init__(self, app: ASGIApp, *, proxies: Sequence[IPv4Network | IPv6Network], external: str) -> None:
        self.app = app
        self._proxies = proxies
        address = urlsplit(external)
        self._secure_host = address.netloc.lower() if address.scheme == "https" else ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find out, then pass on."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            peer = scope["client"][0] if scope.get("client") else ""
            scope[FROM_PROXY] = is_within(peer, self._proxies)
            if scope[FROM_PROXY]:
                forwarded = ",".join(headers.getlist("x-forwarded-for"))
                scope["client"] = (client_address(peer, forwarded, self._proxies), 0)
                # The last one is that of the nearest proxy.
                if headers.get("x-forwarded-proto", "").rpartition(",")[2].strip().lower() == "https":
                    scope["scheme"] = "https"
            if self._secure_host and headers.get("host", "").lower() == self._secure_host:
                scope["scheme"] = "https"
        await self.app(scope, receive, send)


class GuardMiddleware:
    """Refuses requests that a foreign page made a browser send, by Host, Origin and Sec-Fetch-Site.

    `cookies` are names of session cookies: who brings one has to be a browser that says where the request comes from.
    """

    def __init__(
        self, app: ASGIApp, *, loopback_only: bool, allowed_hosts: Sequence[str], cookies: Collection[str] = ()
    ) -> None:
        self.app = app
        self._loopback_only = loopback_only
        self._allowed_hosts = allowed_hosts
        self._cookies = cookies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] == "http":
            try:
                self._check(scope, Headers(scope=scope))
            except ForbiddenError as error:
                await send_problem(error, scope, send)
                return
        await self.app(scope, receive, send)

    def _check(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if not is_allowed_host(host, loopback_only=self._loopback_only, allowed=self._allowed_hosts):
            raise ForeignHostError(
                f"This server does not go by the name {host!r}. If it should, add the name to LOADWATCH_ALLOWED_HOSTS."
            )
        if scope["method"] in SAFE_METHODS:
            return
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            raise ForeignOriginError(
                f"A page of {origin!r} may not change anything here. Behind a proxy, let it pass the Host header on."
            )
        if site is not None and site not in ("same-origin", "none"):
            raise ForeignOriginError("A page of another site may not change anything here.")
        if origin is None and site is None and self._brings_session(headers):
            raise ForeignOriginError(
                "A request with a session cookie has to say where it comes from, as browsers do (Origin). "
                "Programs send a token instead."
            )

    def _brings_session(self, headers: Headers) -> bool:
        names = {part.partition("=")[0].strip() for part in headers.get("cookie", "").split(";")}
        return not names.isdisjoint(self._cookies)


class BodyLimitMiddleware:
    """Bounds request bodies, announced or not, before parsing; paths that are `exempt` have bounds of their own."""

    def __init__(self, app: ASGIApp, *, most: int, exempt: Collection[str]) -> None:
        self.app = app
        self._most = most
        self._exempt = exempt

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is small enough."""
        if scope["type"] != "http" or scope["path"] in self._exempt:
            await self.app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        if not announced.isdigit() or int(announced) > self._most:
            await send_problem(self._error(), scope, send)
            return
        size = 0
        started = False

        async def receive_counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            # What is beyond the limit is cut: the parser fails, and its answer is replaced below.
            return {"type": "http.disconnect"} if size > self._most else message

        async def send_unless_too_large(message: Message) -> None:
            nonlocal started
            if size <= self._most:
                await send(message)
            elif not started:
                started = True
                await send_problem(self._error(), scope, send)

        await self.app(scope, receive_counted, send_unless_too_large)

    def _error(self) -> BodyTooLargeError:
        return BodyTooLargeError(
            f"The body is larger than {self._most} bytes; LOADWATCH_REQUEST_BODY_BYTES raises the limit."
        )


class SecurityHeadersMiddleware:
    """Adds the headers that keep browsers from guessing, framing and leaking."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on and add to the answer."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("content-security-policy", API_POLICY)
                if scope["path"].startswith(("/api", "/prometheus")):
                    headers.setdefault("cache-control", "no-store")
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class MistakeMiddleware:
    """Answers what nobody foresaw with a problem and an id under which the log has the rest.

    Inside the other middleware, so that this answer too is measured and has its headers; the framework's own place for
    this is outside all of it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; an answer that has begun can only be broken off."""
        started = False

        async def send_and_note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except Exception as error:
            if started or scope["type"] != "http":
                raise
            incident = secrets.token_hex(6)
            logger.error("unexpected error", incident=incident, path=scope["path"], exc_info=error)
            detail = f"The server made a mistake; its log has the rest under {incident}."
            await send_problem(InternalError(detail, incident=incident), scope, send)


class ObserveMiddleware:
    """Measures requests until the last byte of their answer."""

    def __init__(self, app: ASGIApp, *, observer: Observer) -> None:
        self.app = app
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on and measure."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 500
        start = time.perf_counter()

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            self._observer(scope, status, time.perf_counter() - start)
