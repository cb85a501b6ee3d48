"""Reductions of many overlapping windows through aligned blocks, in O(log length) array operations per window.

Level k holds the reductions of rows [i * 2^k, (i + 1) * 2^k). A window is the union of at most two blocks a level.
Unlike differences of prefix sums this keeps infinities and the rounding of large values inside their own windows.
"""

from collections.abc import Callable, Iterator

import numpy as np

from loadwatch_backend.series.promql.value import BoolArray, FloatArray, IntArray

Reducer = Callable[[FloatArray, FloatArray], FloatArray]


def two_sum(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The rounded sum and what rounding lost (Knuth); the loss is zero where the sum is not finite."""
    total = left + right
    shadow = total - left
    lost = (left - (total - shadow)) + (right - shadow)
    return total, np.where(np.isfinite(total), lost, 0.0)


def may_overflow(values: FloatArray, count: int) -> bool:
    """Whether the sum of `count` of the finite values may leave the range of a float64."""
    largest = np.max(np.abs(values), where=np.isfinite(values), initial=0.0)
    return bool(largest * max(count, 1) > 1e307)


def _cover(first: IntArray, end: IntArray) -> Iterator[tuple[IntArray, BoolArray] | None]:
    """For each level, bottom up: blocks to take and where to take them, as often as needed; None closes a level."""
    low, high = first, np.maximum(end, first)
    while True:
        open_windows = low < high
        if not open_windows.any():
            return
        take = ((low & 1) == 1) & open_windows
        if take.any():
            yield low, take
        low = low + take
        take = ((high & 1) == 1) & (low < high)
        high = high - take
        if take.any():
            yield high, take
        low, high = low >> 1, high >> 1
        yield None


def _halved(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    even = len(values) & ~1
    return values[0:even:2], values[1:even:2]


def reduce_windows(values: FloatArray, first: IntArray, end: IntArray, reducer: Reducer, start: float) -> FloatArray:
    """`reducer` (associative, with neutral element `start`) over values[first:end], for arrays of any one shape."""
    if first.shape[1:] == (1,) and isinstance(reducer, np.ufunc) and len(values):
        return _reduce_each(values, first[:, 0], end[:, 0], reducer, start)
    result = np.full(first.shape, start)
    level = values
    for blocks in _cover(first, end):
        if blocks is None:
            level = reducer(*_halved(level))
        else:
            index, take = blocks
            chosen = level[np.where(take, index, 0)]
            result = np.where(take, reducer(result, chosen), result)
    return result


def _reduce_each(values: FloatArray, first: IntArray, end: IntArray, reducer: np.ufunc, start: float) -> FloatArray:
    """One window for each series, as rules have them: less than blocks cost."""
    result = np.full((len(first), 1), start)
    filled = np.flatnonzero(end > first)
    if len(filled):
        # Every second slice is what lies between two windows; one row beyond the last lets that end at the length.
        bounds = np.stack((first[filled], end[filled]), axis=1).ravel()
        result[filled, 0] = reducer.reduceat(np.append(values, start), bounds)[::2]
    return result


def sum_windows(values: FloatArray, first: IntArray, end: IntArray) -> FloatArray:
    """Sums over values[first:end] with compensation for rounding, as exact as Prometheus' Kahan sums."""
    total, lost = np.zeros(first.shape), np.zeros(first.shape)
    level, level_lost = values, np.zeros(len(values))
    for blocks in _cover(first, end):
        if blocks is None:
            block, block_lost = two_sum(*_halved(level))
            left, right = _halved(level_lost)
            level, level_lost = block, block_lost + left + right
        else:
            index, take = blocks
            index = np.where(take, index, 0)
            total, rounded = two_sum(total, np.where(take, level[index], 0.0))
            lost = lost + rounded + np.where(take, level_lost[index], 0.0)
    return np.where(np.isfinite(total), total + lost, total)
