"""Exact quantiles by nearest rank, over values that need not fit into memory.

The q-quantile of n values is the ceil(q * n)-th smallest (docs/decisions/0030-nearest-rank.md). `select` finds such
values in passes: values are counted in buckets of ever finer width, and only those in the buckets that hold a wanted
rank are gathered and sorted.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from loadwatch_backend.evidence.records.model import QUANTILES, IntArray

GATHERED = 4_000_000
"""Values that are sorted in memory at once."""
_MANTISSA = 52

Passes = Callable[[], Iterable[tuple[IntArray, npt.NDArray[np.int32] | None]]]
"""Starts one pass over all values: non-negative values, and the group of each (None: all of group 0, -1: skipped)."""


def rank(count: int, q: float) -> int:
    """1-based: ceil(q * count), at least 1; in exact decimals, as 0.95 * 20 is 19 and not 19.000000000000004."""
    return max(1, math.ceil(Fraction(str(q)) * count))


def quantile(ordered: IntArray, q: float) -> int:
    """Of values in ascending order; there must be at least one."""
    return int(ordered[rank(len(ordered), q) - 1])


def ranks(count: int) -> list[int]:
    return [rank(count, q) for _, q in QUANTILES]


USUAL: tuple[float, ...] = tuple(q for _, q in QUANTILES)


def rank_table(counts: IntArray, quantiles: Sequence[float] = USUAL) -> npt.NDArray[np.int64]:
    """`ranks` of many counts at once, [count, quantile]; zero for a count of zero. Six decimals of quantiles count."""
    millionths = np.array([round(q * 1_000_000) for q in quantiles], dtype=np.int64)
    return -((-counts[:, None] * millionths) // 1_000_000)


def select(
    passes: Passes, counts: IntArray, *, quantiles: Sequence[float] = USUAL, gathered: int = GATHERED
) -> npt.NDArray[np.int64]:
    """Quantiles of each group, [group, quantile]; -1 for a group without values.

    Args:
        passes: see `Passes`; called two times, or more if single buckets hold too much.
        counts: values of each group.
        quantiles: of 0 to 1, 0 excluded.
        gathered: how many values may be held at once.
    """
    groups = len(counts)
    wanted = rank_table(counts, quantiles)
    found = np.full(wanted.shape, -1, dtype=np.int64)
    if not counts.any():
        return found
    bits = 10 if groups == 1 else 5
    histogram = np.zeros((groups, int(_bucket(np.array([2**62], dtype=np.int64), bits)[0]) + 1), dtype=np.int64)
    for values, group in passes():
        _count(histogram, _bucket(values, bits), group)
    # Only buckets that hold a wanted rank matter; each gets a slot.
    upto = np.cumsum(histogram, axis=1)
    slots = np.full(histogram.shape, -1, dtype=np.int32)
    places: list[tuple[int, int, int, int]] = []  # group, quantile, slot, rank inside the slot's bucket
    total = 0
    sizes: list[int] = []
    for at in range(groups):
        if counts[at] == 0:
            continue
        for index in range(wanted.shape[1]):
            bucket = int(np.searchsorted(upto[at], int(wanted[at, index])))
            if slots[at, bucket] < 0:
                slots[at, bucket] = len(sizes)
                sizes.append(int(histogram[at, bucket]))
                total += sizes[-1]
            below = int(upto[at, bucket] - histogram[at, bucket])
            places.append((at, index, int(slots[at, bucket]), int(wanted[at, index]) - below))
    by_slot = _gather(passes, bits, slots, sizes) if total <= gathered else _refine(passes, bits, slots, sizes)
    for at, index, slot, place in places:
        found[at, index] = by_slot(slot, place)
    return found


def _bucket(values: IntArray, bits: int) -> npt.NDArray[np.int64]:
    """Logarithmic buckets of 2**bits to the octave: the top bits of the float; monotonic for values >= 0."""
    return (values.astype(np.float64).view(np.int64) >> (_MANTISSA - bits)) - (1022 << bits) * (values > 0)


def _count(histogram: npt.NDArray[np.int64], bucket: IntArray, group: npt.NDArray[np.int32] | None) -> None:
    groups, width = histogram.shape
    if group is None:
        histogram[0] += np.bincount(bucket, minlength=width)
        return
    if (group < 0).any():
        kept = group >= 0
        bucket, group = bucket[kept], group[kept]
    flat = np.bincount(group.astype(np.int64) * width + bucket, minlength=groups * width)
    histogram += flat.reshape(groups, width)


def _slots(
    values: IntArray, group: npt.NDArray[np.int32] | None, bits: int, slots: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    bucket = _bucket(values, bits)
    if group is None:
        return slots[0][bucket]
    found = slots[np.maximum(group, 0), bucket]
    found[group < 0] = -1
    return found


def _gather(passes: Passes, bits: int, slots: npt.NDArray[np.int32], sizes: Sequence[int]) -> Callable[[int, int], int]:
    values_kept: list[IntArray] = []
    slots_kept: list[npt.NDArray[np.int32]] = []
    for values, group in passes():
        slot = _slots(values, group, bits, slots)
        keep = slot >= 0
        values_kept.append(values[keep])
        slots_kept.append(slot[keep])
    values, slot = np.concatenate(values_kept), np.concatenate(slots_kept)
    values = values[np.lexsort((values, slot))] if len(sizes) > 1 else np.sort(values)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return lambda at, place: int(values[starts[at] + place - 1])


def _refine(passes: Passes, bits: int, slots: npt.NDArray[np.int32], sizes: Sequence[int]) -> Callable[[int, int], int]:
    """For buckets with too much in them (a cache that answers millions of times alike): counts distinct values."""
    nothing: IntArray = np.zeros(0, dtype=np.int64)
    distinct: list[IntArray] = [nothing for _ in sizes]
    counted: list[IntArray] = [nothing for _ in sizes]
    for values, group in passes():
        slot = _slots(values, group, bits, slots)
        present: list[int] = np.unique(slot[slot >= 0]).tolist()
        for at in present:
            more, places = _distinct(values[slot == at])
            counts: IntArray = np.bincount(places)
            distinct[at], places = _distinct(np.append(distinct[at], more))
            counted[at] = np.bincount(places, weights=np.append(counted[at], counts)).astype(np.int64)
    cumulative: list[IntArray] = [np.cumsum(counts) for counts in counted]
    return lambda at, place: int(distinct[at][int(np.searchsorted(cumulative[at], place))])


def _distinct(values: IntArray) -> tuple[IntArray, IntArray]:
    return np.unique(values, return_inverse=True)
