"""Tasks that the server repeats in the background."""

import threading
from collections.abc import Callable
from typing import Self

import structlog

logger = structlog.get_logger(__name__)

MISTAKES = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, ValueError)
"""Errors of the code, of which the log needs the traceback."""


class Periodic:
    """Calls `tick` on a thread of its own between `start` and `close`; may be started again after that.

    A tick that raises is repeated after `retry_seconds`; the first failure of a series is logged, and the recovery.
    """

    def __init__(
        self,
        name: str,
        tick: Callable[[], float | None],
        seconds: float | None,
        *,
        settle_seconds: float = 0.0,
        retry_seconds: float | None = None,
    ) -> None:
        """A tick may return the pause after it, in the place of `seconds`; with None it is repeated after `wake` only.

        `settle_seconds` pass between a wake and its tick, for what comes in several parts.
        """
        self._name = name
        self._tick = tick
        self._seconds = seconds
        self._settle_seconds = settle_seconds
        self._retry_seconds = seconds if retry_seconds is None else retry_seconds
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, after_seconds: float | None = 0.0) -> None:
        """Begin with a tick after so many seconds (None: when `wake` is called)."""
        if self._thread is None:
            self._closed = threading.Event()
            arguments = (self._closed, after_seconds)
            self._thread = threading.Thread(target=self._run, args=arguments, name=self._name, daemon=True)
            self._thread.start()

    def wake(self) -> None:
        self._wake.set()

    def close(self, timeout_seconds: float | None = None) -> None:
        """End, after a tick that is under way, and wait no longer than `timeout_seconds` for that."""
        self._closed.set()
        self._wake.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(timeout_seconds)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _run(self, closed: threading.Event, pause: float | None) -> None:
        failing = False
        while True:
            self._wake.wait(pause)
            if self._settle_seconds:
                closed.wait(self._settle_seconds)
            if closed.is_set():
                return
            self._wake.clear()
            try:
                wanted = self._tick()
                pause = self._seconds if wanted is None else wanted
                if failing:
                    logger.info("a background task works again", task=self._name)
                failing = False
            except Exception as error:
                pause = self._retry_seconds
                if not failing:
                    logger.warning(
                        "a background task failed; it is tried again",
                        task=self._name,
                        error=type(error).__name__,
                        detail=str(error).partition("\n")[0],
                        exc_info=isinstance(error, MISTAKES),
                    )
                failing = True
