"""Which log lines a run brought about, by their pattern."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from loadwatch_formats.log_patterns import LEVELS, OTHER
from pydantic import Field

from loadwatch_backend.core.schemas import Count, Milliseconds, Schema
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Labels, Matcher, MatchOperator, Reader, Selection


class LogTrend(StrEnum):
    """A pattern in the run against the time before it; `unknown` where nobody read the log then."""

    NEW = "new"
    GREW = "grew"
    SAME = "same"
    FELL = "fell"
    UNKNOWN = "unknown"


class LogPatternOut(Schema):
    """Lines that are alike."""

    pattern: str = Field(description="Without what varies; empty for lines beyond the patterns that are told apart.")
    level: str = Field(description="critical, error, warning, info, debug, or empty where the lines do not say.")
    count: Count
    before: Count | None = Field(description="In the time before the run; null where nobody read the log then.")
    trend: LogTrend
    first_ms: Milliseconds | None = Field(description="When the first of them was read in the run.")
    targets: list[str] = Field(description="job/instance, by name; at most ten.")


class LogPatternList(Schema):
    """Patterns of a run: what is new comes first, then what grew, each by level and number."""

    patterns: list[LogPatternOut]
    lines: Count = Field(description="All lines of the run's time, also those of patterns that are left out.")
    from_ms: Milliseconds
    to_ms: Milliseconds
    before_from_ms: Milliseconds
    followed: bool = Field(description="Whether a log was followed in the run's time.")


MOST_TARGETS = 10
GREW = 2.0
"""A pattern grew, or fell, when its rate is so many times the other one, and no chance: see `_trend`."""
LEAST_BEFORE_MS = 10_000
"""A log that was read for a shorter time before the run says nothing of that time."""
SENT_AGAIN_MS = 30_000
"""An unchanged counter is sent again within this time: a series that starts later began at zero."""
_ORDER = (LogTrend.NEW, LogTrend.GREW, LogTrend.UNKNOWN, LogTrend.SAME, LogTrend.FELL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """Times in ms: the run from `from_ms` to `to_ms`, and before it from `before_ms`."""

    before_ms: int
    from_ms: int
    to_ms: int


@dataclass(slots=True)
class _Row:
    count: int = 0
    before: int = 0
    first_ms: int | None = None
    targets: set[str] = field(default_factory=set[str])


def count_patterns(
    numbers: Selection, texts: Selection, lines: Selection, spans: Spans
) -> tuple[list[LogPatternOut], int, bool]:
    """Patterns in their order, the lines of the run, and whether a log was followed.

    Args:
        numbers: `log_messages_total` from before the time before.
        texts: `log_pattern_info`.
        lines: `log_lines_total`: whose first sample says since when a log is read.
        spans: the run and the time before it.
    """
    known = _texts(texts)
    since = _since(lines)
    rows: dict[tuple[str, str], _Row] = {}
    total = 0
    for labels, times, values in _series(numbers):
        text = "" if labels.get("pattern_id") == OTHER else known.get((_target(labels), labels.get("pattern_id", "")))
        if text is None:
            continue
        reading = since.get(_target(labels))
        begun = reading is not None and (reading.started or times[0] - reading.first_ms > SENT_AGAIN_MS)
        first = 0.0 if begun else values[0]
        count, first_ms = _grown(times, values, first, spans.from_ms, spans.to_ms)
        before, _ = _grown(times, values, first, spans.before_ms, spans.from_ms)
        total += count
        if not count and not before:
            continue
        row = rows.setdefault((labels.get("level", ""), text), _Row())
        row.count += count
        row.before += before
        if first_ms is not None:
            row.first_ms = first_ms if row.first_ms is None else min(row.first_ms, first_ms)
        row.targets.add(_target(labels))
    patterns = [
        _pattern(level, text, row, spans, max((since[one].first_ms for one in row.targets if one in since), default=0))
        for (level, text), row in rows.items()
        if row.count
    ]
    return sorted(patterns, key=_place), total, bool(since)


def _pattern(level: str, text: str, row: _Row, spans: Spans, since_ms: int) -> LogPatternOut:
    """`since_ms` is since when all of its logs are read."""
    earlier_ms = spans.from_ms - max(spans.before_ms, since_ms)
    followed = earlier_ms >= LEAST_BEFORE_MS
    return LogPatternOut(
        pattern=text,
        level=level,
        count=row.count,
        before=row.before if followed else None,
        trend=_trend(row, spans.to_ms - spans.from_ms, earlier_ms) if followed else LogTrend.UNKNOWN,
        first_ms=row.first_ms,
        targets=sorted(row.targets)[:MOST_TARGETS],
    )


def _trend(row: _Row, during_ms: int, earlier_ms: int) -> LogTrend:
    """By the rates, and by whether two counts can differ so by chance: three deviations of Poisson's."""
    if not row.before:
        return LogTrend.NEW
    longer = max(during_ms, 1) / earlier_ms
    expected = row.before * longer
    chance = 3 * (expected * (1 + longer)) ** 0.5
    if row.count > GREW * expected and row.count - expected > chance:
        return LogTrend.GREW
    if row.count * GREW < expected and expected - row.count > chance:
        return LogTrend.FELL
    return LogTrend.SAME


def _place(one: LogPatternOut) -> tuple[int, int, int, str]:
    level = LEVELS.index(one.level) if one.level in LEVELS else len(LEVELS)
    # What says nothing of itself stands above what says that it is information.
    level = 2 if one.level == "" else level
    return _ORDER.index(one.trend), level, -one.count, one.pattern


def _grown(
    times: Sequence[int], values: Sequence[float], last: float, from_ms: int, to_ms: int
) -> tuple[int, int | None]:
    """By how much a counter that was at `last` grew after `from_ms` until `to_ms`, and when first."""
    grown, first_ms = 0.0, None
    for time_ms, value in zip(times, values, strict=True):
        if time_ms > to_ms:
            break
        if time_ms > from_ms:
            more = value - last if value >= last else value
            if more > 0:
                grown += more
                first_ms = time_ms if first_ms is None else first_ms
        last = value
    return round(grown), first_ms


def _series(selection: Selection) -> Iterable[tuple[Labels, list[int], list[float]]]:
    for row, labels in enumerate(selection.labels):
        begin, end = int(selection.offsets[row]), int(selection.offsets[row + 1])
        values = selection.values[begin:end]
        live = (values.view(np.uint64) != STALE_NAN_BITS) & np.isfinite(values)
        if live.any():
            yield labels, selection.timestamps[begin:end][live].tolist(), values[live].tolist()


def _texts(selection: Selection) -> dict[tuple[str, str], str]:
    """The newest text of each pattern of a target: it becomes wider with time."""
    newest: dict[tuple[str, str], tuple[int, str]] = {}
    for labels, times, _ in _series(selection):
        key = (_target(labels), labels.get("pattern_id", ""))
        if key not in newest or times[-1] > newest[key][0]:
            newest[key] = (times[-1], labels.get("pattern", ""))
    return {key: text for key, (_, text) in newest.items()}


@dataclass(frozen=True, slots=True)
class _Reading:
    """Since when a log is read, as far as the samples say; `started` when that is when its agent began to count."""

    first_ms: int
    started: bool


def _since(selection: Selection) -> dict[str, _Reading]:
    found: dict[str, _Reading] = {}
    for labels, times, values in _series(selection):
        if labels.get("result") == "counted":
            found[_target(labels)] = _Reading(times[0], values[0] == 0)
    return found


def _target(labels: Labels) -> str:
    return f"{labels.get('job', '')}/{labels.get('instance', '')}"


SHORTEST_BEFORE_MS = 60_000
LONGEST_BEFORE_MS = 900_000
"""The time before a run that it is held against is as long as the run, within these bounds."""
MARGIN_MS = 30_000
"""Samples are read from so much earlier: an unchanged counter is only sent every 15 s or so."""
MOST_PATTERNS = 200


@dataclass(eq=False)
class LogPatternService:
    """Safe to use from any thread."""

    _store: Reader

    def of_span(self, from_ms: int, to_ms: int) -> LogPatternList:
        """What was logged in the time of a run, against the time before.

        Raises:
            ProblemError: of the store.
        """
        length_ms = min(max(to_ms - from_ms, SHORTEST_BEFORE_MS), LONGEST_BEFORE_MS)
        spans = Spans(before_ms=max(from_ms - length_ms, 0), from_ms=from_ms, to_ms=to_ms)
        patterns, lines, followed = count_patterns(
            self._select("log_messages_total", spans),
            self._select("log_pattern_info", spans),
            self._select("log_lines_total", spans),
            spans,
        )
        return LogPatternList(
            patterns=patterns[:MOST_PATTERNS],
            lines=lines,
            from_ms=from_ms,
            to_ms=to_ms,
            before_from_ms=spans.before_ms,
            followed=followed,
        )

    def _select(self, metric: str, spans: Spans) -> Selection:
        matcher = Matcher("__name__", MatchOperator.EQUAL, metric)
        return self._store.select([matcher], max(spans.before_ms - MARGIN_MS, 0), spans.to_ms)
