"""What a remote-read request asks for: a snappy block with a ReadRequest, bounded before it is read."""

from collections.abc import Sequence
from dataclasses import dataclass

import cramjam
from google.protobuf.message import DecodeError

from loadwatch_backend.kit.errors import BadRequestError, PayloadTooLargeError
from loadwatch_backend.promql.http.parameters import NEWEST_MS, OLDEST_MS
from loadwatch_backend.promql.http.remote_read.read_pb2 import LabelMatcher, Query, ReadRequest
from loadwatch_backend.store.port import Matcher, MatchOperator

MAX_BYTES = 1 << 20
"""Of a request after decompression."""
MAX_QUERIES = 100
MAX_MATCHERS = 100
"""Of one query."""
SAMPLES, STREAMED_XOR_CHUNKS = 0, 1
_OPERATORS = (MatchOperator.EQUAL, MatchOperator.NOT_EQUAL, MatchOperator.REGEX, MatchOperator.NOT_REGEX)


class ReadRequestError(BadRequestError):
    """The request is not one of remote read, or asks for what there is not."""

    code = "remote-read-request"
    title = "Not a remote-read request"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadQuery:
    """Series that all matchers meet, and their samples with start_ms <= time <= end_ms."""

    matchers: tuple[Matcher, ...]
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadQuestion:
    """All of a request."""

    queries: Sequence[ReadQuery]
    streamed: bool
    """Whether chunks are wanted, frame by frame; else samples, in one message."""


def read_question(body: bytes) -> ReadQuestion:
    """The queries of a request's body.

    Raises:
        ReadRequestError: it says what is wrong with it.
        PayloadTooLargeError: it would be too large after decompression.
    """
    request = _decoded(body)
    if len(request.queries) > MAX_QUERIES:
        raise ReadRequestError(f"the request has {len(request.queries)} queries; at most {MAX_QUERIES} are taken")
    return ReadQuestion(
        queries=[_query(one) for one in request.queries], streamed=_is_streamed(list(request.accepted_response_types))
    )


def _decoded(body: bytes) -> ReadRequest:
    try:
        size = int(cramjam.snappy.decompress_raw_len(body))
        if size > MAX_BYTES:
            raise PayloadTooLargeError(
                f"the request would be {size} bytes after decompression, and at most {MAX_BYTES} are read"
            )
        return ReadRequest.FromString(bytes(cramjam.snappy.decompress_raw(body)))
    except cramjam.DecompressionError as error:
        raise ReadRequestError(f"the body is not a snappy block (block format, not framed): {error}") from error
    except DecodeError as error:
        raise ReadRequestError("the body is not a prometheus.ReadRequest") from error


def _is_streamed(accepted: Sequence[int]) -> bool:
    """The first type that is known counts; who names none wants samples."""
    if not accepted:
        return False
    for kind in accepted:
        if kind in (SAMPLES, STREAMED_XOR_CHUNKS):
            return kind == STREAMED_XOR_CHUNKS
    raise ReadRequestError(
        f"server does not support any of the requested response types: {accepted[:10]}; supported:"
        f" {SAMPLES} (SAMPLES) and {STREAMED_XOR_CHUNKS} (STREAMED_XOR_CHUNKS)"
    )


def _query(query: Query) -> ReadQuery:
    if len(query.matchers) > MAX_MATCHERS:
        raise ReadRequestError(f"a query has {len(query.matchers)} matchers; at most {MAX_MATCHERS} are taken")
    return ReadQuery(
        matchers=tuple(_matcher(one) for one in query.matchers),
        start_ms=max(query.start_timestamp_ms, OLDEST_MS),
        end_ms=min(query.end_timestamp_ms, NEWEST_MS),
    )


def _matcher(matcher: LabelMatcher) -> Matcher:
    if not 0 <= matcher.type < len(_OPERATORS):
        raise ReadRequestError(f"invalid matcher type {matcher.type}")
    return Matcher(matcher.name, _OPERATORS[matcher.type], matcher.value)
