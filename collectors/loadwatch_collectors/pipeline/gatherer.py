"""Joins what the collectors deliver for one tick into one batch."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import structlog

from loadwatch_collectors.series import SampleRow, Series

_log: Any = structlog.get_logger("loadwatch.gatherer")

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
        """Begin to write."""
        self._thread.start()

    def expect(self, results: int) -> None:
        """So many results are under way; each comes by `put`."""
        with self._changed:
            self._under_way += results

    def put(self, rows: Sequence[SampleRow], *, expected: bool) -> None:
        """Take the result of one collector; `expected` when it was announced."""
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
