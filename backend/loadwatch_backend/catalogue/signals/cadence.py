"""Values that come minutes late: how they are looked up, and what must never be made of their absence. Pure."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

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
