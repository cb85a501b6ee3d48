"""Sends what the spool holds to the server, oldest first, until the server has it.

Source of the messages: prompb/remote.proto and prompb/types.proto of Prometheus.
"""

import json
import random
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any, cast

import cramjam
import structlog
import urllib3
from loadwatch_formats.backoff import backoff_seconds, parse_retry_after
from loadwatch_formats.metrics.model import MetricInfo
from loadwatch_formats.own_traffic import AGENT

from loadwatch_collectors.pipeline.spool import Spool, WriteRequest
from loadwatch_collectors.series import SampleRow, Series, encode_field, encode_varint

_log: Any = structlog.get_logger("loadwatch.sender")

# How far this host's clock is from the server's, by the headers of its answers; the time that samples are given.


TIME_HEADER = "X-Loadwatch-Time"
"""Our server's clock in milliseconds since the epoch, when it began to answer."""

_DATE_GRAIN_MS = 2_000
"""`Date` has whole seconds, and servers such as uvicorn refresh it once a second only."""


def measure_skew(headers: Mapping[str, str], sent_ms: float, received_ms: float) -> float | None:
    """Seconds by which the agent's clock is ahead of the server's; negative when behind, None when unknown.

    With `X-Loadwatch-Time` the error is at most half of the request's duration. With `Date` alone it is the least
    difference that the header proves, so 0 stands for "within two seconds".
    """
    exact = headers.get(TIME_HEADER)
    if exact is not None:
        try:
            server_ms = float(exact)
        except ValueError:
            return None
        return ((sent_ms + received_ms) / 2 - server_ms) / 1000
    try:
        date_ms = parsedate_to_datetime(headers["Date"]).timestamp() * 1000
    except (KeyError, ValueError, TypeError):
        return None
    least, most = sent_ms - date_ms - _DATE_GRAIN_MS, received_ms - date_ms
    if least > 0:
        return least / 1000
    return min(most, 0.0) / 1000


TOLERATED_SECONDS = 1.5
"""Below this the host's own clock is used: hosts that keep time by NTP agree better than an answer can tell."""

_TOLERATED_BY_DATE_SECONDS = 3.5


class ServerClock:
    """The time by which samples are stamped: the host's, as long as it is about the server's; else the server's.

    A system whose clock is ahead would otherwise write into the future, where no rule looks until that future comes.
    Once the server's time is known, a host's clock that is set changes nothing until the server's next answer. Safe to
    use from any thread.
    """

    def __init__(self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self.offset_seconds = 0.0
        self._measured = False
        self._boot = wall() - monotonic()

    def wall(self) -> float:
        """Seconds since the epoch, on the server's clock where the host's is off."""
        with self._lock:
            now = self._wall()
            boot = now - self._monotonic()
            if self._measured and abs(boot - self._boot) > TOLERATED_SECONDS:
                self.offset_seconds += boot - self._boot
                self._boot = boot
            return now - self.offset_seconds

    def note(self, skew_seconds: float, *, exact: bool) -> None:
        """Take a measurement of how far the host's clock is ahead of the server's."""
        with self._lock:
            tolerated = TOLERATED_SECONDS if exact else _TOLERATED_BY_DATE_SECONDS
            self._boot = self._wall() - self._monotonic()
            self._measured = True
            # Half of what is tolerated ends a correction: a difference at the border must not move time to and fro.
            right = exact and abs(skew_seconds) <= TOLERATED_SECONDS / 2
            if not right and abs(skew_seconds - self.offset_seconds) <= tolerated:
                return
            wanted = skew_seconds if abs(skew_seconds) > tolerated else 0.0
            if wanted == self.offset_seconds:
                return
            self.offset_seconds = wanted
        if wanted:
            _log.warning(
                "this host's clock is off; samples are stamped by the server's clock",
                ahead_seconds=round(skew_seconds, 3),
            )
        else:
            _log.info("this host's clock is right again; samples are stamped by it")


HEADERS = {
    "Content-Type": "application/x-protobuf",
    "Content-Encoding": "snappy",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}

_METADATA_TYPES = ("unknown", "counter", "gauge", "histogram", "gaugehistogram", "summary", "info", "stateset")
"""Names of Prometheus' metric types, in the order of their protobuf numbers."""
_USUAL_TIME_BYTES = 6
_TWO_POW_64 = 1 << 64


def encode_rows(rows: Sequence[SampleRow]) -> bytes:
    """The `timeseries` fields of a WriteRequest for the rows, which are in rising time.

    One row becomes one-sample series; several are joined so that each series is named once.
    """
    if len(rows) == 1:
        return _encode_one(rows[0])
    return _encode_joined(rows)


def encode_metadata(metrics: Iterable[MetricInfo]) -> bytes:
    """The `metadata` fields of a WriteRequest."""
    parts: list[bytes] = []
    for metric in metrics:
        kind = _METADATA_TYPES.index(metric.type) if metric.type in _METADATA_TYPES else 0
        message = b"\x08" + encode_varint(kind) if kind else b""
        message += encode_field(2, metric.name.encode())
        if metric.help:
            message += encode_field(4, metric.help.encode())
        if metric.unit:
            message += encode_field(5, metric.unit.encode())
        parts.append(encode_field(3, message))
    return b"".join(parts)


def compress(body: bytes) -> bytes:
    """The body in snappy's block format."""
    return bytes(cast("bytes", cramjam.snappy.compress_raw(body)))


def _time_field(timestamp_ms: int) -> bytes:
    """`Sample.timestamp`; times before the epoch are sent as protobuf's int64 does, in two's complement."""
    return b"\x10" + encode_varint(timestamp_ms % _TWO_POW_64)


def _encode_one(row: SampleRow) -> bytes:
    time_field = _time_field(row.timestamp_ms)
    if len(time_field) != _USUAL_TIME_BYTES + 1:
        return _encode_joined([row])
    packed = struct.pack(f"<{len(row.values)}d", *row.values)
    parts: list[bytes] = []
    for index, series in enumerate(row.series):
        offset = index * 8
        parts += (series.head, packed[offset : offset + 8], time_field)
    return b"".join(parts)


def _encode_joined(rows: Sequence[SampleRow]) -> bytes:
    samples: dict[int, tuple[Series, list[bytes]]] = {}
    for row in rows:
        time_field = _time_field(row.timestamp_ms)
        start = b"\x12" + encode_varint(9 + len(time_field)) + b"\x09"
        packed = struct.pack(f"<{len(row.values)}d", *row.values)
        for index, series in enumerate(row.series):
            entry = samples.get(series.id)
            if entry is None:
                entry = samples[series.id] = (series, [])
            offset = index * 8
            entry[1].append(start + packed[offset : offset + 8] + time_field)
    parts: list[bytes] = []
    for series, encoded in samples.values():
        message = series.labels + b"".join(encoded)
        parts += (b"\x0a", encode_varint(len(message)), message)
    return b"".join(parts)


TEXT_LIMIT = 300


class _WriteFailedError(Exception):
    """There was no answer; the text says why."""


MAX_SAMPLES_PER_REQUEST = 20_000
METADATA_EVERY_SECONDS = 300.0
METADATA_AGAIN_SECONDS = 5.0
"""Delay of the second sending; by then pages that describe their own metrics have been read."""

MAX_BACKOFF_SECONDS = 5.0
MAX_RETRY_AFTER_SECONDS = 300.0
_FIRST_BACKOFF_SECONDS = 0.1
_ANSWER_BYTES = 65_536


class SendResult(Enum):
    TAKEN = "taken"
    REFUSED = "refused"
    TOO_LARGE = "too large"
    LATER = "later"


def judge_status(status: int) -> SendResult:
    """What an HTTP status means: 2xx taken, 4xx refused for good except 429 and 408, all else to be tried again."""
    if 200 <= status < 300:
        return SendResult.TAKEN
    if status == 413:
        return SendResult.TOO_LARGE
    if 400 <= status < 500 and status not in (408, 429):
        return SendResult.REFUSED
    return SendResult.LATER


def read_refused(answer: bytes, samples: int) -> int:
    """How many samples of a batch were refused: Loadwatch's own answer tells, any other means all of them."""
    try:
        told = json.loads(answer[:_ANSWER_BYTES])["rejected"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return samples
    return min(told, samples) if isinstance(told, int) and told > 0 else samples


@dataclass(slots=True)
class SenderCounts:
    sent_samples: int = 0
    refused_samples: int = 0
    failed_requests: int = 0
    clock_skew_seconds: float | None = None


class Sender:
    """One thread that empties the spool over one kept connection."""

    def __init__(
        self,
        spool: Spool,
        *,
        url: str,
        token: str | None,
        timeout_seconds: float,
        metrics: Callable[[], Iterable[MetricInfo]],
        ca_file: str | None = None,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        clock: ServerClock | None = None,
    ) -> None:
        """Nothing is sent yet. `clock`, the one by which the samples are stamped, is told each measured difference."""
        self.counts = SenderCounts()
        self._spool = spool
        self._url = url
        self._wall = wall
        self._monotonic = monotonic
        self._clock = clock
        self._headers = {**HEADERS, "User-Agent": AGENT, **({"Authorization": f"Bearer {token}"} if token else {})}
        self._timeout_seconds = timeout_seconds
        self._pool = urllib3.PoolManager(num_pools=1, maxsize=1, retries=False, ca_certs=ca_file)
        self._metrics = metrics
        self._metadata_due = 0.0
        self._metadata_wait = METADATA_AGAIN_SECONDS
        self._max_samples = MAX_SAMPLES_PER_REQUEST
        self._stopping = threading.Event()
        self._attempt = 0
        self._failing = ""
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def ask_time(self, timeout_seconds: float) -> None:
        """Measure the server's clock by a request without samples; an answer that does not come leaves it unknown."""
        sent = self._monotonic()
        try:
            response = self._post(b"", timeout_seconds)
        except _WriteFailedError:
            return  # The first batch will say so, and log it.
        self._note_skew(response.headers, sent)

    def stop(self, timeout_seconds: float) -> None:
        """Send what waits, for at most the given time and while the server takes it, then end."""
        self._stopping.set()
        self._thread.join(timeout_seconds)
        self._pool.clear()

    def _run(self) -> None:
        while True:
            batch = self._spool.read(self._max_samples)
            if batch is None:
                if self._stopping.is_set():
                    return
                self._spool.wait(0.5)
                continue
            try:
                wait = self._deliver(batch)
            except Exception:
                _log.exception("the sender has a fault of its own; it tries again")
                wait = MAX_BACKOFF_SECONDS
            if wait is None:
                self._attempt = 0
                continue
            self._attempt += 1
            if self._stopping.is_set() or self._stopping.wait(wait):
                return

    def _post(self, body: bytes, timeout_seconds: float) -> urllib3.BaseHTTPResponse:
        try:
            return self._pool.request(
                "POST",
                self._url,
                body=compress(body),
                headers=self._headers,
                redirect=False,
                retries=False,
                timeout=urllib3.Timeout(total=timeout_seconds),
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            reason = getattr(error, "reason", None)
            raise _WriteFailedError(str(reason if reason is not None else error)[:TEXT_LIMIT]) from error

    def _backoff(self) -> float:
        return backoff_seconds(self._attempt, _FIRST_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS, random.random())

    def _deliver(self, batch: WriteRequest) -> float | None:
        """Try once. None when the batch is done with, otherwise the seconds to wait before the next try."""
        with_metadata = time.monotonic() >= self._metadata_due
        body = encode_rows(self._out_of_the_future(batch.rows)) + (
            encode_metadata(self._metrics()) if with_metadata else b""
        )
        sent = self._monotonic()
        try:
            response = self._post(body, self._timeout_seconds)
        except _WriteFailedError as error:
            self._note_failure(str(error))
            return self._backoff()
        self._note_skew(response.headers, sent)
        answer = judge_status(response.status)
        if answer is SendResult.TAKEN:
            if with_metadata:
                self._metadata_due = time.monotonic() + self._metadata_wait
                self._metadata_wait = METADATA_EVERY_SECONDS
            self.counts.sent_samples += batch.samples
            self._spool.acknowledge(batch)
            self._max_samples = min(MAX_SAMPLES_PER_REQUEST, self._max_samples * 2)
            self._note_success()
            return None
        text = response.data[: 4 * TEXT_LIMIT].decode("utf-8", "replace").strip()[:TEXT_LIMIT]
        if answer is SendResult.TOO_LARGE and batch.samples > 1 and self._max_samples > 1:
            self._max_samples = min(self._max_samples, batch.samples) // 2
            return 0.0
        if answer is SendResult.LATER:
            self._note_failure(f"the server answered {response.status}: {text}")
            asked = parse_retry_after(
                response.headers.get("Retry-After"), time.time_ns() // 1_000_000, MAX_RETRY_AFTER_SECONDS
            )
            return max(asked or 0.0, self._backoff())
        refused = read_refused(response.data, batch.samples)
        self.counts.refused_samples += refused
        self.counts.sent_samples += batch.samples - refused
        _log.error(
            "the server refused samples, they are dropped",
            samples=refused,
            of=batch.samples,
            status=response.status,
            answer=text,
            url=self._url,
        )
        self._spool.discard(batch, refused)
        return None

    def _out_of_the_future(self, rows: Sequence[SampleRow]) -> Sequence[SampleRow]:
        """Move rows stamped before the host's clock was known to be ahead to the server's time."""
        if self._clock is None or self._clock.offset_seconds <= 0:
            return rows
        offset_ms = round(self._clock.offset_seconds * 1000)
        newest_ms = self._clock.wall() * 1000 + TOLERATED_SECONDS * 1000
        return [
            row if row.timestamp_ms <= newest_ms else SampleRow(row.timestamp_ms - offset_ms, row.series, row.values)
            for row in rows
        ]

    def _note_skew(self, headers: Mapping[str, str], sent: float) -> None:
        received_ms = self._wall() * 1000
        # The host's clock may have been set while the request was under way.
        sent_ms = received_ms - (self._monotonic() - sent) * 1000
        skew = measure_skew(headers, sent_ms, received_ms)
        if skew is not None:
            self.counts.clock_skew_seconds = skew
            if self._clock is not None:
                self._clock.note(skew, exact=TIME_HEADER in headers)

    def _note_failure(self, reason: str) -> None:
        self.counts.failed_requests += 1
        if not self._failing:
            _log.warning("the server takes no samples; they wait in the spool", url=self._url, reason=reason)
        self._failing = reason

    def _note_success(self) -> None:
        if self._failing:
            _log.info("the server takes samples again", url=self._url, waiting_samples=self._spool.waiting()[0])
        self._failing = ""
