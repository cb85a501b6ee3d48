"""The samples of a span, as detectors see them: on one grid, by metric. Pure.

A gauge keeps its newest value as long as its sender is not late; a counter's increase between two samples is spread
over the time between them. So data of each second and of each minute stand side by side, and a missing sample is a
gap, never a zero.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from loadwatch_backend.catalogue.signals.model import Demand, Pack, Sighting
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.evidence.cost.model import Cost
from loadwatch_backend.evidence.profiles.known import LockWaits
from loadwatch_backend.evidence.records.model import FloatArray, IntArray

if TYPE_CHECKING:
    from loadwatch_backend.findings.model import Detector, Finding

BoolArray = npt.NDArray[np.bool_]
Target = tuple[str, str]
"""Job and instance."""
LATE_INTERVALS = 2.5
"""A value is the present one until its successor is this many intervals late."""
LEAST_HELD_MS = 3_000
LONGEST_BRIDGE_MS = 120_000
"""A longer gap in a counter is not bridged: too much can have happened in it."""
LEAST_CHANGE = 0.5
"""By less a setting does not change: limits are whole numbers, and the start of a process is read a little unevenly."""
CHANGED_SECONDS = 5.0
"""So long an episode has to go on after a change of a setting to be one of its own."""
APART_MS = 60_000
"""Episodes that are further apart than this are separate, unless a run covers both."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Instants `start_ms + i * step_ms`, i below `count`; instant i ends the step before it."""

    start_ms: int
    step_ms: int
    count: int

    def time_ms(self, index: int) -> int:
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
        whole: the table that this is a part of, and its rows in there: what is computed of it once is taken from there.
        origins: targets whose series are here under the name of their program; see `findings.programs`.
    """

    grid: Grid
    labels: Sequence[Mapping[str, str]]
    values: FloatArray
    stale: BoolArray
    interval_ms: npt.NDArray[np.int64]
    back: bool = False
    whole: "tuple[Table, IntArray] | None" = field(default=None, repr=False, compare=False)
    origins: Mapping[Target, Sequence[Target]] = field(default_factory=dict[Target, Sequence[Target]])

    def __bool__(self) -> bool:
        return self._known_any

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def _known_any(self) -> bool:
        return bool(np.isfinite(self.values).any())

    @cached_property
    def held(self) -> FloatArray:
        """[series, instant]: the present value at each instant, NaN where its sender is late or gone."""
        if self.whole is not None:
            return self.whole[0].held[self.whole[1]]
        known = np.isfinite(self.values)
        if self.back:
            return self._held_back(known)
        last = _last_known(known)
        ended = _last_known(self.stale)
        age = np.arange(self.grid.count) - last
        reach = np.maximum(self.interval_ms * LATE_INTERVALS, LEAST_HELD_MS) / self.grid.step_ms
        usable = (last >= 0) & (age <= np.maximum(reach, 1)[:, None]) & (last >= ended)
        taken = np.take_along_axis(self.values, np.maximum(last, 0), axis=1)
        return np.where(usable, taken, np.nan)

    def _held_back(self, known: BoolArray) -> FloatArray:
        count = self.grid.count
        following = _next_known(known)
        ahead = following - np.arange(count)
        reach = np.maximum(self.interval_ms, 60_000) / self.grid.step_ms
        usable = (following < count) & (ahead < reach[:, None])
        taken = np.take_along_axis(self.values, np.minimum(following, count - 1), axis=1)
        return np.where(usable, taken, np.nan)

    @cached_property
    def rates(self) -> FloatArray:
        """[series, instant]: increase per second over the step that ends there; a fall is a new beginning at zero."""
        if self.whole is not None:
            return self.whole[0].rates[self.whole[1]]
        count = self.grid.count
        known = np.isfinite(self.values)
        before = np.full(known.shape, -1)
        before[:, 1:] = _last_known(known)[:, :-1]
        earlier = np.take_along_axis(self.values, np.maximum(before, 0), axis=1)
        apart = np.arange(count) - before
        grown = np.where(self.values < earlier, self.values, self.values - earlier)
        longest = np.maximum(self.interval_ms * 5, LONGEST_BRIDGE_MS) / self.grid.step_ms
        measured = known & (before >= 0) & (apart <= longest[:, None])
        rate = np.where(measured, grown / (apart * (self.grid.step_ms / 1_000)), np.nan)
        # What grew between two samples grew evenly, for all that is known.
        following = _next_known(known)
        spread = np.take_along_axis(rate, np.minimum(following, count - 1), axis=1)
        return np.where(following < count, spread, np.nan)

    def where(self, **labels: str) -> "Table":
        return self.take(self._places(tuple(labels)).get(tuple(labels.values()), []))

    def take(self, rows: Sequence[int]) -> "Table":
        places = list(rows)
        whole = (self, np.array(places, dtype=np.int64))
        if self.whole is not None:
            whole = (self.whole[0], self.whole[1][places])
        return Table(
            grid=self.grid,
            labels=[self.labels[row] for row in places],
            values=self.values[places],
            stale=self.stale[places],
            interval_ms=self.interval_ms[places],
            back=self.back,
            whole=whole,
        )

    def _places(self, names: tuple[str, ...]) -> Mapping[tuple[str, ...], list[int]]:
        """Rows by the values of these labels; a label that is missing is the empty text."""
        found = self._indexes.get(names)
        if found is None:
            found = self._indexes[names] = {}
            for row, labels in enumerate(self.labels):
                found.setdefault(tuple(labels.get(name, "") for name in names), []).append(row)
        return found

    @cached_property
    def _indexes(self) -> dict[tuple[str, ...], dict[tuple[str, ...], list[int]]]:
        return {}

    def by(self, *names: str) -> Iterator[tuple[Mapping[str, str], "Table"]]:
        """Groups that share these labels, in the order of their labels; a label that is missing is left out."""
        groups = self._places(names)
        for values in sorted(groups):
            yield ({name: value for name, value in zip(names, values, strict=True) if value}, self.take(groups[values]))

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
class Unmet:
    """How much of a resource was wanted in vain, [instant]; None where only a log tells, by what `search` finds."""

    demand: Demand
    values: FloatArray | None
    search: Callable[[str], object] | None = None


@dataclass(slots=True, kw_only=True)
class Use(Sighting):
    """What one target uses of a resource, on the grid of the window.

    Attributes:
        used, limit: [instant]; NaN where unknown.
        limits: [instant] by name, inf where there is none. The lowest counts.
        also: what other sources see of it.
        proven: [instant] where a demand says that it is full, whatever its use; None where none ever does.
        wanted: where it may have been full.
        held: [instant] by the values of each label of its holders, where it may have been full.
    """

    used: FloatArray
    limit: FloatArray
    limits: Mapping[str, FloatArray] = field(default_factory=dict[str, FloatArray])
    also: "list[Use]" = field(default_factory=list["Use"])
    proven: BoolArray | None = None
    wanted: Sequence[Unmet] = ()
    held: Mapping[str, Mapping[str, FloatArray]] = field(default_factory=dict[str, Mapping[str, FloatArray]])

    def limit_name(self, span: slice) -> str:
        """The limit that is lowest in most of some instants; empty where there is one only."""
        return max(self.limits, key=lambda name: int((self.limits[name] <= self.limit)[span].sum()), default="")


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
    """Counts that should be equal, over a whole run; None where nobody counted.

    Attributes:
        rows: of the table.
        is_open: what is missing may still be written.
    """

    sent: float | None = None
    answered: float | None = None
    accepted: float | None = None
    stored: float | None = None
    rows: float | None = None
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a load tool counted over a whole run, which it may know of no single second.

    Attributes:
        requests: None where nobody told.
        outcomes: requests by how they ended.
        fastest, median, p95, slowest: seconds, of the endpoint that was asked most; None where nothing tells, the
            fastest also where a request failed.
        broken: thresholds that were not met, each as a sentence.
    """

    requests: int | None = None
    outcomes: Mapping[str, float] = field(default_factory=dict[str, float])
    fastest: float | None = None
    median: float | None = None
    p95: float | None = None
    slowest: float | None = None
    broken: Sequence[Words] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A run as it began, and how it went.

    Attributes:
        facts: numbers of the snapshot before its load, by target (`job instance`) and key, as `buffer_pool_filled`.
        rate: requests per second; p95: seconds; both over the whole run, None where unknown.
        target: requests per second that were asked for; None where nobody said.
    """

    facts: Mapping[tuple[str, str], float]
    rate: float | None = None
    p95: float | None = None
    target: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The run that a run is held against, `name`, and both as they began: it, and the run itself (`own`).

    Attributes:
        run: its id.
        span_ms: when it was; None where that is not known.
        cost: its routes and statements; None where nobody counted them.
    """

    name: str
    other: Start
    own: Start
    run: str = ""
    span_ms: tuple[int, int] | None = None
    cost: Cost | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A run as one of several with other parameters.

    Attributes:
        parameters: what was set, by its name.
        good: good answers per second of the whole run; None where unknown.
        target: requests per second that were asked for; None where nobody said.
    """

    name: str
    parameters: Mapping[str, str]
    good: float | None
    target: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A run, `own`, and those of the same scenario and commit before it, newest first."""

    own: Trial
    others: Sequence[Trial]


@dataclass(frozen=True, kw_only=True)
class Window:
    """All that detectors see.

    Attributes:
        grid: covers the focus, and some time before and after.
        from_ms, to_ms: the focus: the run, or the sliding window of the live page.
        tables: by the metric's name.
        uses: of the resources of packs.
        packs: all of them; `names`, metrics that there are.
        load: None where nobody generated load.
        of_run: the focus is a run's, else that of the live page.
        totals: of the whole run; None where no tool told them.
        earlier: of the live page: reads back to where an episode of these findings of a detector may have begun.
        is_open: what begins with the window may have begun before.
        steady_ms: start and end of the window that a run's figures are of; None without one.
        baseline: the pinned run of the scenario, else the one before; None without one.
        sweep: runs with other parameters; None without any.
        cost: routes and statements of the focus; None where nobody counted them.
        lock_waits: what functions waited for, by the profiles of the run.
        episode: what is told of: limits and figures are those that were in force in it; None before one is found.
    """

    grid: Grid
    from_ms: int
    to_ms: int
    tables: Mapping[str, Table] = field(default_factory=dict[str, Table])
    uses: Sequence[Use] = ()
    packs: Sequence[Pack] = ()
    names: frozenset[str] = frozenset()
    load: Load | None = None
    generator: Generator | None = None
    counts: Counts | None = None
    of_run: bool = False
    totals: Totals | None = None
    earlier: "Callable[[Detector, Sequence[Finding]], Window | None] | None" = None
    is_open: bool = False
    steady_ms: tuple[int, int] | None = None
    baseline: Baseline | None = None
    sweep: Sweep | None = None
    cost: Cost | None = None
    lock_waits: Sequence[LockWaits] = ()
    episode: "Episode | None" = None

    def __getitem__(self, metric: str) -> Table:
        return self.tables.get(metric) or empty_table(self.grid)

    def has(self, *metrics: str) -> bool:
        """Whether all of these metrics have samples within the focus; of the present, also shortly before."""
        seen = self.focus if self.of_run else slice(self.focus.stop)
        return all(bool(np.isfinite(self[metric].values[:, seen]).any()) for metric in metrics)

    @property
    def focus(self) -> slice:
        """The instants that are looked at: those of `episode`, else of the whole focus."""
        return self.whole if self.episode is None else self.episode.span

    @cached_property
    def whole(self) -> slice:
        """The instants of the focus: those after its start, up to its end."""
        first = self.grid.index(self.from_ms + 1)
        return slice(first, max(min(self.grid.index(self.to_ms) + 1, self.grid.count), first + 1))

    @cached_property
    def steady(self) -> slice | None:
        if self.steady_ms is None:
            return None
        first, end = self.grid.index(self.steady_ms[0] + 1), self.grid.index(self.steady_ms[1]) + 1
        return slice(first, end) if end - first >= 1 else None

    @property
    def step_seconds(self) -> float:
        return self.grid.step_ms / 1_000

    def inside(self, values: FloatArray) -> FloatArray:
        return values[..., self.focus]

    def known(self, values: FloatArray) -> FloatArray:
        inside = self.inside(values)
        return inside[np.isfinite(inside)]

    def total(self, rates: FloatArray, span: slice | None = None) -> float:
        """What a rate per second sums up to over the focus, or over some instants; 0 where nothing is known."""
        return float(np.nansum(rates[..., span or self.focus]) * self.step_seconds)

    def during(self, episode: "Episode") -> "Window":
        return replace(self, episode=episode)

    def one_of(self, found: "Sequence[Episode]", *settings: FloatArray) -> "Episode":
        """The episode to tell of: of a run the longest, of the present the newest.

        Those of a run are one, those of the present where they are less than `APART_MS` apart; each change of a
        setting [instant], such as a limit or the time at which a process started, ends one.
        """
        part = sum((_changed(setting) for setting in settings), np.zeros(self.grid.count, np.int64)).cumsum()
        apart = self.grid.count if self.of_run else APART_MS // self.grid.step_ms
        joined: list[Episode] = []
        for one in found:
            bounds = [one.first, *(one.first + 1 + np.flatnonzero(np.diff(part[one.span]))).tolist(), one.end]
            pieces = list(itertools.pairwise(bounds))
            # What is measured over seconds stays for some of them after the change.
            least = min(CHANGED_SECONDS / self.step_seconds, max(end - first for first, end in pieces))
            for first, end in pieces:
                if end - first < least:
                    continue
                last = joined[-1] if joined else None
                if last is not None and part[last.first] == part[first] and first - last.end <= apart:
                    joined[-1] = Episode(last.first, end)
                else:
                    joined.append(Episode(first, end))
        return max(joined, key=len) if self.of_run else joined[-1]


@dataclass(frozen=True, slots=True)
class Episode:
    """Instants `first` up to, not including, `end`, in which something held."""

    first: int
    end: int

    @property
    def span(self) -> slice:
        return slice(self.first, self.end)

    def __len__(self) -> int:
        return self.end - self.first

    def joined(self, other: Self) -> "Episode":
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


def in_force(setting: FloatArray) -> FloatArray:
    """[instant]: a setting that is read now and then, filled forward, and backward before its first value."""
    known = np.isfinite(setting)[None]
    if not known.any():
        return setting
    last, following = _last_known(known)[0], _next_known(known)[0]
    return setting[np.where(last >= 0, last, following)]


def _changed(setting: FloatArray) -> IntArray:
    """[instant]: 1 where a setting differs from what it was before."""
    values = in_force(setting)
    return (np.abs(np.diff(values, prepend=values[:1])) >= LEAST_CHANGE).astype(np.int64)


def _last_known(known: BoolArray) -> IntArray:
    """[series, instant]: the newest instant at or before each that is known; -1 without one."""
    return np.maximum.accumulate(_places_of(known, -1), axis=1)


def _next_known(known: BoolArray) -> IntArray:
    """[series, instant]: the first instant at or after each that is known; the count of instants without one."""
    places = _places_of(known, known.shape[1])
    return np.minimum.accumulate(places[:, ::-1], axis=1)[:, ::-1]


def _places_of(known: BoolArray, missing: int) -> IntArray:
    """[series, instant]: the instant itself where it is known, else `missing`."""
    instants: IntArray = np.arange(known.shape[1], dtype=np.int64)
    return _chosen(known, instants, missing)


def _chosen(chosen: BoolArray, values: IntArray, otherwise: int) -> IntArray:
    result = np.full(chosen.shape, otherwise, dtype=np.int64)
    np.copyto(result, values, where=chosen)
    return result


def usual_interval_ms(values: FloatArray, grid: Grid) -> IntArray:
    """[series]: the median distance of samples [series, instant], ms; 0 where fewer than two tell."""
    known = np.isfinite(values)
    before = np.full(known.shape, -1)
    before[:, 1:] = _last_known(known)[:, :-1]
    measured = known & (before >= 0)
    distances: IntArray = np.arange(known.shape[1], dtype=np.int64) - before
    apart = np.sort(_chosen(measured, distances, known.shape[1]), axis=1)
    count: IntArray = measured.sum(axis=1)
    middle: IntArray = apart[np.arange(len(values)), np.maximum(count - 1, 0) // 2]
    return np.where(count > 0, middle * grid.step_ms, 0)


def _over(reduce: Callable[..., FloatArray], values: FloatArray) -> FloatArray:
    """Reduce [series, instant] over series; NaN where none has a value."""
    if not len(values):
        return np.full(values.shape[1:], np.nan)
    known = np.isfinite(values).any(axis=0)
    return np.where(known, reduce(np.where(known, values, 0.0), axis=0), np.nan)
