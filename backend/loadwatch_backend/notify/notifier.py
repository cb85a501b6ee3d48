"""What runs on the server that leads: groups that come due, deliveries, news of runs."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import structlog

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.notify.contract import Envelope, OutboxPort
from loadwatch_backend.notify.model import Notice
from loadwatch_backend.notify.outbox.worker import Workers
from loadwatch_backend.store.relational import Relational

logger = structlog.get_logger(__name__)

LONGEST_SECONDS = 1.0
"""How late what another server wrote may be seen."""
LEAST_SECONDS = 0.005
NEWS_SECONDS = 2.0


class News(Protocol):
    """Where news of runs come from."""

    def latest(self) -> Sequence[Notice]:
        """What is to be told at present; the same again does no harm."""
        ...

    def told(self, notice: Notice) -> None:
        """It was told."""
        ...


class DispatchPort(Protocol):
    """What the notifier needs of the dispatcher."""

    def flush(self, now_ms: int) -> int | None:
        """Write the deliveries of groups that are due; the milliseconds until the next one is."""
        ...

    def notices(self, notice: Notice) -> list[Envelope]:
        """The messages that tell of a run."""
        ...


class Notifier:
    """Start and stop as the lead comes and goes; everything else at any time."""

    def __init__(
        self,
        *,
        relational: Relational,
        dispatcher: DispatchPort,
        outbox: OutboxPort,
        workers: Workers,
        clock: Clock,
        news: News,
    ) -> None:
        self.workers = workers
        self._relational = relational
        self._dispatcher = dispatcher
        self._outbox = outbox
        self._clock = clock
        self._news = news
        self._turn = threading.Lock()
        self._wanted = False
        self._running: _Running | None = None
        self._changing: threading.Thread | None = None

    def lead(self, leads: bool) -> None:
        """A listener for `store.leadership.Leadership`: returns at once."""
        self._wanted = leads
        self._changing = threading.Thread(target=self._follow, name="notify-lead", daemon=True)
        self._changing.start()

    def _follow(self) -> None:
        with self._turn:
            if self._wanted:
                self._start()
            else:
                self._stop()

    def start(self) -> None:
        """Begin to flush and to send."""
        self._wanted = True
        self._follow()

    def stop(self) -> None:
        """End, after attempts under way (a few seconds at most)."""
        self._wanted = False
        self._follow()

    def wake(self) -> None:
        """Alerts were taken or deliveries written, and that is committed."""
        running = self._running
        if running is not None:
            running.wake.set()
        self.workers.wake()

    def announce(self, notice: Notice) -> None:
        """Tell of a run; the same notice again is not sent again."""
        envelopes = [
            envelope if envelope.key else replace(envelope, key=notice.key)
            for envelope in self._dispatcher.notices(notice)
        ]
        if envelopes:
            with self._relational.transaction() as session:
                self._outbox.put_all(session, envelopes)
            self.wake()

    # Threads ----------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._running is not None:
            return
        running = _Running()
        running.threads = [
            threading.Thread(target=self._flush_until, args=(running,), name="notify-flush", daemon=True),
            threading.Thread(target=self._tell_until, args=(running,), name="notify-news", daemon=True),
        ]
        self._running = running
        self.workers.start()
        for thread in running.threads:
            thread.start()

    def _stop(self) -> None:
        running, self._running = self._running, None
        if running is None:
            return
        running.stopping.set()
        running.wake.set()
        for thread in running.threads:
            thread.join()
        self.workers.stop()

    def _flush_until(self, running: "_Running") -> None:
        broken = False
        while not running.stopping.is_set():
            running.wake.clear()
            pause = LONGEST_SECONDS
            try:
                left_ms = self._dispatcher.flush(self._clock())
                self.workers.wake()
                pause = LONGEST_SECONDS if left_ms is None else min(LONGEST_SECONDS, left_ms / 1_000)
                broken = False
            except Exception as error:
                if not broken:
                    logger.warning("groups cannot be looked at", error=type(error).__name__, detail=str(error))
                broken = True
            running.wake.wait(max(pause, LEAST_SECONDS))

    def _tell_until(self, running: "_Running") -> None:
        broken = False
        while not running.stopping.is_set():
            try:
                for notice in self._news.latest():
                    self.announce(notice)
                    self._news.told(notice)
                broken = False
            except Exception as error:
                if not broken:
                    logger.warning("news of runs cannot be told", error=type(error).__name__, detail=str(error))
                broken = True
            running.stopping.wait(NEWS_SECONDS)


class _Running:
    """The threads of one time of leading."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.wake = threading.Event()
        self.threads: list[threading.Thread] = []
