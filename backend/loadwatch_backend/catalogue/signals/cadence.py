"""Values that come minutes late: how they are looked up, and what must never be made of their absence. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

STEPS_MS = (
    *(100, 200, 500),
    *(seconds * 1_000 for seconds in (1, 2, 5, 10, 15, 20, 30)),
    *(minutes * 60_000 for minutes in (1, 2, 5, 10, 15, 20, 30)),
    *(hours * 3_600_000 for hours in (1, 2, 3, 4, 6, 8, 12)),
    *(days * 86_400_000 for days in (1, 2, 5, 10, 15, 30, 60, 90, 180, 365)),
)
"""Steps that people can read off an axis; all charts of a page get the same one."""

MAX_EVALUATED = 7_200
"""Instants evaluated for one signal: two hours at 1 s."""

JITTER = 0.9
"""A sender that means to push each second is now and then a little late; its data still counts as one a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to evaluate and how to reduce it.

    Drawn: `count` points at `start_ms + i * step_ms`; `start_ms` is a multiple of `2 * step_ms`. Evaluated: instants
    `fine_ms` apart. When `reduced`, each pair of points stands for a bucket of `2 * step_ms`.
    """

    start_ms: int
    step_ms: int
    count: int
    fine_ms: int
    reduced: bool

    @property
    def per_bucket(self) -> int:
        """Evaluated instants in one bucket; 2 where nothing is reduced."""
        return 2 * self.step_ms // self.fine_ms

    @property
    def fine_count(self) -> int:
        return self.count // 2 * self.per_bucket


def count_points(start_ms: int, end_ms: int, step_ms: int) -> int:
    """Points of the grid that covers [start, end] in whole buckets of two steps."""
    bucket = 2 * step_ms
    return 2 * (end_ms // bucket - start_ms // bucket + 1)


def plan_grid(start_ms: int, end_ms: int, max_points: int, interval_ms: int, step_ms: int | None = None) -> Plan:
    """A grid over [start, end] of at most `max_points` points, for data that comes each `interval_ms`.

    Two buckets may be needed to cover any span, so fewer than four points are not promised. `step_ms` asks for the step
    of an earlier answer. Evaluating more often than the data comes would only repeat values. Whether a grid is reduced
    depends on step and interval alone, so that increments join.
    """
    finest = next((step for step in STEPS_MS if step >= JITTER * interval_ms), STEPS_MS[-1])
    fitting = (s for s in STEPS_MS if s >= finest and count_points(start_ms, end_ms, s) <= max(max_points, 4))
    step = step_ms or next(fitting, STEPS_MS[-1])
    count = count_points(start_ms, end_ms, step)
    reduced = step > finest
    fine = step
    if reduced:
        finer = (s for s in STEPS_MS if finest <= s < step and 2 * step % s == 0 and count * step // s <= MAX_EVALUATED)
        fine = next(finer, step)
    return Plan(start_ms=start_ms // (2 * step) * 2 * step, step_ms=step, count=count, fine_ms=fine, reduced=reduced)


FloatArray = npt.NDArray[np.float64]
Labels = Mapping[str, str]

FACTS_LOOKBACK_MS = 900_000
"""How long a discovered number or label holds without being sent again."""
NEWEST_WITHIN_MS = 3_600_000
"""How far back the newest value is looked for when the span asked for has none."""
GIVEN_UP_MS = 1_200_000
"""A value older than this says nothing about the present headroom."""


def newest_step(values: FloatArray) -> int | None:
    """Index of the last step at which any series has a value; `values` is [series, steps]."""
    steps = np.flatnonzero(~np.isnan(values).all(axis=0)) if values.size else np.empty(0, np.int64)
    return int(steps[-1]) if len(steps) else None


def held(values: FloatArray) -> FloatArray:
    """Each gap filled with the value before it, along the last axis; gaps at the beginning stay."""
    steps = np.arange(values.shape[-1], dtype=np.int64)
    last = np.maximum.accumulate(np.where(np.isnan(values), -1, steps), axis=-1)
    taken = np.take_along_axis(values, np.maximum(last, 0), axis=-1)
    return np.where(last < 0, np.nan, taken)


def bridged(values: FloatArray, wider: FloatArray) -> FloatArray:
    """Holes of a single step filled from `wider`, the same values looked up a little further back; last axis is time.

    A sender that writes each minute by its own clock is now and then a second late; its value lies one step on.
    """
    filled = values.copy()
    inner = filled[..., 1:-1]
    hole = np.isnan(values[..., 1:-1]) & ~np.isnan(values[..., :-2]) & ~np.isnan(values[..., 2:])
    inner[hole] = wider[..., 1:-1][hole]
    return filled


def tell_apart(names: Sequence[str], labels: Sequence[Labels]) -> list[str]:
    """Names of series, with the region and then the account where those are what differs between two of one name."""
    told = list(names)
    for label in ("region", "account_id"):
        values: dict[str, set[str]] = {}
        for name, one in zip(told, labels, strict=True):
            values.setdefault(name, set()).add(one.get(label, ""))
        told = [
            f"{name} {one.get(label, '')}".rstrip() if len(values[name]) > 1 else name
            for name, one in zip(told, labels, strict=True)
        ]
    return told
