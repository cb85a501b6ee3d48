"""Incremental readers of results that are still being written, recognised by their first bytes.

They serve the live view only: the server's importers read the finished file again and have the last word.
"""

import csv
import json
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, NoReturn, Protocol, TypeVar

from loadwatch_formats.gatling import (
    INCOMING,
    TEXT_HEADS,
    CutOffError,
    GatlingError,
    GatlingRecords,
    RequestLine,
    RequestRecord,
    UserEvent,
    is_binary,
    read_line,
)
from loadwatch_formats.gob import GobError
from loadwatch_formats.outcomes import Outcome, Sorter, outcome_of_status
from loadwatch_formats.times import parse_rfc3339
from loadwatch_formats.vegeta import VegetaStream, is_vegeta

_T = TypeVar("_T")

_SORTER = Sorter(lambda pattern: re.compile(pattern, re.ASCII))
"""ASCII, as in the server's engine."""

UNKNOWN = -1
"""As a number of bytes: the tool does not tell."""


class RequestEvent(NamedTuple):
    """One finished request; `start_ms` since the epoch, `latency` in seconds."""

    start_ms: int
    latency: float
    outcome: Outcome
    bytes_in: int = UNKNOWN
    bytes_out: int = UNKNOWN


class SecondEvent(NamedTuple):
    """Totals that a tool gives about itself, at an instant; counts are since the start of the run.

    `quantiles` are (quantile, seconds) as the tool sees them.
    """

    at_ms: int
    requests: int
    failures: int
    users: float | None
    quantiles: tuple[tuple[float, float], ...]


class UsersEvent(NamedTuple):
    at_ms: int
    users: int


Event = RequestEvent | SecondEvent | UsersEvent


class StreamError(ValueError):
    """The stream cannot be read further; the text says where and why."""


class StreamReader(Protocol):
    """Reads one result from its first byte on, in pieces of any size."""

    def feed(self, data: bytes) -> Sequence[Event]:
        """What became complete with these bytes.

        Raises:
            StreamError: what comes cannot be read; the reader is done.
        """
        ...


MAX_LINE_BYTES = 16 * 1024 * 1024


class _TextReader(Generic[_T]):
    """Reads a growing text by lines or rows; the first that is not of the format ends it, for the reason `refusal`."""

    refusal: str
    quoted = False
    """Whether a line break inside double quotes belongs to the field."""

    def __init__(self) -> None:
        self._rest = b""
        self._number = 0

    def feed(self, data: bytes) -> Sequence[Event]:
        events: list[Event] = []
        for part in self._split(self._cut(data)):
            self._number += 1
            try:
                events += self._read(part)
            except (ValueError, LookupError, TypeError) as error:
                raise StreamError(self.refusal.format(number=self._number, error=error)) from error
        return events

    def _cut(self, data: bytes) -> str:
        """Whole lines as text, empty while there is none; the rest waits."""
        whole = self._rest + data
        end = whole.rfind(b"\n") + 1
        while self.quoted and end and whole.count(b'"', 0, end) % 2:
            end = whole.rfind(b"\n", 0, end - 1) + 1
        self._rest = whole[end:]
        if len(self._rest) > MAX_LINE_BYTES:
            # This is no text.
            raise StreamError(f"a line is longer than {MAX_LINE_BYTES} bytes")
        return whole[:end].decode("utf-8", "replace")

    def _split(self, text: str) -> Iterable[_T]:
        raise NotImplementedError

    def _read(self, part: _T) -> Iterable[Event]:
        raise NotImplementedError


class _Lines(_TextReader[str]):
    def _split(self, text: str) -> Iterable[str]:
        return text.split("\n")[:-1]


class _Rows(_TextReader[list[str]]):
    """Reads the rows of a CSV except empty ones; a header gives the columns by name."""

    quoted = True
    delimiter = ","
    columns: dict[str, int] | None = None

    def _split(self, text: str) -> Iterable[list[str]]:
        return (row for row in csv.reader(text.splitlines(keepends=True), delimiter=self.delimiter) if row)

    def _is_header(self, row: list[str]) -> bool:
        if self.columns is not None:
            return False
        self.columns = {name: index for index, name in enumerate(row)}
        return True


class GatlingBinaryReader:
    """Requests and users from Gatling's simulation.log since 3.13, which is binary."""

    def __init__(self) -> None:
        self._log = GatlingRecords()
        self._rest = b""
        self._done = 0
        self._users = 0

    def feed(self, data: bytes) -> Sequence[RequestEvent | UsersEvent]:
        log, data = self._log, self._rest + data
        events: list[RequestEvent | UsersEvent] = []
        at = 0
        while at < len(data):
            try:
                record = log.read(data, at)
            except CutOffError:
                break
            except GatlingError as error:
                raise StreamError(
                    f"byte {self._done + at}: {error}; this is no log of Gatling 3.13 or later"
                ) from error
            at = log.end
            if isinstance(record, RequestRecord):
                if record.end != log.sentinel:
                    outcome = Outcome.OK if record.ok else _SORTER.of_gatling(log.strings[record.message])
                    seconds = max(record.end - record.start, 0) / 1000
                    events.append(RequestEvent(log.start_ms + record.start, seconds, outcome))
            elif isinstance(record, UserEvent):
                self._users += 1 if record.started else -1
                events.append(UsersEvent(log.start_ms + record.at, self._users))
        self._rest = data[at:]
        self._done += at
        return events


class GatlingTextReader(_Lines):
    """Requests and users from Gatling's simulation.log up to 3.12, which is text."""

    refusal = "line {number} is not one of Gatling's log: {error}"
    _users = 0

    def _read(self, part: str) -> Iterable[Event]:
        line = read_line(part.removesuffix("\r"))
        if isinstance(line, RequestLine):
            start, end, ok, message = line
            if end != INCOMING:
                outcome = Outcome.OK if ok else _SORTER.of_gatling(message)
                yield RequestEvent(start, max(end - start, 0) / 1000, outcome)
        elif isinstance(line, UserEvent):
            self._users += 1 if line.started else -1
            yield UsersEvent(line.at, self._users)


_JTL_HEAD = re.compile(rb"(?:\w+[,;\t|])*timeStamp[,;\t|](?:\w+[,;\t|])*elapsed[,;\t|]")
_JTL_DELIMITER = re.compile(rb"\w+([,;\t|])")
_JTL_TRANSACTION = "Number of samples in transaction"


class _JtlReader(_Rows):
    """JMeter's JTL as CSV (CSVSaveService): columns by the header, times in ms, `timeStamp` is the sample's start.

    Rows of Transaction Controllers are left out, their parts are there.
    """

    refusal = "row {number} is not one of JMeter's JTL with times in ms: {error}"
    _begun = False
    _users = -1

    def feed(self, data: bytes) -> Sequence[Event]:
        if not self._begun and (found := _JTL_DELIMITER.match(data)):
            self.delimiter = found[1].decode()
        self._begun = True
        return super().feed(data)

    def _read(self, part: list[str]) -> Iterable[Event]:
        if self._is_header(part) or self._text(part, "responseMessage").startswith(_JTL_TRANSACTION):
            return
        columns = self.columns or {}
        code = self._text(part, "responseCode")
        if "success" in columns:
            success = self._text(part, "success").strip().lower() == "true"
        else:  # The columns are set up without JMeter's own word: then it is the status.
            success = "responseCode" not in columns or (len(code) == 3 and code.isdecimal() and "100" <= code < "400")
        outcome = _SORTER.of_jmeter(
            code, self._text(part, "responseMessage"), self._text(part, "failureMessage"), success=success
        )
        start, elapsed = int(part[columns["timeStamp"]]), int(part[columns["elapsed"]])
        size, sent = (int(self._text(part, name) or UNKNOWN) for name in ("bytes", "sentBytes"))
        yield RequestEvent(start, elapsed / 1000, outcome, size, sent)
        users = self._text(part, "allThreads")
        if users and int(users) != self._users:
            self._users = int(users)
            yield UsersEvent(start, self._users)

    def _text(self, row: list[str], name: str) -> str:
        index = (self.columns or {}).get(name)
        return row[index] if index is not None else ""


_K6_HEAD = re.compile(rb'\{(?=[^\n]{0,200}"metric":)(?=[^\n]{0,200}"type":"(?:Metric|Point)")')
_K6_WANTED = re.compile(r'"metric":"(?:http_req_duration|vus)"')


class _K6JsonReader(_Lines):
    """k6's JSON lines (`--out json=FILE`, internal/output/json): one point `http_req_duration` for each request.

    The value is in milliseconds and the point's time is the end of the request.
    """

    refusal = "line {number} is not one of k6's JSON output: {error}"

    def _read(self, part: str) -> Iterable[Event]:
        if not _K6_WANTED.search(part):
            return
        point: dict[str, Any] = json.loads(part)
        if point["type"] != "Point":
            return
        data = point["data"]
        end = parse_rfc3339(data["time"]) // 1_000_000
        if point["metric"] == "vus":
            yield UsersEvent(end, int(data["value"]))
            return
        tags: dict[str, str] = data.get("tags") or {}
        words = (tags.get(name, "") for name in ("error_code", "error", "expected_response"))
        outcome = _SORTER.of_k6(int(tags.get("status") or 0), *words)
        yield RequestEvent(end - round(data["value"]), data["value"] / 1000, outcome)


_LOCUST_HEAD = b"Timestamp,User Count,Type,Name,"
_LOCUST_QUANTILES = (("50%", 0.5), ("90%", 0.9), ("95%", 0.95), ("99%", 0.99), ("100%", 1.0))


class _LocustHistoryReader(_Rows):
    """Locust's `<prefix>_stats_history.csv` (locust/stats.py, StatsCSVFileWriter): one row `Aggregated` each second.

    Counts are since the start; percentiles are those of the last 10 s with `--csv-full-history`, in milliseconds.
    """

    refusal = "row {number} is not one of Locust's history: {error}"

    def _read(self, part: list[str]) -> Iterable[Event]:
        columns = self.columns or {}
        if self._is_header(part) or part[columns["Name"]] != "Aggregated":
            return
        yield SecondEvent(
            int(float(part[columns["Timestamp"]]) * 1000),
            int(part[columns["Total Request Count"]]),
            int(part[columns["Total Failure Count"]]),
            float(part[columns["User Count"]]),
            tuple(
                (quantile, float(part[columns[name]]) / 1000)
                for name, quantile in _LOCUST_QUANTILES
                if name in columns and part[columns[name]] not in ("N/A", "")
            ),
        )


# 1 start in unix ns, 2 code, 3 latency in ns, 4 bytes out, 5 bytes in, 6 error, 7 body, 8 attack, 9 seq, 10 method,
# 11 url, 12 headers.
_VEGETA_CSV_HEAD = re.compile(rb"\d{16,20},\d{1,3},\d+,\d+,\d+,")
_VEGETA_JSON_HEAD = re.compile(rb'\{"attack":')


def _vegeta_event(
    time_ns: int, code: int, latency_ns: float, error: str, bytes_in: int, bytes_out: int
) -> RequestEvent:
    """Its outcome follows from the HTTP status, or from the error where there is none (code 0)."""
    outcome = outcome_of_status(code) if code else _SORTER.of_error(error)
    return RequestEvent(time_ns // 1_000_000, latency_ns / 1e9, outcome, bytes_in, bytes_out)


class VegetaCsvReader(_Rows):
    """Requests from vegeta's CSV (`vegeta encode -to csv`)."""

    refusal = "row {number} is not one of vegeta's CSV (12 columns that begin with a time)"

    def _read(self, part: list[str]) -> Iterable[Event]:
        yield _vegeta_event(int(part[0]), int(part[1]), int(part[2]), part[5], int(part[4]), int(part[3]))


class VegetaJsonReader(_Lines):
    """Requests from vegeta's JSON lines (`vegeta encode -to json`)."""

    refusal = "line {number} is not one of vegeta's JSON: {error}"

    def _split(self, text: str) -> Iterable[str]:
        return filter(None, text.split("\n"))

    def _read(self, part: str) -> Iterable[Event]:
        hit: dict[str, Any] = json.loads(part)
        sizes = hit.get("bytes_in", 0), hit.get("bytes_out", 0)
        time_ns, code = parse_rfc3339(hit["timestamp"]), int(hit["code"])
        yield _vegeta_event(time_ns, code, hit["latency"], hit.get("error", ""), *sizes)


class VegetaGobReader:
    """Requests from vegeta's own stream (`vegeta attack`)."""

    def __init__(self) -> None:
        self._results = VegetaStream(_refuse_vegeta)

    def feed(self, data: bytes) -> Sequence[RequestEvent]:
        try:
            return [
                _vegeta_event(hit.time_ns, hit.code, hit.latency_ns, hit.error, hit.bytes_in, hit.bytes_out)
                for hit in self._results.feed(data)
            ]
        except GobError as error:
            _refuse_vegeta(self._results.messages.offset, str(error))


def _refuse_vegeta(offset: int, text: str) -> NoReturn:
    raise StreamError(f"byte {offset}: {text}; this is not vegeta's stream")


HEAD_BYTES = 400
"""Bytes that decide the format; a shorter beginning may be too short to tell."""

_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class StreamFormat:
    name: str
    begins: Callable[[bytes], object]
    reader: Callable[[], StreamReader]


FORMATS: Sequence[StreamFormat] = (
    StreamFormat("vegeta-csv", _VEGETA_CSV_HEAD.match, VegetaCsvReader),
    StreamFormat("vegeta-json", _VEGETA_JSON_HEAD.match, VegetaJsonReader),
    StreamFormat("k6-json", _K6_HEAD.match, _K6JsonReader),
    StreamFormat("locust-history", lambda head: head.startswith(_LOCUST_HEAD), _LocustHistoryReader),
    StreamFormat("jmeter-jtl", _JTL_HEAD.match, _JtlReader),
    StreamFormat("gatling-text", lambda head: head.startswith(TEXT_HEADS), GatlingTextReader),
    StreamFormat("gatling-binary", is_binary, GatlingBinaryReader),
    StreamFormat("vegeta-gob", is_vegeta, VegetaGobReader),
)


class AnyReader:
    """Reads whatever comes, plain or gzip, once its first bytes tell what it is."""

    def __init__(self) -> None:
        self._head = b""
        self._reader: StreamReader | None = None
        self._inflate: zlib._Decompress | None = None  # pyright: ignore[reportPrivateUsage] - its only name
        self._plain: bool | None = None
        self.format: str | None = None

    def feed(self, data: bytes) -> Sequence[Event]:
        """See StreamReader.

        Raises:
            StreamError: also when the beginning is of no known format.
        """
        data = self._unpack(data)
        if self._reader is not None:
            return self._reader.feed(data)
        self._head = (self._head + data).removeprefix(_BOM)
        found = next((item for item in FORMATS if item.begins(self._head)), None)
        if found is None:
            if len(self._head) >= HEAD_BYTES:
                raise StreamError("the beginning of the result is of no format that can be followed")
            return ()
        self.format = found.name
        self._reader = found.reader()
        head, self._head = self._head, b""
        return self._reader.feed(head)

    def _unpack(self, data: bytes) -> bytes:
        if self._plain is None:
            self._head += data
            if len(self._head) < len(_GZIP):
                return b""
            self._plain = not self._head.startswith(_GZIP)
            data, self._head = self._head, b""
            if not self._plain:
                self._inflate = zlib.decompressobj(wbits=31)
        if self._inflate is None:
            return data
        try:
            out = self._inflate.decompress(data)
            while self._inflate.eof and self._inflate.unused_data:
                rest = self._inflate.unused_data
                self._inflate = zlib.decompressobj(wbits=31)
                out += self._inflate.decompress(rest)
        except zlib.error as error:
            raise StreamError(f"the compressed result cannot be read: {error}") from error
        return out
