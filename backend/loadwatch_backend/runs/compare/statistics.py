"""Differences between runs, with their uncertainty, on a logarithmic scale. Pure functions on arrays.

Two things blur a figure of a run. *Within* the run, a second resembles the one before: seconds count by their effective
number n / tau, where tau = 1 + 2 * sum of the autocorrelations (initial positive sequence: Geyer, "Practical Markov
Chain Monte Carlo", 1992). *Between* runs, equal code on an equal machine gives other figures (needs.md B5, E7), and of
that no number of seconds of one run can tell anything: it comes from repeats, or is stated in advance.

A figure x stands at log(x + floor), where `floor` is what nobody tells from nothing: so ratios are symmetric, no
interval reaches below -100 %, and a share of failures that was zero can be compared, too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from loadwatch_backend.evidence.records.model import FloatArray

# Tails and quantiles of the distribution that the statistics need; the one place that knows SciPy's types.
#
# SciPy is imported with the first question: it would take a fifth of the server's start.


def student_tail(t: float, freedom: float) -> float:
    """Probability of a value of Student's distribution above t."""
    return float(_special().stdtr(freedom, -t))


def student_quantile(probability: float, freedom: float) -> float:
    """The value below which Student's distribution has this probability."""
    return float(_special().stdtrit(freedom, probability))


@cache
def _special() -> Any:
    from scipy import special

    return special


CONFIDENCE = 0.95
"""Of the interval around one value."""
DIFFERENCE_CONFIDENCE = 0.98
"""Of the interval around a difference: a comparison shows a dozen of them, and all shall hold in 95 of 100."""
LEAST_EFFECTIVE = 8.0
"""Effective seconds below which a single run tells nothing."""
ENOUGH_REPEATS = 3
"""From as many on, the repeats of a side tell their own scatter."""
ENOUGH_FREEDOM = 3.0
"""Degrees of freedom below which an estimate of the scatter is no better than the stated one."""
LEAST_SCATTER = 0.005
"""No two runs are more alike than this, whatever a few repeats that happen to agree seem to say."""
HALVINGS = 60
"""Steps of a search by halves: beyond the precision of a double."""
KNOWN = 1e9
"""Degrees of freedom of a scatter that is stated, not estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How a kind of figure is compared.

    Attributes:
        margin: relative difference up to which two figures are the same to whoever reads them.
        scatter: standard deviation between equal runs, as a ratio, where no repeats tell it.
        floor: what nobody tells from nothing, in the figure's unit.
    """

    margin: float
    scatter: float
    floor: float

    @property
    def reach(self) -> float:
        return math.log1p(self.margin)


class Between(NamedTuple):
    """Variance of a figure's logarithm between equal runs, and the degrees of freedom that it rests on."""

    variance: float
    freedom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The runs of one side.

    Attributes:
        logs: one value a run, on the logarithmic scale.
        within: variance of each of them by the run's own seconds; NaN where nothing tells.
        weights: how much each run counts, the inverse of its variance; all the same where none are given.
    """

    logs: FloatArray
    within: FloatArray
    weights: FloatArray | None = None

    @property
    def centre(self) -> float:
        return float(np.average(self.logs, weights=self.weights))


class Interval(NamedTuple):
    """A value with the interval that holds it with `CONFIDENCE`, in the figure's unit."""

    value: float
    low: float
    high: float


class Difference(NamedTuple):
    """Other minus base on the logarithmic scale, with its interval; `p_value` is two-sided."""

    log: float
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
    return len(values) / autocorrelation_time(values) if len(values) else 0.0


def to_log(values: FloatArray, floor: float) -> FloatArray:
    """Figures on the logarithmic scale; none may be below zero."""
    return np.log(np.maximum(values, 0.0) + max(floor, 1e-12))


def from_log(value: float, floor: float) -> float:
    """A figure from the logarithmic scale; never below zero, and zero where only rounding is left."""
    least = max(floor, 1e-12)
    figure = math.exp(min(value, 700.0)) - least
    return figure if figure > least * 1e-9 else 0.0


def variance_within(seconds: FloatArray, floor: float) -> float:
    """Variance of the logarithm of a run's figure by its seconds; NaN for fewer effective ones than can tell."""
    effective = effective_count(seconds)
    if effective < LEAST_EFFECTIVE:
        return math.nan
    centre = float(seconds.mean()) + floor
    # The delta method: the logarithm of a mean varies as the mean does, relative to itself.
    return float(seconds.var(ddof=1)) / effective / centre**2 if centre > 0 else 0.0


def between_runs(groups: Sequence[FloatArray], stated: float) -> Between:
    """Scatter between equal runs, from groups of repeats on the logarithmic scale; where they are few, as stated."""
    repeated = [group for group in groups if len(group) >= 2]
    freedom = float(sum(len(group) - 1 for group in repeated))
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in repeated)
    estimate = squares / freedom if freedom else 0.0
    if freedom >= ENOUGH_FREEDOM or (freedom and not stated):
        return Between(variance=max(estimate, LEAST_SCATTER**2), freedom=freedom)
    return Between(variance=max(estimate, stated**2), freedom=KNOWN)


def weigh(sides: Sequence[Side]) -> Sequence[Side]:
    """The sides with weights of their runs, where there are enough of them.

    A run that other work of the machine disturbed scatters within itself, and says less. The variance of a run is that
    within it and a common one between runs: of random effects, by Paule and Mandel ("Consensus Values and Weighting
    Factors", 1982).
    """
    many = [side for side in sides if len(side.logs) >= ENOUGH_REPEATS]
    if not many:
        return sides
    within = [_within(side) for side in many]
    freedom = sum(len(side.logs) - 1 for side in many)
    low, high = LEAST_SCATTER**2, 4 * max(float(side.logs.var()) for side in many) * freedom + LEAST_SCATTER**2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        squares = sum(_squares(side.logs, 1 / (middle + own)) for side, own in zip(many, within, strict=True))
        low, high = (middle, high) if squares > freedom else (low, middle)
    weighed = iter([replace(side, weights=1 / (low + own)) for side, own in zip(many, within, strict=True)])
    return [next(weighed) if len(side.logs) >= ENOUGH_REPEATS else side for side in sides]


def value_interval(side: Side, between: Between, floor: float) -> Interval | None:
    """Geometric mean of the runs with its interval; None without runs. The ends are NaN where nothing tells them."""
    if len(side.logs) == 0:
        return None
    if len(side.logs) >= ENOUGH_REPEATS:
        side = side if side.weights is not None else weigh([side])[0]
        freedom, error = _repeats([side])
    else:
        freedom, error = between.freedom, math.sqrt(_variance(side, between))
    half = student_quantile((1 + CONFIDENCE) / 2, freedom) * error
    if math.isnan(half):
        return Interval(value=from_log(side.centre, floor), low=math.nan, high=math.nan)
    low, value, high = (from_log(one, floor) for one in (side.centre - half, side.centre, side.centre + half))
    return Interval(value=value, low=low, high=high)


def compare_sides(base: Side, other: Side, between: Between) -> Difference | None:
    """Student's interval on logarithms; None without runs. It is open where a single run is too short to tell anything.

    Two sides with `ENOUGH_REPEATS` each tell their scatter themselves, taken together: equal numbers of runs make that
    hold for unlike scatters, too, and it finds more than Welch's test does with three or four runs a side. Otherwise
    `between` is what tells.
    """
    if len(base.logs) == 0 or len(other.logs) == 0:
        return None
    if min(len(base.logs), len(other.logs)) >= ENOUGH_REPEATS:
        if base.weights is None or other.weights is None:
            base, other = weigh([base, other])
        freedom, error = _repeats([base, other])
    else:
        freedom, error = between.freedom, math.sqrt(_variance(base, between) + _variance(other, between))
    log = other.centre - base.centre
    if math.isnan(error):
        return Difference(log=log, low=-math.inf, high=math.inf, p_value=1.0)
    half = student_quantile((1 + DIFFERENCE_CONFIDENCE) / 2, freedom) * error
    return Difference(log=log, low=log - half, high=log + half, p_value=2 * student_tail(abs(log) / error, freedom))


def relative(base: float, log: float, floor: float) -> float:
    """A step on the logarithmic scale as (other - base) / base; infinite from a base of zero."""
    if math.isinf(log):
        return math.copysign(math.inf, log)
    other = from_log(math.log(base + max(floor, 1e-12)) + log, floor)
    if base == 0:
        return math.inf if other > 1e-12 else 0.0
    return other / base - 1


def spread(values: FloatArray) -> float | None:
    """Largest minus smallest over the mean; None for fewer than two values or a zero mean."""
    if len(values) < 2 or values.mean() == 0:
        return None
    return float((values.max() - values.min()) / abs(values.mean()))


def _repeats(sides: Sequence[Side]) -> tuple[float, float]:
    """Degrees of freedom and standard error of the sum or difference of the means of weighed sides.

    The residuals tell the scale of the variances (Knapp and Hartung, "Improved tests for a random effects
    meta-regression", 2003), which is never less than that of the runs' own seconds and the least scatter.
    """
    weights = [np.ones(len(side.logs)) if side.weights is None else side.weights for side in sides]
    freedom = float(sum(len(side.logs) - 1 for side in sides))
    residual = sum(_squares(side.logs, own) for side, own in zip(sides, weights, strict=True)) / freedom
    told = residual * sum(1 / float(own.sum()) for own in weights)
    least = sum(
        float((own**2 * (_within(side) + LEAST_SCATTER**2)).sum()) / float(own.sum()) ** 2
        for side, own in zip(sides, weights, strict=True)
    )
    return freedom, math.sqrt(max(told, least))


def _squares(logs: FloatArray, weights: FloatArray) -> float:
    return float((weights * (logs - np.average(logs, weights=weights)) ** 2).sum())


def _within(side: Side) -> FloatArray:
    """Variances by the runs' own seconds; as of the others where a run does not tell, nothing where none does."""
    known = side.within[~np.isnan(side.within)]
    return np.where(np.isnan(side.within), float(known.mean()) if len(known) else 0.0, side.within)


def _variance(side: Side, between: Between) -> float:
    """Variance of a side's mean; NaN for a single run of which nothing tells how sure its own figure is."""
    count = len(side.logs)
    known = side.within[~np.isnan(side.within)]
    within = float(known.mean()) if len(known) else math.nan
    if between.freedom < KNOWN:
        # Figures of repeats scatter by their seconds, too: what they tell has both in it.
        return max(between.variance, 0.0 if math.isnan(within) else within) / count
    if count > 1 and math.isnan(within):
        return between.variance / count
    return (between.variance + within) / count
