"""vegeta's results, as CSV, gob and JSON.

Columns by `encodeUsage` and `NewCSVEncoder` of vegeta's lib/results.go: timestamp (unix ns, start), code, latency (ns),
bytes out, bytes in, error, body (base64), attack name, sequence number, method, URL, response headers (base64).
"""

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import orjson
from loadwatch_formats.gob import GobError
from loadwatch_formats.times import parse_rfc3339
from loadwatch_formats.vegeta import VegetaStream, is_vegeta

from loadwatch_backend.evidence.records.model import IntArray
from loadwatch_backend.runs.importers.importer import Importer, Labels, Part, RequestRows, Sink
from loadwatch_backend.runs.importers.outcomes import endpoint_of_url
from loadwatch_backend.runs.importers.reading.chunks import Chunk, chunks_of_csv, chunks_of_lines, whole_records
from loadwatch_backend.runs.importers.reading.tables import (
    INT,
    LABEL,
    TEXT,
    NotATableError,
    Table,
    in_order,
    ints,
    joined,
    labels,
    parse_csv,
    parse_json_lines,
    times_ns,
)

QUERY = r"[?#].*$"
"""Cut from URLs: the query string would make every request an endpoint of its own."""
NO_TARGET = "vegeta"
"""The endpoint where an old file names no target."""


def estimates(sink: Sink) -> None:
    """Remarks that the percentiles of vegeta's report are estimates of a t-digest (lib/metrics.go)."""
    sink.remark("vegeta-estimates")


_BLOCK = 1 << 22
_MOST_TARGETS = 10_000


def recognise_gob(head: bytes) -> int:
    """By the first definition of a type: a Result with vegeta's fields."""
    return 100 if is_vegeta(head) else 0


def _read_gob(parts: Sequence[Part], sink: Sink) -> None:
    """Reads every part; several are attacks of several machines."""
    for part in parts:
        _read_gob_part(part, sink)
    estimates(sink)


def _read_gob_part(part: Part, sink: Sink) -> None:
    def damaged(offset: int, text: str) -> None:
        sink.remark("damaged/vegeta-record", place=f"byte {offset}", text=text)

    rows = sink.rows()
    results = VegetaStream(damaged)
    endpoints: dict[tuple[bytes, bytes], str] = {}
    named = False
    problem = None
    with part.open() as stream:
        try:
            while block := stream.read(_BLOCK):
                for hit in results.feed(block):
                    target = hit.method, hit.url
                    endpoint = endpoints.get(target)
                    if endpoint is None:
                        method, url = (text.decode("utf-8", "replace") for text in target)
                        endpoint = endpoint_of_url(method, url) or NO_TARGET
                        if len(endpoints) < _MOST_TARGETS:
                            endpoints[target] = endpoint
                    rows.append(
                        hit.time_ns,
                        hit.latency_ns,
                        hit.code,
                        endpoint,
                        error=hit.error,
                        bytes_in=hit.bytes_in,
                        bytes_out=hit.bytes_out,
                    )
                    if not named and hit.attack:
                        sink.describe(name=hit.attack.decode("utf-8", "replace"))
                        named = True
        except GobError as error:
            problem = str(error)
    rows.flush()
    left = results.messages.left
    if left and problem is None:
        problem = "The last message is cut off"
    if problem is not None:
        sink.remark(
            "damaged/vegeta-end",
            place=f"byte {results.messages.offset}",
            figures={"skipped_bytes": left},
            problem=problem,
        )


VEGETA_GOB = Importer("vegeta-gob", "vegeta gob (what vegeta attack writes)", recognise_gob, _read_gob)


COLUMNS = (
    *("timestamp", "code", "latency", "bytes_out", "bytes_in", "error"),
    *("body", "attack", "seq", "method", "url", "headers"),
)
WIDTHS = (12, 11, 9)
_CSV_NUMBERS = ("timestamp", "code", "latency", "bytes_out", "bytes_in")
_HIGHEST = 2**63 - 1
_LOOKED_AT = 8


@dataclass(slots=True)
class _Parsed:
    batch: RequestRows | None = None
    attack: str | None = None
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    damage: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


def _hand_over(chunks: Iterable[Chunk], parse: Callable[[Chunk], _Parsed], sink: Sink) -> None:
    for parsed in in_order(chunks, parse):
        if parsed.attack:
            sink.describe(name=parsed.attack)
        if parsed.batch is not None:
            sink.add(parsed.batch)
        if parsed.rows:
            rows = sink.rows()
            for row in parsed.rows:
                rows.append(**row)
            rows.flush()
        for line, text in parsed.damage:
            sink.remark("damaged/vegeta-line", place=f"line {line}", text=text)


def _of_table(table: Table, times_ns: IntArray, endpoint: Labels) -> _Parsed:
    attacks = labels(table.column("attack"), empty_is_none=True)
    batch = RequestRows(
        time_ns=times_ns,
        latency_ns=ints(table, "latency"),
        status=ints(table, "code"),
        endpoint=endpoint,
        error=labels(table.column("error"), empty_is_none=True),
        bytes_in=ints(table, "bytes_in"),
        bytes_out=ints(table, "bytes_out"),
    )
    return _Parsed(batch, next((name for name in attacks.names if name), None))


def recognise_csv(head: bytes) -> int:
    """By the first record: its width, and numbers where numbers are."""
    return 90 if width_of(head) else 0


def width_of(head: bytes) -> int:
    """Columns of the first of the first lines that is a record; 0 when none is. A first line may be cut off."""
    lines = head.decode("utf-8", "replace").split("\n")[:_LOOKED_AT]
    # Each line by itself, then all together: an error text may span lines, and a first line may hold a stray quote.
    for sources in ([[line] for line in lines], [[line + "\n" for line in lines]]):
        for source in sources:
            if width := _width(source):
                return width
    return 0


def _width(lines: Sequence[str]) -> int:
    try:
        records = list(csv.reader(lines))
    except csv.Error:
        return 0
    for fields in records:
        if len(fields) in WIDTHS and _accept(fields, len(fields)) is not None and len(fields[0]) >= 16:
            return len(fields)
    return 0


def _read_csv(parts: Sequence[Part], sink: Sink) -> None:
    for part in parts:
        width = width_of(part.head) or len(COLUMNS)
        with part.open() as stream:
            _hand_over(chunks_of_csv(stream), partial(_parse_csv, width=width), sink)
    estimates(sink)


def _parse_csv(chunk: Chunk, width: int) -> _Parsed:
    wanted = {name: INT for name in _CSV_NUMBERS} | {"error": LABEL, "attack": LABEL}
    if width > 9:
        wanted |= {"method": LABEL, "url": LABEL}
    try:
        table = parse_csv(chunk.data, COLUMNS[:width], wanted)
    except NotATableError:
        return _parse_rows(chunk, width)
    status = ints(table, "code")
    if len(status) and (status.min() < 0 or status.max() > 999):
        return _parse_rows(chunk, width)
    if width > 9:
        endpoint = joined(labels(table.column("method")), labels(table.column("url"), cut=QUERY))
    else:
        endpoint = Labels(codes=np.zeros(len(status), dtype=np.int32), names=[NO_TARGET])
    return _of_table(table, ints(table, "timestamp"), endpoint)


def _parse_rows(chunk: Chunk, width: int) -> _Parsed:
    parsed = _Parsed()
    for attack, row in whole_records(chunk, partial(_accept, width=width), parsed.damage):
        parsed.attack = parsed.attack or attack
        parsed.rows.append(row)
    return parsed


def _accept(fields: Sequence[str], width: int) -> tuple[str, dict[str, Any]] | None:
    """The attack's name, and the request as `Rows.append` takes it."""
    if len(fields) != width:
        return None
    if not all(text.isascii() and text.isdigit() and len(text) <= 19 for text in fields[:5]):
        return None
    numbers = tuple(int(text) for text in fields[:5])
    if max(numbers) > _HIGHEST or numbers[1] > 999:
        return None
    endpoint = endpoint_of_url(fields[9], fields[10]) if width > 9 else NO_TARGET
    names = ("time_ns", "status", "latency_ns", "bytes_out", "bytes_in")
    return fields[7], {**dict(zip(names, numbers, strict=True)), "endpoint": endpoint, "error": fields[5]}


VEGETA_CSV = Importer("vegeta-csv", "vegeta CSV (vegeta encode --to csv)", recognise_csv, _read_csv)


_KEYS = {"attack", "seq", "code", "timestamp", "latency", "bytes_out", "bytes_in", "error"}
_JSON_NUMBERS = ("code", "latency", "bytes_out", "bytes_in")
_TYPES = (
    dict.fromkeys(_JSON_NUMBERS, INT) | {"timestamp": TEXT} | dict.fromkeys(("attack", "error", "method", "url"), LABEL)
)


def recognise_json(head: bytes) -> int:
    """By the members of the first line; one cut off at the end of the head will do."""
    line = head.lstrip().split(b"\n", 1)[0]
    if not line.startswith(b"{"):
        return 0
    try:
        document = orjson.loads(line)
        return 90 if isinstance(document, dict) and document.keys() >= _KEYS else 0
    except orjson.JSONDecodeError:
        return 60 if line.startswith(b'{"attack":') and b'"seq":' in line and b'"bytes_out":' in line else 0


def _read_json(parts: Sequence[Part], sink: Sink) -> None:
    for part in parts:
        with part.open() as stream:
            _hand_over(chunks_of_lines(stream), _parse_json, sink)
    estimates(sink)


def _parse_json(chunk: Chunk) -> _Parsed:
    try:
        table = parse_json_lines(chunk.data, _TYPES)
        if any(table.column(name).null_count for name in ("timestamp", "code", "latency")):
            raise NotATableError("members are missing")
        times = times_ns(table, "timestamp")
    except NotATableError:
        return _parse_lines(chunk)
    return _of_table(table, times, joined(labels(table.column("method")), labels(table.column("url"), cut=QUERY)))


def _parse_lines(chunk: Chunk) -> _Parsed:
    parsed = _Parsed()
    for at, line in enumerate(chunk.data.split(b"\n")):
        if not line.strip():
            continue
        try:
            document = orjson.loads(line)
            parsed.rows.append(_row(document))
            parsed.attack = parsed.attack or document.get("attack")
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            text = line[:80].decode("utf-8", "replace")
            parsed.damage.append((chunk.line + at, text))
    return parsed


def _row(document: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: document.get(name, 0) for name in _JSON_NUMBERS}
    if any(type(value) is not int or not 0 <= value < 2**62 for value in numbers.values()):
        raise ValueError("a number is none")
    if numbers["code"] > 999:
        raise ValueError("a status is none")
    method, url = document.get("method") or "", document.get("url") or ""
    return {
        "time_ns": parse_rfc3339(document["timestamp"]),
        "latency_ns": document["latency"],
        "status": document["code"],
        "endpoint": endpoint_of_url(method, url) or NO_TARGET,
        "error": document.get("error") or None,
        "bytes_in": numbers["bytes_in"],
        "bytes_out": numbers["bytes_out"],
    }


VEGETA_JSON = Importer("vegeta-json", "vegeta JSON (vegeta encode --to json)", recognise_json, _read_json)
