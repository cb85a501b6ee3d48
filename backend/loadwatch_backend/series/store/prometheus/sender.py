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

import cramjam
import structlog

from loadwatch_backend.series.store.prometheus.connection import Connection
from loadwatch_backend.series.store.prometheus.durable_queue import DurableQueue, Frame
from loadwatch_backend.series.store.prometheus.posting import REQUEST_BYTES, AgainError, post, post_halves
from loadwatch_backend.series.store.prometheus.recent import Recent
from loadwatch_backend.series.store.prometheus.settings import RemoteSettings
from loadwatch_backend.series.store.prometheus.wire import compressed, plain

log = structlog.get_logger(__name__)

_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 30.0
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
        upkeep: Callable[[], None],
    ) -> None:
        """`upkeep` is called each second, and less often while the engine is away."""
        self._settings = settings
        self._connection = connection
        self._queue = queue
        self._recent = recent
        self._clock = clock
        self._upkeep = upkeep
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
                self._upkeep()
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
        self.state.delivered_samples += samples
        self.state.dropped_samples += lost
        self._recent.deliver(through)
        self._queue.deliver(through)

    def _post(self, body: bytes) -> str | None:
        if self._stopping.is_set():
            raise AgainError("the server is stopping")
        return post(self._connection, body, self._clock())
