"""Gatling's simulation.log as bytes, since 3.13 (`loadwatch_formats.gatling` has the layout of its records).

Once all names have come, records have fixed sizes for their number of groups. So a bare loop finds where records begin
as if that was so, and whole arrays are checked and read at once; only records that bring a new string are read one by
one.
"""

from collections.abc import Sequence
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from loadwatch_formats.gatling import (
    ERROR,
    GROUP,
    MOST_GROUPS,
    REQUEST,
    USER,
    CutOffError,
    GatlingError,
    GatlingRecords,
    RequestRecord,
    RunStart,
    StrayError,
    UserEvent,
    is_binary,
)

from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.evidence.records.model import IntArray
from loadwatch_backend.runs.importers.importer import Importer, Part
from loadwatch_backend.runs.importers.reading.chunks import read_up_to
from loadwatch_backend.runs.importers.sink import Labels, RequestRows, Sink, ns_of_ms
from loadwatch_backend.runs.importers.tools.gatling.text import Extras, endings, endpoint_name


class Strings:
    """The strings of one log, which grow while it is read, and the endpoints that are made of them."""

    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = strings
        self._codes: dict[tuple[int, ...], int] = {}
        self._endpoints: list[str] = []

    def endpoint(self, path: tuple[int, ...]) -> int:
        """The code of the request under its groups, all given by the numbers of their strings."""
        code = self._codes.get(path)
        if code is None:
            code = self._codes[path] = len(self._endpoints)
            texts = tuple(self._strings[index] for index in path)
            self._endpoints.append(endpoint_name(texts[:-1], texts[-1]))
        return code

    def endpoints(self, paths: IntArray) -> IntArray:
        """Codes for rows of string numbers, [row, groups + 1]."""
        key = paths[:, 0]
        for column in range(1, paths.shape[1]):
            if int(key.max(initial=0)) > 2**31:
                key = np.unique(key, return_inverse=True)[1]
            key = key * len(self._strings) + paths[:, column]
        if paths.shape[1] == 1:
            used = np.flatnonzero(np.bincount(key))
            codes = np.zeros(int(used[-1]) + 1, dtype=np.int64)
            codes[used] = [self.endpoint((int(index),)) for index in used]
            return codes[key]
        _, rows, inverse = np.unique(key, return_index=True, return_inverse=True)
        found = [self.endpoint(tuple(int(index) for index in paths[row])) for row in rows]
        return np.array(found, dtype=np.int64)[inverse]

    def endpoint_labels(self, codes: IntArray) -> Labels:
        """Codes as labels that name only what occurs."""
        return _occurring(codes, self._endpoints)

    def string_labels(self, numbers: IntArray) -> Labels:
        """Numbers of strings as labels that name only what occurs."""
        return _occurring(numbers, self._strings)


def _occurring(numbers: IntArray, names: Sequence[str]) -> Labels:
    used = np.flatnonzero(np.bincount(numbers))
    codes = np.zeros(int(used[-1]) + 1, dtype=np.int32)
    codes[used] = np.arange(len(used), dtype=np.int32)
    return Labels(codes=codes[numbers], names=[names[number] for number in used.tolist()])


_REQUEST_SIZE, _USER_SIZE, _GROUP_SIZE, _ERROR_SIZE = 22, 10, 18, 9
_CHUNK = 4 << 20
_LONGEST_RECORD = 1_100
"""Of records without new strings: 255 groups."""
_FEWEST, _MOST = 64, 65_536
"""Records of one step: few after a step that met a new string, more after each that did not."""
_MOST_ALONE = 1_024
"""Records that are read one by one before whole arrays are tried again, where each brings a new string."""
_NOT_HERE = "No record of Gatling begins here; what comes after cannot be read."
_CUT_OFF = "The log ends within a record: the run was killed, or the file is cut off."

Bools = npt.NDArray[np.bool_]


def recognise(head: bytes, filename: str) -> int:
    """By the record of the run: zero, then a version."""
    del filename
    return 95 if is_binary(head) else 0


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
        self._records = GatlingRecords()
        self._names = Strings(self._records.strings)
        self._slow: list[tuple[int, int, int, bool, int]] = []
        self._slow_users: list[tuple[int, bool]] = []

    def read(self) -> None:
        """Everything that is whole; a place from which nothing can be understood ends it."""
        at, window, alone = self._fill(0), _FEWEST, 1
        while at < len(self._data):
            try:
                begins = self._find(at, window) if self._offset + at else []
                good = self._check(begins)
                if good:
                    self._take(np.array(begins[:good], dtype=np.int64))
                    at = _after(self._data, begins[good - 1])
                if good < window:
                    alone = 1 if good > alone else min(2 * alone, _MOST_ALONE)
                    for _ in range(alone):
                        at = self._read_one(at)
                        if at == len(self._data):
                            break
                else:
                    alone = 1
                window = min(4 * window, _MOST) if good == window else max(window // 4, _FEWEST)
            except CutOffError:
                if self._ended:
                    self._damage(at, _CUT_OFF)
                    break
                at = self._fill(at)
                continue
            except GatlingError:
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
            if kind == REQUEST:
                append(at)
                at += _REQUEST_SIZE + 4 * data[at + 4]
            elif kind == USER:
                append(at)
                at += _USER_SIZE
            elif kind == GROUP:
                append(at)
                at += _GROUP_SIZE + 4 * data[at + 4]
            elif kind == ERROR:
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
        grouped = (kind == REQUEST) | (kind == GROUP)
        count = np.where(grouped, ints[at + 1], 0)
        bad |= (count < 0) | (count > MOST_GROUPS)
        count = np.where(bad, 0, count)
        for groups in np.flatnonzero(np.bincount(count)).tolist():
            rows = np.flatnonzero(count == groups)
            for place in range(groups):
                bad[rows] |= self._unknown(ints[at[rows] + 5 + 4 * place])
        rest = at + 5 + 4 * count
        for wanted, texts, flag in ((REQUEST, (0, 13), 12), (USER, (), 0), (GROUP, (), 12), (ERROR, (-4,), None)):
            rows = np.flatnonzero(kind == wanted)
            for place in texts:
                bad[rows] |= self._unknown(ints[rest[rows] + place])
            if flag is not None:
                bad[rows] |= bytes_[rest[rows] + flag] > 1
        return int(np.argmax(bad)) if bad.any() else len(begins)

    def _unknown(self, references: npt.NDArray[np.int32]) -> Bools:
        return (references >= 0) | (references <= -len(self._records.strings))

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
        requests = at[kind == REQUEST]
        if len(requests):
            count = ints[requests + 1]
            for groups in np.flatnonzero(np.bincount(count)).tolist():
                rows = requests[count == groups]
                paths = np.stack([-ints[rows + 5 + 4 * place].astype(np.int64) for place in range(groups + 1)], axis=1)
                rest = rows + 9 + 4 * groups
                message = -ints[rest + 9].astype(np.int64)
                start, end = ints[rest].astype(np.int64), ints[rest + 4].astype(np.int64)
                self._add(self._names.endpoints(paths), start, end, bytes_[rest + 8] == 1, message)
        users = at[kind == USER]
        if len(users):
            self._extras.users(self._records.start_ms + ints[users + 6].astype(np.int64), bytes_[users + 5] == 1)
        for place in at[kind == ERROR].tolist():
            self._extras.error(self._records.strings[-int(ints[place + 1])])

    def _add(self, endpoint: IntArray, start: IntArray, end: IntArray, ok: Bools, message: IntArray) -> None:
        answered = end != self._records.sentinel
        if not answered.all():
            self._extras.incoming += int((~answered).sum())
            endpoint, start, end = endpoint[answered], start[answered], end[answered]
            ok, message = ok[answered], message[answered]
            if not len(start):
                return
        texts = self._names.string_labels(message)
        status, outcome, error = endings(ok, texts.codes, list(texts.names))
        self._sink.add(
            RequestRows(
                time_ns=ns_of_ms(self._records.start_ms + start),
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

    def _read_one(self, at: int) -> int:
        """Reads the record at `at`; gives the place behind it."""
        match self._records.read(self._data, at):
            case RequestRecord(path, start, end, ok, message):
                self._slow.append((self._names.endpoint(path), start, end, ok, message))
                if len(self._slow) >= _MOST:
                    self._flush()
            case UserEvent(time, started):
                self._slow_users.append((self._records.start_ms + time, started))
            case StrayError(message):
                self._extras.error(message)
            case RunStart(name, version):
                self._sink.describe(name=name, tool_version=version)
            case None:
                pass
        return self._records.end


def _after(data: bytes, at: int) -> int:
    kind = data[at]
    if kind == REQUEST:
        return at + _REQUEST_SIZE + 4 * data[at + 4]
    if kind == GROUP:
        return at + _GROUP_SIZE + 4 * data[at + 4]
    return at + (_USER_SIZE if kind == USER else _ERROR_SIZE)


IMPORTER = Importer(
    name="gatling-binary",
    tool="gatling",
    title="Gatling's simulation.log, as bytes (since Gatling 3.13)",
    recognise=recognise,
    read=read,
)
