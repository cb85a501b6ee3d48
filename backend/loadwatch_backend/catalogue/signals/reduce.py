"""Fewer points that still show every spike: the smallest and the largest value of each bucket, in their order.

What a viewer sees of a dense line is the envelope of each pixel column; means would flatten the spikes that the page
exists to show. (Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014, without the
first and last value, which a line between buckets does not need.)
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def reduce_means(values: FloatArray, per_bucket: int, wholes: Sequence[int]) -> FloatArray:
    """The mean of each bucket, twice, in the shape of `reduce_extrema`.

    For parts of a whole: extrema of parts lie at different times, and put on top of each other are no one's sum. Series
    with the same number in `wholes` are parts of one: where any of them has a value the others had nothing, and a mean
    over fewer steps than the whole's would make the parts more than it.
    """
    series, steps = values.shape
    cells = values.reshape(series, steps // per_bucket, per_bucket)
    own = ~np.isnan(cells)
    number = np.asarray(wholes, dtype=np.intp)
    whole = np.zeros((number.max(initial=-1) + 1, *cells.shape[1:]), dtype=bool)
    np.logical_or.at(whole, number, own)
    steps_of_whole = whole.sum(axis=2)[number]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(own.any(axis=2), np.nansum(cells, axis=2) / steps_of_whole, np.nan)
    return np.repeat(means, 2, axis=1)


def reduce_extrema(values: FloatArray, per_bucket: int) -> FloatArray:
    """Two values for each bucket: its minimum and maximum, the earlier one first.

    Args:
        values: [series, buckets * per_bucket]; NaN where there is no value.
        per_bucket: values in one bucket.

    Returns:
        [series, 2 * buckets]; NaN twice where a bucket has no value.
    """
    series, steps = values.shape
    buckets = steps // per_bucket
    cells = values.reshape(series, buckets, per_bucket)
    gaps = np.isnan(cells)
    lowest = np.where(gaps, np.inf, cells).argmin(axis=2)[..., None]
    highest = np.where(gaps, -np.inf, cells).argmax(axis=2)[..., None]
    first = np.take_along_axis(cells, np.minimum(lowest, highest), axis=2)
    second = np.take_along_axis(cells, np.maximum(lowest, highest), axis=2)
    # Where all values are the same infinity, one of the two fell on a gap that stands for it.
    first, second = np.where(np.isnan(first), second, first), np.where(np.isnan(second), first, second)
    return np.concatenate([first, second], axis=2).reshape(series, 2 * buckets)
