"""The samples of a span, as detectors see them: on one grid, by metric. Pure.

A gauge keeps its newest value as long as its sender is not late; a counter's increase between two samples is spread
over the time between them. So data of each second and of each minute stand side by side, and a missing sample is a
gap, never a zero.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from loadwatch_backend.records.model import FloatArray

BoolArray = npt.NDArray[np.bool_]
LATE_INTERVALS = 2.5
"""A value is the present one until its successor is this many intervals late."""
LEAST_HELD_MS = 3_000
LONGEST_BRIDGE_MS = 120_000
"""A longer gap in a counter is not bridged: too much can have happened in it."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Instants `start_ms + i * step_ms`, i below `count`; instant i ends the step before it."""

    start_ms: int
    step_ms: int
    count: int

    def time_ms(self, index: int) -> int:
        """Time of an instant."""
        return self.start_ms + index * self.step_ms

    def index(self, time_ms: int) -> int:
        """The first instant at or after a time, within the grid."""
        return min(max(-(-(time_ms - self.start_ms) // self.step_ms), 0), self.count)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Series of one metric.

    Attributes:
        labels: of each series, without the metric's name.
        values: [series, instant], the newest sample within each step; NaN where there is none.
        stale: [series, instant], where the sender said that the series has ended.
        interval_ms: [series], the usual distance of its samples; 0 where fewer than two tell.
        back: values are of the period before their time, as CloudWatch's.
    """

    grid: Grid
    labels: Sequence[Mapping[str, str]]
    values: FloatArray
    stale: BoolArray
    interval_ms: npt.NDArray[np.int64]
    back: bool = False

    def __bool__(self) -> bool:
        return bool(len(self.labels)) and bool(np.isfinite(self.values).any())

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def held(self) -> FloatArray:
        """[series, instant]: the present value at each instant, NaN where its sender is late or gone."""
        known = np.isfinite(self.values)
        if self.back:
            return self._held_back(known)
        places = np.where(known, np.arange(self.grid.count), -1)
        last = np.maximum.accumulate(places, axis=1)
        ended = np.maximum.accumulate(np.where(self.stale, np.arange(self.grid.count), -1), axis=1)
        age = np.arange(self.grid.count) - last
        reach = np.maximum(self.interval_ms * LATE_INTERVALS, LEAST_HELD_MS) / self.grid.step_ms
        usable = (last >= 0) & (age <= np.maximum(reach, 1)[:, None]) & (last >= ended)
        taken = np.take_along_axis(self.values, np.maximum(last, 0), axis=1)
        return np.where(usable, taken, np.nan)

    def _held_back(self, known: BoolArray) -> FloatArray:
        count = self.grid.count
        places = np.where(known, np.arange(count), count)
        following = np.minimum.accumulate(places[:, ::-1], axis=1)[:, ::-1]
        ahead = following - np.arange(count)
        reach = np.maximum(self.interval_ms, 60_000) / self.grid.step_ms
        usable = (following < count) & (ahead < reach[:, None])
        taken = np.take_along_axis(self.values, np.minimum(following, count - 1), axis=1)
        return np.where(usable, taken, np.nan)

    @cached_property
    def rates(self) -> FloatArray:
        """[series, instant]: increase per second over the step that ends there; a fall is a new beginning at zero."""
        rates = np.full(self.values.shape, np.nan)
        seconds = self.grid.step_ms / 1_000
        for row in range(len(self.labels)):
            places = np.flatnonzero(np.isfinite(self.values[row]))
            if len(places) < 2:
                continue
            samples: FloatArray = self.values[row, places]
            steps: FloatArray = samples[1:] - samples[:-1]
            grown: FloatArray = np.where(steps < 0, samples[1:], steps)
            apart = np.diff(places)
            usual = max(float(self.interval_ms[row]) * 5, LONGEST_BRIDGE_MS) / self.grid.step_ms
            rate = np.where(apart <= usual, grown / (apart * seconds), np.nan)
            rates[row, places[0] + 1 : places[-1] + 1] = np.repeat(rate, apart)
        return rates

    def where(self, **labels: str) -> "Table":
        """Series with these labels."""
        return self.take([row for row, one in enumerate(self.labels) if _fits(one, labels)])

    def take(self, rows: Sequence[int]) -> "Table":
        """Some of the series."""
        return Table(
            grid=self.grid,
            labels=[self.labels[row] for row in rows],
            values=self.values[list(rows)],
            stale=self.stale[list(rows)],
            interval_ms=self.interval_ms[list(rows)],
            back=self.back,
        )

    def by(self, *names: str) -> Iterator[tuple[Mapping[str, str], "Table"]]:
        """Groups that share these labels, in the order of their labels; a label that is missing is left out."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for row, labels in enumerate(self.labels):
            groups.setdefault(tuple(labels.get(name, "") for name in names), []).append(row)
        for values in sorted(groups):
            yield (
                {name: value for name, value in zip(names, values, strict=True) if value},
                self.take(groups[values]),
            )

    @cached_property
    def sum(self) -> FloatArray:
        """[instant]: sum of the present values; NaN where no series has one."""
        return _over(np.nansum, self.held)

    @cached_property
    def max(self) -> FloatArray:
        """[instant]: largest of the present values."""
        return _over(np.nanmax, self.held)

    @cached_property
    def rate(self) -> FloatArray:
        """[instant]: sum of the rates; NaN where no series has one."""
        return _over(np.nansum, self.rates)

    @property
    def slowest_ms(self) -> int:
        """The longest usual distance between samples; 0 where nothing tells."""
        return int(self.interval_ms.max()) if len(self.interval_ms) else 0


def empty_table(grid: Grid) -> Table:
    """A metric that nobody sent."""
    return Table(
        grid=grid,
        labels=[],
        values=np.empty((0, grid.count)),
        stale=np.empty((0, grid.count), dtype=np.bool_),
        interval_ms=np.empty(0, dtype=np.int64),
    )


@dataclass(frozen=True, kw_only=True)
class Load:
    """What a load generator sent and saw, on the grid of the window.

    Attributes:
        outcomes: requests per second that began in each step, by how they ended; NaN outside of the load.
        p50, p95, p99: seconds; NaN where nothing tells.
        target: rate asked for; NaN where unknown.
    """

    outcomes: Mapping[str, FloatArray]
    p50: FloatArray
    p95: FloatArray
    p99: FloatArray
    target: FloatArray
    users: FloatArray

    @cached_property
    def rate(self) -> FloatArray:
        """Requests per second, whatever became of them."""
        return (
            _over(np.nansum, np.stack(list(self.outcomes.values())))
            if self.outcomes
            else np.full_like(self.p50, np.nan)
        )

    def failed(self, *outcomes: str) -> FloatArray:
        """Requests per second that ended in one of these ways; all that are not ok when none is named."""
        chosen = [one for name, one in self.outcomes.items() if (name in outcomes if outcomes else name != "ok")]
        return _over(np.nansum, np.stack(chosen)) if chosen else np.where(np.isnan(self.rate), np.nan, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """What is known of the load generator. `state` and `reasons` as in a run's check of its generator."""

    state: str
    reasons: Sequence[str]
    target_rate: float | None = None
    reached_rate: float | None = None
    dropped: int = 0
    tool: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Counts that should be equal, over a whole run; None where nobody counted. `rows` are those of the table."""

    sent: float | None = None
    answered: float | None = None
    accepted: float | None = None
    stored: float | None = None
    rows: float | None = None


@dataclass(frozen=True, kw_only=True)
class Window:
    """All that detectors see.

    Attributes:
        grid: covers the focus, and some time before and after.
        from_ms, to_ms: the focus: the run, or the sliding window of the live page.
        tables: by the metric's name.
        load: None where nobody generated load.
        of_run: the focus is a run's, else that of the live page.
    """

    grid: Grid
    from_ms: int
    to_ms: int
    tables: Mapping[str, Table] = field(default_factory=dict[str, Table])
    load: Load | None = None
    generator: Generator | None = None
    counts: Counts | None = None
    of_run: bool = False

    def __getitem__(self, metric: str) -> Table:
        return self.tables.get(metric) or empty_table(self.grid)

    def has(self, *metrics: str) -> bool:
        """Whether all of these metrics have samples within the focus."""
        return all(bool(np.isfinite(self[metric].values[:, self.focus]).any()) for metric in metrics)

    @cached_property
    def focus(self) -> slice:
        """The instants of the focus: those after its start, up to its end."""
        first = self.grid.index(self.from_ms + 1)
        return slice(first, max(min(self.grid.index(self.to_ms) + 1, self.grid.count), first + 1))

    @property
    def step_seconds(self) -> float:
        """Length of a step."""
        return self.grid.step_ms / 1_000

    def inside(self, values: FloatArray) -> FloatArray:
        """The part of [instant] that lies in the focus."""
        return values[..., self.focus]

    def total(self, rates: FloatArray, span: slice | None = None) -> float:
        """What a rate per second sums up to over the focus, or over some instants; 0 where nothing is known."""
        return float(np.nansum(rates[..., span or self.focus]) * self.step_seconds)


@dataclass(frozen=True, slots=True)
class Episode:
    """Instants `first` up to, not including, `end`, in which something held."""

    first: int
    end: int

    @property
    def span(self) -> slice:
        """As a slice."""
        return slice(self.first, self.end)

    def __len__(self) -> int:
        return self.end - self.first

    def joined(self, other: Self) -> "Episode":
        """From the start of the earlier to the end of the later."""
        return Episode(min(self.first, other.first), max(self.end, other.end))


def episodes(holds: BoolArray, *, least: int = 1, gap: int = 2) -> list[Episode]:
    """Runs of instants at which something holds, those at most `gap` apart joined, then the short ones left out."""
    edges = np.diff(np.concatenate([[False], holds, [False]]).astype(np.int8))
    found: list[Episode] = []
    for first, end in zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True):
        if found and first - found[-1].end <= gap:
            found[-1] = Episode(found[-1].first, end)
        else:
            found.append(Episode(first, end))
    return [one for one in found if int(holds[one.span].sum()) >= least]


def least_instants(grid: Grid, interval_ms: int, *, samples: int = 3, seconds: float = 3.0) -> int:
    """How many instants on end are long enough: some seconds, and some samples of whoever measures."""
    return max(-(-max(round(seconds * 1_000), samples * interval_ms) // grid.step_ms), 1)


def _fits(labels: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(labels.get(name, "") == value for name, value in wanted.items())


def _over(reduce: Callable[..., FloatArray], values: FloatArray) -> FloatArray:
    """Reduce [series, instant] over series; NaN where none has a value."""
    if not len(values):
        return np.full(values.shape[1:], np.nan)
    known = np.isfinite(values).any(axis=0)
    return np.where(known, reduce(np.where(known, values, 0.0), axis=0), np.nan)
