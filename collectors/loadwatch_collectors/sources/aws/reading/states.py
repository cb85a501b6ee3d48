"""The pages of one GetMetricData answer, put together: values and a completion state for each query. Pure."""

from collections.abc import Sequence

from loadwatch_collectors.sources.aws.model import DataPage
from loadwatch_collectors.sources.aws.reading.batches import DataQueries, query_index

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
        self.messages: list[str] = []
        self._states: list[str] = ["" for _ in batch.owners]

    def add(self, page: DataPage) -> None:
        """Take one page; of a point given twice the last wins."""
        self.messages += page.messages
        for result in page.results:
            index = query_index(result.id)
            if not 0 <= index < len(self._states):
                continue
            self.values[index].update(zip(result.times_ms, result.values, strict=False))
            status = result.status if result.status in _WEIGHT else PARTIAL
            before = self._states[index]
            if not before or _WEIGHT[status] > _WEIGHT[before]:
                self._states[index] = status
            if status != COMPLETE:
                self.messages += result.messages

    def state(self, index: int) -> str:
        """The completion state of a query, by what has come so far."""
        return self._states[index] or PARTIAL

    def open_queries(self) -> Sequence[int]:
        """Queries that are worth asking again."""
        return [index for index in range(len(self._states)) if self.state(index) in (PARTIAL, INTERNAL)]
