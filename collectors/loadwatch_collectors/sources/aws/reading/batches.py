"""Wanted metrics to GetMetricData requests: as few as the limits allow. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loadwatch_collectors.sources.aws.model import MAX_POINTS, MAX_QUERIES, DataQuery, DataRequest, WantedMetric
from loadwatch_collectors.sources.aws.reading.windows import Window


class DataQueries(NamedTuple):
    """One request and what its queries stand for: `owners[n]` is (metric, index of its statistic) of query `n`."""

    request: DataRequest
    owners: tuple[tuple[WantedMetric, int], ...]

    @property
    def metrics_requested(self) -> int:
        """Metrics that CloudWatch bills for: all statistics of one metric are one."""
        return len({id(metric) for metric, _ in self.owners})


Question = tuple[WantedMetric, Sequence[int]]
"""A metric and the indexes of the statistics that are asked for."""


def make_batches(wanted: Iterable[tuple[WantedMetric, Window]]) -> list[DataQueries]:
    """Batches that ask for every statistic of each metric in its window."""
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
