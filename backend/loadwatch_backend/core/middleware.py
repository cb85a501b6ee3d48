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

from loadwatch_backend.core.addresses import client_address, is_allowed_host, is_within
from loadwatch_backend.core.errors import ForbiddenError, PayloadTooLargeError, ProblemError
from loadwatch_backend.core.paths import HEALTH_PATHS, opens_by_link
from loadwatch_backend.core.problems import error_document

logger = structlog.get_logger(__name__)

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
OWN_SITES = ("same-origin", "none")
"""What `Sec-Fetch-Site` is for the page's own requests, and for what a person types or has bookmarked."""

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

ASKER = "loadwatch.asker"
"""Where a request's scope keeps a text for who is asking, once that is known; requests of one share turns."""

Observer = Callable[[Scope, int, float], None]
"""Told of every finished request: scope, status, seconds."""


class ForeignHostError(ForbiddenError, code="foreign-host", title="Unknown host name"):
    """The request calls the server by a name that is not one of its own."""


class ForeignOriginError(ForbiddenError, code="foreign-origin", title="Request from another site"):
    """A page of another site tries to change something here, or to have work done."""


class InternalError(ProblemError, code="internal"):
    """Our own mistake; the log has the rest under the same id."""


class BodyTooLargeError(PayloadTooLargeError, code="body-too-large"):
    """The body is larger than the routes of /api take."""


REFUSAL = "loadwatch.refusal"
"""Where a request's scope keeps the code of the problem that it was answered with."""


async def send_problem(error: ProblemError, scope: Scope, send: Send) -> None:
    scope[REFUSAL] = error.code
    document, media_type = error_document(error, scope["path"])
    body = orjson.dumps(document)
    headers = [(b"content-type", media_type.encode()), (b"content-length", str(len(body)).encode())]
    headers += [(name.lower().encode(), value.encode()) for name, value in error.headers().items()]
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


PASSED_ON = ("x-forwarded-for", "via", "forwarded")
"""Headers that only proxies send."""


class GuardMiddleware:
    """Refuses requests that a foreign page made a browser send, by Host, Sec-Fetch-Site, Origin and Referer.

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
        if scope["type"] == "http":
            try:
                self._check(scope, Headers(scope=scope))
            except ForbiddenError as error:
                await send_problem(error, scope, send)
                return
        await self.app(scope, receive, send)

    def _check(self, scope: Scope, headers: Headers) -> None:
        if scope["method"] in SAFE_METHODS and scope["path"] in HEALTH_PATHS:
            return
        passed = next((name for name in PASSED_ON if name in headers), None)
        if self._loopback_only and passed is not None and not scope.get(FROM_PROXY):
            raise ForeignHostError(
                f"A proxy passed this request on ({passed}), and without login only this machine is served: everybody"
                " would be administrator. Set LOADWATCH_ACCESS=users."
            )
        host = headers.get("host", "")
        if not is_allowed_host(host, loopback_only=self._loopback_only, allowed=self._allowed_hosts):
            raise ForeignHostError(
                f"This server does not go by the name {host!r}. If it should, add the name to LOADWATCH_ALLOWED_HOSTS."
            )
        if scope["method"] in SAFE_METHODS:
            _check_reading(scope, headers, host)
        else:
            self._check_writing(headers, host)

    def _check_writing(self, headers: Headers, host: str) -> None:
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and _netloc(origin) != host.lower():
            raise ForeignOriginError(
                f"A page of {origin!r} may not change anything here. Behind a proxy, let it pass the Host header on."
            )
        if site is not None and site not in OWN_SITES:
            raise ForeignOriginError("A page of another site may not change anything here.")
        if origin is None and site is None and self._brings_session(headers):
            raise ForeignOriginError(
                "A request with a session cookie has to say where it comes from, as browsers do (Origin). "
                "Programs send a token instead."
            )

    def _brings_session(self, headers: Headers) -> bool:
        names = {part.partition("=")[0].strip() for part in headers.get("cookie", "").split(";")}
        return not names.isdisjoint(self._cookies)


def _check_reading(scope: Scope, headers: Headers, host: str) -> None:
    """Reading takes work too: a page of another site may lead people to a page by a link, and no more."""
    site = headers.get("sec-fetch-site")
    # Browsers leave Sec-Fetch-* out over plain http to another machine, and old ones always do.
    sender = None if site else headers.get("origin") or headers.get("referer")
    if site in OWN_SITES or (site is None and (sender is None or _netloc(sender) == host.lower())):
        return
    mode, destination = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    is_link = scope["method"] == "GET" and (site is None or (mode == "navigate" and destination == "document"))
    if not is_link or not opens_by_link(scope["path"]):
        raise ForeignOriginError(
            "A page of another site may lead to pages here by a link, and have nothing else done. "
            "Behind a proxy, let it pass the Host header on."
        )


def _netloc(address: str) -> str:
    """Host and port of an origin or a page, as a Host header has them; an opaque origin gives the empty text."""
    try:
        return urlsplit(address).netloc.lower()
    except ValueError:  # brackets that hold no address
        return ""


class BodyLimitMiddleware:
    """Bounds request bodies, announced or not, before parsing; paths that are `exempt` have bounds of their own."""

    def __init__(self, app: ASGIApp, *, most: int, exempt: Callable[[str], object]) -> None:
        self.app = app
        self._most = most
        self._exempt = exempt

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._exempt(scope["path"]):
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
        return BodyTooLargeError(f"The body is larger than {self._most} bytes; send it in parts.")


class SecurityHeadersMiddleware:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("content-security-policy", API_POLICY)
                if scope["path"].startswith(("/api", "/prometheus", "/alertmanager")):
                    headers.setdefault("cache-control", "no-store")
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class MistakeMiddleware:
    """Answers what nobody foresaw with a problem and an id under which the log has the rest.

    What `known` has an answer for is no mistake: an outage of the database or the disk.

    Inside the other middleware, so that this answer too is measured and has its headers; the framework's own place for
    this is outside all of it.
    """

    def __init__(self, app: ASGIApp, *, known: Callable[[Exception], ProblemError | None]) -> None:
        self.app = app
        self._known = known

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
            if (problem := self._known(error)) is not None:
                logger.warning("a request met an outage", code=problem.code, path=scope["path"], reason=problem.detail)
                await send_problem(problem, scope, send)
                return
            incident = secrets.token_hex(6)
            logger.error("unexpected error", incident=incident, path=scope["path"], exc_info=error)
            detail = f"The server made a mistake; its log has the rest under {incident}."
            await send_problem(InternalError(detail, incident=incident), scope, send)


class _AnsweredError(Exception):
    """The answer to a HEAD is complete; ends what would go on to make its body."""


class HeadMiddleware:
    """Answers HEAD as GET is answered, without the body; a stream ends with its first piece."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        asked = {**scope, "method": "GET"}
        begun = False

        async def send_head(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                await send(message)
                await send({"type": "http.response.body", "body": b""})
            elif begun:
                raise _AnsweredError

        try:
            await self.app(asked, receive, send_head)
        except* _AnsweredError:
            pass
        finally:
            # What was found out on the way (route, refusal, actor) is for those outside.
            scope.update({**asked, "method": "HEAD"})


class ObserveMiddleware:
    """Measures requests until the last byte of their answer."""

    def __init__(self, app: ASGIApp, *, observer: Observer) -> None:
        self.app = app
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
