"""What k6's JSON and CSV have in common: points of metrics with tags, and how they become requests.

A request is eight points of the same time and tags. `http_req_duration` (sending, waiting and receiving, in
milliseconds, without DNS, connecting and TLS) is the one that is read; its time is the end of the request. k6 gives
points no id of their request: bytes belong to none in particular, and failed checks only where vu and iter tell.

As in `k6_json`, only the lines wanted are taken apart; of the others the fields are counted.

A file is nine parts of other metrics to one of durations: only the lines wanted are parsed, the others must begin and
end as they should.
"""

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import orjson
from loadwatch_formats.outcomes import Outcome
from loadwatch_formats.times import parse_rfc3339

from loadwatch_backend.evidence.records.model import RampFacts
from loadwatch_backend.runs.importers.importer import Importer, Part, Sink, by_header
from loadwatch_backend.runs.importers.outcomes import SORTER, UNNAMED, endpoint_of_url, looks_like_url, plain_label
from loadwatch_backend.runs.importers.reading.chunks import Chunk, chunks_of_csv, chunks_of_lines
from loadwatch_backend.runs.importers.reading.documents import STATUS_MOST, integer, items, mapping, nanoseconds
from loadwatch_backend.runs.importers.tools.hey import Damages, check_header

DURATION = "http_req_duration"
OTHER_PROTOCOLS = ("grpc_req_duration", "ws_connecting", "ws_session_duration", "browser_http_req_duration")
Answer = tuple[str, str, str, str]
"""The tags status, error_code, error and expected_response; empty where there is none."""
User = tuple[str, str]
"""The metadata vu and iter, which `--system-tags` with both of them adds."""
_HALF_SECOND = 500_000_000
_CACHED = 100_000


def time_ns(text: str) -> tuple[int, bool]:
    """Nanoseconds since the epoch, and whether the text is in whole seconds.

    Takes RFC 3339 with or without a fraction, and Unix time in seconds, milli-, micro- or nanoseconds by its length.

    Raises:
        ValueError: it is no such time.
    """
    if text[10:11] != "T":
        digits = len(text)
        scale = 1_000_000_000 if digits <= 11 else 1_000_000 if digits <= 14 else 1_000 if digits <= 17 else 1
        return integer(text) * scale, digits <= 11
    return parse_rfc3339(text), "." not in text


@dataclass(slots=True)
class _Held:
    """A request that may yet fail a check."""

    start: int
    took: int
    status: int
    endpoint: str
    error: str | None
    outcome: Outcome
    iteration: str


class Points:
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._rows = sink.rows()
        self._endpoints: dict[tuple[str, str], str] = {}
        self._answers: dict[Answer, tuple[int, Outcome, str | None]] = {}
        self._user_times: list[int] = []
        self._user_counts: list[float] = []
        self._held: dict[str, _Held] = {}
        self._attributed = 0
        self._whole_seconds = False
        self._untold = self._expected = 0
        self._dropped = 0.0
        self._bytes: Counter[str] = Counter()
        self.requests = 0
        self.counted = 0
        """Points of `http_reqs`: as many as there are requests, if the file is whole."""
        self.failed_checks: Counter[str] = Counter()

    def request(
        self, at: str, value: str | float, answer: Answer, name: str, method: str, user: User | None = None
    ) -> None:
        """A point of `http_req_duration`; `name` is its tag of that name, or else its URL.

        Raises:
            ValueError: time, value or status is no such thing.
        """
        end, coarse = time_ns(at)
        took = nanoseconds(value, 1e6)
        known = self._answers.get(answer)
        if known is None:
            known = self._answer(answer)
        status, outcome, error = known
        endpoint = self._endpoints.get((name, method)) or self._endpoint(name, method)
        if coarse:
            self._whole_seconds = True
            end += _HALF_SECOND
        if user is None:
            self._rows.append(end - took, took, status, endpoint, error=error, outcome=outcome)
        else:
            self._hold(user, _Held(end - took, took, status, endpoint, error, outcome, user[1]))
        self.requests += 1
        if not status and not any(answer):
            self._untold += 1
        if status >= 400 and answer[3] == "true":
            self._expected += 1

    def _answer(self, answer: Answer) -> tuple[int, Outcome, str | None]:
        status = integer(answer[0], STATUS_MOST) if answer[0] else 0
        known = (status, SORTER.of_k6(status, *answer[1:]), answer[2] or None)
        if len(self._answers) < _CACHED:
            self._answers[answer] = known
        return known

    def _endpoint(self, name: str, method: str) -> str:
        if looks_like_url(name):
            endpoint = endpoint_of_url(method, name)
        else:
            endpoint = plain_label(name) or UNNAMED
        if len(self._endpoints) < _CACHED:
            self._endpoints[(name, method)] = endpoint
        return endpoint

    def _hold(self, user: User, request: "_Held") -> None:
        """Keeps the last request of each user, for the checks that come behind it."""
        before = self._held.pop(user[0], None)
        if before is not None:
            self._release(before)
        self._held[user[0]] = request

    def _release(self, held: "_Held") -> None:
        self._rows.append(held.start, held.took, held.status, held.endpoint, error=held.error, outcome=held.outcome)

    def _check_failed(self, check: str, user: User | None) -> None:
        held = self._held.get(user[0]) if user is not None else None
        if held is not None and user is not None and held.iteration == user[1]:
            self._attributed += 1
            if held.outcome is Outcome.OK:
                held.outcome = Outcome.ASSERTION
                held.error = f"check failed: {check}"
        elif len(self.failed_checks) < 1_000 or check in self.failed_checks:
            self.failed_checks[check] += 1

    def other(self, metric: str, at: str, value: str | float, check: str, user: User | None = None) -> None:
        """A point of `vus`, `dropped_iterations`, `checks` (with its name), `data_sent` or `data_received`.

        Raises:
            ValueError: time or value is no such thing.
        """
        number = float(value)
        if not abs(number) < 2**53:
            raise ValueError("a value is out of range")
        if metric == "vus":
            self._user_times.append(time_ns(at)[0] // 1_000_000)
            self._user_counts.append(number)
        elif metric == "dropped_iterations":
            self._dropped += number
        elif metric == "checks":
            if number == 0:
                self._check_failed(check, user)
        else:
            self._bytes[metric] += int(number)

    def flush_users(self) -> None:
        """Hands over the users so far, so that no list grows with the file."""
        if self._user_times:
            self._sink.users(np.array(self._user_times, dtype=np.int64), np.array(self._user_counts))
            self._user_times, self._user_counts = [], []

    def release_all(self) -> None:
        """Hands over the requests still held at the end of a file: the next one has other users."""
        for held in self._held.values():
            self._release(held)
        self._held.clear()

    def close(self, *, damaged: bool) -> None:
        self.flush_users()
        self.release_all()
        self._rows.flush()
        if self._dropped:
            self._sink.describe(facts=RampFacts(dropped_iterations=int(self._dropped)))
        if self.counted != self.requests and not damaged:
            self._sink.remark(
                "k6-points-missing",
                place="end of file",
                figures={"http_reqs": self.counted, "http_req_duration": self.requests},
            )
        self._remark_outcomes()
        if self._bytes:
            self._sink.remark(
                "k6-bytes", figures={"bytes_in": self._bytes["data_received"], "bytes_out": self._bytes["data_sent"]}
            )
        if self._whole_seconds:
            self._sink.remark("k6-whole-seconds")

    def _remark_outcomes(self) -> None:
        if self.failed_checks:
            failed = sum(self.failed_checks.values())
            most = "; ".join(f"{name} ({n})" for name, n in self.failed_checks.most_common(5))
            self._sink.remark("k6-checks", figures={"failed_checks": failed}, most=most)
        if self._expected:
            self._sink.remark("k6-expected-statuses", figures={"requests": self._expected})
        if self._attributed:
            self._sink.remark("k6-checks-attributed", figures={"failed_checks": self._attributed})
        if self._untold:
            self._sink.remark("k6-no-outcome", figures={"requests": self._untold})


HEADER = b"metric_name,timestamp,metric_value,"
_FIRST = HEADER.decode().rstrip(",").split(",")
_OTHERS = ("vus", "dropped_iterations", "data_sent", "data_received", "checks")
_CSV_METRICS = (DURATION, "http_reqs", *_OTHERS)
_PREFIXES = tuple(f"{name},".encode() for name in _CSV_METRICS)


def _read(parts: Sequence[Part], sink: Sink, read_part: "Callable[[Part, Points, Seen, Damages], None]") -> None:
    """Requests, users, dropped iterations; several files of one test (one per generator) together."""
    points, seen, damaged = Points(sink), Seen(), False
    for part in parts:
        damages = Damages(sink, part.name)
        read_part(part, points, seen, damages)
        points.release_all()
        damages.close()
        damaged = damaged or damages.rows > 0
    points.close(damaged=damaged)
    seen.remark(sink)


def _read_csv(part: Part, points: Points, seen: "Seen", damages: Damages) -> None:
    columns: list[str] = []
    with part.open() as stream:
        for chunk in chunks_of_csv(stream):
            begin = 0
            if not columns:
                header, _, _ = chunk.data.partition(b"\n")
                columns = header.decode(errors="replace").strip().split(",")
                check_header(part, columns, _FIRST, "k6's CSV")
                begin = min(len(header) + 1, len(chunk.data))
            _read_csv_chunk(chunk, begin, columns, points, damages)
            seen.protocols |= {name for name in OTHER_PROTOCOLS if b"\n" + name.encode() + b"," in chunk.data}
            points.flush_users()


def _read_csv_chunk(chunk: Chunk, begin: int, columns: Sequence[str], points: Points, damages: Damages) -> None:
    data = chunk.data[begin:]
    first = chunk.line + chunk.data.count(b"\n", 0, begin)
    cut = len(data) if data.endswith(b"\n") or not data else data.rfind(b"\n") + 1
    if cut < len(data):
        damages.add(first + data.count(b"\n"), "the file ends within it")
        data = data[:cut]
    fields = _Fields(columns)
    plain = b'"' not in data and data.count(b",") == data.count(b"\n") * (len(columns) - 1)
    for line, row in _wanted_lines(data, first) if plain else _all_rows(data, len(columns), first, damages):
        if len(row) != len(columns):
            # The commas of all lines together may be right where those of two are not.
            damages.add(line, f"{len(row)} fields instead of {len(columns)}")
            continue
        try:
            fields.take(row, points)
        except ValueError as error:
            damages.add(line, str(error))


class _Fields:
    """Positions of the tags; an absent column is -1, the empty text that is appended to each row."""

    def __init__(self, columns: Sequence[str]) -> None:
        def at(name: str) -> int:
            return columns.index(name) if name in columns else -1

        self._answer = (at("status"), at("error_code"), at("error"), at("expected_response"))
        self._metadata = at("metadata")
        self._name, self._url, self._method, self._check = at("name"), at("url"), at("method"), at("check")

    def take(self, row: list[str], points: Points) -> None:
        row.append("")
        user = _user(row[self._metadata])
        metric = row[0]
        if metric == DURATION:
            status, code, error, expected = self._answer
            answer = (row[status], row[code], row[error], row[expected])
            points.request(row[1], row[2], answer, row[self._name] or row[self._url], row[self._method], user)
        elif metric == "http_reqs":
            points.counted += 1
        else:
            points.other(metric, row[1], row[2], row[self._check], user)


def _user(metadata: str) -> User | None:
    """Of `vu=2&iter=0`, in any order."""
    if not metadata:
        return None
    pairs = {name: value for name, _, value in (pair.partition("=") for pair in metadata.split("&"))}
    return (pairs["vu"], pairs["iter"]) if "vu" in pairs and "iter" in pairs else None


def _wanted_lines(data: bytes, first: int) -> Iterator[tuple[int, list[str]]]:
    """Line and fields of the lines wanted, of a chunk without quotes whose lines have all fields together."""
    for line, text in enumerate(data.split(b"\n"), first):
        if text.startswith(_PREFIXES):
            yield line, text.decode(errors="replace").rstrip("\r").split(",")


def _all_rows(data: bytes, width: int, first: int, damages: Damages) -> Iterator[tuple[int, list[str]]]:
    """Line and fields of the lines wanted; reports those without all fields."""
    lines = data.decode(errors="replace").replace("\0", "�").splitlines(keepends=True)
    reader = csv.reader(lines)
    before = 0
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            damages.add(first + before, str(error))
            before = reader.line_num
            continue
        if row and len(row) != width:
            damages.add(first + before, f"{len(row)} fields instead of {width}")
        elif row and row[0] in _CSV_METRICS:
            yield first + before, row
        before = reader.line_num


K6_CSV = Importer("k6-csv", "k6 CSV (`k6 run --out csv=FILE`)", by_header(HEADER), partial(_read, read_part=_read_csv))


_JSON_METRICS = frozenset(one.encode() for one in (DURATION, *_OTHERS))
_NAME = b'"metric":"'
_NEW_ORDER = b'{"metric":"'
_OBJECT = b'{"'
_METRIC = b'"type":"Metric"'
_NAME_AT = len(_NEW_ORDER)
_WHOLE = (b"}}", b"}}\r", b'"}', b'"}\r')
_FAILED_CHECK = b'"value":0,'


def _read_json(part: Part, points: Points, seen: "Seen", damages: Damages) -> None:
    with part.open() as stream:
        for chunk in chunks_of_lines(stream):
            _read_json_chunk(chunk, points, seen, damages)


class Seen:
    def __init__(self) -> None:
        self.thresholds: dict[str, str] = {}
        self.protocols: set[str] = set()

    def metric(self, definition: object) -> None:
        data = mapping(mapping(definition).get("data"))
        name = str(data.get("name", ""))
        if name in OTHER_PROTOCOLS:
            self.protocols.add(name)
        expressions = data.get("thresholds")
        if isinstance(expressions, list) and expressions:
            self.thresholds[name] = orjson.dumps(expressions).decode()
        for submetric in items(data.get("submetrics")):
            if submetric.get("thresholds"):
                self.thresholds[str(submetric.get("name"))] = orjson.dumps(submetric["thresholds"]).decode()

    def remark(self, sink: Sink) -> None:
        if self.thresholds:
            listed = "; ".join(f"{name} {expressions}" for name, expressions in list(self.thresholds.items())[:10])
            sink.remark("k6-thresholds", listed=listed)
        if self.protocols:
            sink.remark("k6-other-protocols", protocols=", ".join(sorted(self.protocols)))


def _read_json_chunk(chunk: Chunk, points: Points, seen: Seen, damages: Damages) -> None:
    lines = chunk.data.split(b"\n")
    points_only = _points_only(chunk.data)
    for number, line in enumerate(lines, chunk.line):
        if line.startswith(_NEW_ORDER):
            metric = line[_NAME_AT : line.find(b'"', _NAME_AT)]
        else:
            metric = line[line.rfind(_NAME) + len(_NAME) : -2]
        wanted = metric in _JSON_METRICS and (metric != b"checks" or _FAILED_CHECK in line)
        if not wanted and (points_only or _looks_whole(line)):
            points.counted += metric == b"http_reqs"
            continue
        if not line or line.isspace():
            continue
        try:
            _take(orjson.loads(line), points, seen)
        except orjson.JSONDecodeError:
            cut = chunk.last and number == chunk.line + len(lines) - 1
            damages.add(number, "the file ends within it" if cut else "no JSON")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            damages.add(number, f"not as k6 writes it ({error!r})")
    points.flush_users()


def _points_only(data: bytes) -> bool:
    """Whether every line is a point that begins and ends as one: what `_looks_whole` tells, of a chunk at once."""
    lines = data.count(b"\n")
    return (
        data.startswith(_OBJECT)
        and data.endswith((b"}}\n", b'"}\n'))
        and data.count(b"}\n" + _OBJECT) == lines - 1
        and data.count(_NAME) == lines
        and data.find(_METRIC) < 0
    )


def _looks_whole(line: bytes) -> bool:
    """A point that begins and ends as one, and has nothing of another in it."""
    return (
        line.startswith(_OBJECT) and line.endswith(_WHOLE) and line.count(_NAME) == 1 and line.find(_METRIC, 0, 120) < 0
    )


def _take(document: dict[str, Any], points: Points, seen: Seen) -> None:
    if document["type"] == "Metric":
        seen.metric(document)
        return
    metric, point = document["metric"], document["data"]
    metadata = mapping(point.get("metadata")) or mapping(point.get("tags"))  # tags in older versions
    user = (str(metadata["vu"]), str(metadata["iter"])) if "vu" in metadata and "iter" in metadata else None
    if metric == DURATION:
        get = point["tags"].get
        answer = (get("status", ""), get("error_code", ""), get("error", ""), get("expected_response", ""))
        points.request(point["time"], point["value"], answer, get("name") or get("url", ""), get("method", ""), user)
    elif metric == "http_reqs":
        points.counted += 1
    elif metric in _OTHERS:
        points.other(metric, point["time"], point["value"], mapping(point.get("tags")).get("check", ""), user)


def _recognise_json(head: bytes) -> int:
    line = head.lstrip().partition(b"\n")[0]
    kind = b'"type":"Metric"' in line or b'"type":"Point"' in line
    return 95 if line.startswith(b"{") and kind and b'"metric":"' in line and b'"data":{' in line else 0


K6_JSON = Importer(
    "k6-json", "k6 JSON lines (`k6 run --out json=FILE`)", _recognise_json, partial(_read, read_part=_read_json)
)
