"""Reads Performance Insights: database load by what it waits for, and counters of the engine.

Other than CloudWatch it keeps points of a second. One request asks all of one preset of one instance; a window that was
read before is read again, since its last points are still on their way, and only what is new or differs is sent. It
gives points of a few lengths only, so those of ten seconds are means of what it says of each second.

A point of CloudWatch covers [T, T + period); its sample lies at T + period, so that it means "over the last period"
like every other sample here.
"""

import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

from loadwatch_collectors.collector import Labels, Sample
from loadwatch_collectors.sources.aws.client.client import AwsClient, Document
from loadwatch_collectors.sources.aws.client.errors import AwsError, ForbiddenError, RequestError, ServiceError
from loadwatch_collectors.sources.aws.cost import Load
from loadwatch_collectors.sources.aws.model import Resource
from loadwatch_collectors.sources.aws.presets import InsightsQuery, PresetFile
from loadwatch_collectors.sources.aws.reading.side_reading import (
    SideReading,
    SideTask,
    pages_by_token,
    side_labels,
    side_tasks,
)
from loadwatch_collectors.sources.aws.reading.states import Window, align_down, is_due, make_window

_NAN = math.nan


class Point(NamedTuple):
    """A value and the time of its sample, the end of its period."""

    time_ms: int
    value: float


class History:
    """The values of one series over the window that was read last; NaN where CloudWatch had none."""

    __slots__ = ("_start_ms", "_values")

    def __init__(self) -> None:
        self._start_ms = 0
        self._values = array("d")

    def merge(self, window: Window, fresh: Mapping[int, float]) -> list[Point]:
        """Take what a window gave, by beginning of period; what is new or differs, in order of time.

        A point that was there before and is not in this answer stands: CloudWatch takes nothing back.
        """
        period = window.period_ms
        values = array("d", [_NAN]) * window.points
        offset = (window.start_ms - self._start_ms) // period
        for index in range(max(0, -offset), min(window.points, len(self._values) - offset)):
            values[index] = self._values[index + offset]
        changed: list[Point] = []
        for time_ms in sorted(fresh):
            index = (time_ms - window.start_ms) // period
            value = fresh[time_ms]
            if 0 <= index < window.points and value == value and values[index] != value:
                values[index] = value
                changed.append(Point(window.start_ms + (index + 1) * period, value))
        self._start_ms, self._values = window.start_ms, values
        return changed

    def holes(self, window: Window, fresh: Mapping[int, float], *, first_ms: int, last_ms: int) -> dict[int, float]:
        """Zeros for the periods that lie in [first_ms, last_ms) and have no value, in this answer or before."""
        period = window.period_ms
        begin = max(window.start_ms, -(-first_ms // period) * period)
        end = min(window.end_ms, last_ms // period * period)
        return {
            time_ms: 0.0
            for time_ms in range(begin, end, period)
            if time_ms not in fresh and math.isnan(self._known(time_ms, period))
        }

    def span(self, period_ms: int) -> "Span | None":
        known = [index for index, value in enumerate(self._values) if value == value]
        if not known:
            return None
        return Span(self._start_ms + known[0] * period_ms, self._start_ms + (known[-1] + 1) * period_ms)

    def _known(self, time_ms: int, period_ms: int) -> float:
        index = (time_ms - self._start_ms) // period_ms
        return self._values[index] if 0 <= index < len(self._values) else _NAN


class Span(NamedTuple):
    """The time over which something was delivered: from the oldest point's beginning to the newest one's end."""

    first_ms: int
    last_ms: int


def join_spans(spans: Iterable[Span | None]) -> Span | None:
    known = [span for span in spans if span is not None]
    if not known:
        return None
    return Span(min(span.first_ms for span in known), max(span.last_ms for span in known))


MOST_SIGNS = 200
"""Characters kept of a statement: enough to identify it, as each one is stored as a label."""
_READ_SIGNS = 2_000
"""More than Performance Insights returns (500 bytes); the rest of a text is not scanned."""

# Tried from left to right at each place. What begins and does not end is cut off: its end is unknown, not its nature.
_TOKEN = re.compile(
    r"""
      /\*.*?(?:\*/|\Z) | --[^\n]* | \#[^\n]*          # comments: they may carry ids of requests and users
    | \$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z)          # PostgreSQL: $$text$$
    | (?:\b[A-Za-z_]\w*)?'(?:[^'\\]|''|\\.)*(?:'|\\?\Z)  # 'text', E'text', x'0f', _utf8'text'
    | (?P<quoted>"(?:[^"\\]|""|\\.)*(?:"|\\?\Z))       # a name in PostgreSQL, a text in MySQL
    | (?P<name>`[^`]*(?:`|\Z))
    | (?P<word>[^\W\d][\w$]*|\$\d+)
    | (?:0[xXbB][0-9a-fA-F]+ | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\w*
    """,
    re.VERBOSE | re.DOTALL,
)
_MASK = "?"


def mask_statement(text: str, *, quotes_are_names: bool = False) -> str:
    """A statement without what it was asked with.

    Digests of Performance Insights have hardly any values, but statements that an engine makes no digest of (`ALTER
    ROLE ... PASSWORD '...'`) come as they are, and a digest is cut off after 500 bytes, within a text perhaps. Texts,
    numbers and comments are masked. `quotes_are_names`: a `"..."` is a name, as PostgreSQL has it.
    """
    masked = _TOKEN.sub(lambda found: _masked(found, quotes_are_names), text[:_READ_SIGNS])
    line = " ".join(masked.split())
    return line if len(line) <= MOST_SIGNS else f"{line[: MOST_SIGNS - 1]}…"


def _masked(found: re.Match[str], quotes_are_names: bool) -> str:
    if found["word"] or found["name"]:
        return found[0]
    if found["quoted"]:
        return found[0] if quotes_are_names else _MASK
    return " " if found[0][0] in "/-#" else _MASK


READER = "insights"
DELAY_MS = 20_000
"""Points come within seconds; those that come later are found by reading again."""
REREAD_MS = 120_000
REFUSED_MS = 1_800_000
"""How long a preset is left alone that an instance refuses (no such counter, Performance Insights off)."""
LONG_MS = 900_000
"""A longer window is one that fills a gap; where it is refused, the newest points are asked for without it."""
PERIODS = (86_400, 3_600, 300, 60, 1)
"""Lengths of a point in seconds that GetResourceMetrics takes."""
MAX_PAGES = 50
ACTION = "pi:GetResourceMetrics"
_POLL_SECONDS = 60.0
_STATEMENT = ".statement"
"""Suffix of the dimensions whose values are SQL text."""
_MOST_SIGNS = 500
"""Characters kept of any other dimension's value; AWS returns no more."""


class PiPoint(NamedTuple):
    """One point of one series; `start_ms` is the beginning of its period."""

    series: str
    labels: Labels
    start_ms: int
    value: float


class _Memory:
    def __init__(self) -> None:
        self.histories: dict[tuple[str, Labels], History] = {}
        self.read_to_ms: int | None = None
        self.refused_until_ms = 0


class InsightsReader:
    """Performance Insights of one place; used by one thread at a time."""

    def __init__(
        self,
        client: AwsClient,
        presets: Mapping[str, PresetFile],
        *,
        factor: Callable[[str, int], int] = lambda _preset, _priority: 1,
    ) -> None:
        self._client = client
        self._presets = presets
        self._factor = factor
        self._memories: dict[tuple[str, str], _Memory] = {}

    def loads(self, resources: Iterable[Resource]) -> list[Load]:
        return [
            Load(task.preset.name, task.preset.priority, "insights", max(task.preset.period, _POLL_SECONDS), 1)
            for task in side_tasks(READER, resources, self._presets)
        ]

    def read(self, resources: Iterable[Resource], now_ms: int, deadline: float) -> SideReading:
        """Read what is due at `now_ms`; ends early where the permission is missing or AWS throttles."""
        reading = SideReading()
        tasks = side_tasks(READER, resources, self._presets)
        keys = {(task.preset.name, task.resource_id) for task in tasks}
        for key in self._memories.keys() - keys:
            del self._memories[key]
        known = [(task, self._memories.setdefault((task.preset.name, task.resource_id), _Memory())) for task in tasks]
        # Those that were not read for longest come first, so that a fleet too large for one poll is read in turn.
        for task, memory in sorted(known, key=lambda item: item[1].read_to_ms or 0):
            window = self._window(task, memory, now_ms)
            if window is None:
                continue
            try:
                points = list(self._ask(task, window, deadline))
            except ForbiddenError as error:
                lost = "database load by wait and statement, and the engine's counters (Performance Insights)"
                reading.note_missing(error.action, lost, len({item.resource_id for item in tasks}))
                break
            except RequestError as error:
                if window.end_ms - window.start_ms > LONG_MS:
                    memory.read_to_ms = None
                else:
                    memory.refused_until_ms = now_ms + REFUSED_MS
                reading.errors.append(error)
            except ServiceError as error:  # One instance may be in trouble; the others are not.
                reading.errors.append(error)
            except AwsError as error:
                reading.errors.append(error)
                break
            else:
                memory.read_to_ms = window.end_ms
                reading.samples += _merge(memory, window, average(points, window.period_ms))
        return reading

    def _window(self, task: SideTask, memory: _Memory, now_ms: int) -> Window | None:
        every = self._factor(task.preset.name, task.preset.priority)
        if every == 0 or now_ms < memory.refused_until_ms:
            return None
        # A question a minute whatever the points' length: a request is billed, not its points.
        step_ms = int(max(task.preset.period, _POLL_SECONDS) * 1000)
        if not is_due(now_ms, period_ms=step_ms, delay_ms=DELAY_MS, read_to_ms=memory.read_to_ms, every=every):
            return None
        return make_window(
            now_ms,
            period_ms=int(task.preset.period * 1000),
            delay_ms=DELAY_MS,
            reread_ms=REREAD_MS,
            known_to_ms=memory.read_to_ms,
        )

    def _ask(self, task: SideTask, window: Window, deadline: float) -> Iterator[PiPoint]:
        parameters = make_parameters(task.resource_id, task.preset, window)
        labels = side_labels(task.resource)
        engine = dict(task.resource.attributes).get("engine", "")
        ask = partial(self._client.call, "pi", "get_resource_metrics", deadline=deadline)
        what = f"pi GetResourceMetrics of {task.resource_id}"
        for page in pages_by_token(ask, parameters, "NextToken", MAX_PAGES, what):
            yield from parse_page(page, task.preset.queries, labels, engine=engine)


def make_parameters(resource_id: str, preset: PresetFile, window: Window) -> dict[str, Any]:
    """The request for all queries of a preset; times are of the beginning of each period, as CloudWatch's are.

    The points that it asks for are the longest of which the window's are made.
    """
    wanted = window.period_ms // 1000
    queries: list[dict[str, Any]] = []
    for query in preset.queries:
        entry: dict[str, Any] = {"Metric": query.metric}
        if query.group:
            entry["GroupBy"] = {"Group": query.group, "Dimensions": list(query.labels), "Limit": query.limit}
        queries.append(entry)
    return {
        "ServiceType": "RDS",
        "Identifier": resource_id,
        "MetricQueries": queries,
        "StartTime": window.start_ms / 1000,
        "EndTime": window.end_ms / 1000,
        "PeriodInSeconds": next(period for period in PERIODS if wanted % period == 0),
        "PeriodAlignment": "START_TIME",
    }


def parse_page(
    page: Document, queries: Sequence[InsightsQuery], labels: Labels, *, engine: str = ""
) -> Iterator[PiPoint]:
    """The points of one page of GetResourceMetrics; what has no value yet is left out. Texts of SQL are masked."""
    by_metric = {query.metric: query for query in queries}
    for entry in _rows(page.get("MetricList")):
        key = cast("dict[str, Any]", entry.get("Key") or {})
        query = by_metric.get(str(key.get("Metric")))
        if query is None:
            continue
        dimensions = cast("dict[str, str]", key.get("Dimensions") or {})
        own = [
            (label, _label_value(name, str(dimensions[name]), engine))
            for name, label in query.labels.items()
            if dimensions.get(name)
        ]
        all_labels = tuple(sorted((*labels, *own)))
        for point in _rows(entry.get("DataPoints")):
            value = point.get("Value")
            if value is not None and value == value:
                yield PiPoint(query.series_name, all_labels, int(point["Timestamp"]), float(value))


def _label_value(dimension: str, text: str, engine: str) -> str:
    if dimension.endswith(_STATEMENT):
        return mask_statement(text, quotes_are_names="postgres" in engine)
    return text[:_MOST_SIGNS]


def average(points: Iterable[PiPoint], period_ms: int) -> list[PiPoint]:
    """Points of this length, as means of shorter ones.

    Of the seconds that one of the series has and another lacks, the other had nothing.
    """
    values = {(point.series, point.labels, point.start_ms): point.value for point in points}
    sums: dict[tuple[str, Labels, int], list[float]] = {}
    for (series, labels, start_ms), value in values.items():
        sums.setdefault((series, labels, align_down(start_ms, period_ms)), []).append(value)
    most: dict[tuple[str, int], int] = {}
    for (series, _, start_ms), parts in sums.items():
        most[series, start_ms] = max(most.get((series, start_ms), 0), len(parts))
    return [
        PiPoint(series, labels, start_ms, sum(parts) / most[series, start_ms])
        for (series, labels, start_ms), parts in sums.items()
    ]


def _rows(found: object) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", found) if isinstance(found, list) else []


def _merge(memory: _Memory, window: Window, points: Iterable[PiPoint]) -> list[Sample]:
    fresh: dict[tuple[str, Labels], dict[int, float]] = {}
    for point in points:
        fresh.setdefault((point.series, point.labels), {})[point.start_ms] = point.value
    # What is not among the greatest any more starts anew when it comes back.
    memory.histories = {key: memory.histories.get(key) or History() for key in fresh}
    return [
        Sample(series, point.value, labels, point.time_ms)
        for (series, labels), values in fresh.items()
        for point in memory.histories[series, labels].merge(window, values)
    ]
