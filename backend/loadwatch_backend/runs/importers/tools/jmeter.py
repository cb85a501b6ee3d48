"""JMeter's results, as CSV and XML.

Columns by SampleSaveConfiguration and CSVSaveService of JMeter 5.6.3: `timeStamp` is the start of the sample in ms
since the epoch, `elapsed` in ms; which columns there are follows the properties jmeter.save.saveservice.*.

Attributes by TestResultConverter and SampleResultConverter of JMeter 5.6.3: t elapsed ms, ts start ms since the epoch,
lb label, rc code, rm message, s success, by bytes, sby bytes sent, na threads of all groups. Samples lie inside their
Transaction Controller's, or inside the request that was redirected to them.

Sources: JMeter 5.6.3, SampleSaveConfiguration, CSVSaveService, TransactionController, and the dashboard's
PercentileAggregator (a window of the last 20,000 samples, estimated as by commons-math's DescriptiveStatistics).
"""

import codecs
import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from xml.parsers import expat

import numpy as np
import numpy.typing as npt
from loadwatch_formats.outcomes import jmeter_status
from loadwatch_formats.times import parse_rfc3339

from loadwatch_backend.evidence.records.columns import CodeArray
from loadwatch_backend.evidence.records.model import OUTCOME_CODES, IntArray
from loadwatch_backend.runs.importers.importer import Importer, Labels, Part, RequestRows, Rows, Sink, ns_of_ms
from loadwatch_backend.runs.importers.outcomes import SORTER
from loadwatch_backend.runs.importers.reading.chunks import Chunk, chunks_of_csv, whole_records
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

TRANSACTION = "Number of samples in transaction"
"""How the message of a Transaction Controller's own sample begins; the requests inside it are samples of their own."""
NO_LABEL = "jmeter"
"""The endpoint of samples without label and URL."""
WINDOW = 20_000
"""Samples of a label that the dashboard's percentiles describe by default (jmeter.reportgenerator.statistic_window)."""
_NOT_HTTP = ("Non HTTP response code: ", "Non HTTP response message: ")
_TRACKED_LABELS = 200
_SHOWN_LABELS = 10
_SLOWEST_MS = 3_600_000
_QUANTILES = (("p90", 0.9), ("p95", 0.95), ("p99", 0.99))


def error_text(code: str, message: str, failure: str) -> str:
    """What went wrong with a failed sample: the assertion's text, the exception, or status and message."""
    if failure:
        return failure
    code, message = code.removeprefix(_NOT_HTTP[0]).strip(), message.removeprefix(_NOT_HTTP[1]).strip()
    if code and message and not jmeter_status(code):
        return f"{code}: {message}"
    return f"{code} {message}".strip() or "failed without a reason"


def dashboard_percentile(times: IntArray, quantile: float) -> float:
    """As JMeter's dashboard estimates it from its window: commons-math's Percentile, type LEGACY, milliseconds."""
    ordered = np.sort(times)
    place = quantile * (len(ordered) + 1)
    if place < 1:
        return float(ordered[0])
    if place >= len(ordered):
        return float(ordered[-1])
    low = int(place)
    return float(ordered[low - 1] + (place - low) * (ordered[low] - ordered[low - 1]))


class _Times:
    """Latencies of one label: all of them counted, and the last of them as the dashboard holds them."""

    def __init__(self) -> None:
        self.count = 0
        self._counts = np.zeros(1024, dtype=np.int64)
        self._tail: list[IntArray] = []
        self._held = 0

    def add(self, elapsed: IntArray) -> None:
        self.count += len(elapsed)
        kept = np.clip(elapsed, 0, _SLOWEST_MS)
        counts = np.bincount(kept)
        if len(counts) > len(self._counts):
            self._counts = np.pad(self._counts, (0, max(len(counts), 2 * len(self._counts)) - len(self._counts)))
        self._counts[: len(counts)] += counts
        self._tail.append(elapsed[-WINDOW:])
        self._held += len(self._tail[-1])
        while self._held - len(self._tail[0]) >= WINDOW:
            self._held -= len(self._tail.pop(0))

    def figures(self) -> dict[str, float]:
        """Both percentiles in seconds, `ours_p95` (all samples, nearest rank) and `tool_p95`, and so on."""
        window = np.concatenate(self._tail)[-WINDOW:]
        reached = np.cumsum(self._counts)
        found: dict[str, float] = {"samples": self.count}
        for name, quantile in _QUANTILES:
            rank = -(-self.count * int(quantile * 100) // 100)
            found[f"ours_{name}"] = int(np.searchsorted(reached, rank)) / 1000
            found[f"tool_{name}"] = round(dashboard_percentile(window, quantile) / 1000, 6)
        return found


class Samples:
    """Collects what the remarks need to know; samples must come in the order of the file."""

    def __init__(self) -> None:
        self.plain = 0
        self.transactions = 0
        self.excused = 0
        """Samples with a status of 400 or more that an assertion made a success."""
        self.several = 0
        """Rows that stand for more than one sample."""
        self._total = _Times()
        self._labels: dict[str, _Times] = {}

    def add(self, codes: npt.NDArray[np.int32], names: Sequence[str], elapsed: IntArray) -> None:
        """Labels and latencies (ms) of some samples."""
        self.plain += len(elapsed)
        self._total.add(elapsed)
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
        for place, rows in zip(codes[order][starts], np.split(order, starts[1:]), strict=True):
            name = names[int(place)]
            times = self._labels.get(name)
            if times is None:
                if len(self._labels) >= _TRACKED_LABELS:
                    continue
                times = self._labels[name] = _Times()
            times.add(elapsed[rows])

    def remark(self, sink: Sink, *, transactions_counted: bool) -> None:
        if self.transactions and not transactions_counted:
            sink.remark("jmeter-transactions", figures={"rows": self.transactions})
        if transactions_counted:
            sink.remark("jmeter-transactions-only", figures={"rows": self.transactions})
        if self.excused:
            sink.remark("jmeter-excused", figures={"requests": self.excused})
        if self.several:
            sink.remark("jmeter-summed-rows", figures={"rows": self.several})
        parents = sorted(name for name in self._labels if f"{name}-0" in self._labels)
        if parents:
            sink.remark("jmeter-sub-samples", names=", ".join(parents[:5]))
        self._remark_window(sink)

    def _remark_window(self, sink: Sink) -> None:
        large = sorted(
            (name for name in self._labels if self._labels[name].count > WINDOW),
            key=lambda name: -self._labels[name].count,
        )
        told = [("Total", self._total)] if self._total.count > WINDOW else []
        told += [(name, self._labels[name]) for name in large[:_SHOWN_LABELS]]
        for name, times in told:
            figures = times.figures()
            if name != "Total" and all(figures[f"ours_{q}"] == figures[f"tool_{q}"] for q, _ in _QUANTILES):
                continue
            sink.remark(
                "jmeter-last-20000",
                figures=figures,
                name=name,
                window=WINDOW,
                count=times.count,
                tool_ms=figures["tool_p95"] * 1000,
                ours_ms=figures["ours_p95"] * 1000,
            )


_CHUNK = 1 << 20
_MS = 1_000_000
_LONGEST_TEXT = 4_000
_HELD = 65_536
_DAMAGED_SHOWN = 20
_FIELDS = {
    **{"timeStamp": "ts", "startTime": "startTime", "elapsedTime": "t", "label": "lb", "allThreads": "na"},
    **{"responseCode": "rc", "responseMessage": "rm", "success": "s", "bytes": "by"},
}
"""Attributes by the elements that plug-ins' own samples have instead, such as WebDriver's."""
_TEXTS = ("failureMessage", "java.net.URL")
_AS_ELEMENTS = " element"
_ENCODING = re.compile(rb"(?i)<\?xml[^>]{0,99}?encoding=.((?:utf|iso|windows|us-ascii|shift|euc|gb|big5)[\w.-]{0,20})")
# What XML forbids, though JMeter writes it: control characters, also as `&#x1b;`, and halves of pairs.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"
    "|&#(?:x0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]|[dD][89a-fA-F][0-9a-fA-F]{2}|[fF]{3}[eEfF])"
    "|0*(?:[0-8]|1[124-9]|2[0-9]|3[01]));"
)


def recognise_xml(head: bytes) -> int:
    """By its root element."""
    start = head.lstrip()[:400]
    return 95 if start.startswith(b"<") and b"<testResults" in start else 0


def _read_parts(parts: Sequence[Part], sink: Sink, read_part: Callable[[Part, Sink, Samples, bool], None]) -> None:
    """Reads every part; several are the results of several machines.

    Only the controllers may be saved (subresults=false), so that they are all that is known of the requests: such a
    part is read once more with them.
    """
    samples = Samples()
    only_transactions = False
    for part in parts:
        before = samples.plain, samples.transactions
        read_part(part, sink, samples, False)
        if samples.plain == before[0] and samples.transactions > before[1]:
            only_transactions = True
            samples.transactions = before[1]
            read_part(part, sink, samples, True)
    samples.remark(sink, transactions_counted=only_transactions)


def _read_xml_part(part: Part, sink: Sink, samples: Samples, keep_transactions: bool) -> None:
    document = _Document(sink, samples, keep_transactions)
    with part.open() as stream:
        try:
            decoder, held = _decoder(part.head), ""
            while data := stream.read(_CHUNK):
                text = held + decoder.decode(data)
                # A reference may go on in the next piece.
                cut = text.rfind("&", -20)
                text, held = (text, "") if cut < 0 else (text[:cut], text[cut:])
                document.parser.Parse(_FORBIDDEN.sub("\ufffd", text), False)
            document.parser.Parse(_FORBIDDEN.sub("\ufffd", held + decoder.decode(b"", True)), True)
        except (expat.ExpatError, _RefusedError) as error:
            place = document.parser.ErrorLineNumber if isinstance(error, expat.ExpatError) else 1
            if not keep_transactions:
                sink.remark("damaged/jmeter-xml", place=f"line {place}", error=error)
    document.flush()


def _decoder(head: bytes) -> codecs.IncrementalDecoder:
    found = _ENCODING.match(head.lstrip())
    try:
        return codecs.getincrementaldecoder(found[1].decode() if found else "utf-8")("replace")
    except LookupError:
        return codecs.getincrementaldecoder("utf-8")("replace")


class _RefusedError(ValueError):
    """The document declares entities: results never do, and they can be made to blow up."""


class _Document:
    def __init__(self, sink: Sink, samples: Samples, keep_transactions: bool) -> None:
        self._sink = sink
        self._samples = samples
        self._keep = keep_transactions
        self._rows: Rows = sink.rows()
        self._open: list[dict[str, str]] = []
        self._kinds: list[str] = []
        self._text: list[str] | None = None
        self._text_of = ""
        self._labels: dict[str, int] = {}
        self._held: list[tuple[int, int]] = []
        self._users: dict[int, float] = {}
        self._damaged = 0
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.buffer_text = True

    def _refuse(self, *_: object) -> None:
        raise _RefusedError("it declares a document type, which results of JMeter never do")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if "t" in attributes and "ts" in attributes:
            # What is known of a sample so far; the text of a failed assertion comes as a child.
            self._open.append(attributes)
            self._kinds.append(name)
        elif "SampleResult" in name and not attributes:
            self._open.append({_AS_ELEMENTS: name})
            self._kinds.append(name)
        elif self._open and (name in _TEXTS or (name in _FIELDS and _AS_ELEMENTS in self._open[-1])):
            self._text, self._text_of = [], name

    def _characters(self, text: str) -> None:
        if self._text is not None and len(self._text) < _LONGEST_TEXT:
            self._text.append(text)

    def _end(self, name: str) -> None:
        if self._text is not None and name == self._text_of:
            found = "".join(self._text)[:_LONGEST_TEXT].strip()
            self._open[-1].setdefault(f" {name}" if name in _TEXTS else _FIELDS[name], found)
            self._text = None
        elif self._kinds and name == self._kinds[-1]:
            self._kinds.pop()
            self._add(self._open.pop())

    def _add(self, sample: dict[str, str]) -> None:
        message = sample.get("rm", "")
        if message.startswith(TRANSACTION):
            self._samples.transactions += 1
            if not self._keep:
                return
        if _AS_ELEMENTS in sample and sample.get("ts", "0") == "0":
            sample["ts"] = sample.get("startTime", "")
        try:
            start, elapsed = int(sample["ts"]), int(sample.get("t", ""))
            bytes_in, bytes_out = int(sample.get("by", -1)), int(sample.get("sby", -1))
            users = float(sample.get("na", "nan"))
            if max(abs(start), abs(elapsed)) >= 2**53:
                raise ValueError("beyond every clock")
        except ValueError:
            self._damaged += 1
            if self._damaged <= _DAMAGED_SHOWN and not self._keep:
                self._sink.remark("damaged/jmeter-sample", place=f"line {self.parser.CurrentLineNumber}")
            return
        code, failure = sample.get("rc", ""), sample.get(" failureMessage", "")
        success = sample.get("s", "true") == "true"
        label = sample.get("lb") or sample.get(" java.net.URL", "").partition("?")[0] or NO_LABEL
        status = jmeter_status(code)
        self._samples.excused += success and status >= 400
        self._rows.append(
            start * _MS,
            elapsed * _MS,
            status,
            label,
            error=None if success else error_text(code, message, failure),
            outcome=SORTER.of_jmeter(code, message, failure, success=success),
            bytes_in=bytes_in,
            bytes_out=bytes_out,
        )
        if users == users:
            self._users[(start + elapsed) // 1000] = users
        self._held.append((self._labels.setdefault(label, len(self._labels)), elapsed))
        if len(self._held) >= _HELD:
            self.flush()

    def flush(self) -> None:
        if self._held:
            table = np.array(self._held, dtype=np.int64)
            self._samples.add(table[:, 0].astype(np.int32), list(self._labels), table[:, 1])
            self._held, self._labels = [], {}
        if self._users:
            at = np.array(list(self._users), dtype=np.int64) * 1000
            self._sink.users(at, np.array(list(self._users.values()), dtype=np.float64))
            self._users = {}
        self._rows.flush()


JMETER_XML = Importer(
    "jmeter-xml", "JMeter results as XML", recognise_xml, partial(_read_parts, read_part=_read_xml_part)
)


_FIRST = ("timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success")
_LAST = ("Latency", "IdleTime", "Connect")
WITHOUT_HEADER: tuple[tuple[str, ...], ...] = (
    (*_FIRST, "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", *_LAST),  # JMeter 5
    (*_FIRST, "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", *_LAST),  # JMeter 3.2 and 4
    (*_FIRST, "failureMessage", "bytes", "grpThreads", "allThreads", *_LAST),  # JMeter 3.0
)
"""Default columns of files without a header; the layouts are told apart by their number."""
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


def recognise_csv(head: bytes) -> int:
    """By the header's names, or by what the fields of the first record are."""
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


def _read_csv_part(part: Part, sink: Sink, samples: Samples, keep_transactions: bool) -> None:
    layout = layout_of(part.head) or Layout(
        columns=WITHOUT_HEADER[0], delimiter=",", header=False, dated=False, zoned=False
    )
    if not keep_transactions:
        _remark_layout(layout, sink)
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
                sink.remark("damaged/jmeter-line", place=f"line {line}", text=text)


def _remark_layout(layout: Layout, sink: Sink) -> None:
    if layout.dated and not layout.zoned:
        sink.remark("jmeter-no-time-zone")
    if not {"success", "responseCode"} & set(layout.columns):
        sink.remark("jmeter-no-success")


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

    rows = [row for row in whole_records(chunk, accept, damage, layout.delimiter) if row[1]]
    columns = {name: _encode([row[0][place] for row in rows]) for place, name in enumerate(names)}
    numbers = {name: np.array([row[1][place] for row in rows], dtype=np.int64) for place, name in enumerate(counts)}
    parsed = _assemble(columns, numbers, keep_transactions)
    parsed.damage = damage
    return parsed


def _assemble(columns: dict[str, Labels], numbers: dict[str, IntArray], keep_transactions: bool) -> _Parsed:
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
    urls = columns.get("URL")
    plain = None if urls is None else Labels(urls.codes, [_QUERY.split(one, 1)[0] for one in urls.names])
    endpoint = columns.get("label") or plain or _nothing(rows, NO_LABEL)
    parsed.elapsed = elapsed[kept]
    parsed.batch = RequestRows(
        time_ns=ns_of_ms(start)[kept],
        latency_ns=ns_of_ms(elapsed)[kept],
        status=status[kept],
        endpoint=Labels(endpoint.codes[kept], [name or NO_LABEL for name in endpoint.names]),
        error=Labels(error.codes[kept], error.names),
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
        return outcome, Labels(errors, [])
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
    return outcome, Labels(errors, names)


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


JMETER_CSV = Importer(
    "jmeter-csv", "JMeter results as CSV (JTL)", recognise_csv, partial(_read_parts, read_part=_read_csv_part)
)
