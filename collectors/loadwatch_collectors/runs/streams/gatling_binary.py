"""Follows Gatling's simulation.log since 3.13, which is binary.

These readers serve the live view only: the server's importers read the finished file again and have the last word.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from loadwatch_formats.gatling import CutOffError, GatlingError, GatlingRecords, RequestRecord, UserEvent
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


class GatlingBinaryReader:
    """Requests and users from a growing binary log."""

    def __init__(self) -> None:
        self._log = GatlingRecords()
        self._rest = b""
        self._done = 0
        self._users = 0

    def feed(self, data: bytes) -> Sequence[RequestEvent | UsersEvent]:
        """See StreamReader."""
        log, data = self._log, self._rest + data
        events: list[RequestEvent | UsersEvent] = []
        at = 0
        while at < len(data):
            try:
                record = log.read(data, at)
            except CutOffError:
                break
            except GatlingError as error:
                raise StreamError(
                    f"byte {self._done + at}: {error}; this is no log of Gatling 3.13 or later"
                ) from error
            at = log.end
            if isinstance(record, RequestRecord):
                if record.end != log.sentinel:
                    outcome = Outcome.OK if record.ok else SORTER.of_gatling(log.strings[record.message])
                    seconds = max(record.end - record.start, 0) / 1000
                    events.append(RequestEvent(log.start_ms + record.start, seconds, outcome))
            elif isinstance(record, UserEvent):
                self._users += 1 if record.started else -1
                events.append(UsersEvent(log.start_ms + record.at, self._users))
        self._rest = data[at:]
        self._done += at
        return events
