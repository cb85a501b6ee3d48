"""The scheduler: begins every collector's collections at its ticks and gives up those that hang."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import structlog
from loadwatch_formats.metrics.model import MetricInfo

from loadwatch_collectors.collector import Labels, TargetIdentity
from loadwatch_collectors.config import CollectorSettings
from loadwatch_collectors.pipeline.worker import Worker
from loadwatch_collectors.series import SampleRow, Series

_log: Any = structlog.get_logger("loadwatch.runner")

# Joins what the collectors deliver for one tick into one batch.


WINDOW_SECONDS = 0.08
"""How long the first result of a tick waits for the others; it waits less when none is under way."""


class Gatherer:
    """One thread that writes a batch once every collector under way has delivered, or after the window."""

    def __init__(self, write: Callable[[Sequence[SampleRow]], None], window_seconds: float = WINDOW_SECONDS) -> None:
        self._write = write
        self._window = window_seconds
        self._changed = threading.Condition()
        self._rows: list[SampleRow] = []
        self._first = 0.0
        self._under_way = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="gatherer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def expect(self, results: int) -> None:
        """Announce this many results of collectors under way; each arrives by `put`."""
        with self._changed:
            self._under_way += results

    def put(self, rows: Sequence[SampleRow], expected: bool) -> None:
        with self._changed:
            if not self._rows and rows:
                self._first = time.monotonic()
            self._rows += rows
            self._under_way -= expected
            self._changed.notify()

    def close(self) -> None:
        """Write what is there, and end."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._closed:
                    if not self._rows:
                        self._changed.wait()
                        continue
                    left = self._first + self._window - time.monotonic()
                    if self._under_way <= 0 or left <= 0:
                        break
                    self._changed.wait(left)
                rows, self._rows = self._rows, []
                closed = self._closed
            if rows:
                try:
                    self._write(join_rows(rows))
                except Exception:
                    _log.exception("a batch cannot be written; it is lost")
            if closed:
                return


def join_rows(rows: Sequence[SampleRow]) -> list[SampleRow]:
    """The same samples with one row for each time, in rising time."""
    by_time: dict[int, tuple[list[Series], list[float]]] = {}
    for row in rows:
        series, values = by_time.setdefault(row.timestamp_ms, ([], []))
        series.extend(row.series)
        values.extend(row.values)
    return [SampleRow(time_ms, *by_time[time_ms]) for time_ms in sorted(by_time)]


_MAX_SLEEP_SECONDS = 1.0
_CLOCK_JUMP_MS = 2_000


class Runner:
    """Runs collectors until it is told to stop; what they deliver goes to `write`, one batch for each tick."""

    def __init__(
        self,
        collectors: Sequence[CollectorSettings],
        write: Callable[[Sequence[SampleRow]], None],
        wall: Callable[[], float] = time.time,
        identity: Labels = (),
    ) -> None:
        """Nothing is read yet. `identity` names the agent on `collector_agent_info`; without it there is none."""
        self._wall = wall
        self._gatherer = Gatherer(write)
        now_ms = self._now_ms()
        claims: defaultdict[tuple[str, TargetIdentity], dict[Any, Any]] = defaultdict(dict)
        self._workers = [
            Worker(config, self._gatherer.put, now_ms, identity, claims[config.source.name, config.identity])
            for config in collectors
        ]

    def run(self, stop: threading.Event) -> None:
        """Run until `stop` is set, then mark all series stale and write what is left.

        Raises:
            ConfigError: a source's settings cannot work.
        """
        for worker in self._workers:
            worker.start()
        self._gatherer.start()
        offset_ms = self._clock_offset_ms()
        while not stop.is_set():
            now_ms = self._now_ms()
            self._begin_due(now_ms)
            for worker in self._workers:
                worker.enforce_deadline()
            moved_ms = self._clock_offset_ms() - offset_ms
            if abs(moved_ms) >= _CLOCK_JUMP_MS:
                _log.warning("the wall clock jumped; ticks go on at the new time", seconds=moved_ms / 1000)
                offset_ms += moved_ms
            stop.wait(self._sleep_seconds())
        end_ms = self._now_ms()
        for worker in self._workers:
            self._gatherer.put(worker.end(end_ms), expected=False)
        self._gatherer.close()

    def metadata(self) -> list[MetricInfo]:
        return [metric for worker in self._workers for metric in worker.metadata()]

    def _begin_due(self, now_ms: int) -> None:
        due: list[tuple[Worker, int]] = []
        for worker in self._workers:
            tick_ms = worker.schedule.due(now_ms)
            if tick_ms is not None:
                due.append((worker, tick_ms))
        # Announced together, so that the fastest does not close the batch before the others have begun.
        self._gatherer.expect(len(due))
        for worker, tick_ms in due:
            if not worker.begin(tick_ms):
                self._gatherer.put((), expected=True)

    def _sleep_seconds(self) -> float:
        now_ms = self._wall() * 1000
        wake = min((worker.schedule.next_ms - now_ms) / 1000 for worker in self._workers)
        deadlines = [deadline for worker in self._workers if (deadline := worker.deadline()) is not None]
        if deadlines:
            wake = min(wake, min(deadlines) - time.monotonic())
        return min(max(wake, 0.001), _MAX_SLEEP_SECONDS)

    def _now_ms(self) -> int:
        return int(self._wall() * 1000)

    def _clock_offset_ms(self) -> float:
        return (self._wall() - time.monotonic()) * 1000
