"""The pages of one GetMetricData answer, put together: values and a completion state for each query. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loadwatch_collectors.sources.aws.model import (
    MAX_POINTS,
    MAX_QUERIES,
    DataPage,
    DataQuery,
    DataRequest,
    WantedMetric,
)

CATCH_UP_MS = 3 * 3600 * 1000
"""How far back a gap of ours is filled. Points of less than a minute are kept for three hours."""


class Window(NamedTuple):
    """From `start_ms` (inclusive) to `end_ms` (exclusive), both multiples of `period_ms`."""

    start_ms: int
    end_ms: int
    period_ms: int

    @property
    def points(self) -> int:
        return (self.end_ms - self.start_ms) // self.period_ms


def align_down(time_ms: int, period_ms: int) -> int:
    """The last multiple of the period at or before a time; unaligned windows return one point twice."""
    return time_ms // period_ms * period_ms


def make_window(now_ms: int, *, period_ms: int, delay_ms: int, reread_ms: int, known_to_ms: int | None) -> Window:
    """The window to read at `now_ms`: everything since `known_to_ms`, and `reread_ms` before that.

    `end = align_down(now - delay, period)`. Up to `known_to_ms` everything was read whole and had been delivered by
    then; points shortly before it may have been late or may have been revised since. After an outage of ours the window
    reaches back to where reading stopped, after one of CloudWatch's to where delivery did, at most `CATCH_UP_MS`.
    """
    end = align_down(now_ms - delay_ms, period_ms)
    start = reread_from(end if known_to_ms is None else min(known_to_ms, end), period_ms, reread_ms)
    earliest = align_down(end - max(CATCH_UP_MS, reread_ms), period_ms)
    return Window(max(start, earliest), end, period_ms)


def reread_from(known_to_ms: int, period_ms: int, reread_ms: int) -> int:
    return align_down(known_to_ms - max(reread_ms, period_ms), period_ms)


def is_due(now_ms: int, *, period_ms: int, delay_ms: int, read_to_ms: int | None, every: int = 1) -> bool:
    """Whether `every` new periods have ended since the last read.

    What was never read is due. With `every` above one (the budget's factor) all metrics of one factor are due
    together, so that they share requests.
    """
    if read_to_ms is None:
        return True
    step = period_ms * max(every, 1)
    return align_down(now_ms - delay_ms, step) > align_down(read_to_ms, step)


class DataQueries(NamedTuple):
    """One request and what its queries stand for: `owners[n]` is (metric, index of its statistic) of query `n`."""

    request: DataRequest
    owners: tuple[tuple[WantedMetric, int], ...]

    @property
    def metrics_requested(self) -> int:
        """Metrics that CloudWatch bills for: all statistics of one metric are one."""
        return len({id(metric) for metric, _ in self.owners})


Question = tuple[WantedMetric, Sequence[int]]


def make_batches(wanted: Iterable[tuple[WantedMetric, Window]]) -> list[DataQueries]:
    by_window: dict[Window, list[Question]] = {}
    for metric, window in wanted:
        by_window.setdefault(window, []).append((metric, range(len(metric.statistics))))
    return [batch for window, questions in by_window.items() for batch in split_questions(window, questions)]


def split_questions(window: Window, questions: Iterable[Question]) -> list[DataQueries]:
    """Batches of one window. The statistics of a metric stay together: apart they would be billed twice.

    A request holds at most 500 queries and may ask for at most 100,800 points.
    """
    if window.points <= 0:
        return []
    most = max(1, min(MAX_QUERIES, MAX_POINTS // window.points))
    batches: list[DataQueries] = []
    owners: list[tuple[WantedMetric, int]] = []
    for metric, indexes in questions:
        if owners and len(owners) + len(indexes) > most:
            batches.append(_make_batch(window, owners))
            owners = []
        owners += [(metric, index) for index in indexes]
    if owners:
        batches.append(_make_batch(window, owners))
    return batches


def query_index(query_id: str) -> int:
    """The place of a query in its batch, by its id; -1 for an id that is not ours."""
    return int(query_id[1:]) if query_id[:1] == "q" and query_id[1:].isdigit() else -1


def _make_batch(window: Window, owners: Sequence[tuple[WantedMetric, int]]) -> DataQueries:
    queries = tuple(
        DataQuery(
            id=f"q{number}",
            metric=metric.metric,
            statistic=metric.statistics[index].statistic,
            period_seconds=window.period_ms // 1000,
            unit=metric.cloudwatch_unit,
        )
        for number, (metric, index) in enumerate(owners)
    )
    return DataQueries(
        request=DataRequest(queries=queries, start_ms=window.start_ms, end_ms=window.end_ms), owners=tuple(owners)
    )


COMPLETE = "Complete"
PARTIAL = "PartialData"
INTERNAL = "InternalError"
FORBIDDEN = "Forbidden"
STATES = (COMPLETE, PARTIAL, INTERNAL, FORBIDDEN)

_WEIGHT = {PARTIAL: 0, COMPLETE: 1, INTERNAL: 2, FORBIDDEN: 3}


class MetricDataResult:
    """What is known of one batch so far.

    Pages come in no fixed order, and a query may be on several: `PartialData` on one of them means that others hold the
    rest, so `Complete` on any other wins; `InternalError` and `Forbidden` on any page stand, since that page's points
    are not there. A query that no page mentions is `PartialData`. Unknown states count as `PartialData`.
    """

    def __init__(self, batch: DataQueries) -> None:
        self.batch = batch
        self.values: list[dict[int, float]] = [{} for _ in batch.owners]
        self._states: list[str] = ["" for _ in batch.owners]

    def add(self, page: DataPage) -> None:
        """Take one page; of a point given twice the last wins."""
        for result in page.results:
            index = query_index(result.id)
            if not 0 <= index < len(self._states):
                continue
            self.values[index].update(zip(result.times_ms, result.values, strict=False))
            status = result.status if result.status in _WEIGHT else PARTIAL
            before = self._states[index]
            if not before or _WEIGHT[status] > _WEIGHT[before]:
                self._states[index] = status

    def state(self, index: int) -> str:
        return self._states[index] or PARTIAL

    def open_queries(self) -> Sequence[int]:
        return [index for index in range(len(self._states)) if self.state(index) in (PARTIAL, INTERNAL)]
