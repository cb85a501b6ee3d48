"""POST /prometheus/api/v1/write: remote write 1.0."""

import asyncio
from collections.abc import Callable
from typing import Annotated

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse

from loadwatch_backend.ingest.errors import UnsupportedWriteError, WriteTooLargeError
from loadwatch_backend.ingest.service import IngestService, Push
from loadwatch_backend.ingest.validate import Reason
from loadwatch_backend.kit.errors import UnavailableError
from loadwatch_backend.kit.schemas import PROBLEM_MEDIA_TYPE
from loadwatch_backend.kit.services import service
from loadwatch_backend.store.errors import StoreWriteError

router = APIRouter(tags=["ingest"])

_RETRY_SECONDS = "2"
_TIME_HEADER = "X-Loadwatch-Time"
"""This server's clock in milliseconds since the epoch, by which our agent measures its clock's skew."""

_thread = CapacityLimiter(1)
"""Large bodies take turns: decoding holds the interpreter, so two at once are no faster and take twice the memory."""


@router.post(
    "/prometheus/api/v1/write",
    status_code=204,
    summary="Take samples by Prometheus remote write 1.0",
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "A snappy block with a prometheus.WriteRequest.",
            "content": {"application/x-protobuf": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def write(request: Request, service: Annotated[IngestService, Depends(service(IngestService))]) -> Response:
    """Store samples. 204 means that they are on disk; 400 names what was refused, everything else of it is on disk."""
    check_headers(request, service)
    try:
        with service.hold() as more:
            push = await _push(await _read(request, service, more), service)
        await _store(push, service)
    except UnavailableError as error:
        # Senders keep what they have and try again; without this header some of them wait for half a minute.
        problem = error.problem(request.url.path)
        return JSONResponse(problem, error.status, {"Retry-After": _RETRY_SECONDS}, PROBLEM_MEDIA_TYPE)
    return Response(status_code=204, headers={_TIME_HEADER: str(service.clock())})


async def _push(body: bytes, service: IngestService) -> Push:
    push = service.push_if_quick(body)
    return await to_thread.run_sync(service.push, body, limiter=_thread) if push is None else push


async def _store(push: Push, service: IngestService) -> None:
    if push.stored is not None:
        try:
            await asyncio.wrap_future(push.stored)
        except StoreWriteError:
            service.counts.refuse_request(Reason.NOT_WRITTEN)
            raise
    push.raise_for_rejected()


def check_headers(request: Request, service: IngestService) -> None:
    """Refuse what is not remote write 1.0 with snappy.

    Raises:
        UnsupportedWriteError: it names what was sent and what to set.
    """
    content_type, *parameters = (part.strip() for part in request.headers.get("content-type", "").split(";"))
    proto = next((value for name, _, value in (p.partition("=") for p in parameters) if name == "proto"), "")
    if content_type.lower() != "application/x-protobuf":
        service.counts.refuse_request(Reason.CONTENT_TYPE)
        raise UnsupportedWriteError(
            f"the content type is {content_type[:100]!r}; remote write 1.0 uses application/x-protobuf"
        )
    if proto.strip('"') not in ("", "prometheus.WriteRequest"):
        service.counts.refuse_request(Reason.CONTENT_TYPE)
        raise UnsupportedWriteError(
            f"the message is {proto[:100]}, and this server takes remote write 1.0 (prometheus.WriteRequest) only;"
            " in Prometheus leave out `protobuf_message: io.prometheus.write.v2.Request` of this remote_write entry"
        )
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding != "snappy":
        service.counts.refuse_request(Reason.ENCODING)
        raise UnsupportedWriteError(
            f"the content encoding is {encoding[:100]!r}; remote write 1.0 uses snappy (in vmagent set"
            " -remoteWrite.forcePromProto)"
        )


async def _read(request: Request, service: IngestService, more: Callable[[int], None]) -> bytes:
    most = service.limits.body_bytes
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        more(len(chunk))
        if size > most:
            service.counts.refuse_request(Reason.TOO_LARGE)
            raise WriteTooLargeError(
                f"the body is larger than {most} bytes; send fewer samples per request,"
                " or raise LOADWATCH_INGEST_BODY_BYTES"
            )
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
