"""Joins what the collectors deliver for one tick into one batch."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import structlog

from loadwatch_collectors.series import Block, Series

_log: Any = structlog.get_logger("loadwatch.gatherer")

WINDOW_SECONDS = 0.08
"""How long the first result of a tick waits for the others; it waits less when none is under way."""


class Gatherer:
    """One thread that writes a batch once every collector under way has delivered, or after the window."""

    def __init__(self, write: Callable[[Sequence[Block]], None], window_seconds: float = WINDOW_SECONDS) -> None:
        self._write = write
        self._window = window_seconds
        self._changed = threading.Condition()
        self._blocks: list[Block] = []
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

    def put(self, blocks: Sequence[Block], *, expected: bool) -> None:
        """Take the result of one collector; `expected` when it was announced."""
        with self._changed:
            if not self._blocks and blocks:
                self._first = time.monotonic()
            self._blocks += blocks
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
                    if not self._blocks:
                        self._changed.wait()
                        continue
                    left = self._first + self._window - time.monotonic()
                    if self._under_way <= 0 or left <= 0:
                        break
                    self._changed.wait(left)
                blocks, self._blocks = self._blocks, []
                closed = self._closed
            if blocks:
                try:
                    self._write(join_blocks(blocks))
                except Exception:
                    _log.exception("a batch cannot be written; it is lost")
            if closed:
                return


def join_blocks(blocks: Sequence[Block]) -> list[Block]:
    """The same samples with one block for each time, in rising time."""
    by_time: dict[int, tuple[list[Series], list[float]]] = {}
    for block in blocks:
        rows = by_time.setdefault(block.timestamp_ms, ([], []))
        rows[0].extend(block.series)
        rows[1].extend(block.values)
    return [Block(time_ms, *by_time[time_ms]) for time_ms in sorted(by_time)]
