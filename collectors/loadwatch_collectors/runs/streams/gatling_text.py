"""Follows Gatling's simulation.log up to 3.12, which is text."""

from collections.abc import Sequence

from loadwatch_formats.gatling import INCOMING, GatlingError, RequestLine, UserEvent, read_line
from loadwatch_formats.outcomes import Outcome

from loadwatch_collectors.runs.streams.event import SORTER, RequestEvent, StreamError, UsersEvent
from loadwatch_collectors.runs.streams.lines import LineBuffer


class GatlingTextReader:
    """Requests and users from a growing text log."""

    def __init__(self) -> None:
        self._lines = LineBuffer()
        self._number = 0
        self._users = 0

    def feed(self, data: bytes) -> Sequence[RequestEvent | UsersEvent]:
        """See StreamReader."""
        events: list[RequestEvent | UsersEvent] = []
        for text in self._lines.cut(data).split("\n")[:-1]:
            self._number += 1
            try:
                line = read_line(text.removesuffix("\r"))
            except GatlingError as error:
                raise StreamError(f"line {self._number} is not one of Gatling's log: {error}") from error
            if isinstance(line, RequestLine):
                start, end, ok, message = line
                if end != INCOMING:
                    outcome = Outcome.OK if ok else SORTER.of_gatling(message)
                    events.append(RequestEvent(start, max(end - start, 0) / 1000, outcome))
            elif isinstance(line, UserEvent):
                self._users += 1 if line.started else -1
                events.append(UsersEvent(line.at, self._users))
        return events
