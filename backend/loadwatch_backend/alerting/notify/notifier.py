"""What runs on the server that leads: groups that come due, deliveries, news of runs."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from loadwatch_backend.alerting.notify.model import Envelope, Notice
from loadwatch_backend.alerting.notify.outbox.outbox import Outbox
from loadwatch_backend.alerting.notify.outbox.worker import Workers
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.periodic import Periodic

LONGEST_SECONDS = 1.0
"""How late what another server wrote may be seen."""
LEAST_SECONDS = 0.005
NEWS_SECONDS = 2.0


class News(Protocol):
    def latest(self) -> Sequence[Notice]:
        """The notices to send now; the same again does no harm."""
        ...

    def delivered(self, notice: Notice) -> None: ...


class DispatchPort(Protocol):
    def flush(self, now_ms: int) -> int | None:
        """Write the deliveries of groups that are due; the milliseconds until the next one is."""
        ...

    def notices(self, notice: Notice) -> list[Envelope]: ...


class Notifier:
    """Start and stop as the lead comes and goes; everything else at any time."""

    def __init__(
        self,
        *,
        relational: Relational,
        dispatcher: DispatchPort,
        outbox: Outbox,
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
        self._flushing = Periodic("notify-flush", self._flush, LONGEST_SECONDS)
        self._announcing = Periodic("notify-news", self._announce_latest, NEWS_SECONDS)

    def lead(self, leads: bool) -> None:
        """A listener for `store.leadership.Leadership`: returns at once."""
        self._wanted = leads
        threading.Thread(target=self._follow, name="notify-lead", daemon=True).start()

    def _follow(self) -> None:
        with self._turn:
            if self._wanted:
                self._start()
            else:
                self._stop()

    def start(self) -> None:
        self._wanted = True
        self._follow()

    def stop(self) -> None:
        """End, after attempts under way (a few seconds at most)."""
        self._wanted = False
        self._follow()

    def wake(self) -> None:
        """Flush and send at once; called after alerts or deliveries were written and committed."""
        self._flushing.wake()
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
        self.workers.start()
        self._flushing.start()
        self._announcing.start()

    def _stop(self) -> None:
        self._flushing.close()
        self._announcing.close()
        self.workers.stop()

    def _flush(self) -> float:
        written = self._relational.written
        left_ms = self._dispatcher.flush(self._clock())
        if written is None or written != self._relational.written:
            self.workers.wake()
        pause = LONGEST_SECONDS if left_ms is None else min(LONGEST_SECONDS, left_ms / 1_000)
        return max(pause, LEAST_SECONDS)

    def _announce_latest(self) -> None:
        for notice in self._news.latest():
            self.announce(notice)
            self._news.delivered(notice)
