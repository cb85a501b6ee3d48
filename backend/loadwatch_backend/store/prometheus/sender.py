"""Delivers the queue, oldest first: a thread that tries until the engine has it, or says that it never will.

An answer of 5xx or 429, or none, is tried again, with growing pauses and after `Retry-After`. So is what concerns us
and not the samples (401, 403, 404, ...): what was acknowledged is not lost because a token ran out. Any other 4xx is
about the samples, and so is a 500 of which `posting` knows that it will be one for ever: they are sent again in halves,
until those are found that the engine does not take, and these are dropped, counted and logged.
"""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from loadwatch_backend.store.errors import EngineAwayError
from loadwatch_backend.store.prometheus.connection import Connection, WriteAnswer
from loadwatch_backend.store.prometheus.durable_queue import DurableQueue, Frame
from loadwatch_backend.store.prometheus.posting import WRITE_HEADERS, AgainError, halves_of, is_refused
from loadwatch_backend.store.prometheus.recent import Recent
from loadwatch_backend.store.prometheus.settings import RemoteSettings
from loadwatch_backend.store.prometheus.wire import decode_series, field, fields
from loadwatch_backend.store.prometheus.writer import REQUEST_BYTES, compressed, plain, plain_size

log = structlog.get_logger(__name__)

_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 30.0
_MOST_HALVES = 200
"""Requests that looking for refused samples may take, for one frame."""
_IDLE_SECONDS = 1.0


@dataclass(slots=True)
class SenderState:
    """Read by /metrics and the page."""

    delivered_samples: int = 0
    dropped_samples: int = 0
    """Refused by the engine, or damaged on disk."""
    retries: int = 0
    fault: str = ""
    """Why the last attempt failed; empty when it did not."""


class Sender:
    """One thread; `close` leaves on disk what is not delivered."""

    def __init__(
        self,
        settings: RemoteSettings,
        connection: Connection,
        queue: DurableQueue,
        recent: Recent,
        clock: Callable[[], int],
    ) -> None:
        self._settings = settings
        self._connection = connection
        self._queue = queue
        self._recent = recent
        self._clock = clock
        self._stopping = threading.Event()
        self.state = SenderState()
        self._thread = threading.Thread(target=self._run, name="store-sender", daemon=True)

    def start(self) -> None:
        """Begin to deliver."""
        self._thread.start()

    def close(self, seconds: float) -> None:
        """Deliver what can be within a moment, then stop."""
        deadline = time.monotonic() + seconds
        while self._queue.samples and not self.state.fault and time.monotonic() < deadline:
            time.sleep(0.02)
        self._stopping.set()
        self._queue.stop_waiting()
        self._thread.join(self._settings.timeout_seconds + 10)

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._stopping.is_set():
            try:
                settle = self._settings.settle_seconds
                self._recent.forget_settled(settle)
                self._queue.remove_delivered(self._clock() - int(settle * 1000))
                if not self._queue.wait(_IDLE_SECONDS):
                    continue
                self._deliver(self._queue.oldest(self._settings.request_samples))
                if self.state.fault:
                    log.info("the engine takes samples again", waiting=self._queue.samples)
                self.state.fault, pause = "", _FIRST_PAUSE
            except Exception as error:
                self.state.retries += 1
                if not self.state.fault:
                    log.warning("the engine takes no samples; they wait on disk", reason=str(error))
                self.state.fault = str(error) or type(error).__name__
                after = error.after if isinstance(error, AgainError) else None
                self._stopping.wait(max(after or 0.0, pause * random.uniform(0.5, 1.0)))
                pause = min(pause * 2, _LONGEST_PAUSE)

    def _deliver(self, frames: list[Frame]) -> None:
        good: list[tuple[Frame, bytes]] = []
        through = size = 0
        for frame in frames:
            body = self._queue.body(frame)
            size += plain_size(body or b"")
            if good and size > REQUEST_BYTES:
                break
            through = frame.sequence
            if body is None:
                self.state.dropped_samples += frame.samples
            else:
                good.append((frame, body))
        if len(good) == 1:
            self._deliver_frame(*good[0])
        elif good:
            joined = compressed(b"".join(plain(body) for _, body in good))
            if self._post(joined) is not None:
                # One of them is refused: the others must not share its fate.
                for frame, body in good:
                    self._deliver_frame(frame, body)
                    self._done(frame.sequence)
            else:
                self.state.delivered_samples += sum(frame.samples for frame, _ in good)
        self._done(through)

    def _done(self, through: int) -> None:
        self._recent.deliver(through)
        self._queue.deliver(through)

    def _deliver_frame(self, frame: Frame, body: bytes) -> None:
        answer = self._post(body)
        if answer is None:
            self.state.delivered_samples += frame.samples
            return
        series = [bytes(content) for number, content in fields(plain(body)) if number == 1]
        dropped = self._deliver_halves(series, answer)
        self.state.delivered_samples += frame.samples - dropped
        self.state.dropped_samples += dropped

    def _deliver_halves(self, series: list[bytes], answer: WriteAnswer) -> int:
        """Deliver those of the series that the engine takes; how many samples it does not take."""
        waiting, left, dropped, reason = [series], _MOST_HALVES, 0, answer.reason
        while waiting:
            some = waiting.pop()
            if left > 0 and (halves := halves_of(some)):
                for half in halves:
                    left -= 1
                    refused = self._post(compressed(b"".join(field(1, one) for one in half)))
                    if refused is not None:
                        waiting.append(half)
                        reason = refused.reason
                continue
            dropped += sum(len(decode_series(memoryview(one)).timestamps) for one in some)
        if dropped:
            log.error("the engine refused samples, which are dropped", samples=dropped, reason=reason)
        return dropped

    def _post(self, body: bytes) -> WriteAnswer | None:
        """The answer where the engine refuses the samples, None where it has them.

        Raises:
            AgainError: the same is to be sent again.
        """
        if self._stopping.is_set():
            raise AgainError("the server is stopping")
        try:
            answer = self._connection.write(body, WRITE_HEADERS)
        except EngineAwayError as error:
            raise AgainError(error.detail) from error
        return answer if is_refused(answer, self._clock()) else None
