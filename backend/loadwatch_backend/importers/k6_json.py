"""k6's JSON lines (`--out json=FILE`; internal/output/json). Key order differs by version; times are RFC 3339.

A file is nine parts of other metrics to one of durations, so the lines wanted are searched for in whole chunks and only
those are parsed; that all other lines are whole is seen by how they meet.
"""

from collections.abc import Callable, Iterator, Sequence

import orjson

from loadwatch_backend.importers.chunks import Chunk, chunks_of_lines
from loadwatch_backend.importers.documents import items, mapping
from loadwatch_backend.importers.importer import Importer, Part
from loadwatch_backend.importers.k6_points import DURATION, OTHER_PROTOCOLS, Points
from loadwatch_backend.importers.plain_csv import Damages
from loadwatch_backend.importers.sink import Sink
from loadwatch_backend.records.contract import ImportOptions
from loadwatch_backend.records.model import RemarkKind

_OTHERS = ("vus", "dropped_iterations", "data_sent", "data_received")
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
    data = chunk.data
    bad: dict[int, str] = {}
    if not _all_whole(data):
        bad = dict(_broken(data))

    def each(metric: str, take: Callable[[bytes], None]) -> None:
        for begin, line in _lines_with(data, f'"metric":"{metric}"'.encode()):
            if begin in bad:
                continue
            try:
                take(line)
            except (ValueError, KeyError, TypeError) as error:
                bad[begin] = "no JSON" if isinstance(error, orjson.JSONDecodeError) else f"unusable ({error})"

    def request(line: bytes) -> None:
        if b'"type":"Metric"' in line[:200]:
            return
        point = orjson.loads(line)["data"]
        points.request(point["time"], point["value"], point["tags"])

    def other(line: bytes) -> None:
        if b'"type":"Metric"' in line[:200]:
            return
        document = orjson.loads(line)
        point = document["data"]
        points.other(document["metric"], point["time"], point["value"], mapping(point.get("tags")))

    each(DURATION, request)
    for metric in _OTHERS:
        each(metric, other)
    each("checks", lambda line: other(line) if _FAILED_CHECK in line else None)
    points.counted += data.count(b'"metric":"http_reqs"')
    for begin, line in _lines_with(data, b'"type":"Metric"'):
        if begin not in bad:
            seen.metric(orjson.loads(line))
            points.counted -= b'"metric":"http_reqs"' in line
    points.flush_users()
    for begin in sorted(bad):
        damages.add(chunk.line + data.count(b"\n", 0, begin), bad[begin])


def _lines_with(data: bytes, needle: bytes) -> Iterator[tuple[int, bytes]]:
    """Begin and text of each line that holds `needle`."""
    at = data.find(needle)
    while at >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield begin, data[begin:end]
        at = data.find(needle, end)


def _all_whole(data: bytes) -> bool:
    """Whether every line begins and ends as an object does."""
    joints = data.count(b"\n") - data.endswith(b"\n")
    return (
        data.startswith(b'{"') and data.endswith((b"}}\n", b"}}", b'"}\n', b'"}')) and joints == (data.count(b'}\n{"'))
    )


def _broken(data: bytes) -> Iterator[tuple[int, str]]:
    """Begins of lines that are no JSON."""
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin)
        cut = end < 0
        end = len(data) if cut else end
        line = data[begin:end].strip()
        if line:
            try:
                orjson.loads(line)
            except orjson.JSONDecodeError:
                yield begin, "the file ends within it" if cut else "no JSON"
        begin = end + 1


def _recognise(head: bytes, name: str) -> int:
    del name
    line = head.lstrip().partition(b"\n")[0]
    kind = b'"type":"Metric"' in line or b'"type":"Point"' in line
    return 95 if line.startswith(b"{") and kind and b'"metric":"' in line and b'"data":{' in line else 0


K6_JSON = Importer(
    name="k6-json", tool="k6", title="k6 JSON lines (`k6 run --out json=FILE`)", recognise=_recognise, read=read_k6_json
)
