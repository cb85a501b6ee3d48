"""POST /prometheus/api/v1/otlp/v1/metrics: OTLP over HTTP, as protobuf or JSON."""

import asyncio
from typing import Annotated

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Request, Response
from google.protobuf import json_format

from loadwatch_backend.core.errors import UnavailableError
from loadwatch_backend.core.http_protocol import CONNECTIONS
from loadwatch_backend.core.services import service
from loadwatch_backend.series.ingest.endpoints import come_again, read_body, sender_of
from loadwatch_backend.series.ingest.errors import UnsupportedWriteError
from loadwatch_backend.series.ingest.otlp.otlp_pb2 import ExportResponse, PartialSuccess
from loadwatch_backend.series.ingest.otlp.service import OtlpService
from loadwatch_backend.series.ingest.validate import Reason
from loadwatch_backend.series.store.errors import StoreBusyError

router = APIRouter(tags=["ingest"])

_PROTOBUF, _JSON = "application/x-protobuf", "application/json"
_thread = CapacityLimiter(1)
"""Requests take turns: deltas of one must be on disk before the next add to them."""

_BINARY = {"schema": {"type": "string", "format": "binary"}}


@router.post(
    "/prometheus/api/v1/otlp/v1/metrics",
    status_code=200,
    response_class=Response,
    responses={
        200: {
            "description": "An ExportMetricsServiceResponse; its partial success says what was refused.",
            "content": {_PROTOBUF: _BINARY, _JSON: {"schema": {"type": "object"}}},
        }
    },
    summary="Take metrics by OTLP over HTTP",
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "An ExportMetricsServiceRequest of OpenTelemetry, plain or with gzip.",
            "content": {_PROTOBUF: _BINARY, _JSON: {"schema": {"type": "object"}}},
        }
    },
)
async def write_otlp(request: Request, service: Annotated[OtlpService, Depends(service(OtlpService))]) -> Response:
    """Store metrics. 200 means that all but what the partial success counts is on disk."""
    json, gzip = _form(request, service)
    try:
        with service.ingest.hold() as more:
            body = await read_body(request, service.ingest, more)
            sender = sender_of(request)
            taken = await to_thread.run_sync(
                lambda: service.take(body, json=json, gzip=gzip, sender=sender), limiter=_thread
            )
        CONNECTIONS.note_sender(request.client.host if request.client else "")
        if taken.push.stored is not None:
            await asyncio.wrap_future(taken.push.stored)
    except (UnavailableError, StoreBusyError) as error:
        return come_again(error, request, service.ingest)
    answer = ExportResponse()
    if taken.rejected_points or taken.message:
        partial = PartialSuccess(rejected_data_points=taken.rejected_points, error_message=taken.message[:4000])
        answer.partial_success.CopyFrom(partial)
    if json:
        return Response(json_format.MessageToJson(answer), media_type=_JSON)
    return Response(answer.SerializeToString(), media_type=_PROTOBUF)


def _form(request: Request, service: OtlpService) -> tuple[bool, bool]:
    """Whether a body is JSON, and whether it is packed.

    Raises:
        UnsupportedWriteError: it is something else; says what to set.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type not in (_PROTOBUF, _JSON):
        service.ingest.counts.refuse_request(Reason.CONTENT_TYPE)
        raise UnsupportedWriteError(
            f"the content type is {content_type[:100]!r}; OTLP over HTTP uses {_PROTOBUF} or {_JSON}"
            " (OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf)"
        )
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        service.ingest.counts.refuse_request(Reason.ENCODING)
        raise UnsupportedWriteError(
            f"the content encoding is {encoding[:100]!r}; send gzip or none (OTEL_EXPORTER_OTLP_COMPRESSION=gzip)"
        )
    return content_type == _JSON, encoding == "gzip"
