"""POST /prometheus/api/v1/write: remote write 1.0 and 2.0."""

import asyncio
from collections.abc import Callable
from typing import Annotated, NamedTuple

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse
from structlog import get_logger

from loadwatch_backend.access.audit import ACTOR
from loadwatch_backend.access.principal import Principal, PrincipalKind
from loadwatch_backend.core.errors import TooManyRequestsError, UnavailableError
from loadwatch_backend.core.http_protocol import CONNECTIONS
from loadwatch_backend.core.schemas import PROBLEM_MEDIA_TYPE
from loadwatch_backend.core.services import request_body, service
from loadwatch_backend.core.uploads import UploadBrokenError
from loadwatch_backend.series.ingest.decode import decode
from loadwatch_backend.series.ingest.decode_v2 import decode_v2
from loadwatch_backend.series.ingest.errors import SamplesRejectedError, UnsupportedWriteError, WriteTooLargeError
from loadwatch_backend.series.ingest.senders import Sender
from loadwatch_backend.series.ingest.service import IngestService, Push, Read
from loadwatch_backend.series.ingest.validate import Reason
from loadwatch_backend.series.store.errors import BUSY_SECONDS, StoreBusyError, StoreWriteError

router = APIRouter(tags=["ingest"])
logger = get_logger(__name__)

_RETRY_SECONDS = str(BUSY_SECONDS)
_DROPS_AT_429 = "Prometheus/"
"""The server and its agent mode; source: storage/remote/client.go, `retryOnRateLimit`."""
_TIME_HEADER = "X-Loadwatch-Time"
"""This server's clock in milliseconds since the epoch, by which our agent measures its clock's skew."""

_thread = CapacityLimiter(1)
"""Large bodies take turns: decoding holds the interpreter, so two at once are no faster and take twice the memory."""


class Version(NamedTuple):
    read: Read
    counted: bool

    def headers(self, push: Push) -> dict[str, str]:
        """What a sender compares with what it sent (only 2.0 does)."""
        if not self.counted:
            return {}
        written = {"Samples": push.samples, "Histograms": 0, "Exemplars": 0}
        return {f"X-Prometheus-Remote-Write-{kind}-Written": str(count) for kind, count in written.items()}


VERSIONS = {
    "prometheus.WriteRequest": Version(read=decode, counted=False),
    "io.prometheus.write.v2.Request": Version(read=decode_v2, counted=True),
}
"""By the name of the message in the content type; the first is meant where it names none."""


@router.post(
    "/prometheus/api/v1/write",
    status_code=204,
    summary="Take samples by Prometheus remote write 1.0 or 2.0",
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "A snappy block with a prometheus.WriteRequest, or with an io.prometheus.write.v2.Request"
            " if the content type says so (`;proto=io.prometheus.write.v2.Request`).",
            "content": {"application/x-protobuf": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def write(request: Request, service: Annotated[IngestService, Depends(service(IngestService))]) -> Response:
    """Store samples. 204 means that they are on disk; 400 names what was refused, everything else of it is on disk.

    For 2.0 both say how much that is: `X-Prometheus-Remote-Write-Samples-Written` and its like.
    """
    version = check_headers(request, service)
    try:
        with service.hold() as more:
            push = await _push(await read_body(request, service, more), service, version, sender_of(request))
        CONNECTIONS.note_sender(request.client.host if request.client else "")
        if push.stored is not None:
            await asyncio.wrap_future(push.stored)
    except (UnavailableError, StoreBusyError) as error:
        return come_again(error, request, service)
    try:
        push.raise_for_rejected()
    except SamplesRejectedError as error:
        error.written = version.headers(push)
        raise
    return Response(status_code=204, headers={_TIME_HEADER: str(service.clock()), **version.headers(push)})


def come_again(error: UnavailableError | StoreBusyError, request: Request, service: IngestService) -> Response:
    """Senders keep what they have and try again; without this header some of them wait for half a minute.

    Prometheus drops what is answered with 429 unless `retry_on_http_429` is set, and keeps what is answered with 503.
    """
    if isinstance(error, StoreWriteError):
        service.counts.refuse_request(Reason.NOT_WRITTEN)
    problem = error.problem(request.url.path)
    if error.status == TooManyRequestsError.status and request.headers.get("user-agent", "").startswith(_DROPS_AT_429):
        problem["status"] = UnavailableError.status
    return JSONResponse(problem, problem["status"], {"Retry-After": _RETRY_SECONDS}, PROBLEM_MEDIA_TYPE)


def sender_of(request: Request) -> Sender:
    """Whose limits hold: the token's, or those of the address where nobody has to bring one."""
    actor: Principal | None = request.scope.get(ACTOR)
    if actor is None or actor.kind is PrincipalKind.LOCAL:
        return Sender(request.client.host if request.client else "")
    return Sender(actor.name, actor.jobs)


async def _push(body: bytes, service: IngestService, version: Version, sender: Sender) -> Push:
    push = service.push_if_quick(body, version.read, sender)
    if push is None:
        push = await to_thread.run_sync(service.push, body, version.read, sender, limiter=_thread)
    return push.refusing_histograms() if version.counted else push


def check_headers(request: Request, service: IngestService) -> Version:
    """The version of remote write that a request has; refuses what is none, or is not packed with snappy.

    Raises:
        UnsupportedWriteError: it names what was sent and what to set.
    """
    content_type, *parameters = (part.strip() for part in request.headers.get("content-type", "").split(";"))
    proto = next((value for name, _, value in (p.partition("=") for p in parameters) if name == "proto"), "")
    if content_type.lower() != "application/x-protobuf":
        service.counts.refuse_request(Reason.CONTENT_TYPE)
        raise UnsupportedWriteError(
            f"the content type is {content_type[:100]!r}; remote write uses application/x-protobuf"
        )
    version = VERSIONS.get(proto.strip('"') or next(iter(VERSIONS)))
    if version is None:
        service.counts.refuse_request(Reason.CONTENT_TYPE)
        raise UnsupportedWriteError(
            f"the message is {proto[:100]}, and this server takes {' and '.join(VERSIONS)}; in Prometheus set"
            " `protobuf_message` of this remote_write entry to one of them"
        )
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding != "snappy":
        service.counts.refuse_request(Reason.ENCODING)
        raise UnsupportedWriteError(
            f"the content encoding is {encoding[:100]!r}; remote write uses snappy (in vmagent set"
            " -remoteWrite.forcePromProto)"
        )
    return version


async def read_body(request: Request, service: IngestService, more: Callable[[int], None]) -> bytes:
    """The body, as it is sent; `more` is told of each piece.

    Raises:
        WriteTooLargeError: it is larger than one may be.
    """
    most = service.limits.body_bytes
    chunks: list[bytes] = []
    size = 0
    try:
        async for chunk in request_body(request):
            size += len(chunk)
            more(len(chunk))
            if size > most:
                service.counts.refuse_request(Reason.TOO_LARGE)
                raise WriteTooLargeError(f"the body is larger than {most} bytes; send fewer samples per request")
            chunks.append(chunk)
    except UploadBrokenError:
        service.counts.refuse_request(Reason.BROKEN_OFF)
        logger.info("a sender closed the connection before the end of its request", sender=sender_of(request).name)
        raise
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
