"""Series as the messages of both kinds of answer."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from loadwatch_backend.promql.http.remote_read.chunks import chunks_of, varint
from loadwatch_backend.promql.http.remote_read.read_pb2 import (
    Chunk,
    ChunkedReadResponse,
    ChunkedSeries,
    Label,
    TimeSeries,
)
from loadwatch_backend.promql.http.remote_read.series import ReadSeries
from loadwatch_backend.promql.labels import LabelKey
from loadwatch_backend.promql.value import FloatArray, IntArray

FRAME_BYTES = 16 << 20
"""Of chunks in one frame. Prometheus takes 50 MB of one; it sends 1 MiB itself, but reads a series that comes in
several frames as several series of the same labels."""
_XOR = 1
_FIELD_1 = b"\x0a"
_FIELD_2 = b"\x12"


def chunked_messages(series: ReadSeries, query: int) -> Iterator[bytes]:
    """The encoded ChunkedReadResponse messages of one series."""
    labels, chunks, size = _labels(series.labels), list[Chunk](), 0
    for chunk in chunks_of(series.timestamps.tolist(), series.values.view(np.uint64).tolist()):
        chunks.append(Chunk(min_time_ms=chunk.first_ms, max_time_ms=chunk.last_ms, type=_XOR, data=chunk.data))
        size += len(chunk.data)
        if size >= FRAME_BYTES:
            yield _chunked(labels, chunks, query)
            chunks, size = [], 0
    if chunks:
        yield _chunked(labels, chunks, query)


def _chunked(labels: list[Label], chunks: list[Chunk], query: int) -> bytes:
    series = ChunkedSeries(labels=labels, chunks=chunks)
    return ChunkedReadResponse(chunked_series=[series], query_index=query).SerializeToString()


def series_message(series: ReadSeries) -> bytes:
    """One series of a QueryResult, with the field's head before it."""
    return _sized(TimeSeries(labels=_labels(series.labels)).SerializeToString() + _samples(series))


def result_message(series: bytes) -> bytes:
    """One QueryResult of a ReadResponse, of series that were joined, with the field's head before it."""
    return _sized(series)


def _sized(content: bytes) -> bytes:
    return _FIELD_1 + varint(len(content)) + content


def _labels(key: LabelKey) -> list[Label]:
    return [Label(name=name, value=value) for name, value in key]


def _samples(series: ReadSeries) -> bytes:
    """The samples of a TimeSeries. Times rise, and so do the bytes that they take, by which they are cut into runs."""
    # As unsigned numbers, which varints are made of; what lies before 1970 takes ten bytes and comes first.
    times = series.timestamps
    lengths = _varint_lengths(times)
    edges = np.flatnonzero(np.diff(lengths)) + 1
    bounds = [0, *edges.tolist(), len(times)]
    return b"".join(
        _run(times[begin:end], series.values[begin:end], int(lengths[begin]))
        for begin, end in pairwise(bounds)
        if end > begin
    )


def _varint_lengths(times: IntArray) -> IntArray:
    unsigned = times.view(np.uint64)
    lengths = np.ones(len(times), np.int64)
    for bits in range(7, 64, 7):
        lengths += unsigned >= np.uint64(1 << bits)
    return lengths


def _run(times: IntArray, values: FloatArray, length: int) -> bytes:
    """Samples whose times take `length` bytes each: 12, size, 09, value, 10, time."""
    rows = np.zeros((len(times), 12 + length), np.uint8)
    rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 11] = _FIELD_2[0], 10 + length, 0x09, 0x10
    rows[:, 3:11] = np.ascontiguousarray(values).view(np.uint8).reshape(-1, 8)
    unsigned = times.view(np.uint64)
    for place in range(length):
        part = unsigned >> np.uint64(7 * place) & np.uint64(0x7F)
        rows[:, 12 + place] = part | np.uint64(0x80 if place < length - 1 else 0)
    return rows.tobytes()
