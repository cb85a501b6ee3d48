"""k6's CSV (`--out csv=FILE`; internal/output/csv). Columns follow --system-tags, older files have no metadata column.

As in `k6_json`, only the lines wanted are taken apart; of the others the fields are counted.
"""

import csv
from collections.abc import Iterator, Sequence

from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.importer import Importer, Part
from loadwatch_backend.runs.importers.reading.chunks import Chunk, chunks_of_csv
from loadwatch_backend.runs.importers.sink import Sink
from loadwatch_backend.runs.importers.tools.hey import Damages, check_header
from loadwatch_backend.runs.importers.tools.k6.points import DURATION, OTHER_PROTOCOLS, Points, User

HEADER = b"metric_name,timestamp,metric_value,"
_FIRST = HEADER.decode().rstrip(",").split(",")
_OTHERS = ("vus", "dropped_iterations", "data_sent", "data_received", "checks")
_WANTED = (DURATION, "http_reqs", *_OTHERS)
_PREFIXES = tuple(f"{name},".encode() for name in _WANTED)


def read_k6_csv(parts: Sequence[Part], sink: Sink, options: ImportOptions) -> None:
    """Requests, users, dropped iterations; several files of one test (one per generator) together."""
    del options
    points = Points(sink)
    damaged = 0
    protocols: set[str] = set()
    for part in parts:
        damages = Damages(sink, part.name)
        columns: list[str] = []
        with part.open() as stream:
            for chunk in chunks_of_csv(stream):
                begin = 0
                if not columns:
                    header, _, _ = chunk.data.partition(b"\n")
                    columns = header.decode(errors="replace").strip().split(",")
                    check_header(part, columns, _FIRST, "k6's CSV")
                    begin = min(len(header) + 1, len(chunk.data))
                _read_chunk(chunk, begin, columns, points, damages)
                protocols |= {name for name in OTHER_PROTOCOLS if b"\n" + name.encode() + b"," in chunk.data}
                points.flush_users()
        points.release_all()
        damages.close()
        damaged += damages.rows
    points.close(damaged=damaged > 0)
    if protocols:
        sink.remark(
            RemarkKind.MISSING,
            "k6-other-protocols",
            f"The test has requests of other kinds ({', '.join(sorted(protocols))}); only HTTP is counted.",
        )


def _read_chunk(chunk: Chunk, begin: int, columns: Sequence[str], points: Points, damages: Damages) -> None:
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
    """Where the tags are; an absent column is the empty text that is put behind each row."""

    def __init__(self, columns: Sequence[str]) -> None:
        def at(name: str) -> int:
            return columns.index(name) if name in columns else -1

        self._answer = (at("status"), at("error_code"), at("error"), at("expected_response"))
        self._metadata = at("metadata")
        self._name, self._url, self._method, self._check = at("name"), at("url"), at("method"), at("check")

    def take(self, row: list[str], points: Points) -> None:
        """One wanted row."""
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
    pairs: dict[str, str] = {}
    for pair in metadata.split("&"):
        key, _, value = pair.partition("=")
        pairs[key] = value
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
        elif row and row[0] in _WANTED:
            yield first + before, row
        before = reader.line_num


def _recognise(head: bytes, name: str) -> int:
    del name
    return 100 if head.startswith(HEADER) else 0


K6_CSV = Importer(
    name="k6-csv", tool="k6", title="k6 CSV (`k6 run --out csv=FILE`)", recognise=_recognise, read=read_k6_csv
)
