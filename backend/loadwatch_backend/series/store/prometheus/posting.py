"""Requests of remote write: made of samples, sent, and searched for the samples that the engine refuses.

An answer of 5xx or 429, or none, is tried again, with growing pauses and after `Retry-After`. So is what concerns us
and not the samples (401, 403, 404, ...): what was acknowledged is not lost because a token ran out. Any other 4xx is
about the samples, and so is a 500 that will be one for ever: they are sent again in halves, until those are found that
the engine does not take, and these are dropped, counted and logged.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import cramjam
import numpy as np
import structlog
from loadwatch_formats.backoff import backoff_seconds, parse_retry_after

from loadwatch_backend.core.periodic import Periodic
from loadwatch_backend.series.store.embedded.block import F64, I64, U32
from loadwatch_backend.series.store.errors import EngineAwayError
from loadwatch_backend.series.store.prometheus.connection import Connection, RemoteSettings
from loadwatch_backend.series.store.prometheus.durable_queue import DurableQueue, Frame
from loadwatch_backend.series.store.prometheus.recent import Recent
from loadwatch_backend.series.store.prometheus.wire import compressed, encode_series, plain
from loadwatch_backend.series.store.remote_pb2 import Sample, TimeSeries, WriteRequest

log = structlog.get_logger(__name__)

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 30.0
_IDLE_SECONDS = 1.0
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


def requests_of(
    series: U32, timestamps: I64, values: F64, head_of: Callable[[int], bytes], most_samples: int
) -> Iterator[tuple[list[bytes], int]]:
    """The `timeseries` fields of one request after another, and its samples; `head_of` gives encoded labels.

    Rows are in the order of series and time; no engine finds a request too large.
    """
    for first in range(0, len(series), most_samples):
        part = slice(first, first + most_samples)
        begins = np.flatnonzero(np.append(True, series[part][1:] != series[part][:-1]))
        counts: list[int] = np.diff(np.append(begins, len(series[part]))).tolist()
        parts = encode_series(list(map(head_of, series[part][begins].tolist())), counts, timestamps[part], values[part])
        begin = size = 0
        for place, one in enumerate(parts):
            if size + len(one) > REQUEST_BYTES and place > begin:
                yield parts[begin:place], sum(counts[begin:place])
                begin, size = place, 0
            size += len(one)
        yield parts[begin:], sum(counts[begin:])


def post(connection: Connection, body: bytes, now_ms: int) -> str | None:
    """Why the engine will never take these samples; None where it has them.

    Raises:
        EngineAwayError: the same is to be sent again; `refused` where our login or address is wrong.
    """
    status, retry_after, reason = connection.write(body, _HEADERS)
    if status < 300:
        return None
    is_about_samples = status >= 500 and any(text in reason for text in _TOO_OLD)
    if not is_about_samples and (status >= 500 or status < 400 or status in _TO_MEND | _PASSING):
        after = parse_retry_after(retry_after, now_ms, _LONGEST_RETRY_AFTER)
        raise EngineAwayError(f"the engine answered {status}: {reason}", refused=status in _TO_MEND, after=after)
    return f"{status}: {reason}"


def post_halves(body: bytes, send: Callable[[bytes], str | None]) -> int:
    """Send those of some refused samples that the engine takes; how many it does not take.

    In their order, because some engines refuse what is older than what they have. `send` gets a request's body and
    returns as `post`.
    """
    series = WriteRequest.FromString(plain(body)).timeseries
    rows = [(place, sample) for place, one in enumerate(series) for sample in one.samples]
    waiting, refused, left = _halves(rows), 0, _MOST_HALVES
    while waiting:
        some = waiting.pop()
        left -= 1
        if send(_request(series, some)) is None:
            continue
        if len(some) == 1 or left <= 0:
            refused += len(some)
        else:
            waiting += _halves(some)
    return refused


def _request(series: Sequence[TimeSeries], rows: Sequence[tuple[int, Sample]]) -> bytes:
    fields: dict[int, TimeSeries] = {}
    for place, sample in rows:
        fields.setdefault(place, TimeSeries(labels=series[place].labels)).samples.append(sample)
    return compressed(WriteRequest(timeseries=fields.values()).SerializeToString())


def _halves(rows: list[tuple[int, Sample]]) -> list[list[tuple[int, Sample]]]:
    middle = len(rows) // 2
    return [half for half in (rows[middle:], rows[:middle]) if half]


@dataclass
class Sender:
    """Delivers the queue, oldest first; `close` leaves on disk what is not delivered."""

    _settings: RemoteSettings
    _connection: Connection
    _queue: DurableQueue
    _recent: Recent
    _clock: Callable[[], int]
    _upkeep: Callable[[], None]
    """Called each second, and less often while the engine is away."""
    delivered_samples: int = 0
    retries: int = 0
    dropped_samples: int = 0
    """Refused by the engine, or damaged on disk."""
    fault: str = ""
    """Why the last attempt failed; empty when it did not."""

    def __post_init__(self) -> None:
        self._stopping, self._failures = threading.Event(), 0
        self._periodic = Periodic("store-sender", self._work, 0.0)
        self.start = self._periodic.start

    def close(self, seconds: float) -> None:
        """Deliver what can be within a moment, then stop."""
        deadline = time.monotonic() + seconds
        while self._queue.samples and not self.fault and time.monotonic() < deadline:
            time.sleep(0.02)
        self._stopping.set()
        self._queue.stop_waiting()
        self._periodic.close(self._settings.timeout_seconds + 10)

    def _work(self) -> float:
        try:
            settle = self._settings.settle_seconds
            self._recent.forget_settled(settle)
            self._queue.remove_delivered(self._clock() - int(settle * 1000))
            self._upkeep()
            if frames := self._queue.wait(_IDLE_SECONDS, self._settings.request_samples):
                self._deliver(frames)
                if self.fault:
                    log.info("the engine takes samples again", waiting=self._queue.samples)
                self.fault, self._failures = "", 0
            return 0.0
        except Exception as error:
            self.retries += 1
            if not self.fault:
                log.warning("the engine takes no samples; they wait on disk", reason=str(error))
            self.fault = str(error) or type(error).__name__
            pause = backoff_seconds(self._failures, FIRST_PAUSE, LONGEST_PAUSE, random.random())
            self._failures += 1
            return max(pause, error.after) if isinstance(error, EngineAwayError) else pause

    def _deliver(self, frames: list[Frame]) -> None:
        bodies: list[bytes] = []
        through = size = samples = lost = 0
        for frame in frames:
            body = self._queue.body(frame)
            size += int(cramjam.snappy.decompress_raw_len(body)) if body else 0
            if bodies and size > REQUEST_BYTES:
                break
            through = frame.sequence
            if body is None:
                lost += frame.samples
            else:
                bodies.append(body)
                samples += frame.samples
        if bodies:
            body = bodies[0] if len(bodies) == 1 else compressed(b"".join(map(plain, bodies)))
            refusal = self._post(body)
            if refusal is not None and (refused := post_halves(body, self._post)):
                log.error("the engine refused samples, which are dropped", samples=refused, reason=refusal)
                lost, samples = lost + refused, samples - refused
        self.delivered_samples += samples
        self.dropped_samples += lost
        self._recent.deliver(through)
        self._queue.deliver(through)

    def _post(self, body: bytes) -> str | None:
        if self._stopping.is_set():
            raise EngineAwayError("the server is stopping")
        return post(self._connection, body, self._clock())
