"""POST /prometheus/api/v1/read: Prometheus' remote read, as samples or as streamed chunks."""

from collections.abc import Callable, Iterator
from itertools import chain

import cramjam
from fastapi import APIRouter, Request, Response

from loadwatch_backend.kit.errors import PayloadTooLargeError
from loadwatch_backend.promql.admission.memory import Ticket
from loadwatch_backend.promql.engine import Engine
from loadwatch_backend.promql.errors import QueryTooLargeError
from loadwatch_backend.promql.http.describe import RESPONSES
from loadwatch_backend.promql.http.endpoints import PromqlEngine, QueryQueues
from loadwatch_backend.promql.http.remote_read.frames import frame
from loadwatch_backend.promql.http.remote_read.messages import chunked_messages, result_message, series_message
from loadwatch_backend.promql.http.remote_read.request import MAX_BYTES, ReadQuestion, read_question
from loadwatch_backend.promql.http.remote_read.series import read_series
from loadwatch_backend.promql.http.response import PIECE_BYTES
from loadwatch_backend.promql.http.streaming import answer

remote_read_router = APIRouter(prefix="/prometheus/api/v1", tags=["prometheus"])

_SAMPLES = "application/x-protobuf"
_CHUNKS = "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse"
_COPIES = 3
"""Of an answer in one message: its parts, the message, and the message packed."""

Write = Callable[[Ticket], Iterator[bytes]]


@remote_read_router.post(
    "/read",
    summary="Samples by Prometheus remote read",
    responses=RESPONSES,
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "A snappy block with a prometheus.ReadRequest.",
            "content": {"application/x-protobuf": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def read(request: Request, engine: PromqlEngine, queries: QueryQueues) -> Response:
    """The samples of all series that match: one message, or frames with XOR chunks for who accepts them first."""
    question = read_question(await _body(request))
    if question.streamed:
        return await answer(request, queries.api, _streamed(engine, question), _CHUNKS)
    headers = {"content-encoding": "snappy"}
    return await answer(request, queries.api, _in_one(engine, question), _SAMPLES, headers)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BYTES:
            raise PayloadTooLargeError(f"the request has more than {MAX_BYTES} bytes")
    return bytes(body)


def _streamed(engine: Engine, question: ReadQuestion) -> Write:
    def write(ticket: Ticket) -> Iterator[bytes]:
        frames = chain.from_iterable(
            (
                frame(message)
                for series in read_series(engine, query, ticket)
                for message in chunked_messages(series, number)
            )
            for number, query in enumerate(question.queries)
        )
        return _pieces(frames)

    return write


def _pieces(frames: Iterator[bytes]) -> Iterator[bytes]:
    waiting = bytearray()
    for one in frames:
        waiting += one
        if len(waiting) >= PIECE_BYTES:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


def _in_one(engine: Engine, question: ReadQuestion) -> Write:
    def write(ticket: Ticket) -> Iterator[bytes]:
        results: list[bytes] = []
        size = 0
        for query in question.queries:
            parts: list[bytes] = []
            for series in read_series(engine, query, ticket):
                parts.append(series_message(series))
                size += len(parts[-1])
                _check(size, engine.settings.answer_bytes)
                ticket.take(len(parts[-1]) * _COPIES)
            results.append(result_message(b"".join(parts)))
        yield bytes(cramjam.snappy.compress_raw(b"".join(results)))

    return write


def _check(size: int, most: int) -> None:
    if size > most:
        raise QueryTooLargeError(
            f"the answer has more than {most} bytes: ask for fewer series or a shorter range, accept streamed chunks,"
            " or raise LOADWATCH_QUERY_ANSWER_BYTES"
        )
