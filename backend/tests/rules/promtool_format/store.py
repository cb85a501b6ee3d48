"""A store in memory for one test of rules: `SampleStore` without a disk."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future

import numpy as np
import numpy.typing as npt
from loadwatch_backend.series.promql.labels import LabelKey, label_key
from loadwatch_backend.series.store.patterns import full_matcher
from loadwatch_backend.series.store.port import (
    Batch,
    Labels,
    Matcher,
    MatchOperator,
    MetricMetadata,
    Reading,
    Selection,
)


class MemoryStore:
    """Keeps samples in dictionaries; made for thousands of samples, not for millions."""

    def __init__(self) -> None:
        self._ids: dict[LabelKey, int] = {}
        self._labels: list[Labels] = []
        self._samples: list[dict[int, float]] = []
        self._columns: dict[int, tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]] = {}
        self._matches: dict[tuple[Matcher, ...], list[int]] = {}

    def put(self, labels: Labels, samples: Iterable[tuple[int, float]]) -> None:
        """Add samples (time in ms, value) of one series."""
        series = int(self.resolve([labels])[0])
        self._samples[series].update(samples)
        self._columns.pop(series, None)

    def resolve(self, series: Sequence[Labels], *, most_new: int | None = None) -> npt.NDArray[np.uint32]:
        """See `SampleStore.resolve`."""
        del most_new
        ids: list[int] = []
        for labels in series:
            key = label_key(labels)
            if key not in self._ids:
                self._ids[key] = len(self._labels)
                self._labels.append(dict(labels))
                self._samples.append({})
                self._matches.clear()
            ids.append(self._ids[key])
        return np.array(ids, np.uint32)

    def generation(self) -> int:
        """See `SampleStore.generation`."""
        return 0

    def append(self, batch: Batch) -> "Future[None]":
        """See `SampleStore.append`."""
        rows = zip(batch.series.tolist(), batch.timestamps.tolist(), batch.values.tolist(), strict=True)
        for series, time_ms, value in rows:
            self._samples[series][time_ms] = value
            self._columns.pop(series, None)
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def select(
        self, matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> Selection:
        """See `SampleStore.select`."""
        del reading
        labels: list[Labels] = []
        times: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)]
        values: list[npt.NDArray[np.float64]] = [np.empty(0, np.float64)]
        for series in self._matching(tuple(matchers)):
            all_times, all_values = self._column(series)
            first, end = np.searchsorted(all_times, (start_ms, end_ms + 1))
            if end > first:
                labels.append(self._labels[series])
                times.append(all_times[first:end])
                values.append(all_values[first:end])
        offsets = np.cumsum([0, *(len(one) for one in times[1:])])
        return Selection(
            labels=labels, offsets=offsets, timestamps=np.concatenate(times), values=np.concatenate(values)
        )

    def select_many(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> list[Selection]:
        """See `ManySelector.select_many`."""
        del reading
        return [self.select(matchers, start_ms, end_ms) for matchers in wanted]

    def select_newest(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> list[Selection]:
        """See `ManySelector.select_newest`."""
        del reading
        return [self._newest(tuple(matchers), start_ms, end_ms) for matchers in wanted]

    def _newest(self, matchers: tuple[Matcher, ...], start_ms: int, end_ms: int) -> Selection:
        labels: list[Labels] = []
        rows: list[tuple[int, float]] = []
        for series in self._matching(matchers):
            times, values = self._column(series)
            row = int(times.searchsorted(end_ms, side="right")) - 1
            if row >= 0 and times[row] >= start_ms:
                labels.append(self._labels[series])
                rows.append((int(times[row]), float(values[row])))
        return Selection(
            labels=labels,
            offsets=np.arange(len(rows) + 1),
            timestamps=np.array([time for time, _ in rows], np.int64),
            values=np.array([value for _, value in rows], np.float64),
        )

    def series(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[Labels]:
        """See `SampleStore.series`; the span is not looked at."""
        del start_ms, end_ms
        found = {one for group in (matchers or [()]) for one in self._matching(tuple(group))}
        return [self._labels[one] for one in sorted(found)]

    def label_names(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        """See `SampleStore.label_names`."""
        return sorted({name for labels in self.series(matchers, start_ms, end_ms) for name in labels})

    def label_values(self, name: str, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        """See `SampleStore.label_values`."""
        return sorted({labels[name] for labels in self.series(matchers, start_ms, end_ms) if name in labels})

    def put_metadata(self, metadata: Mapping[str, MetricMetadata]) -> None:
        """Does nothing: rules do not read it."""

    def metadata(self) -> Mapping[str, MetricMetadata]:
        """None."""
        return {}

    def newest_ms(self) -> int | None:
        """See `SampleStore.newest_ms`."""
        return max((max(samples) for samples in self._samples if samples), default=None)

    def _column(self, series: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        if series not in self._columns:
            samples = self._samples[series]
            times = np.array(sorted(samples), np.int64)
            # Into an array of their own: numpy keeps the bits of a stale marker.
            self._columns[series] = times, np.array([samples[time] for time in times.tolist()], np.float64)
        return self._columns[series]

    def _matching(self, matchers: tuple[Matcher, ...]) -> list[int]:
        if matchers not in self._matches:
            self._matches[matchers] = [
                place for place, labels in enumerate(self._labels) if all(_holds(one, labels) for one in matchers)
            ]
        return self._matches[matchers]


def _holds(matcher: Matcher, labels: Labels) -> bool:
    value = labels.get(matcher.label, "")
    match matcher.operator:
        case MatchOperator.EQUAL:
            return value == matcher.value
        case MatchOperator.NOT_EQUAL:
            return value != matcher.value
        case MatchOperator.REGEX:
            return full_matcher(matcher.value)(value)
        case MatchOperator.NOT_REGEX:
            return not full_matcher(matcher.value)(value)
