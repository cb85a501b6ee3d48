"""Follows Gatling's simulation.log up to 3.12, which is text."""

import csv
from collections.abc import Iterator, Sequence

from loadwatch_formats.gatling import INCOMING, GatlingError, RequestLine, UserEvent, read_line
from loadwatch_formats.outcomes import Outcome

from loadwatch_collectors.runs.streams.gatling_binary import SORTER, RequestEvent, StreamError, UsersEvent

MAX_LINE_BYTES = 16 * 1024 * 1024


class LineBuffer:
    """Bytes up to the last line break; the rest waits. With `quoted`, a break inside double quotes is none."""

    def __init__(self, *, quoted: bool = False) -> None:
        self._rest = b""
        self._quoted = quoted

    def cut(self, data: bytes) -> str:
        """Whole lines as text, empty while there is none.

        Raises:
            StreamError: a line is longer than MAX_LINE_BYTES; this is no text.
        """
        whole = self._rest + data
        end = whole.rfind(b"\n") + 1
        while self._quoted and end and whole.count(b'"', 0, end) % 2:
            end = whole.rfind(b"\n", 0, end - 1) + 1
        self._rest = whole[end:]
        if len(self._rest) > MAX_LINE_BYTES:
            raise StreamError(f"a line is longer than {MAX_LINE_BYTES} bytes")
        return whole[:end].decode("utf-8", "replace")


class RowBuffer:
    """Rows of a CSV as they become whole."""

    def __init__(self, delimiter: str = ",") -> None:
        self._lines = LineBuffer(quoted=True)
        self._delimiter = delimiter

    def rows(self, data: bytes) -> Iterator[list[str]]:
        """The rows that became whole; empty lines are left out."""
        text = self._lines.cut(data)
        if not text:
            return iter(())
        return (row for row in csv.reader(text.splitlines(keepends=True), delimiter=self._delimiter) if row)


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
