"""vegeta's JSON lines (`vegeta encode --to json`): one Result to a line, as `jsonResult` of lib/results.go."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from loadwatch_formats.times import parse_rfc3339

from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.runs.importers.endpoints import endpoint_of_url
from loadwatch_backend.runs.importers.importer import Importer, Part
from loadwatch_backend.runs.importers.reading.chunks import Chunk, chunks_of_lines
from loadwatch_backend.runs.importers.reading.tables import (
    INT,
    LABEL,
    TEXT,
    NotATableError,
    in_order,
    ints,
    joined,
    labels,
    parse_json_lines,
    times_ns,
)
from loadwatch_backend.runs.importers.sink import RequestRows, Sink
from loadwatch_backend.runs.importers.tools.vegeta.gob import NO_TARGET, QUERY, estimates

_KEYS = {"attack", "seq", "code", "timestamp", "latency", "bytes_out", "bytes_in", "error"}
_NUMBERS = ("code", "latency", "bytes_out", "bytes_in")
_TYPES = dict.fromkeys(_NUMBERS, INT) | {"timestamp": TEXT} | dict.fromkeys(("attack", "error", "method", "url"), LABEL)


@dataclass(slots=True)
class _Parsed:
    batch: RequestRows | None
    attack: str | None
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    damage: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


def recognise(head: bytes, _name: str) -> int:
    """By the members of the first line; one cut off at the end of the head will do."""
    line = head.lstrip().split(b"\n", 1)[0]
    if not line.startswith(b"{"):
        return 0
    try:
        document = orjson.loads(line)
        return 90 if isinstance(document, dict) and document.keys() >= _KEYS else 0
    except orjson.JSONDecodeError:
        return 60 if line.startswith(b'{"attack":') and b'"seq":' in line and b'"bytes_out":' in line else 0


def read(parts: Sequence[Part], sink: Sink, _options: ImportOptions) -> None:
    """Reads every part; several are attacks of several machines."""
    for part in parts:
        with part.open() as stream:
            for parsed in in_order(chunks_of_lines(stream), _parse):
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
                    sink.damage(f"This is no record of vegeta: {text}", place=f"line {line}")
    estimates(sink)


def _parse(chunk: Chunk) -> _Parsed:
    try:
        table = parse_json_lines(chunk.data, _TYPES)
        if any(table.column(name).null_count for name in ("timestamp", "code", "latency")):
            raise NotATableError("members are missing")
        times = times_ns(table, "timestamp")
    except NotATableError:
        return _parse_lines(chunk)
    attacks = labels(table.column("attack"), empty_is_none=True)
    batch = RequestRows(
        time_ns=times,
        latency_ns=ints(table, "latency"),
        status=ints(table, "code"),
        endpoint=joined(labels(table.column("method")), labels(table.column("url"), cut=QUERY)),
        error=labels(table.column("error"), empty_is_none=True),
        bytes_in=ints(table, "bytes_in"),
        bytes_out=ints(table, "bytes_out"),
    )
    return _Parsed(batch, next((name for name in attacks.names if name), None))


def _parse_lines(chunk: Chunk) -> _Parsed:
    parsed = _Parsed(None, None)
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
    numbers = {name: document.get(name, 0) for name in _NUMBERS}
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


IMPORTER = Importer(
    name="vegeta-json",
    tool="vegeta",
    title="vegeta JSON (vegeta encode --to json)",
    recognise=recognise,
    read=read,
)
