"""Ends work that is under way in another thread."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from loadwatch_backend.core.errors import UnavailableError


class CancelledError(UnavailableError, code="cancelled", title="Ended before it was done"):
    """Whoever asked has gone, or the server is stopping; nobody waits for the result."""


class ClientGoneError(CancelledError, code="client-gone", status=499):
    """The client closed its connection; the status, which only metrics see, is the one that nginx gives."""


class Cancellation:
    """Asked to end from any thread; the work looks at it between its steps. Ends itself never."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reason = ""
        self._interrupts: list[Callable[[], None]] = []

    @property
    def asked(self) -> bool:
        return bool(self._reason)

    def cancel(self, reason: str) -> None:
        """Ask the work to end; the first reason is kept."""
        with self._lock:
            self._reason = self._reason or reason
            for interrupt in self._interrupts:
                interrupt()

    def check(self) -> None:
        """To be called between steps.

        Raises:
            CancelledError: the work is to end.
        """
        if self._reason:
            raise CancelledError(self._reason)

    @contextmanager
    def interrupting(self, interrupt: Callable[[], None]) -> Generator[None]:
        """Call `interrupt` from the thread that cancels, for a step that looks at nothing itself."""
        with self._lock:
            self.check()
            self._interrupts.append(interrupt)
        try:
            yield
        finally:
            with self._lock:
                self._interrupts.remove(interrupt)
