"""What the readers of growing results hand over, and what a reader is.

These readers serve the live view only: the server's importers read the finished file again and have the last word.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from loadwatch_formats.outcomes import Outcome, Sorter

SORTER = Sorter(lambda pattern: re.compile(pattern, re.ASCII))
"""ASCII, as in the server's engine."""

UNKNOWN = -1
"""As a number of bytes: the tool does not tell."""


class RequestEvent(NamedTuple):
    """One finished request; `start_ms` since the epoch, `latency` in seconds."""

    start_ms: int
    latency: float
    outcome: Outcome
    bytes_in: int = UNKNOWN
    bytes_out: int = UNKNOWN


class SecondEvent(NamedTuple):
    """Totals that a tool gives about itself, at an instant; counts are since the start of the run.

    `quantiles` are (quantile, seconds) as the tool sees them.
    """

    at_ms: int
    requests: int
    failures: int
    users: float | None
    quantiles: tuple[tuple[float, float], ...]


class UsersEvent(NamedTuple):
    """Active users from this instant on."""

    at_ms: int
    users: int


Event = RequestEvent | SecondEvent | UsersEvent


class StreamError(ValueError):
    """The stream cannot be read further; the text says where and why."""


class StreamReader(Protocol):
    """Reads one result from its first byte on, in pieces of any size."""

    def feed(self, data: bytes) -> Sequence[Event]:
        """What became complete with these bytes.

        Raises:
            StreamError: what comes cannot be read; the reader is done.
        """
        ...
