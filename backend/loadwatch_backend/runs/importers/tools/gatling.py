"""Gatling's simulation.log, as text and in binary.

Sources: Gatling 3.12.0 and 3.15.1, LogFileDataWriter and the parsers of gatling-charts.

Once all names have come, records have fixed sizes for their number of groups. So a bare loop finds where records begin
as if that was so, and whole arrays are checked and read at once; only records that bring a new string are read one by
one.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from loadwatch_formats.gatling import (
    ERROR,
    GROUP,
    INCOMING,
    LAYOUTS,
    MOST_GROUPS,
    REQUEST,
    USER,
    CutOffError,
    GatlingError,
    GatlingRecords,
    RequestLine,
    RequestRecord,
    RunStart,
    StrayError,
    UserEvent,
    is_binary,
    read_line,
)
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import OUTCOME_CODES, IntArray
from loadwatch_backend.runs.importers.importer import Importer, Labels, Part, RequestRows, Sink, ns_of_ms
from loadwatch_backend.runs.importers.outcomes import SORTER
from loadwatch_backend.runs.importers.reading.chunks import Chunk, chunks_of_lines, read_up_to
from loadwatch_backend.runs.importers.reading.tables import (
    INT,
    LABEL,
    NotATableError,
    in_order,
    ints,
    joined,
    labels,
    parse_csv,
)

GROUP_SEPARATOR = " / "
"""Between a request and the groups it is in, as in Gatling's report."""
_OTHER_ERRORS = 5
_DISTINCT_ERRORS = 1_000


def endpoint_name(groups: tuple[str, ...], name: str) -> str:
    """`basket / pay`: the request's name after those of its groups."""
    return GROUP_SEPARATOR.join((*groups, name))


def requests_of(
    start_ms: IntArray, end_ms: IntArray, ok: npt.NDArray[np.bool_], endpoint: Labels, message: Labels
) -> RequestRows:
    """Answered requests; the message tells status, outcome and error of those that failed."""
    known = [text.strip() for text in message.names]
    status = np.array([SORTER.gatling_status(text) for text in known], dtype=np.int64)[message.codes]
    kinds = np.array([OUTCOME_CODES[SORTER.of_gatling(text)] for text in known], dtype=np.uint8)[message.codes]
    return RequestRows(
        time_ns=ns_of_ms(start_ms),
        latency_ns=ns_of_ms(end_ms - start_ms),
        status=np.where(ok, 0, status),
        endpoint=endpoint,
        error=Labels(np.where(ok, np.int32(-1), message.codes), known),
        outcome=np.where(ok, np.uint8(OUTCOME_CODES[Outcome.OK]), kinds),
    )


class Extras:
    def __init__(self) -> None:
        self._users: dict[int, int] = {}
        self._errors: Counter[str] = Counter()
        self.errors = 0
        self.incoming = 0

    def users(self, at_ms: IntArray, started: npt.NDArray[np.bool_]) -> None:
        if not len(at_ms):
            return
        second = at_ms // 1000
        first, last = int(second.min()), int(second.max())
        if last - first > 10_000_000:
            return  # Damage; the accumulator says so of the requests around it.
        changes = np.bincount(second - first, weights=np.where(started, 1.0, -1.0))
        for place in np.flatnonzero(changes):
            at = first + int(place)
            self._users[at] = self._users.get(at, 0) + int(changes[place])

    def error(self, message: str) -> None:
        self.errors += 1
        if message in self._errors or len(self._errors) < _DISTINCT_ERRORS:
            self._errors[message.strip()] += 1

    def finish(self, sink: Sink) -> None:
        if self._users:
            at = np.array(sorted(self._users), dtype=np.int64)
            active = np.cumsum([self._users[second] for second in at.tolist()])
            sink.users(at * 1000, active.astype(np.float64))
        sink.remark("gatling-no-status")
        if self.errors:
            texts = "; ".join(f"{text} ({count})" for text, count in self._errors.most_common(_OTHER_ERRORS))
            sink.remark("gatling-errors", figures={"errors": self.errors}, texts=texts)
        if self.incoming:
            sink.remark("gatling-incoming", figures={"events": self.incoming})


_LINE_FEED = 10
_QUOTE = b"\x01"
_IGNORED = (b"GROUP\t", b"ASSERTION\t", b"ACTION\t")
_SHOWN = 80
_STRIPPED = re.compile(rb"(\t[OK]K)(\r?\n)")


@dataclass(slots=True)
class _Parsed:
    batch: RequestRows | None = None
    run: RunStart | None = None
    users: list[UserEvent] = field(default_factory=list[UserEvent])
    errors: list[str] = field(default_factory=list[str])
    incoming: int = 0
    damage: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


def recognise_text(head: bytes) -> int:
    """By the RUN line, which only ASSERTION lines precede."""
    for line in head.split(b"\n")[:200]:
        if line.startswith(b"RUN\t"):
            return 95 if line.count(b"\t") >= 4 else 0
        if not line.startswith(b"ASSERTION\t"):
            return 0
    return 0


def _read_text(parts: Sequence[Part], sink: Sink) -> None:
    """Reads every part; several are the logs of several injectors."""
    extras = Extras()
    for part in parts:
        with part.open() as stream:
            for parsed in in_order(chunks_of_lines(stream), _parse):
                _take(parsed, sink, extras)
    extras.finish(sink)


def _take(parsed: _Parsed, sink: Sink, extras: Extras) -> None:
    if parsed.run is not None:
        sink.describe(name=parsed.run.name, tool_version=parsed.run.version)
    if parsed.users:
        at = np.array([at for at, _ in parsed.users], dtype=np.int64)
        extras.users(at, np.array([started for _, started in parsed.users], dtype=np.bool_))
    for text in parsed.errors:
        extras.error(text)
    extras.incoming += parsed.incoming
    if parsed.batch is not None:
        sink.add(parsed.batch)
    for line, text in parsed.damage:
        sink.remark("damaged/gatling-line", place=f"line {line}", text=text)


def _parse(chunk: Chunk) -> _Parsed:
    parsed = _Parsed()
    # By arrays: a loop over all lines in Python would cost more than reading them.
    data = np.frombuffer(chunk.data, dtype=np.uint8)
    ends = np.flatnonzero(data == _LINE_FEED) + 1
    whole = chunk.data.endswith(b"\n")
    if not whole:
        ends = np.append(ends, len(data))
    starts = np.append(0, ends[:-1])
    requests = (data[starts] == ord("R")) & (data[np.minimum(starts + 1, len(data) - 1)] == ord("E"))
    for place in np.flatnonzero(~requests).tolist():
        line = chunk.data[starts[place] : ends[place]].rstrip(b"\r\n")
        if line and not line.startswith(_IGNORED) and not _read_other(line, parsed):
            parsed.damage.append((chunk.line + place, _shown(line)))
    if len(requests) and requests[-1] and not whole:
        # A killed run: the fields of the last line may all be there, but its message need not be whole.
        parsed.damage.append((chunk.line + len(starts) - 1, _shown(chunk.data[starts[-1] :])))
        requests[-1] = False
    # Editors and git strip the empty message from the end of a line.
    text = _STRIPPED.sub(rb"\1\t\2", data[np.repeat(requests, ends - starts)].tobytes())
    try:
        _read_requests(text, parsed)
    except NotATableError:
        numbers = [chunk.line + place for place in np.flatnonzero(requests).tolist()]
        # Arrow takes no bytes that are not UTF-8, which a damaged message may hold.
        lines = [line.removesuffix(b"\r") for line in text.decode(errors="replace").encode().split(b"\n")]
        _read_requests(_whole(lines, numbers, parsed), parsed)
    return parsed


def _read_requests(text: bytes, parsed: _Parsed) -> None:
    """REQUEST lines, all of one layout.

    Raises:
        NotATableError: if any line is of another, or damaged.
    """
    if not text:
        return
    columns = LAYOUTS.get(text[: text.index(b"\n")].count(b"\t") + 1)
    if columns is None:
        raise NotATableError("another number of fields")
    # Quotes mean nothing in this format, so they are hidden from the reader of CSV.
    data = text.replace(b'"', _QUOTE)
    kinds = dict.fromkeys(("kind", "groups", "name", "status", "message"), LABEL) | {"start": INT, "end": INT}
    table = parse_csv(data, columns, kinds, delimiter="\t")
    start, end = ints(table, "start"), ints(table, "end")
    status = labels(table.column("status"))
    if not set(status.names) <= {"OK", "KO"} or labels(table.column("kind")).names != ["REQUEST"]:
        raise NotATableError("a status that is neither OK nor KO, or another kind of line")
    ok = np.array([name == "OK" for name in status.names], dtype=np.bool_)[status.codes]
    message = labels(table.column("message"))
    groups = labels(table.column("groups"))
    endpoint = joined(groups, labels(table.column("name")), separator="\t")
    answered = end != INCOMING
    parsed.incoming += int((~answered).sum())
    message, endpoint = _kept(message, answered), _kept(endpoint, answered)
    names: list[str] = []
    for pair in endpoint.names:
        inside, _, name = pair.partition("\t")
        names.append(endpoint_name(tuple(inside.split(",")) if inside.strip() else (), name))
    parsed.batch = requests_of(start[answered], end[answered], ok[answered], Labels(endpoint.codes, names), message)


def _kept(column: Labels, rows: np.typing.NDArray[np.bool_]) -> Labels:
    return Labels(column.codes[rows], [name.replace("\x01", '"') for name in column.names])


def _whole(lines: Sequence[bytes], numbers: Sequence[int], parsed: _Parsed) -> bytes:
    """The lines that are requests; the others are damage. Those of another layout than the first go, too."""
    found: list[bytes] = []
    width = 0
    for line, number in zip(lines, numbers, strict=False):
        count = line.count(b"\t")
        # A carriage return alone ends a record for Arrow.
        if b"\r" not in line and width in (0, count) and isinstance(_read(line), RequestLine):
            width = count
            found.append(line + b"\n")
        else:
            parsed.damage.append((number, _shown(line)))
    return b"".join(found)


def _read_other(line: bytes, parsed: _Parsed) -> bool:
    """USER, ERROR and RUN lines; False for what is none of them."""
    match _read(line):
        case UserEvent() as user:
            parsed.users.append(user)
        case StrayError(message):
            parsed.errors.append(message)
        case RunStart() as run:
            parsed.run = run
        case _:
            return False
    return True


def _read(line: bytes) -> RunStart | UserEvent | StrayError | RequestLine | None:
    try:
        return read_line(line.decode("utf-8", "replace"))
    except GatlingError:
        return None


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


GATLING_TEXT = Importer(
    "gatling-text", "Gatling's simulation.log, as text (up to Gatling 3.12)", recognise_text, _read_text
)


class Strings:
    def __init__(self, strings: Sequence[str]) -> None:
        self._strings = strings
        self._codes: dict[tuple[int, ...], int] = {}
        self._endpoints: list[str] = []

    def endpoint(self, path: tuple[int, ...]) -> int:
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
        return _occurring(codes, self._endpoints)

    def string_labels(self, numbers: IntArray) -> Labels:
        return _occurring(numbers, self._strings)


def _occurring(numbers: IntArray, names: Sequence[str]) -> Labels:
    used = np.flatnonzero(np.bincount(numbers))
    codes = np.zeros(int(used[-1]) + 1, dtype=np.int32)
    codes[used] = np.arange(len(used), dtype=np.int32)
    return Labels(codes[numbers], [names[number] for number in used.tolist()])


_REQUEST_SIZE, _USER_SIZE, _GROUP_SIZE, _ERROR_SIZE = 22, 10, 18, 9
_CHUNK = 4 << 20
_LONGEST_RECORD = 1_100
"""Upper bound in bytes for a record without new strings, which has at most 255 groups."""
_FEWEST, _MOST = 64, 65_536
"""Records of one step: few after a step that met a new string, more after each that did not."""
_MOST_ALONE = 1_024
"""Records that are read one by one before whole arrays are tried again, where each brings a new string."""

Bools = npt.NDArray[np.bool_]


def recognise_binary(head: bytes) -> int:
    """By the record of the run: zero, then a version."""
    return 95 if is_binary(head) else 0


def _read_binary(parts: Sequence[Part], sink: Sink) -> None:
    extras = Extras()
    for part in parts:
        with part.open() as stream:
            _Log(stream, sink, extras).read()
    extras.finish(sink)


class _Log:
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
        """Reads all complete records; stops at a place from which nothing can be understood."""
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
                    self._damage(at, "damaged/gatling-cut-off")
                    break
                at = self._fill(at)
                continue
            except GatlingError:
                self._damage(at, "damaged/gatling-not-here")
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

    def _damage(self, at: int, key: str) -> None:
        self._sink.remark(key, place=f"byte {self._offset + at}", figures={"skipped_bytes": self._rest(at)})

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
        zero_ms = self._records.start_ms
        names, texts = self._names.endpoint_labels(endpoint), self._names.string_labels(message)
        self._sink.add(requests_of(zero_ms + start, zero_ms + end, ok, names, texts))

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


GATLING_BINARY = Importer(
    "gatling-binary", "Gatling's simulation.log, as bytes (since Gatling 3.13)", recognise_binary, _read_binary
)
