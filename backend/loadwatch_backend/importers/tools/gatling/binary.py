"""Gatling's simulation.log as bytes, since 3.13. Integers are big-endian; times are ms since the start of the run.

    string         int32 length, then bytes and one coder byte (0 latin-1, 1 UTF-16) unless the length is 0
    cached string  int32 index: from 0 on a string follows and gets this index; below 0 it is the string of -index
    0 run          version, class, start int64, description, scenarios (int32 count, strings), assertions (int32 count,
                   each int32 length and bytes)
    1 request      int32 groups, each a cached string; cached name; int32 start, int32 end, byte ok, cached message
    2 user         int32 scenario, byte started, int32 time
    3 group        int32 groups, each cached; int32 start, int32 end, int32 cumulated time, byte ok
    4 error        cached message, int32 time

Once all names have come, records have fixed sizes for their number of groups. So a bare loop finds where records begin
as if that was so, and whole arrays are checked and read at once; only records that bring a new string are read one by
one. Source: LogFileDataWriter and SecondPassParser of Gatling 3.15.1.
"""

import re
import struct
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from loadwatch_backend.importers.importer import Importer, Part
from loadwatch_backend.importers.reading.chunks import read_up_to
from loadwatch_backend.importers.sink import Batch, Labels, Sink, ns_of_ms
from loadwatch_backend.importers.tools.gatling.requests import Extras, endings
from loadwatch_backend.importers.tools.gatling.strings import Strings, decode
from loadwatch_backend.records.contract import ImportOptions
from loadwatch_backend.records.model import IntArray

_RUN, _REQUEST, _USER, _GROUP, _ERROR = range(5)
_REQUEST_SIZE, _USER_SIZE, _GROUP_SIZE, _ERROR_SIZE = 22, 10, 18, 9
_CHUNK = 4 << 20
_LONGEST_RECORD = 1_100
"""Of records without new strings: 255 groups."""
_LONGEST_STRING = 1 << 20
_MOST_GROUPS = 255
_FEWEST, _MOST = 64, 65_536
"""Records of one step: few after a step that met a new string, more after each that did not."""
_INT = struct.Struct(">i")
_LONG = struct.Struct(">q")
_VERSION = re.compile(rb"\d+\.\d+[\w.+-]*")
_NOT_HERE = "No record of Gatling begins here; what comes after cannot be read."
_CUT_OFF = "The log ends within a record: the run was killed, or the file is cut off."

Bools = npt.NDArray[np.bool_]


class _CutOffError(Exception):
    """The data ends within a record."""


class _DamagedError(Exception):
    """This can be no record."""


def recognise(head: bytes, filename: str) -> int:
    """By the record of the run: zero, then a version."""
    del filename
    if head[:1] != b"\0" or len(head) < 10:
        return 0
    length = _INT.unpack_from(head, 1)[0]
    return 95 if 3 <= length <= 40 and _VERSION.fullmatch(head[5 : 5 + length]) else 0


def read(parts: Sequence[Part], sink: Sink, options: ImportOptions) -> None:
    """Reads every part; several are the logs of several injectors."""
    del options
    extras = Extras()
    for part in parts:
        with part.open() as stream:
            _Log(stream, sink, extras).read()
    extras.finish(sink)


class _Log:
    """One log, read from front to back."""

    def __init__(self, stream: BinaryIO, sink: Sink, extras: Extras) -> None:
        self._stream = stream
        self._sink = sink
        self._extras = extras
        self._data = b""
        self._offset = 0
        self._ended = False
        self._start_ms = 0
        self._sentinel = 0
        self._names = Strings()
        self._slow: list[tuple[int, int, int, bool, int]] = []
        self._slow_users: list[tuple[int, bool]] = []

    def read(self) -> None:
        """Everything that is whole; a place from which nothing can be understood ends it."""
        at, window = self._fill(0), _FEWEST
        while at < len(self._data):
            try:
                begins = self._find(at, window) if self._offset + at else []
                good = self._check(begins)
                if good:
                    self._take(np.array(begins[:good], dtype=np.int64))
                    at = _after(self._data, begins[good - 1])
                if good < window:
                    at = self._read_one(at)
                window = min(4 * window, _MOST) if good == window else max(window // 4, _FEWEST)
            except _CutOffError:
                if self._ended:
                    self._damage(at, _CUT_OFF)
                    break
                at = self._fill(at)
                continue
            except _DamagedError:
                self._damage(at, _NOT_HERE)
                break
            if len(self._data) - at < _LONGEST_RECORD and not self._ended:
                at = self._fill(at)
        self._flush()

    def _fill(self, at: int) -> int:
        """Reads more behind what begins at `at`, which becomes the beginning."""
        more = read_up_to(self._stream, _CHUNK)
        self._ended = len(more) < _CHUNK
        self._offset += at
        self._data = self._data[at:] + more
        return 0

    def _damage(self, at: int, text: str) -> None:
        self._sink.damage(text, place=f"byte {self._offset + at}", figures={"skipped_bytes": self._rest(at)})

    def _rest(self, at: int) -> int:
        count = len(self._data) - at
        while more := self._stream.read(_CHUNK):
            count += len(more)
        return count

    def _find(self, at: int, most: int) -> list[int]:
        """Where records begin, as far as none of them brings a new string; the one loop over all records."""
        data = self._data
        end = len(data) - _LONGEST_RECORD
        begins: list[int] = []
        append = begins.append
        while at < end and most:
            kind = data[at]
            if kind == _REQUEST:
                append(at)
                at += _REQUEST_SIZE + 4 * data[at + 4]
            elif kind == _USER:
                append(at)
                at += _USER_SIZE
            elif kind == _GROUP:
                append(at)
                at += _GROUP_SIZE + 4 * data[at + 4]
            elif kind == _ERROR:
                append(at)
                at += _ERROR_SIZE
            else:
                break
            most -= 1
        return begins

    def _check(self, begins: list[int]) -> int:
        """How many of the records are what they seem: all their strings are known, and flags are 0 or 1."""
        if not begins:
            return 0
        at = np.array(begins, dtype=np.int64)
        bytes_, ints = self._views()
        kind = bytes_[at]
        bad = np.zeros(len(at), dtype=np.bool_)
        grouped = (kind == _REQUEST) | (kind == _GROUP)
        count = np.where(grouped, ints[at + 1], 0)
        bad |= (count < 0) | (count > _MOST_GROUPS)
        count = np.where(bad, 0, count)
        for groups in np.flatnonzero(np.bincount(count)).tolist():
            rows = np.flatnonzero(count == groups)
            for place in range(groups):
                bad[rows] |= self._unknown(ints[at[rows] + 5 + 4 * place])
        rest = at + 5 + 4 * count
        for wanted, texts, flag in ((_REQUEST, (0, 13), 12), (_USER, (), 0), (_GROUP, (), 12), (_ERROR, (-4,), None)):
            rows = np.flatnonzero(kind == wanted)
            for place in texts:
                bad[rows] |= self._unknown(ints[rest[rows] + place])
            if flag is not None:
                bad[rows] |= bytes_[rest[rows] + flag] > 1
        return int(np.argmax(bad)) if bad.any() else len(begins)

    def _unknown(self, references: npt.NDArray[np.int32]) -> Bools:
        return (references >= 0) | (references < -self._names.highest)

    def _views(self) -> "tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]":
        """The data as bytes, and as the big-endian integers that begin at each byte."""
        return (
            np.frombuffer(self._data, dtype=np.uint8),
            np.ndarray((len(self._data) - 3,), dtype=">i4", buffer=self._data, strides=(1,)),
        )

    def _take(self, at: IntArray) -> None:
        """Records that were checked."""
        bytes_, ints = self._views()
        kind = bytes_[at]
        requests = at[kind == _REQUEST]
        if len(requests):
            count = ints[requests + 1]
            for groups in np.flatnonzero(np.bincount(count)).tolist():
                rows = requests[count == groups]
                paths = np.stack([-ints[rows + 5 + 4 * place].astype(np.int64) for place in range(groups + 1)], axis=1)
                rest = rows + 9 + 4 * groups
                message = -ints[rest + 9].astype(np.int64)
                start, end = ints[rest].astype(np.int64), ints[rest + 4].astype(np.int64)
                self._add(self._names.endpoints(paths), start, end, bytes_[rest + 8] == 1, message)
        users = at[kind == _USER]
        if len(users):
            self._extras.users(self._start_ms + ints[users + 6].astype(np.int64), bytes_[users + 5] == 1)
        for place in at[kind == _ERROR].tolist():
            self._extras.error(self._names.strings[-int(ints[place + 1])])

    def _add(self, endpoint: IntArray, start: IntArray, end: IntArray, ok: Bools, message: IntArray) -> None:
        answered = end != self._sentinel
        if not answered.all():
            self._extras.incoming += int((~answered).sum())
            endpoint, start, end = endpoint[answered], start[answered], end[answered]
            ok, message = ok[answered], message[answered]
            if not len(start):
                return
        texts = self._names.string_labels(message)
        status, outcome, error = endings(ok, texts.codes, list(texts.names))
        self._sink.add(
            Batch(
                time_ns=ns_of_ms(self._start_ms + start),
                latency_ns=ns_of_ms(end - start),
                status=status,
                endpoint=self._names.endpoint_labels(endpoint),
                error=Labels(codes=error, names=[text.strip() for text in texts.names]),
                outcome=outcome,
            )
        )

    def _flush(self) -> None:
        if self._slow:
            table = np.array(self._slow, dtype=np.int64)
            self._slow = []
            self._add(table[:, 0], table[:, 1], table[:, 2], table[:, 3] == 1, table[:, 4])
        if self._slow_users:
            times = np.array(self._slow_users, dtype=np.int64)
            self._slow_users = []
            self._extras.users(times[:, 0], times[:, 1] == 1)

    # One record at a time ---------------------------------------------------------------------------------------------

    def _read_one(self, at: int) -> int:
        """Reads the record at `at`; gives the place behind it."""
        kind = self._byte(at)
        first = self._offset + at == 0
        if (kind == _RUN) != first or kind > _ERROR:
            raise _DamagedError
        at += 1
        if kind == _RUN:
            return self._read_run(at)
        if kind == _USER:
            started, time = self._flag(at + 4), self._int(at + 5)
            self._slow_users.append((self._start_ms + time, started))
            return at + 9
        if kind == _ERROR:
            message, at = self._cached(at)
            self._int(at)
            self._extras.error(self._names.strings[message])
            return at + 4
        count, at = self._count(at, _MOST_GROUPS)
        path: list[int] = []
        for _ in range(count + (kind == _REQUEST)):
            index, at = self._cached(at)
            path.append(index)
        start, end = self._int(at), self._int(at + 4)
        if kind == _GROUP:
            self._flag(at + 12)
            return at + 13
        ok = self._flag(at + 8)
        message, at = self._cached(at + 9)
        self._slow.append((self._names.endpoint(tuple(path)), start, end, ok, message))
        if len(self._slow) >= _MOST:
            self._flush()
        return at

    def _read_run(self, at: int) -> int:
        version, at = self._string(at)
        name, at = self._string(at)
        self._need(at, 8)
        self._start_ms = _LONG.unpack_from(self._data, at)[0]
        # The writer keeps the lower 32 bits of Long.MinValue - start.
        self._sentinel = _INT.unpack(_LONG.pack(-self._start_ms)[4:])[0]
        description, at = self._string(at + 8)
        scenarios, at = self._count(at, 1_000_000)
        for _ in range(scenarios):
            _, at = self._string(at)
        assertions, at = self._count(at, 1_000_000)
        for _ in range(assertions):
            length, at = self._count(at, _LONGEST_STRING)
            at = self._need(at, length)
        short = name.rpartition(".")[2]
        self._sink.describe(name=f"{short}: {description}" if description.strip() else short, tool_version=version)
        return at

    def _need(self, at: int, count: int) -> int:
        if at + count > len(self._data):
            raise _CutOffError
        return at + count

    def _byte(self, at: int) -> int:
        self._need(at, 1)
        return self._data[at]

    def _flag(self, at: int) -> bool:
        value = self._byte(at)
        if value > 1:
            raise _DamagedError
        return value == 1

    def _int(self, at: int) -> int:
        self._need(at, 4)
        return _INT.unpack_from(self._data, at)[0]

    def _count(self, at: int, most: int) -> tuple[int, int]:
        value = self._int(at)
        if not 0 <= value <= most:
            raise _DamagedError
        return value, at + 4

    def _string(self, at: int) -> tuple[str, int]:
        length, at = self._count(at, _LONGEST_STRING)
        if length == 0:
            return "", at
        end = self._need(at, length)
        coder = self._flag(end)
        return decode(self._data[at:end], coder), end + 1

    def _cached(self, at: int) -> tuple[int, int]:
        """The number of a string, which may come with it."""
        index = self._int(at)
        if index < 0:
            if -index not in self._names.strings:
                raise _DamagedError
            return -index, at + 4
        if index != self._names.highest + 1:
            # The writer numbers them in order, and records that refer to them are checked by the highest number.
            raise _DamagedError
        text, at = self._string(at + 4)
        self._names.keep(index, text)
        return index, at


def _after(data: bytes, at: int) -> int:
    kind = data[at]
    if kind == _REQUEST:
        return at + _REQUEST_SIZE + 4 * data[at + 4]
    if kind == _GROUP:
        return at + _GROUP_SIZE + 4 * data[at + 4]
    return at + (_USER_SIZE if kind == _USER else _ERROR_SIZE)


IMPORTER = Importer(
    name="gatling-binary",
    tool="gatling",
    title="Gatling's simulation.log, as bytes (since Gatling 3.13)",
    recognise=recognise,
    read=read,
)
