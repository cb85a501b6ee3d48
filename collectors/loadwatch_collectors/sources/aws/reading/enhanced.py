"""Reads Enhanced Monitoring: the operating system of RDS instances, from the log group `RDSOSMetrics`. Costs nothing.

Each entry of the log is one look at one instance, with its own time; a log stream bears an instance's resource id. One
request reads the streams of up to a hundred instances.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from loadwatch_collectors.collector import Labels, Sample
from loadwatch_collectors.sources.aws.client.client import AwsClient
from loadwatch_collectors.sources.aws.client.errors import AwsError, ForbiddenError, OutOfTimeError, RequestError
from loadwatch_collectors.sources.aws.model import Resource
from loadwatch_collectors.sources.aws.presets import EnhancedValue, PresetFile
from loadwatch_collectors.sources.aws.reading.side_reading import (
    SideReading,
    SideTask,
    TooMuchError,
    pages_by_token,
    side_labels,
    side_tasks,
)
from loadwatch_collectors.sources.aws.reading.states import CATCH_UP_MS

READER = "enhanced"
REREAD_MS = 180_000
"""How far back is looked again: entries come into the log late by up to a minute or two."""
PAUSE_MS = 25_000
"""It is not read more often than that, whatever the collector's interval."""
STREAMS = 100
"""Streams of one FilterLogEvents request (CloudWatch Logs' limit)."""
LONG_MS = 900_000
"""Older entries that a poll cannot read are skipped, or newer ones would never be reached."""
ABSENT_MS = 600_000
"""How long a stream that is not there is left alone."""
MAX_PAGES = 200
_LIST = re.compile(r"([^.\[]+)\[([^\]]+)\]\.(.+)")


class EnhancedReader:
    """Enhanced Monitoring of one place; used by one thread at a time."""

    def __init__(self, client: AwsClient, presets: Mapping[str, PresetFile]) -> None:
        self._client = client
        self._presets = presets
        self._asked_ms: int | None = None
        self._read_to_ms: dict[str, int] = {}
        self._seen: dict[str, set[int]] = {}
        self._absent: dict[str, int] = {}

    def read(self, resources: Iterable[Resource], now_ms: int, deadline: float) -> SideReading:
        """Read what is new at `now_ms`; ends early where the permission is missing or AWS throttles."""
        reading = SideReading()
        tasks = {task.resource_id: task for task in side_tasks(READER, resources, self._presets)}
        self._forget(tasks.keys())
        if self._asked_ms is not None and 0 <= now_ms - self._asked_ms < PAUSE_MS:
            return reading
        due = [task for stream, task in tasks.items() if now_ms >= self._absent.get(stream, 0)]
        # Those that were not read for longest come first, so that a fleet too large for one poll is read in turn.
        due.sort(key=lambda task: self._read_to_ms.get(task.resource_id, 0))
        for first in range(0, len(due), STREAMS):
            some = due[first : first + STREAMS]
            begin_ms = self._begin(some, now_ms)
            try:
                self._read_streams(some, begin_ms, now_ms, deadline, reading)
            except ForbiddenError as error:
                reading.note_missing(error.action, "the operating system (Enhanced Monitoring)", len(tasks))
                return reading
            except AwsError as error:
                reading.errors.append(error)
                if isinstance(error, OutOfTimeError | TooMuchError) and begin_ms < now_ms - LONG_MS:
                    self._note_read(some, now_ms)
                return reading
            self._note_read(some, now_ms)
        self._asked_ms = now_ms
        return reading

    def _begin(self, tasks: Iterable[SideTask], now_ms: int) -> int:
        read_to_ms = min(self._read_to_ms.get(task.resource_id, now_ms) for task in tasks)
        return max(min(read_to_ms, now_ms) - REREAD_MS, now_ms - CATCH_UP_MS)

    def _note_read(self, tasks: Iterable[SideTask], now_ms: int) -> None:
        for task in tasks:
            stream = task.resource_id
            self._read_to_ms[stream] = now_ms
            # What is older is not asked for any more.
            self._seen[stream] = {at_ms for at_ms in self._seen.get(stream, ()) if at_ms >= now_ms - REREAD_MS}

    @property
    def remembered(self) -> int:
        return sum(len(times) for times in self._seen.values())

    def _read_streams(
        self, tasks: Sequence[SideTask], begin_ms: int, now_ms: int, deadline: float, reading: SideReading
    ) -> None:
        try:
            self._ask(tasks, begin_ms, deadline, reading)
        except RequestError as error:
            if error.code != "ResourceNotFoundException":
                raise
            if len(tasks) == 1:
                # Monitoring was switched on a moment ago, and has not written yet.
                self._absent[tasks[0].resource_id] = now_ms + ABSENT_MS
                return
            middle = len(tasks) // 2
            self._read_streams(tasks[:middle], begin_ms, now_ms, deadline, reading)
            self._read_streams(tasks[middle:], begin_ms, now_ms, deadline, reading)

    def _ask(self, tasks: Sequence[SideTask], begin_ms: int, deadline: float, reading: SideReading) -> None:
        by_stream = {task.resource_id: task for task in tasks}
        group = tasks[0].preset.log_group
        parameters = {"logGroupName": group, "logStreamNames": sorted(by_stream), "startTime": begin_ms}
        ask = partial(self._client.call, "logs", "filter_log_events", deadline=deadline)
        for page in pages_by_token(ask, parameters, "nextToken", MAX_PAGES, f"logs FilterLogEvents of {group}"):
            for event in cast("list[dict[str, Any]]", page.get("events") or []):
                task = by_stream.get(str(event.get("logStreamName")))
                time_ms = int(event["timestamp"])
                if task is not None and self._is_new(task.resource_id, time_ms):
                    labels = side_labels(task.resource)
                    reading.samples += parse_event(str(event["message"]), task.preset, labels, time_ms)

    def _is_new(self, stream: str, time_ms: int) -> bool:
        seen = self._seen.setdefault(stream, set())
        if time_ms in seen:
            return False
        seen.add(time_ms)
        return True

    def _forget(self, streams: Iterable[str]) -> None:
        there = set(streams)
        for known in (self._seen, self._absent, self._read_to_ms):
            for stream in known.keys() - there:
                del known[stream]


def parse_event(message: str, preset: PresetFile, labels: Labels, time_ms: int) -> Iterator[Sample]:
    """The samples of one entry of the log; numbers that are not there are left out, and so is what is no document."""
    try:
        document: Any = json.loads(message)
    except ValueError:
        return
    if not isinstance(document, dict):
        return
    for value in preset.values:
        for member, number in find_numbers(cast("dict[str, Any]", document), value):
            own = ((value.label, member),) if value.label else ()
            yield Sample(value.series, number * value.scale, tuple(sorted((*labels, *own))), time_ms)


def find_numbers(document: Mapping[str, Any], value: EnhancedValue) -> Iterator[tuple[str, float]]:
    """The numbers at a path, each with the name that tells it apart (empty for a single one)."""
    listed = _LIST.fullmatch(value.path)
    if listed is not None:
        entries = document.get(listed[1])
        for entry in cast("list[Any]", entries) if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                row = cast("dict[str, Any]", entry)
                number = _number(row.get(listed[3]))
                if number is not None and row.get(listed[2]):
                    yield str(row[listed[2]]), number
        return
    *path, last = value.path.split(".")
    here: Any = document
    for name in path:
        here = cast("dict[str, Any]", here).get(name) if isinstance(here, dict) else None
    if not isinstance(here, dict):
        return
    row = cast("dict[str, Any]", here)
    for name in row if last == "*" else (last,):
        number = _number(row.get(name))
        if number is not None:
            yield (name if last == "*" else ""), number


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None
