"""Differences between two sets of numbers, with their uncertainty. Pure functions on arrays.

Per-second values of one run are no independent measurements: a second resembles the one before. Everything here counts
them by their effective number n / tau, where tau = 1 + 2 * sum of the autocorrelations (initial positive sequence:
Geyer, "Practical Markov Chain Monte Carlo", 1992). Repeats of a run are independent, so from two repeats a side on the
spread between runs is what decides.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.compare.distributions import normal_tail, student_quantile, student_tail

FloatArray = npt.NDArray[np.float64]

CONFIDENCE = 0.95
SIGNIFICANT = 0.05
LEAST_EFFECT = 0.01
"""Relative differences below this are of no use to anybody, however certain."""
LEAST_EFFECTIVE = 8.0
"""Effective seconds below which two runs cannot be told apart."""
RESAMPLES = 1_000
SEED = 20_261_121
"""Fixed, so that the same runs give the same interval whenever they are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A value with the interval that holds it with a confidence of 95 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """(other - base) / base with its interval; `p_value` is two-sided.

    From a base of zero there is no ratio: `delta` is infinite with the sign of the change, or 0 when both are zero.
    """

    delta: float
    low: float
    high: float
    p_value: float


def autocorrelation_time(values: FloatArray) -> float:
    """Autocorrelation time (tau) of a series, at least 1; 1 for white noise and for constants."""
    count = len(values)
    if count < 4:
        return 1.0
    centred = values - values.mean()
    variance = float(centred @ centred) / count
    if variance <= 1e-24 * max(float(values.mean()) ** 2, 1e-300):
        return 1.0
    size = 1 << (2 * count - 1).bit_length()
    spectrum = np.fft.rfft(centred, size)
    covariance = np.fft.irfft(spectrum * np.conj(spectrum), size)[:count] / count
    rho = covariance / variance
    pairs = rho[: count // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.nonzero(pairs <= 0)[0]
    kept = pairs[: ends[0]] if len(ends) else pairs
    return max(float(2 * kept.sum() - 1), 1.0)


def effective_count(values: FloatArray) -> float:
    """How many independent measurements the values are worth."""
    return len(values) / autocorrelation_time(values) if len(values) else 0.0


def mann_whitney(base: FloatArray, other: FloatArray) -> float:
    """Two-sided p-value of the Mann-Whitney test, its variance taken at the effective numbers of both sides.

    Ties are corrected for as in Lehmann, "Nonparametrics", 1975. 1 when all values are equal.
    """
    n, m = len(base), len(other)
    if n == 0 or m == 0:
        return 1.0
    values, places, ties = np.unique(np.concatenate([base, other]), return_inverse=True, return_counts=True)
    if len(values) == 1:
        return 1.0
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[places]  # equal values share the mean of their ranks
    area = (float(ranks[n:].sum()) - m * (m + 1) / 2) / (n * m)
    total = n + m
    tie_factor = 1 - float((ties.astype(np.float64) ** 3 - ties).sum()) / (total**3 - total)
    effective_n, effective_m = max(effective_count(base), 1.0), max(effective_count(other), 1.0)
    variance = tie_factor * (effective_n + effective_m + 1) / (12 * effective_n * effective_m)
    return 2 * normal_tail(abs(area - 0.5) / math.sqrt(variance))


def block_means(values: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Means of `RESAMPLES` circular block bootstrap samples (Politis and Romano, 1992); blocks span twice tau."""
    count = len(values)
    block = min(max(math.ceil(2 * autocorrelation_time(values)), math.ceil(count ** (1 / 3))), count)
    blocks = math.ceil(count / block)
    sums = np.concatenate([[0.0], np.cumsum(np.concatenate([values, values[:block]]))])
    totals = sums[block : block + count] - sums[:count]
    starts = generator.integers(0, count, size=(RESAMPLES, blocks))
    return totals[starts].sum(axis=1) / (blocks * block)


def mean_interval(values: FloatArray) -> Interval | None:
    """Mean of per-second values with its bootstrap interval; None without values."""
    if len(values) == 0:
        return None
    mean = float(values.mean())
    if len(values) < 4:
        return Interval(value=mean, low=float(values.min()), high=float(values.max()))
    means = block_means(values, np.random.default_rng(SEED))
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(value=mean, low=float(low), high=float(high))


def repeats_interval(values: FloatArray) -> Interval | None:
    """Mean over repeats with Student's interval; a single one is its own interval."""
    if len(values) == 0:
        return None
    mean = float(values.mean())
    if len(values) == 1:
        return Interval(value=mean, low=mean, high=mean)
    half = student_quantile((1 + CONFIDENCE) / 2, len(values) - 1) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Interval(value=mean, low=mean - half, high=mean + half)


def compare_seconds(base: FloatArray, other: FloatArray) -> Difference | None:
    """Two runs by their per-second values; None where a side is empty."""
    if len(base) == 0 or len(other) == 0:
        return None
    if base.mean() == 0:
        return from_zero(float(other.mean()), mann_whitney(base, other))
    ratio = float(other.mean() / base.mean()) - 1
    p_value = mann_whitney(base, other)
    if len(base) < 4 or len(other) < 4:
        return Difference(delta=ratio, low=-math.inf, high=math.inf, p_value=p_value)
    generator = np.random.default_rng(SEED)
    base_means, other_means = block_means(base, generator), block_means(other, generator)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = other_means / base_means - 1
    ratios = ratios[np.isfinite(ratios)]
    if len(ratios) < RESAMPLES / 2:
        return Difference(delta=ratio, low=-math.inf, high=math.inf, p_value=p_value)
    low, high = np.quantile(ratios, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Difference(delta=ratio, low=float(low), high=float(high), p_value=p_value)


def compare_repeats(base: FloatArray, other: FloatArray) -> Difference | None:
    """Two groups of repeats by Welch's test on one value a run; None below two repeats on a side."""
    if len(base) < 2 or len(other) < 2:
        return None
    centre, difference = float(base.mean()), float(other.mean() - base.mean())
    error_base, error_other = float(base.var(ddof=1)) / len(base), float(other.var(ddof=1)) / len(other)
    error = math.sqrt(error_base + error_other)
    if error == 0:
        p_value = 1.0 if difference == 0 else 0.0
        if centre == 0:
            return from_zero(difference, p_value)
        delta = difference / centre
        return Difference(delta=delta, low=delta, high=delta, p_value=p_value)
    freedom = (error_base + error_other) ** 2 / (
        error_base**2 / (len(base) - 1) + error_other**2 / (len(other) - 1)
    )  # Welch and Satterthwaite
    if centre == 0:
        return from_zero(difference, 2 * student_tail(abs(difference) / error, freedom))
    half = student_quantile((1 + CONFIDENCE) / 2, freedom) * error
    ends = sorted(((difference - half) / centre, (difference + half) / centre))
    p_value = 2 * student_tail(abs(difference) / error, freedom)
    return Difference(delta=difference / centre, low=ends[0], high=ends[1], p_value=p_value)


def spread(values: FloatArray) -> float | None:
    """Largest minus smallest over the mean; None for fewer than two values or a zero mean."""
    if len(values) < 2 or values.mean() == 0:
        return None
    return float((values.max() - values.min()) / abs(values.mean()))


def from_zero(difference: float, p_value: float) -> Difference:
    """A change from a base of zero."""
    if difference == 0:
        return Difference(delta=0.0, low=0.0, high=0.0, p_value=1.0)
    return Difference(delta=math.copysign(math.inf, difference), low=-math.inf, high=math.inf, p_value=p_value)
