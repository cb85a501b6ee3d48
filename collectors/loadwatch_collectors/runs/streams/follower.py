"""Follows a result that is being written, and turns it into samples and figures."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from loadwatch_collectors.runs.streams.event import StreamError
from loadwatch_collectors.runs.streams.live_seconds import LiveFigures, LiveSeconds
from loadwatch_collectors.runs.streams.registry import AnyReader
from loadwatch_collectors.series import SampleRow

_CHUNK = 256 * 1024
_MOST_PER_STEP = 16 * 1024 * 1024
_BACKLOG = 256 * 1024 * 1024


class Follower:
    """Reads the growth of one file at each step. Used by one thread at a time.

    A file that is replaced or cut short is no longer followed, and neither is one that grows much faster than it can
    be read: the view stops, the load generator keeps its CPU, and the import at the end has everything.
    """

    def __init__(self, seconds: LiveSeconds, find: Callable[[], Path | None]) -> None:
        self.problem = ""
        self._seconds = seconds
        self._find = find
        self._reader = AnyReader()
        self._file: BinaryIO | None = None
        self._read = 0

    @property
    def format(self) -> str | None:
        """Name of the result's format once it is known."""
        return self._reader.format

    def step(self, now_ms: int) -> Sequence[SampleRow]:
        """Read what is new; the samples that it makes."""
        self._advance(_MOST_PER_STEP)
        return self._seconds.publish(now_ms)

    def figures(self, now_ms: int) -> LiveFigures | None:
        """What is known so far; None while nothing is."""
        return self._seconds.figures(now_ms) if self._seconds.requests else None

    def finish(self) -> Sequence[SampleRow]:
        """Read the rest; the samples up to the end."""
        self._advance(_BACKLOG)
        if self._file is not None:
            self._file.close()
            self._file = None
        return self._seconds.finish()

    def _advance(self, most: int) -> None:
        if self.problem:
            return
        try:
            if self._file is None:
                path = self._find()
                if path is None:
                    return
                self._file = path.open("rb")
            size = self._file.seek(0, 2)
            self._file.seek(self._read)
            if size < self._read:
                self.problem = "the result file was cut short or written anew"
            elif size - self._read > _BACKLOG:
                self.problem = "the result grows faster than it can be followed"
            end = min(size, self._read + most)
            while self._read < end and not self.problem:
                data = self._file.read(min(_CHUNK, end - self._read))
                if not data:
                    break
                self._read += len(data)
                self._seconds.add(self._reader.feed(data))
        except OSError as error:
            self.problem = f"the result file cannot be read: {error.strerror or error}"
        except StreamError as error:
            self.problem = str(error)
        except (ArithmeticError, LookupError, ValueError, TypeError) as error:
            # Damage that the format's reader did not foresee ends the view, never the run that is watched.
            self.problem = f"the result is damaged about byte {self._read} ({type(error).__name__}: {error})"
