"""JMeter's CSV results (JTL), with any columns, delimiter and date format, with header or without.

Columns by SampleSaveConfiguration and CSVSaveService of JMeter 5.6.3: `timeStamp` is the start of the sample in ms
since the epoch, `elapsed` in ms; which columns there are follows the properties jmeter.save.saveservice.*.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
from loadwatch_formats.outcomes import jmeter_status
from loadwatch_formats.times import parse_rfc3339

from loadwatch_backend.evidence.records.columns import CodeArray
from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.evidence.records.model import OUTCOME_CODES, IntArray, RemarkKind
from loadwatch_backend.runs.importers.importer import Importer, Part
from loadwatch_backend.runs.importers.outcomes import SORTER
from loadwatch_backend.runs.importers.reading.chunks import Chunk, chunks_of_csv
from loadwatch_backend.runs.importers.reading.delimited import whole_records
from loadwatch_backend.runs.importers.reading.tables import (
    INT,
    LABEL,
    TEXT,
    NotATableError,
    in_order,
    ints,
    labels,
    parse_csv,
)
from loadwatch_backend.runs.importers.sink import Labels, RequestRows, Sink, ns_of_ms
from loadwatch_backend.runs.importers.tools.jmeter.xml import (
    NO_LABEL,
    TRANSACTION,
    Samples,
    error_text,
)

_FIRST = ("timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success")
_LAST = ("Latency", "IdleTime", "Connect")
WITHOUT_HEADER: tuple[tuple[str, ...], ...] = (
    (*_FIRST, "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", *_LAST),  # JMeter 5
    (*_FIRST, "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", *_LAST),  # JMeter 3.2 and 4
    (*_FIRST, "failureMessage", "bytes", "grpThreads", "allThreads", *_LAST),  # JMeter 3.0
)
"""What the columns are by default, where the file does not say; told apart by their number."""
_LABELS = ("label", "responseCode", "responseMessage", "success", "failureMessage", "Hostname")
_NUMBERS = ("bytes", "sentBytes", "allThreads", "SampleCount")
_QUERY = re.compile(r"[?#]")
_DATE = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|\d\d/\d\d/\d\d \d\d:\d\d:\d\d"
)
_START = re.compile(rf"({_DATE.pattern}|\d{{9,19}})([^\w\s.:\"+-]|\t)")
_ZONE = re.compile(r"(Z|[+-]\d\d:?\d\d)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How one file is written.

    Attributes:
        columns: names of all fields, in order.
        dated: times are dates, not milliseconds.
        zoned: the dates have an offset from UTC.
    """

    columns: tuple[str, ...]
    delimiter: str
    header: bool
    dated: bool
    zoned: bool


@dataclass(slots=True)
class _Parsed:
    batch: RequestRows | None = None
    elapsed: IntArray | None = None
    transactions: int = 0
    excused: int = 0
    several: int = 0
    users: tuple[IntArray, IntArray] | None = None
    damage: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


def recognise(head: bytes, filename: str) -> int:
    """By the header's names, or by what the fields of the first record are."""
    del filename
    layout = layout_of(head)
    if layout is None:
        return 0
    return 95 if layout.header else 80


def layout_of(head: bytes) -> Layout | None:
    """How the file is written; None when it is no result of JMeter."""
    lines = head.decode("utf-8", "replace").splitlines()[:4]
    if not lines:
        return None
    if lines[0].startswith("timeStamp") and "elapsed" in lines[0]:
        delimiter = lines[0][len("timeStamp")]
        columns = tuple(_fields(lines[0], delimiter))
        if "elapsed" not in columns:
            return None
        first = _fields(lines[1], delimiter)[0] if len(lines) > 1 and lines[1] else ""
        return _layout(columns, delimiter, first, header=True)
    match = _START.match(lines[0])
    if match is None:
        return None
    fields = _fields(lines[0], match[2])
    for columns in WITHOUT_HEADER:
        # A quoted newline may have cut the first record; what stands before it tells enough.
        known = len(fields) == len(columns) and fields[7].lower() in ("true", "false") and fields[9].isdigit()
        if known and fields[1].isdigit():
            return _layout(columns, match[2], match[1], header=False)
    return None


def _layout(columns: tuple[str, ...], delimiter: str, first: str, *, header: bool) -> Layout:
    dated = bool(first) and not first.isdigit()
    return Layout(
        columns=columns, delimiter=delimiter, header=header, dated=dated, zoned=bool(dated and _ZONE.search(first))
    )


def parse_time(text: str) -> int:
    """Milliseconds since the epoch, from such or from a date; one without an offset is taken as UTC.

    Raises:
        ValueError: if it is neither.
    """
    if text.isdigit():
        return int(text)
    text = text.replace("/", "-")
    if len(text) > 8 and text[2] == "-":
        return round(datetime.strptime(text, "%m-%d-%y %H:%M:%S").replace(tzinfo=UTC).timestamp()) * 1000
    return (parse_rfc3339(text, UTC) + 500_000) // 1_000_000


def read(parts: Sequence[Part], sink: Sink, options: ImportOptions) -> None:
    """Reads every part; several are the results of several machines."""
    del options
    samples = Samples()
    only_transactions = False
    for part in parts:
        layout = layout_of(part.head) or Layout(
            columns=WITHOUT_HEADER[0], delimiter=",", header=False, dated=False, zoned=False
        )
        _remark_layout(layout, sink)
        before = samples.plain, samples.transactions
        _read_part(part, layout, sink, samples, keep_transactions=False)
        if samples.plain == before[0] and samples.transactions > before[1]:
            # Only the controllers were saved (subresults=false), so they are all that is known of the requests.
            only_transactions = True
            samples.transactions = before[1]
            _read_part(part, layout, sink, samples, keep_transactions=True)
    samples.remark(sink, transactions_counted=only_transactions)


def _read_part(part: Part, layout: Layout, sink: Sink, samples: Samples, *, keep_transactions: bool) -> None:
    with part.open() as stream:
        for parsed in in_order(chunks_of_csv(stream), lambda chunk: _parse(chunk, layout, keep_transactions)):
            samples.transactions += parsed.transactions
            samples.excused += parsed.excused
            samples.several += parsed.several
            if parsed.batch is not None and parsed.elapsed is not None:
                samples.add(parsed.batch.endpoint.codes, parsed.batch.endpoint.names, parsed.elapsed)
                sink.add(parsed.batch)
            if parsed.users is not None:
                at, users = parsed.users
                sink.users(at, users.astype(np.float64))
            # The first reading has told them.
            for line, text in () if keep_transactions else parsed.damage:
                sink.damage(f"This is no sample of JMeter: {text}", place=f"line {line}")


def _remark_layout(layout: Layout, sink: Sink) -> None:
    if layout.dated and not layout.zoned:
        sink.remark(
            RemarkKind.MISSING,
            "jmeter-no-time-zone",
            "The times have no time zone and are taken as UTC. Save milliseconds instead "
            "(jmeter.save.saveservice.timestamp_format=ms).",
        )
    if not {"success", "responseCode"} & set(layout.columns):
        sink.remark(
            RemarkKind.MISSING,
            "jmeter-no-success",
            "The file has neither success nor responseCode: every sample counts as ok.",
        )


def _parse(chunk: Chunk, layout: Layout, keep_transactions: bool) -> _Parsed:
    skip = 1 if layout.header and chunk.line == 1 else 0
    there = set(layout.columns)
    wanted = {name: LABEL for name in _LABELS if name in there} | {name: INT for name in _NUMBERS if name in there}
    wanted |= {"timeStamp": TEXT if layout.dated else INT, "elapsed": INT}
    if "label" not in there and "URL" in there:
        wanted["URL"] = LABEL
    try:
        table = parse_csv(chunk.data, layout.columns, wanted, delimiter=layout.delimiter, skip=skip)
        columns = {name: labels(table.column(name)) for name, kind in wanted.items() if kind is LABEL}
        numbers = {name: ints(table, name) for name, kind in wanted.items() if kind is INT}
        if layout.dated:
            times = labels(table.column("timeStamp"))
            numbers["timeStamp"] = np.array([parse_time(text) for text in times.names], dtype=np.int64)[times.codes]
        return _assemble(columns, numbers, keep_transactions)
    except (NotATableError, ValueError):
        return _parse_rows(chunk, layout, wanted, keep_transactions)


def _parse_rows(chunk: Chunk, layout: Layout, wanted: dict[str, object], keep_transactions: bool) -> _Parsed:
    damage: list[tuple[int, str]] = []
    places = {name: layout.columns.index(name) for name in wanted}
    names = [name for name in wanted if wanted[name] is LABEL]
    counts = [name for name in wanted if name not in names]

    def accept(fields: Sequence[str]) -> tuple[list[str], list[int]] | None:
        if len(fields) != len(layout.columns):
            return None
        try:
            numbers = [
                parse_time(fields[places[name]]) if name == "timeStamp" else int(fields[places[name]])
                for name in counts
            ]
        except ValueError:
            # A second run into the same file writes the header once more.
            return ([], []) if tuple(fields) == layout.columns else None
        if not all(-(2**62) < number < 2**62 for number in numbers):
            return None
        return [fields[places[name]] for name in names], numbers

    def damaged(line: int, text: str) -> None:
        damage.append((line, text))

    rows = [row for row in whole_records(chunk, accept, damaged, delimiter=layout.delimiter) if row[1]]
    columns = {name: _encode([row[0][place] for row in rows]) for place, name in enumerate(names)}
    numbers = {name: np.array([row[1][place] for row in rows], dtype=np.int64) for place, name in enumerate(counts)}
    parsed = _assemble(columns, numbers, keep_transactions)
    parsed.damage = damage
    return parsed


def _assemble(columns: dict[str, Labels], numbers: dict[str, IntArray], keep_transactions: bool) -> _Parsed:
    """From columns to a batch, without the rows of Transaction Controllers unless they are to be kept."""
    elapsed, start = numbers["elapsed"], numbers["timeStamp"]
    parsed = _Parsed(users=_users(columns, numbers))
    rows = len(elapsed)
    message = columns.get("responseMessage") or _nothing(rows)
    mark = np.array([name.startswith(TRANSACTION) for name in message.names] + [False], dtype=np.bool_)
    controller = mark[message.codes]
    parsed.transactions = int(controller.sum())
    kept = np.ones(rows, dtype=np.bool_) if keep_transactions else ~controller
    if not kept.any():
        return parsed
    code = columns.get("responseCode") or _nothing(rows)
    failure = columns.get("failureMessage") or _nothing(rows)
    status = np.array([jmeter_status(name) for name in code.names] + [0], dtype=np.int64)[code.codes]
    success = _success(columns.get("success"), status, code)
    outcome, error = _endings(success, code, message, failure)
    parsed.excused = int((success & (status >= 400) & kept).sum())
    parsed.several = int((numbers["SampleCount"][kept] > 1).sum()) if "SampleCount" in numbers else 0
    endpoint = columns.get("label") or _without_query(columns.get("URL")) or _nothing(rows, NO_LABEL)
    parsed.elapsed = elapsed[kept]
    parsed.batch = RequestRows(
        time_ns=ns_of_ms(start)[kept],
        latency_ns=ns_of_ms(elapsed)[kept],
        status=status[kept],
        endpoint=Labels(codes=endpoint.codes[kept], names=[name or NO_LABEL for name in endpoint.names]),
        error=Labels(codes=error.codes[kept], names=error.names),
        outcome=outcome[kept],
        bytes_in=numbers["bytes"][kept] if "bytes" in numbers else None,
        bytes_out=numbers["sentBytes"][kept] if "sentBytes" in numbers else None,
    )
    return parsed


def _success(column: Labels | None, status: IntArray, code: Labels) -> np.typing.NDArray[np.bool_]:
    if column is not None:
        return np.array([name.strip().lower() == "true" for name in column.names] + [False])[column.codes]
    if not any(code.names):
        return np.ones(len(status), dtype=np.bool_)
    return (status >= 100) & (status < 400)


def _endings(
    success: np.typing.NDArray[np.bool_], code: Labels, message: Labels, failure: Labels
) -> tuple[np.typing.NDArray[np.uint8], Labels]:
    """Outcome and error text of each row; only the different combinations of the failed ones are looked at."""
    outcome = np.full(len(success), OUTCOME_CODES[SORTER.of_jmeter("", "", "", success=True)], dtype=np.uint8)
    errors: CodeArray = np.full(len(success), -1, dtype=np.int32)
    failed = np.flatnonzero(~success)
    if not len(failed):
        return outcome, Labels(codes=errors, names=[])
    # -1 stands for no text and becomes the last place of each column.
    widths = [len(column.names) + 1 for column in (code, message, failure)]
    parts = [
        column.codes[failed].astype(np.int64) % width
        for column, width in zip((code, message, failure), widths, strict=True)
    ]
    keys: IntArray
    keys, inverse = np.unique((parts[0] * widths[1] + parts[1]) * widths[2] + parts[2], return_inverse=True)
    known = [[*column.names, ""] for column in (code, message, failure)]
    kinds, names = list[int](), list[str]()
    for key in keys:
        first, third = divmod(int(key), widths[2])
        one, two = divmod(first, widths[1])
        found = known[0][one], known[1][two], known[2][third]
        kinds.append(OUTCOME_CODES[SORTER.of_jmeter(*found, success=False)])
        names.append(error_text(*found))
    outcome[failed] = np.array(kinds, dtype=np.uint8)[inverse]
    errors[failed] = inverse.astype(np.int32)
    return outcome, Labels(codes=errors, names=names)


def _users(columns: dict[str, Labels], numbers: dict[str, IntArray]) -> tuple[IntArray, IntArray] | None:
    """The last number of threads of each second; JMeter counts them at the sample's end.

    With several generators (Hostname) each counts its own, so there is no sum to show.
    """
    users = numbers.get("allThreads")
    hosts = columns.get("Hostname")
    if users is None or not len(users) or (hosts is not None and len(hosts.names) > 1):
        return None
    second = (numbers["timeStamp"] + numbers["elapsed"]) // 1000
    at, first = np.unique(second[::-1], return_index=True)
    return at * 1000, users[::-1][first]


def _without_query(urls: Labels | None) -> Labels | None:
    if urls is None:
        return None
    return Labels(codes=urls.codes, names=[_QUERY.split(name, 1)[0] for name in urls.names])


def _nothing(rows: int, name: str = "") -> Labels:
    return Labels(codes=np.zeros(rows, dtype=np.int32), names=[name])


def _encode(values: Sequence[str]) -> Labels:
    names = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return Labels(codes=np.array([names[value] for value in values], dtype=np.int32), names=list(names))


def _fields(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), list[str]())
    except csv.Error:
        return []


IMPORTER = Importer(
    name="jmeter-csv",
    tool="jmeter",
    title="JMeter results as CSV (JTL)",
    recognise=recognise,
    read=read,
)
