"""An application that accepts requests and writes them later, as its counters show it once a second."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.window import Window

from backend.tests.findings.windows import BEFORE, Values, window

LABELS = 'job="app",instance="app-1"'
TICKS = 100
"""Ticks of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A writer that takes the whole buffer each `interval`, or as soon as it is free after that.

    Attributes:
        rate: requests per second.
        speed: rows per second that it can write.
        batch: rows of a statement; 0 is all that was taken, in one.
        drops: one of so many statements is dropped without being counted; 0 is none.
        phase: seconds of an interval that have passed when the load begins.
    """

    rate: int = 1_200
    speed: int = 950
    batch: int = 500
    interval: float = 1.0
    drops: int = 0
    phase: float = 0.0

    def seen(
        self, seconds: int, *, lag: bool = True, queue: bool = True, after: int | None = None, whole_queue: bool = False
    ) -> Window:
        """A run of so many seconds.

        Args:
            seconds: of load.
            lag, queue: whether the application tells them.
            after: seconds after the load that are known; all that the window has by default.
            whole_queue: the queue's length counts what is being written, too.
        """
        series = self._play(seconds, whole_queue=whole_queue)
        wanted = {"ingest_lag_seconds": lag, "ingest_queue_length": queue}
        known = len(next(iter(series.values()))) if after is None else BEFORE + seconds + 1 + after
        cut = {name: np.where(np.arange(len(values)) < known, values, np.nan) for name, values in series.items()}
        named: Mapping[str, Values] = {
            name + "{" + LABELS + (',stat="max"}' if name == "ingest_lag_seconds" else "}"): values
            for name, values in cut.items()
            if wanted.get(name, True)
        }
        return replace(window(named, seconds=seconds), of_run=True)

    def _play(self, seconds: int, *, whole_queue: bool) -> dict[str, FloatArray]:
        count = seconds + 2 * BEFORE + 1
        names = ("ingest_accepted_total", "ingest_stored_total", "ingest_queue_length", "ingest_lag_seconds")
        series = {name: np.full(count, np.nan) for name in names}
        accepted = stored = written = statements = 0
        buffer: list[tuple[float, int]] = []
        taken: list[tuple[float, int]] = []
        busy_until, statement = 0.0, (0.0, 0, 0.0)
        due = self.interval - self.phase
        worst = np.nan
        for tick in range(count * TICKS):
            now = tick / TICKS
            if BEFORE <= now < BEFORE + seconds:
                got = round(self.rate * (now - BEFORE + 1 / TICKS)) - accepted
                accepted += got
                buffer.append((now, got))
            if statement[1] and now >= busy_until:
                statements += 1
                if not (self.drops and statements % self.drops == 0):
                    stored += statement[1]
                    worst = np.fmax(worst, now - statement[0])
                statement = (0.0, 0, 0.0)
            if not statement[1] and not taken and buffer and now - BEFORE >= due:
                taken, buffer = buffer, []
                due += self.interval * max(1, -(-(now - BEFORE - due + 1e-9) // self.interval))
            if not statement[1] and taken:
                size, oldest = 0, taken[0][0]
                while taken and (not self.batch or size < self.batch):
                    at, many = taken[0]
                    use = many if not self.batch else min(many, self.batch - size)
                    size += use
                    taken = taken[1:] if use == many else [(at, many - use), *taken[1:]]
                busy_until = now + size / self.speed
                statement = (oldest, size, busy_until)
            if (tick + 1) % TICKS == 0:
                at = (tick + 1) // TICKS
                if at < count:
                    held = sum(many for _, many in buffer)
                    written = sum(many for _, many in taken) + statement[1]
                    series["ingest_accepted_total"][at] = accepted
                    series["ingest_stored_total"][at] = stored
                    series["ingest_queue_length"][at] = held + (written if whole_queue else 0)
                    series["ingest_lag_seconds"][at] = worst
                    worst = np.nan
        return series
