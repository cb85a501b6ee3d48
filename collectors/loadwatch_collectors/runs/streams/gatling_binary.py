"""Gatling's simulation.log since 3.13 (io.gatling.core.stats.writer, LogFileDataWriter): big-endian binary records.

The layout is in the comments of each `_read_*`; strings are Java's: length, bytes, then a byte that tells latin-1 (0)
or UTF-16 in the machine's order (1), which is little-endian wherever Gatling is run today.
"""

from collections.abc import Sequence

from loadwatch_formats.outcomes import Outcome

from loadwatch_collectors.runs.streams.event import SORTER, RequestEvent, StreamError, UsersEvent

_RUN, _REQUEST, _USER, _GROUP, _ERROR = range(5)
_MAX_STRING = 1_000_000
HEAD = b"\x00"


class _Incomplete(Exception):
    """The record goes on in bytes that are not there yet."""


class GatlingBinaryReader:
    """Requests and users from a growing binary log."""

    def __init__(self) -> None:
        self._data = b""
        self._offset = 0
        self._done = 0
        self._start_ms = -1
        self._names: dict[int, str] = {}
        self._new_names: dict[int, str] = {}
        self._users = 0

    def feed(self, data: bytes) -> Sequence[RequestEvent | UsersEvent]:
        """See StreamReader."""
        self._data = self._data[self._offset :] + data
        self._offset = 0
        events: list[RequestEvent | UsersEvent] = []
        while self._offset < len(self._data):
            begin = self._offset
            try:
                event = self._read_record()
            except _Incomplete:
                self._offset = begin
                self._new_names.clear()
                break
            self._names |= self._new_names
            self._new_names.clear()
            self._done += self._offset - begin
            if event is not None:
                events.append(event)
        return events

    def _read_record(self) -> RequestEvent | UsersEvent | None:
        kind = self._byte()
        if kind == _RUN and self._start_ms < 0:
            return self._read_run()
        if self._start_ms < 0 or kind not in (_REQUEST, _USER, _GROUP, _ERROR):
            raise StreamError(f"byte {self._done}: {kind} is no kind of Gatling's records (3.13 and later)")
        if kind == _REQUEST:
            return self._read_request()
        if kind == _USER:
            # int scenario index, byte begins, int offset
            self._int()
            change = 1 if self._byte() else -1
            offset = self._int()
            self._users += change
            return UsersEvent(self._start_ms + offset, self._users)
        if kind == _GROUP:
            # int n + n cached names, int start, int end, int cumulated, byte ok
            for _ in range(self._count()):
                self._cached()
            self._take(13)
            return None
        self._cached()
        self._int()
        return None

    def _read_run(self) -> None:
        # string version, string class, long start, string description, int n + n scenarios, int m + m assertions
        self._string()
        self._string()
        start = int.from_bytes(self._take(8), "big")
        self._string()
        for _ in range(self._count()):
            self._string()
        for _ in range(self._count()):
            self._take(self._count())
        self._start_ms = start

    def _read_request(self) -> RequestEvent:
        # int n + n cached groups, cached name, int start, int end, byte ok, cached message
        for _ in range(self._count()):
            self._cached()
        self._cached()
        start, end = self._int(), self._int()
        ok = self._byte()
        message = self._cached()
        outcome = Outcome.OK if ok else SORTER.of_gatling(message)
        return RequestEvent(self._start_ms + start, max(end - start, 0) / 1000, outcome)

    def _take(self, count: int) -> bytes:
        end = self._offset + count
        if end > len(self._data):
            raise _Incomplete
        part = self._data[self._offset : end]
        self._offset = end
        return part

    def _byte(self) -> int:
        return self._take(1)[0]

    def _int(self) -> int:
        return int.from_bytes(self._take(4), "big", signed=True)

    def _count(self) -> int:
        count = self._int()
        if not 0 <= count <= _MAX_STRING:
            raise StreamError(f"byte {self._done}: {count} cannot be a length; this is no log of Gatling 3.13 or later")
        return count

    def _string(self) -> str:
        length = self._count()
        if not length:
            return ""
        raw = self._take(length)
        return raw.decode("utf-16-le" if self._byte() else "latin-1", "replace")

    def _cached(self) -> str:
        index = self._int()
        if index < 0:
            return self._names.get(-index) or self._new_names.get(-index, "")
        text = self._string()
        self._new_names[index] = text
        return text
