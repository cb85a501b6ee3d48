"""vegeta's CSV (`vegeta encode --to csv`): no header; 12 columns, 11 before headers were kept, 9 before targets were.

Columns by `encodeUsage` and `NewCSVEncoder` of vegeta's lib/results.go: timestamp (unix ns, start), code, latency (ns),
bytes out, bytes in, error, body (base64), attack name, sequence number, method, URL, response headers (base64).
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.runs.importers.endpoints import endpoint_of_url
from loadwatch_backend.runs.importers.importer import Importer, Part
from loadwatch_backend.runs.importers.reading.chunks import Chunk, chunks_of_csv
from loadwatch_backend.runs.importers.reading.delimited import whole_records
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
from loadwatch_backend.runs.importers.sink import Labels, RequestRows, Sink
from loadwatch_backend.runs.importers.tools.vegeta.gob import NO_TARGET, QUERY, estimates

COLUMNS = (
    *("timestamp", "code", "latency", "bytes_out", "bytes_in", "error"),
    *("body", "attack", "seq", "method", "url", "headers"),
)
WIDTHS = (12, 11, 9)
_NUMBERS = ("timestamp", "code", "latency", "bytes_out", "bytes_in")
_HIGHEST = 2**63 - 1
_LOOKED_AT = 8


@dataclass(frozen=True, slots=True)
class _Row:
    numbers: tuple[int, ...]
    error: str
    attack: str
    endpoint: str


@dataclass(slots=True)
class _Parsed:
    batch: RequestRows | None
    attack: str | None
    rows: list[_Row] = field(default_factory=list["_Row"])
    damage: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])


def recognise(head: bytes, _name: str) -> int:
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


def read(parts: Sequence[Part], sink: Sink, _options: ImportOptions) -> None:
    """Reads every part; several are attacks of several machines."""
    for part in parts:
        _read_part(part, sink)
    estimates(sink)


def _read_part(part: Part, sink: Sink) -> None:
    width = width_of(part.head) or len(COLUMNS)
    with part.open() as stream:
        for parsed in in_order(chunks_of_csv(stream), lambda chunk: _parse(chunk, width)):
            if parsed.attack:
                sink.describe(name=parsed.attack)
            if parsed.batch is not None:
                sink.add(parsed.batch)
            if parsed.rows:
                rows = sink.rows()
                for row in parsed.rows:
                    time, code, latency, bytes_out, bytes_in = row.numbers
                    rows.append(
                        time, latency, code, row.endpoint, error=row.error, bytes_in=bytes_in, bytes_out=bytes_out
                    )
                rows.flush()
            for line, text in parsed.damage:
                sink.damage(f"This is no record of vegeta: {text}", place=f"line {line}")


def _parse(chunk: Chunk, width: int) -> _Parsed:
    wanted = {name: INT for name in _NUMBERS} | {"error": LABEL, "attack": LABEL}
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
    attacks = labels(table.column("attack"), empty_is_none=True)
    batch = RequestRows(
        time_ns=ints(table, "timestamp"),
        latency_ns=ints(table, "latency"),
        status=status,
        endpoint=endpoint,
        error=labels(table.column("error"), empty_is_none=True),
        bytes_in=ints(table, "bytes_in"),
        bytes_out=ints(table, "bytes_out"),
    )
    return _Parsed(batch, next((name for name in attacks.names if name), None))


def _parse_rows(chunk: Chunk, width: int) -> _Parsed:
    parsed = _Parsed(None, None)
    accepted = whole_records(
        chunk, lambda fields: _accept(fields, width), lambda line, text: parsed.damage.append((line, text))
    )
    parsed.rows.extend(accepted)
    parsed.attack = next((row.attack for row in parsed.rows if row.attack), None)
    return parsed


def _accept(fields: Sequence[str], width: int) -> _Row | None:
    if len(fields) != width:
        return None
    if not all(text.isascii() and text.isdigit() and len(text) <= 19 for text in fields[:5]):
        return None
    numbers = tuple(int(text) for text in fields[:5])
    if max(numbers) > _HIGHEST or numbers[1] > 999:
        return None
    endpoint = endpoint_of_url(fields[9], fields[10]) if width > 9 else NO_TARGET
    return _Row(numbers, fields[5], fields[7], endpoint)


IMPORTER = Importer(
    name="vegeta-csv",
    tool="vegeta",
    title="vegeta CSV (vegeta encode --to csv)",
    recognise=recognise,
    read=read,
)
