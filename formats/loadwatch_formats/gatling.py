"""Gatling's simulation.log, one record at a time; times are in milliseconds.

Text, up to 3.12: tab-separated lines whose first field says what they are, with times since the epoch.

    RUN      class  id  start  description  version
    USER     scenario  START|END  time            (before 3.4: scenario  user  START|END  start  end)
    REQUEST  groups (comma)  name  start  end  OK|KO  message
                                                  (before 3.4: user first; 2.x: scenario and user first)
    GROUP, ERROR message time, ASSERTION

Bytes, since 3.13: integers are big-endian; times are since the start of the run.

    string         int32 length, then bytes and one coder byte (0 latin-1, 1 UTF-16) unless the length is 0
    cached string  int32 index: from 0 on a string follows and gets this index; below 0 it is the string of -index
    0 run          version, class, start int64, description, scenarios (int32 count, strings), assertions (int32 count,
                   each int32 length and bytes)
    1 request      int32 groups, each a cached string; cached name; int32 start, int32 end, byte ok, cached message
    2 user         int32 scenario, byte started, int32 time
    3 group        int32 groups, each cached; int32 start, int32 end, int32 cumulated time, byte ok
    4 error        cached message, int32 time

Sources: DataWriterMessageSerializer of LogFileDataWriter in Gatling 2.3.1 and 3.12.0, LogFileDataWriter and
SecondPassParser of 3.15.1.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

RUN, REQUEST, USER, GROUP, ERROR = range(5)
INCOMING = -(2**63)
"""The end of an incoming event that no request waited for (Long.MinValue)."""
MOST_GROUPS = 255
TEXT_HEADS = (b"RUN\t", b"ASSERTION\t")
LAYOUTS: Mapping[int, tuple[str, ...]] = {
    7: ("kind", "groups", "name", "start", "end", "status", "message"),
    8: ("kind", "user", "groups", "name", "start", "end", "status", "message"),
    9: ("kind", "scenario", "user", "groups", "name", "start", "end", "status", "message"),
    11: ("kind", "scenario", "user", "groups", "name", "start", "sent", "answered", "end", "status", "message"),
}
"""Fields of a REQUEST line by their number: from 3.4, 3.0, 2.3 and 2.0 on."""
_PLACES = {count: (names.index("start"), names.index("end")) for count, names in LAYOUTS.items()}
_LONGEST_STRING = 1 << 20
_MOST_PARTS = 1_000_000
_VERSION = re.compile(rb"\d+\.\d+[\w.+-]*")


class GatlingError(ValueError):
    """No record of Gatling's stands here; the text says why."""


class CutOffError(Exception):
    """The data ends within a record."""


class RunStart(NamedTuple):
    name: str
    version: str


class UserEvent(NamedTuple):
    at: int
    started: bool


class StrayError(NamedTuple):
    """An error outside of requests, such as an attribute that a session lacks."""

    message: str


class RequestLine(NamedTuple):
    """A request of a text log; `end` is INCOMING for an event that no request waited for."""

    start: int
    end: int
    ok: bool
    message: str


class RequestRecord(NamedTuple):
    """A request of a binary log: groups and name, and the message, as numbers of strings.

    `end` is the log's `sentinel` for an event that no request waited for.
    """

    path: tuple[int, ...]
    start: int
    end: int
    ok: bool
    message: int


def is_binary(head: bytes) -> bool:
    """Whether a log is binary: its RUN record begins with a zero byte, then the version."""
    length = int.from_bytes(head[1:5], "big")
    return len(head) >= 10 and head[0] == RUN and 3 <= length <= 40 and bool(_VERSION.fullmatch(head[5 : 5 + length]))


def read_line(line: str) -> RunStart | UserEvent | StrayError | RequestLine | None:
    """What a line of a text log tells; None for other kinds of lines.

    Raises:
        GatlingError: a line of a kind that counts is damaged.
    """
    fields = line.split("\t")
    kind = fields[0]
    if kind == "REQUEST" and fields[-1] in ("OK", "KO"):
        fields.append("")  # Editors and git strip the empty message from the end of a line.
    if kind == "REQUEST" and (places := _PLACES.get(len(fields))) is not None:
        start, end = places
        status = fields[-2]
        if status in ("OK", "KO"):
            return RequestLine(_number(fields[start]), _number(fields[end]), status == "OK", fields[-1])
    elif kind == "USER":
        for place in (2, 3):
            if len(fields) > place + 1 and fields[place] in ("START", "END"):
                started = fields[place] == "START"
                at = fields[place + 1] if started else fields[-1]
                if at.isascii() and at.isdigit() and len(at) < 15:
                    return UserEvent(int(at), started)
    elif kind == "ERROR" and len(fields) >= 3:
        return StrayError(fields[1])
    elif kind == "RUN" and len(fields) >= 5:
        return RunStart(_title(fields[1], fields[4]), fields[5] if len(fields) > 5 else "")
    if kind in ("REQUEST", "USER", "ERROR", "RUN"):
        raise GatlingError(f"this is no line {kind} of Gatling's")
    return None


class GatlingRecords:
    """Reads the records of one binary log in their order.

    `strings` are those that came, by their numbers from 1 on; `end` is the place behind the record that was read last.
    """

    def __init__(self) -> None:
        self.strings: list[str] = [""]
        self.start_ms = 0
        self.sentinel = 0
        self.end = 0
        self._begun = False
        self._data = b""

    def read(self, data: bytes, at: int) -> RunStart | UserEvent | StrayError | RequestRecord | None:
        """The record at an offset; None for a group's.

        Raises:
            GatlingError: none stands there.
            CutOffError: it goes on in bytes that are not here; it may be read again with them.
        """
        known = len(self.strings)
        self._data, self.end = data, at
        try:
            return self._record(self._byte())
        except (GatlingError, CutOffError):
            del self.strings[known:]
            raise

    def _record(self, kind: int) -> RunStart | UserEvent | StrayError | RequestRecord | None:
        if (kind == RUN) == self._begun or kind > ERROR:
            raise GatlingError(f"{kind} is no kind of record here")
        if kind == RUN:
            return self._run()
        if kind == USER:
            self._int()
            started = self._flag()
            return UserEvent(self._int(), started)
        if kind == ERROR:
            message = self.strings[self._cached()]
            self._int()
            return StrayError(message)
        path = tuple([self._cached() for _ in range(self._count(MOST_GROUPS) + (kind == REQUEST))])
        start, end = self._int(), self._int()
        if kind == GROUP:
            self._int()
            self._flag()
            return None
        return RequestRecord(path, start, end, self._flag(), self._cached())

    def _run(self) -> RunStart:
        version, name = self._string(), self._string()
        start_ms = int.from_bytes(self._take(8), "big", signed=True)
        description = self._string()
        for _ in range(self._count(_MOST_PARTS)):
            self._string()
        for _ in range(self._count(_MOST_PARTS)):
            self._take(self._count(_LONGEST_STRING))
        self.start_ms, self._begun = start_ms, True
        # The writer keeps the lower 32 bits of Long.MinValue - start.
        self.sentinel = (-start_ms + 2**31) % 2**32 - 2**31
        return RunStart(_title(name, description), version)

    def _take(self, count: int) -> bytes:
        at, self.end = self.end, self.end + count
        if self.end > len(self._data):
            raise CutOffError
        return self._data[at : self.end]

    def _byte(self) -> int:
        return self._take(1)[0]

    def _flag(self) -> bool:
        value = self._byte()
        if value > 1:
            raise GatlingError(f"{value} is neither yes nor no")
        return value == 1

    def _int(self) -> int:
        return int.from_bytes(self._take(4), "big", signed=True)

    def _count(self, most: int) -> int:
        value = self._int()
        if not 0 <= value <= most:
            raise GatlingError(f"{value} cannot be a length")
        return value

    def _string(self) -> str:
        length = self._count(_LONGEST_STRING)
        if not length:
            return ""
        data = self._take(length)
        return decode(data, wide=self._flag())

    def _cached(self) -> int:
        index = self._int()
        if -len(self.strings) < index < 0:
            return -index
        # The writer numbers them in order.
        if index != len(self.strings):
            raise GatlingError(f"{index} is no number of a string here")
        self.strings.append(self._string())
        return index


def decode(data: bytes, *, wide: bool) -> str:
    """Text as a JVM holds it: latin-1, or UTF-16 in the order of the machine, which is little-endian nearly everywhere.

    Big-endian is believed where only that order gives ASCII characters.
    """
    if not wide:
        return data.decode("latin-1")
    little, big = data.decode("utf-16-le", "replace"), data.decode("utf-16-be", "replace")
    return big if _ascii(big) > _ascii(little) else little


def _ascii(text: str) -> int:
    return sum(" " <= character <= "~" for character in text)


def _title(name: str, description: str) -> str:
    short, description = name.rpartition(".")[2], description.strip()
    return f"{short}: {description}" if description else short


def _number(text: str) -> int:
    if text.isascii() and len(text) <= 20 and text.removeprefix("-").isdigit():
        number = int(text)
        if INCOMING <= number < -INCOMING:
            return number
    raise GatlingError(f"{text[:20]!r} is no time")
