"""The body of an OTLP request to its message, bounded before anything large is made of it. Pure."""

import zlib
from typing import Any

import orjson
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from loadwatch_backend.series.ingest.entries import Entries, Shape
from loadwatch_backend.series.ingest.errors import MalformedError, WriteTooLargeError
from loadwatch_backend.series.ingest.otlp.otlp_pb2 import ExportRequest

_DEPTH = 32
"""Messages within messages; nine are in use, the others are lists and maps as attributes."""

_MOST_PARTS = 16
"""Gzip within one body, one after another; senders make one."""

_VALUE: dict[int, Shape] = {}
_ATTRIBUTE: Shape = {2: _VALUE}
_VALUE.update({5: {1: _VALUE}, 6: {1: _ATTRIBUTE}})
_NUMBERS: Shape = {1: {7: _ATTRIBUTE}}
_METRIC: Shape = {
    5: _NUMBERS,
    7: _NUMBERS,
    9: {1: {9: _ATTRIBUTE}},
    10: {1: {1: _ATTRIBUTE, 8: {}, 9: {}}},
    11: {1: {6: {}, 7: _ATTRIBUTE}},
}
_REQUEST: Shape = {1: {1: {1: _ATTRIBUTE}, 2: {1: {3: _ATTRIBUTE}, 2: _METRIC}}}


def unzip(body: bytes, most_bytes: int) -> bytes:
    """The content of a gzip body, which ends at `most_bytes`.

    Raises:
        MalformedError: it is not gzip, or not whole.
        WriteTooLargeError: it is larger.
    """
    parts: list[bytes] = []
    room = most_bytes
    for _ in range(_MOST_PARTS):
        inflater = zlib.decompressobj(wbits=31)
        try:
            part = inflater.decompress(body, room + 1)
        except zlib.error as error:
            raise MalformedError(f"the body is not gzip: {error}") from error
        room -= len(part)
        if room < 0:
            raise WriteTooLargeError(
                f"the body is more than {most_bytes} bytes after decompression; send fewer points per request"
            )
        if not inflater.eof:
            raise MalformedError("the gzip body is not whole")
        parts.append(part)
        body = inflater.unused_data
        if not body:
            return b"".join(parts)
    raise MalformedError(f"the gzip body has more than {_MOST_PARTS} parts")


def read_protobuf(data: bytes, entries: Entries) -> ExportRequest:
    """The message of a protobuf body.

    Raises:
        MalformedError: it is none.
        TooManyEntriesError: it holds more than `entries` has room for.
    """
    entries.take_message(data, _REQUEST)
    try:
        return ExportRequest.FromString(data)
    except DecodeError as error:
        raise MalformedError(f"the body is not an OTLP ExportMetricsServiceRequest: {error}") from error


def read_json(data: bytes, entries: Entries) -> ExportRequest:
    """The message of a JSON body; fields that nobody knows are read over, as OTLP wants it.

    Raises:
        MalformedError: it is none.
        TooManyEntriesError: it holds more than `entries` has room for.
    """
    # Each value of JSON comes after one of these, so there are no more values; those within texts count, too. A half:
    # of a point's values most are small.
    entries.take(sum(data.count(mark) for mark in (b",", b"[", b":")) // 2)
    try:
        document: dict[str, Any] = orjson.loads(data)
        if type(document) is not dict:
            raise TypeError("it is not an object")
        return json_format.ParseDict(document, ExportRequest(), ignore_unknown_fields=True, max_recursion_depth=_DEPTH)
    except (ValueError, json_format.ParseError, TypeError, AttributeError) as error:
        raise MalformedError(f"the body is not OTLP's JSON: {str(error)[:300]}") from error
