"""Seconds of a run to steps: times in which the rate stood still, and what was in use meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from loadwatch_backend.runs.compare.forecasts.model import FloatArray, LeftOut, Reason, Step

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
LEAST_BLOCK_SECONDS = 5
"""Rates of counters cover as long at least, and use is sampled each second."""
MOST_BLOCKS = 120
MOST_FAILED = 0.02
"""Share of the requests of a second."""
CHANGED = 0.25
"""Of the rate, from a block to the next: what is in use may not have followed yet."""
SAME = 0.05
"""Of the rate: within it, blocks are of one step."""
CHANCE = 3.0
"""Standard deviations of a count that come by chance."""
MOST_STEPS = 40
"""Lines are fitted through all pairs of steps, a thousand times."""
WHOLE = 0.8
"""Of a block's seconds that must count."""
FULL = 0.98
"""Of the limit."""
FULL_SECONDS = 10
FIRST_FULL_SECONDS = 30
"""Later the rate may be that of what broke next."""

_REASONS = (Reason.WARM_UP, Reason.RAMP_DOWN, Reason.FAILURES, Reason.OTHERS, Reason.NO_DATA)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLoad:
    """What a run answered, by the second.

    Attributes:
        run: its id.
        start_ms: of the first second.
        good: good answers that ended in each second, [second].
        failed: requests that failed, likewise.
        from_second, to_second: what is neither warm-up nor the end; all of it for a run with rising load.
    """

    run: str
    start_ms: int
    good: FloatArray
    failed: FloatArray
    from_second: int
    to_second: int


class Cut(NamedTuple):
    steps: Sequence[Step] = ()
    left_out: Sequence[LeftOut] = ()


def answered_by_second(good: FloatArray, seconds: FloatArray | None) -> FloatArray:
    """Good answers by the second in which they ended, from those by the second in which they began.

    A system that is full answers more slowly than it is asked: what began is then no throughput. Those of a second end
    `seconds` (its median latency, NaN where there was none) later, and never before those of the second before.
    """
    if seconds is None or not len(good):
        return good
    ends = np.maximum.accumulate(np.arange(1.0, len(good) + 1) + np.nan_to_num(seconds))
    total = np.concatenate([np.zeros(1), np.cumsum(good)])
    ended = np.interp(np.arange(len(good) + 1.0), np.concatenate([np.zeros(1), ends]), total)
    return np.diff(ended)


def full_rate(load: RunLoad, uses: FloatArray, limit: float) -> float | None:
    """Good answers per second from when the resource was first full on; None where it never was.

    It was full where most seconds of a stretch of `FULL_SECONDS` were: samples of an instant miss some.
    """
    count = min(len(load.good), len(uses))
    if count < FULL_SECONDS:
        return None
    full = uses[:count] >= FULL * limit
    stretches = np.convolve(full, np.ones(FULL_SECONDS), "valid") >= WHOLE * FULL_SECONDS
    if not stretches.any():
        return None
    first = int(np.argmax(stretches))
    rows = slice(first, first + FIRST_FULL_SECONDS)
    return float(load.good[:count][rows][full[rows]].mean())


def merge_steps(steps: Sequence[Step]) -> Sequence[Step]:
    """At most `MOST_STEPS`: neighbours by their rate become one, with the blocks of all."""
    if len(steps) <= MOST_STEPS:
        return steps
    ordered = sorted(steps, key=lambda step: step.rate)
    cuts = np.linspace(0, len(ordered), MOST_STEPS + 1).astype(int).tolist()
    return [_merged(ordered[first:last]) for first, last in pairwise(cuts)]


def cut_steps(
    load: RunLoad, uses: FloatArray, period_seconds: float, covers_seconds: int = 1, disturbed: BoolArray | None = None
) -> Cut:
    """The steps of a run for one resource.

    Args:
        load: of the run.
        uses: in use at the end of each second, NaN where unknown, [second].
        period_seconds: how often it is measured.
        covers_seconds: how long before its time a value reaches, 1 for one of an instant or a second.
        disturbed: seconds in which others used it, [second].
    """
    count = min(len(load.good), len(uses))
    if not count:
        return Cut()
    good, failed, uses = load.good[:count], load.failed[:count], uses[:count]
    length = max(LEAST_BLOCK_SECONDS, int(np.ceil(period_seconds)), -(-count // MOST_BLOCKS))
    others = np.zeros(count, dtype=np.bool_) if disturbed is None else disturbed[:count]
    why = _reasons(load, good, failed, uses, others)
    rates = _trailing_mean(good, covers_seconds)
    cutter = _Cutter(load=load, length=length)
    # Blocks begin where what counts begins: a warm-up of seven seconds costs seven seconds.
    begin = min(max(load.from_second, 0), count)
    if begin:
        cutter.lost[Reason.WARM_UP] = float(begin)
    for first in range(begin, count - length + 1, length):
        rows = slice(first, first + length)
        counted = why[rows] < 0
        reason = _reason_of(why[rows])
        if cutter.has_changed(float(good[rows].mean())) and reason is None:
            reason = Reason.TRANSIENT
        if reason is None:
            cutter.add(first, float(rates[rows][counted].mean()), float(uses[rows][counted].mean()))
        else:
            cutter.lose(first, reason)
    return cutter.end(count)


@dataclass(slots=True)
class _Cutter:
    load: RunLoad
    length: int
    steps: list[Step] = field(default_factory=list[Step])
    lost: dict[Reason, float] = field(default_factory=dict[Reason, float])
    first: int = 0
    rates: list[float] = field(default_factory=list[float])
    uses: list[float] = field(default_factory=list[float])
    before: float | None = None

    def has_changed(self, rate: float) -> bool:
        """Whether the rate differs from that of the call before; remembers it for the next call."""
        before, self.before = self.before, rate
        if before is None:
            return False
        most = max(before, rate)
        return abs(rate - before) > CHANGED * most + _chance(most, self.length)

    def add(self, first: int, rate: float, use: float) -> None:
        """A block that counts; it begins a step where the rate is not that of the one that grows."""
        if self.rates:
            mean = float(np.mean(self.rates))
            if abs(rate - mean) > SAME * mean + _chance(mean, self.length):
                self._close(first)
        if not self.rates:
            self.first = first
        self.rates.append(rate)
        self.uses.append(use)

    def lose(self, first: int, reason: Reason) -> None:
        self._close(first)
        self.lost[reason] = self.lost.get(reason, 0.0) + self.length

    def end(self, count: int) -> Cut:
        self._close(count)
        lost = [LeftOut(run=self.load.run, reason=reason, seconds=seconds) for reason, seconds in self.lost.items()]
        return Cut(steps=self.steps, left_out=lost)

    def _close(self, end: int) -> None:
        if not self.rates:
            return
        self.steps.append(
            Step(
                run=self.load.run,
                from_ms=self.load.start_ms + 1_000 * self.first,
                to_ms=self.load.start_ms + 1_000 * end,
                block_seconds=float(self.length),
                rates=np.array(self.rates),
                uses=np.array(self.uses),
            )
        )
        self.rates, self.uses = [], []


def _merged(steps: Sequence[Step]) -> Step:
    blocks = sum(len(step.rates) for step in steps)
    return Step(
        run=steps[0].run,
        from_ms=min(step.from_ms for step in steps),
        to_ms=max(step.to_ms for step in steps),
        block_seconds=sum(step.seconds for step in steps) / blocks,
        rates=np.concatenate([step.rates for step in steps]),
        uses=np.concatenate([step.uses for step in steps]),
    )


def _reasons(
    load: RunLoad, good: FloatArray, failed: FloatArray, uses: FloatArray, others: BoolArray
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For each second the place of its reason in `_REASONS`, -1 for one that counts."""
    seconds = np.arange(len(good))
    cases = [
        seconds < load.from_second,
        seconds >= load.to_second,
        failed > MOST_FAILED * (good + failed),
        others,
        np.isnan(uses),
    ]
    return np.select(cases, list(range(len(cases))), -1)


def _reason_of(why: IntArray) -> Reason | None:
    lost = why[why >= 0]
    if len(why) - len(lost) >= WHOLE * len(why):
        return None
    return _REASONS[int(np.bincount(lost).argmax())]


def _trailing_mean(values: FloatArray, covers: int) -> FloatArray:
    """The mean of each second and those before it, none of them before the run: what a rate over so long sees."""
    if covers <= 1:
        return values
    sums = np.cumsum(np.concatenate([np.zeros(1), values]))
    ends = np.arange(1, len(sums))
    return (sums[ends] - sums[np.maximum(ends - covers, 0)]) / covers


def _chance(rate: float, length: int) -> float:
    """How far a mean over so many seconds strays: requests that come independently vary as their number does."""
    return CHANCE * float(np.sqrt(max(rate, 0.0) / length))
