"""The one port to samples. Engines: `embedded` (DuckDB) and `prometheus` (HTTP); same contract tests.

Who asks takes a `Reader`, who stores a `Writer`, who waits for news or counts a `Watcher`; `SampleStore` is all three.

Times are integer milliseconds since the epoch. Values are float64; a stale marker is the NaN with the bit pattern
`STALE_NAN_BITS`, kept bit for bit.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.series.store.levels import Level, MinuteColumns
from loadwatch_backend.series.store.losses import Loss

STALE_NAN_BITS = 0x7FF0000000000002
"""Prometheus' stale marker (model/value/value.go, StaleNaN)."""

STALE_NAN: float = float(np.array([STALE_NAN_BITS], np.uint64).view(np.float64)[0])

Labels = Mapping[str, str]
"""All labels of a series, `__name__` included; no empty values. Never changed after it is made."""


class MatchOperator(StrEnum):
    """PromQL's label matchers; regular expressions are anchored at both ends and use RE2's syntax."""

    EQUAL = "="
    NOT_EQUAL = "!="
    REGEX = "=~"
    NOT_REGEX = "!~"


@dataclass(frozen=True, slots=True)
class Matcher:
    """One condition on one label; a missing label counts as the empty string."""

    label: str
    operator: MatchOperator
    value: str


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def quoted(text: str) -> str:
    """A string of PromQL and of OpenMetrics."""
    return f'"{text.translate(_ESCAPES)}"'


def one_of(label: str, values: Sequence[str]) -> Matcher:
    """The label has one of the values; the empty one means that it is not there."""
    if len(values) == 1:
        return Matcher(label, MatchOperator.EQUAL, values[0])
    return Matcher(label, MatchOperator.REGEX, "|".join(map(re.escape, values)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Samples to append, column by column; all three arrays have the same length.

    `series` are ids that `Writer.resolve` returned. Later rows win over earlier ones of the same (series, time).
    """

    series: npt.NDArray[np.uint32]
    timestamps: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    own: bool = False
    """The server's own metrics: that they are new does not mean that anybody sends samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Samples of n series, one after another.

    Series i has `labels[i]` and the rows `offsets[i]:offsets[i + 1]` of `timestamps` and `values`, in rising time
    without repeats. `offsets` has n + 1 entries. Stale markers are among the values. Series without a sample in the
    asked span may be left out. Order of the series: by id, so by first arrival.
    """

    labels: Sequence[Labels]
    offsets: npt.NDArray[np.int64]
    timestamps: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
    minutes: MinuteColumns | None = None
    """Where minutes were asked for: a row for each row of `timestamps`."""

    def each(self) -> Iterator[tuple[Labels, npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
        """Labels, times and values of each series."""
        for labels, (begin, end) in zip(self.labels, pairwise(self.offsets.tolist()), strict=True):
            yield labels, self.timestamps[begin:end], self.values[begin:end]


METADATA_TYPES = ("unknown", "counter", "gauge", "histogram", "gaugehistogram", "summary", "info", "stateset")
"""In the order of remote write's numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricMetadata:
    """What a sender said of a metric: type as in OpenMetrics, help, unit."""

    type: str
    help: str
    unit: str


class Reading(Protocol):
    """What one who reads may load, and whether it is still wanted."""

    @property
    def most_samples(self) -> int:
        """Samples that may be loaded."""
        ...

    @property
    def cancellation(self) -> Cancellation:
        """Asked to end when nobody waits any more."""
        ...

    def reserve(self, samples: int) -> None:
        """To be called before that many samples are brought into memory; raises when there is no room for them."""
        ...


@runtime_checkable
class ManySelector(Protocol):
    """A store that answers many selectors in one go; for rules, of which a thousand ask at one instant."""

    def select_many(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> list[Selection]:
        """`Reader.select` for each of the matcher lists; raises as that, for all of them together."""
        ...

    def select_newest(
        self, wanted: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> list[Selection]:
        """The same, with the newest sample of each series alone."""
        ...


@runtime_checkable
class SeriesFinder(Protocol):
    """A store that tells which series it has, so that a limit on new ones leaves the others alone."""

    def find(self, series: Sequence[Labels]) -> npt.NDArray[np.int64]:
        """Ids of the label sets, -1 of those that are not there."""
        ...


@runtime_checkable
class QueryPasser(Protocol):
    """A store whose engine speaks PromQL itself: queries of the Prometheus API are passed on to it as they are."""

    def query(self, path: str, pairs: Sequence[tuple[str, str]], cancellation: Cancellation) -> Iterator[bytes]:
        """The answer to `/api/v1/<path>` with these parameters, in Prometheus' JSON, piece by piece.

        Raises:
            EngineAnswerError: the engine's own error. EngineAwayError: no answer.
            QueryLimitError: it is too large. CancelledError.
        """
        ...

    def shown_ms(self, wanted: Sequence[Sequence[Matcher]]) -> int:
        """Up to which time the engine shows all samples of such series that were acknowledged in good time."""
        ...


@runtime_checkable
class SampleCopier(Protocol):
    """A store that copies its samples into files, an hour each, while it takes and gives samples."""

    def copy_samples(self, target: Path) -> Iterator[tuple[str, int]]:
        """Write the next file of a backup below a directory; gives its path there and how many samples it has.

        Raises:
            StoreReadError: the disk did not give the samples, or has no room for the file.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TableUse:
    """Samples of one table and what they take on the disk."""

    samples: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupUse:
    """Series with one value of a label: their samples, and the bytes that those take by estimate."""

    name: str
    series: int
    samples: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSurvey:
    """What a store holds; lists begin with the largest."""

    file_bytes: int
    free_bytes: int
    """Within the file: dead space, which samples to come take first."""
    hot: TableUse
    sealed: TableUse
    rollups: TableUse
    """Its samples are minutes of a series."""
    series: int
    oldest_ms: int | None
    newest_ms: int | None
    metrics: Sequence[GroupUse]
    jobs: Sequence[GroupUse]
    labels: Sequence[tuple[str, int]]
    """Names of labels with how many values each has."""
    losses: Sequence[Loss] = ()
    """What damage of the disk has taken."""


@runtime_checkable
class Surveyor(Protocol):
    """A store that tells where its disk space goes, and gives back what it can."""

    def survey(self) -> StoreSurvey:
        """What it holds now; reads a part of every sample.

        Raises:
            StoreReadError: the disk did not give it.
        """
        ...

    def compact(self) -> int:
        """Seal all samples that are there and give free space back to the disk; how many were sealed.

        It is what happens each hour, at once: samples come and are read meanwhile, and nothing is lost if it is cut
        off. Raises as `survey`, and StoreWriteError.
        """
        ...


CommitListener = Callable[[int, int], None]
"""Called with the time of the newest sample on disk and the time of the commit, both in ms."""

TouchListener = Callable[[frozenset[str]], None]
"""Called with the names of the metrics that a commit brought samples of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStatistics:
    """Plain numbers for /metrics; those that end in `_total` have counted since the start."""

    series: int
    samples_appended_total: int
    commits_total: int
    failed_commits_total: int
    busy_rejections_total: int
    queued_samples: int
    head_bytes: int
    head_blocks: int
    head_complete_ms: int = 0
    sealed_rows_total: int = 0
    deleted_rows_total: int = 0
    database_bytes: int = 0
    checked_blocks_total: int = 0
    commits_fail: bool = False
    """Whether the last one did, within the last minute."""
    clock_jump_seconds: float = 0.0
    """By how much the wall clock has jumped, as long as that is not believed."""
    damaged_hours: int = 0
    """At least 1 where something is damaged."""
    engine_queue_samples: int = 0
    engine_queue_bytes: int = 0
    engine_queue_seconds: float = 0.0
    engine_queue_ratio: float = 0.0
    engine_delivered_samples_total: int = 0
    engine_dropped_samples_total: int = 0
    engine_retries_total: int = 0


class Select(Protocol):
    """`Reader.select` alone: all that evaluating needs, so that a filter before it is a function."""

    def __call__(
        self, matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None = None, /
    ) -> Selection:
        """See `Reader.select`."""
        ...


class LevelledSelect(Protocol):
    """`Select` of a `LevelledReader`."""

    def __call__(
        self, matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None = None, /, *level: Level
    ) -> Selection:
        """See `Reader.select`; without a level all samples."""
        ...


class Reader(Protocol):
    """Select and list; samples count from the moment they are on disk. Safe to call from any thread."""

    def select(
        self, matchers: Sequence[Matcher], start_ms: int, end_ms: int, reading: Reading | None = None
    ) -> Selection:
        """All samples of the matching series with start_ms <= time <= end_ms; `reading` bounds them further.

        Raises:
            QueryLimitError: the answer would hold more samples than one query may load.
            CancelledError: `reading` was cancelled; and whatever its `reserve` raises.
        """
        ...

    def series(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[Labels]:
        """Label sets that match any of the matcher lists and may have a sample in the span."""
        ...

    def label_names(self, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        """Sorted names of all labels of the matching series; no matchers means all series."""
        ...

    def label_values(self, name: str, matchers: Sequence[Sequence[Matcher]], start_ms: int, end_ms: int) -> list[str]:
        """Sorted values of one label over the matching series."""
        ...

    def metadata(self) -> Mapping[str, MetricMetadata]:
        """All metadata, by metric name."""
        ...

    def newest_ms(self) -> int | None:
        """Time of the newest sample that is on disk and none of the server's own; None while the store is empty."""
        ...


class Writer(Protocol):
    """Append. Safe to call from any thread."""

    def resolve(self, series: Sequence[Labels], *, most_new: int | None = None) -> npt.NDArray[np.uint32]:
        """Ids of the given label sets, new series made where needed (durable with the next commit that uses them).

        Raises:
            SeriesLimitError: the store holds as many series, or bytes of labels, as its limits allow; none was made.
            NewSeriesLimitError: more than `most_new` of them are new; no series was made.
        """
        ...

    def generation(self) -> int:
        """A number that changes when series were removed: ids kept from before it must then be resolved again."""
        ...

    def append(self, batch: Batch) -> "Future[None]":
        """Queue the samples; the future is done once they are on disk.

        Raises:
            StoreBusyError: too many samples are waiting already; the future itself may fail with StoreWriteError.
        """
        ...

    def put_metadata(self, metadata: Mapping[str, MetricMetadata]) -> None:
        """Remember what a sender said of its metrics; the last word wins."""
        ...


class Watcher(Protocol):
    """News and numbers of a store. Safe to call from any thread."""

    def on_commit(self, listener: CommitListener) -> Callable[[], None]:
        """Call the listener after each commit, from the writer's thread; returns its end."""
        ...

    def on_touch(self, listener: TouchListener) -> Callable[[], None]:
        """Call the listener after each commit of samples, as `on_commit`."""
        ...

    def statistics(self) -> StoreStatistics:
        """What the store holds and has done."""
        ...


class SampleStore(Reader, Writer, Watcher, Protocol):
    """A whole engine, as the application opens it."""

    def keep_pinned(self, windows: Callable[[], Sequence[tuple[int, int]]]) -> None:
        """Ask `windows` at each retention for the (start, end) spans in ms that are kept whatever their age.

        Retention by itself begins with this: before it, nobody knows what may go. When `windows` raises, nothing goes.
        """
        ...

    def close(self) -> None:
        """Write what is queued and let go of the data. Calling it again does nothing."""
        ...
