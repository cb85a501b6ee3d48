"""Gatling's simulation.log as text, up to 3.12: tab separated `RUN`, `USER`, `REQUEST`, `GROUP`, `ERROR`."""

from collections.abc import Sequence

from loadwatch_formats.outcomes import Outcome

from loadwatch_collectors.runs.streams.event import SORTER, RequestEvent, StreamError, UsersEvent
from loadwatch_collectors.runs.streams.lines import LineBuffer

HEADS = (b"RUN\t", b"ASSERTION\t")


class GatlingTextReader:
    """Requests and users from a growing text log of Gatling 3."""

    def __init__(self) -> None:
        self._lines = LineBuffer()
        self._number = 0
        self._users = 0

    def feed(self, data: bytes) -> Sequence[RequestEvent | UsersEvent]:
        """See StreamReader."""
        events: list[RequestEvent | UsersEvent] = []
        for line in self._lines.cut(data).split("\n"):
            self._number += 1
            fields = line.split("\t")
            try:
                if fields[0] == "REQUEST":
                    start, end = int(fields[3]), int(fields[4])
                    outcome = (
                        Outcome.OK if fields[5] == "OK" else SORTER.of_gatling(fields[6] if len(fields) > 6 else "")
                    )
                    events.append(RequestEvent(start, max(end - start, 0) / 1000, outcome))
                elif fields[0] == "USER":
                    self._users += 1 if fields[2] == "START" else -1
                    events.append(UsersEvent(int(fields[3]), self._users))
            except (ValueError, IndexError) as error:
                raise StreamError(f"line {self._number} is not one of Gatling 3's log: {error}") from error
        return events
