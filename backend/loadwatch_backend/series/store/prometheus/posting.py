"""Requests of remote write: made of samples, sent, and searched for the samples that the engine refuses."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from loadwatch_formats.retry_after import parse_retry_after

from loadwatch_backend.series.store.embedded.block import F64, I64, U32
from loadwatch_backend.series.store.errors import EngineAwayError
from loadwatch_backend.series.store.prometheus.connection import Connection
from loadwatch_backend.series.store.prometheus.wire import compressed, encode_series, plain
from loadwatch_backend.series.store.remote_pb2 import TimeSeries, WriteRequest

REQUEST_BYTES = 4 << 20
"""Of a request before it is compressed."""
_HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
_TO_MEND = frozenset({401, 402, 403, 404, 405, 407})
"""They concern us and not the samples, and do not pass by themselves."""
_PASSING = frozenset({408, 425, 429})
_LONGEST_RETRY_AFTER = 300.0
_TOO_OLD = ("too old sample", "out of bounds")
"""Prometheus before 2.44 answers 500 for what its out-of-order window does not reach, and will always."""
_MOST_HALVES = 200
"""Requests that looking for refused samples may take, for one request."""


class AgainError(Exception):
    """The engine does not take it now."""

    def __init__(self, reason: str, after: float | None = None, *, to_mend: bool = False) -> None:
        """`to_mend`: our login or address is wrong."""
        super().__init__(reason)
        self.after = after
        self.to_mend = to_mend


def requests_of(
    series: U32, timestamps: I64, values: F64, heads: Callable[[list[int]], list[bytes]], most_samples: int
) -> Iterator[tuple[list[bytes], int]]:
    """The `timeseries` fields of one request after another, and its samples; `heads` are encoded labels.

    Rows are in the order of series and time; no engine finds a request too large.
    """
    for first in range(0, len(series), most_samples):
        part = slice(first, first + most_samples)
        begins = np.flatnonzero(np.append(True, series[part][1:] != series[part][:-1]))
        counts: list[int] = np.diff(np.append(begins, len(series[part]))).tolist()
        parts = encode_series(heads(series[part][begins].tolist()), counts, timestamps[part], values[part])
        for group in _by_bytes(parts):
            yield parts[group], sum(counts[group])


def _by_bytes(parts: Sequence[bytes]) -> Iterator[slice]:
    first = size = 0
    for place, part in enumerate(parts):
        if size + len(part) > REQUEST_BYTES and place > first:
            yield slice(first, place)
            first, size = place, 0
        size += len(part)
    yield slice(first, len(parts))


def post(connection: Connection, body: bytes, now_ms: int) -> str | None:
    """Why the engine will never take these samples; None where it has them.

    Raises:
        AgainError: the same is to be sent again.
    """
    try:
        status, retry_after, reason = connection.write(body, _HEADERS)
    except EngineAwayError as error:
        raise AgainError(error.detail, to_mend=error.refused) from error
    if status < 300:
        return None
    is_about_samples = status >= 500 and any(text in reason for text in _TOO_OLD)
    if not is_about_samples and (status >= 500 or status < 400 or status in _TO_MEND | _PASSING):
        after = parse_retry_after(retry_after, now_ms, _LONGEST_RETRY_AFTER)
        raise AgainError(f"the engine answered {status}: {reason}", after, to_mend=status in _TO_MEND)
    return f"{status}: {reason}"


def post_halves(body: bytes, send: Callable[[bytes], str | None]) -> int:
    """Send those of some refused samples that the engine takes; how many it does not take.

    In their order, because some engines refuse what is older than what they have. `send` gets a request's body and
    returns as `post`.
    """
    left, refused = _MOST_HALVES, 0
    waiting: list[Sequence[TimeSeries]] = []
    some: Sequence[TimeSeries] = WriteRequest.FromString(plain(body)).timeseries
    while True:
        halves = _halves_of(some) if left > 0 else ()
        if not halves:
            refused += sum(len(one.samples) for one in some)
        waiting += reversed(halves)
        while waiting:
            some = waiting.pop()
            left -= 1
            if send(compressed(WriteRequest(timeseries=some).SerializeToString())) is not None:
                break
        else:
            return refused


def _halves_of(series: Sequence[TimeSeries]) -> Sequence[Sequence[TimeSeries]]:
    """Two halves of some series, or of the samples of one; nothing where one sample is all there is."""
    if len(series) > 1:
        middle = len(series) // 2
        return series[:middle], series[middle:]
    samples = series[0].samples if series else ()
    middle = len(samples) // 2
    if not middle:
        return ()
    return tuple([TimeSeries(labels=series[0].labels, samples=part)] for part in (samples[:middle], samples[middle:]))
