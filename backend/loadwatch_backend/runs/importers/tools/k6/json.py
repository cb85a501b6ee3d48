"""k6's JSON lines (`--out json=FILE`; internal/output/json). Key order differs by version; times are RFC 3339.

A file is nine parts of other metrics to one of durations: only the lines wanted are parsed, the others must begin and
end as they should.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from loadwatch_backend.evidence.records.contract import ImportOptions
from loadwatch_backend.evidence.records.model import RemarkKind
from loadwatch_backend.runs.importers.importer import Importer, Part
from loadwatch_backend.runs.importers.reading.chunks import Chunk, chunks_of_lines
from loadwatch_backend.runs.importers.reading.documents import items, mapping
from loadwatch_backend.runs.importers.sink import Sink
from loadwatch_backend.runs.importers.tools.hey import Damages
from loadwatch_backend.runs.importers.tools.k6.points import DURATION, OTHER_PROTOCOLS, Points

_OTHERS = ("vus", "dropped_iterations", "data_sent", "data_received", "checks")
_WANTED = frozenset(name.encode() for name in (DURATION, *_OTHERS))
_NAME = b'"metric":"'
_NEW_ORDER = b'{"metric":"'
_OBJECT = b'{"'
_METRIC = b'"type":"Metric"'
_NAME_AT = len(_NEW_ORDER)
_WHOLE = (b"}}", b"}}\r", b'"}', b'"}\r')
_FAILED_CHECK = b'"value":0,'


def read_k6_json(parts: Sequence[Part], sink: Sink, options: ImportOptions) -> None:
    """Requests, users, dropped iterations; several files of one test (one per generator) together."""
    del options
    points, seen = Points(sink), Seen()
    damaged = 0
    for part in parts:
        damages = Damages(sink, part.name)
        with part.open() as stream:
            for chunk in chunks_of_lines(stream):
                _read_chunk(chunk, points, seen, damages)
        points.release_all()
        damages.close()
        damaged += damages.rows
    points.close(damaged=damaged > 0)
    seen.remark(sink)


class Seen:
    """What the definitions of metrics tell."""

    def __init__(self) -> None:
        self.thresholds: dict[str, str] = {}
        self.protocols: set[str] = set()

    def metric(self, definition: object) -> None:
        """A line of type Metric."""
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
        """Says what is not shown."""
        if self.thresholds:
            listed = "; ".join(f"{name} {expressions}" for name, expressions in list(self.thresholds.items())[:10])
            sink.remark(
                RemarkKind.MISSING,
                "k6-thresholds",
                f"k6's own thresholds do not make the verdict here: {listed}. The file does not tell how they ended.",
            )
        if self.protocols:
            sink.remark(
                RemarkKind.MISSING,
                "k6-other-protocols",
                f"The test has requests of other kinds ({', '.join(sorted(self.protocols))}); only HTTP is counted.",
            )


def _read_chunk(chunk: Chunk, points: Points, seen: Seen, damages: Damages) -> None:
    lines = chunk.data.split(b"\n")
    points_only = _points_only(chunk.data)
    for number, line in enumerate(lines, chunk.line):
        if line.startswith(_NEW_ORDER):
            metric = line[_NAME_AT : line.find(b'"', _NAME_AT)]
        else:
            metric = line[line.rfind(_NAME) + len(_NAME) : -2]
        wanted = metric in _WANTED and (metric != b"checks" or _FAILED_CHECK in line)
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


def _recognise(head: bytes, name: str) -> int:
    del name
    line = head.lstrip().partition(b"\n")[0]
    kind = b'"type":"Metric"' in line or b'"type":"Point"' in line
    return 95 if line.startswith(b"{") and kind and b'"metric":"' in line and b'"data":{' in line else 0


K6_JSON = Importer(
    name="k6-json", tool="k6", title="k6 JSON lines (`k6 run --out json=FILE`)", recognise=_recognise, read=read_k6_json
)
