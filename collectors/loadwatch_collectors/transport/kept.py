"""What sources keep open between readings: closed for good from any thread, and dialled anew once where it was lost."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from loadwatch_collectors.errors import CollectorError

_T = TypeVar("_T")


class KeptConnection(ABC):
    """A connection that one thread uses at a time, and any thread may close."""

    def __init__(self, closed: str) -> None:
        """`closed` is the error text of a use after `close`."""
        self._closed_text = closed
        self._lock = threading.Lock()
        self._running = False
        self._closed = threading.Event()

    def close(self) -> None:
        """End it for good; a use under way in another thread ends with an error."""
        with self._lock:
            if self._closed.is_set():
                return
            self._closed.set()
            if self._running:
                self._wake()
            else:
                self._end()

    @contextmanager
    def _use(self) -> Generator[None]:
        """Only the thread that is within may take the connection apart."""
        with self._lock:
            if self._closed.is_set():
                raise CollectorError(self._closed_text)
            self._running = True
        try:
            yield
        finally:
            with self._lock:
                self._running = False
                if self._closed.is_set():
                    self._end()

    @abstractmethod
    def _wake(self) -> None:
        """Let the use under way fail soon."""

    @abstractmethod
    def _end(self) -> None: ...


class KeptSession(KeptConnection):
    def run(self, work: Callable[[], _T]) -> _T:
        """Call `work`, which may `query` as often as it likes within one deadline; connects first if need be.

        A session that turns out to be dead (the server was restarted, or closed it as idle) is opened anew once.

        Raises:
            CollectorError: no connection, no answer in time, or an error of the server.
        """
        with self._use():
            kept = self._is_open
            while True:
                try:
                    return self._attempt(work)
                except self._errors as error:
                    if not kept or self._is_open or self._is_late:
                        raise self._describe(error) from error
                    kept = False

    @property
    @abstractmethod
    def _errors(self) -> type[Exception]: ...

    @property
    @abstractmethod
    def _is_open(self) -> bool: ...

    @property
    @abstractmethod
    def _is_late(self) -> bool: ...

    @abstractmethod
    def _attempt(self, work: Callable[[], _T]) -> _T: ...

    @abstractmethod
    def _describe(self, error: Exception) -> CollectorError: ...
