"""Gatling's simulation.log as text, up to 3.12 (`loadwatch_formats.gatling` has its lines), read by whole columns.

Sources: Gatling 3.12.0 and 3.15.1, LogFileDataWriter and the parsers of gatling-charts.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from loadwatch_formats.gatling import (
    INCOMING,
    LAYOUTS,
    GatlingError,
    RequestLine,
    RunStart,
    StrayError,
    UserEvent,
    read_line,
)
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.evidence.records.model import OUTCOME_CODES, IntArray, RemarkKind
from loadwatch_backend.runs.importers.importer import Importer, Part
from loadwatch_backend.runs.importers.outcomes import SORTER
from loadwatch_backend.runs.importers.reading.chunks import Chunk, chunks_of_lines
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
from loadwatch_backend.runs.importers.sink import Labels, RequestRows, Sink, ns_of_ms

GROUP_SEPARATOR = " / "
"""Between a request and the groups it is in, as in Gatling's report."""
_OTHER_ERRORS = 5
_DISTINCT_ERRORS = 1_000


def endpoint_name(groups: tuple[str, ...], name: str) -> str:
    """`basket / pay`: the request's name after those of its groups."""
    return GROUP_SEPARATOR.join((*groups, name))


def endings(
    ok: npt.NDArray[np.bool_], codes: npt.NDArray[np.int32], messages: list[str]
) -> tuple[IntArray, npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Status, outcome and error code (-1 for none) of each request; messages are indexed by `codes`."""
    known = [message.strip() for message in messages]
    status = np.array([SORTER.gatling_status(message) for message in known], dtype=np.int64)[codes]
    kinds = np.array([OUTCOME_CODES[SORTER.of_gatling(message)] for message in known], dtype=np.uint8)[codes]
    fine = np.uint8(OUTCOME_CODES[Outcome.OK])
    return np.where(ok, 0, status), np.where(ok, fine, kinds), np.where(ok, np.int32(-1), codes)


class Extras:
    """What a log tells beside its requests: users, errors outside of requests, events without an answer."""

    def __init__(self) -> None:
        self._users: dict[int, int] = {}
        self._errors: Counter[str] = Counter()
        self.errors = 0
        self.incoming = 0

    def users(self, at_ms: IntArray, started: npt.NDArray[np.bool_]) -> None:
        """Users that began or ended; kept as the change of each second."""
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
        """An error outside of a request, such as an attribute that a session lacks."""
        self.errors += 1
        if message in self._errors or len(self._errors) < _DISTINCT_ERRORS:
            self._errors[message.strip()] += 1

    def finish(self, sink: Sink) -> None:
        """Hands over the users of each second, and the remarks."""
        if self._users:
            at = np.array(sorted(self._users), dtype=np.int64)
            active = np.cumsum([self._users[second] for second in at.tolist()])
            sink.users(at * 1000, active.astype(np.float64))
        sink.remark(
            RemarkKind.MISSING,
            "gatling-no-status",
            "Gatling's log has no HTTP status, but that of failed status checks, and no bytes.",
        )
        if self.errors:
            texts = "; ".join(f"{text} ({count})" for text, count in self._errors.most_common(_OTHER_ERRORS))
            sink.remark(
                RemarkKind.MISSING,
                "gatling-errors",
                f"{self.errors} errors happened outside of requests and count as no requests: {texts}.",
                figures={"errors": self.errors},
            )
        if self.incoming:
            sink.remark(
                RemarkKind.MISSING,
                "gatling-incoming",
                f"{self.incoming} incoming events (WebSocket, SSE) that no request waited for have no latency and are "
                "not counted.",
                figures={"events": self.incoming},
            )


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


def recognise(head: bytes, filename: str) -> int:
    """By the RUN line, which only ASSERTION lines precede."""
    del filename
    for line in head.split(b"\n")[:200]:
        if line.startswith(b"RUN\t"):
            return 95 if line.count(b"\t") >= 4 else 0
        if not line.startswith(b"ASSERTION\t"):
            return 0
    return 0


def read(parts: Sequence[Part], sink: Sink, options: ImportOptions) -> None:
    """Reads every part; several are the logs of several injectors."""
    del options
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
        sink.damage(f"This is no line of Gatling's log: {text}", place=f"line {line}")


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
    parsed.batch = _batch(
        start[answered], end[answered], ok[answered], _kept(message, answered), _kept(endpoint, answered)
    )


def _kept(column: Labels, rows: np.typing.NDArray[np.bool_]) -> Labels:
    return Labels(codes=column.codes[rows], names=[name.replace("\x01", '"') for name in column.names])


def _batch(
    start: IntArray, end: IntArray, ok: np.typing.NDArray[np.bool_], message: Labels, endpoint: Labels
) -> RequestRows:
    messages = list(message.names)
    status, outcome, error = endings(ok, message.codes, messages)
    names: list[str] = []
    for pair in endpoint.names:
        groups, _, name = pair.partition("\t")
        names.append(endpoint_name(tuple(groups.split(",")) if groups.strip() else (), name))
    return RequestRows(
        time_ns=ns_of_ms(start),
        latency_ns=ns_of_ms(end - start),
        status=status,
        endpoint=Labels(codes=endpoint.codes, names=names),
        error=Labels(codes=error, names=[text.strip() for text in messages]),
        outcome=outcome,
    )


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


IMPORTER = Importer(
    name="gatling-text",
    tool="gatling",
    title="Gatling's simulation.log, as text (up to Gatling 3.12)",
    recognise=recognise,
    read=read,
)
