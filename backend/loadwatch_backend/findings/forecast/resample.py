"""Steps drawn again from their own blocks: how sure a line through them is. Deterministic."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.forecast.line import deviation
from loadwatch_backend.findings.forecast.model import FloatArray, Step

DRAWS = 1_000
PRIOR = 4.0
"""Degrees of freedom that the blocks' own scatter counts for beside that of the steps about the line: few steps tell
little of it (Smyth, "Linear models and empirical Bayes methods", 2004: the moderated t)."""
MOST_INHERITED = 0.8
FAR = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """Steps as arrays, [step]; weights are their seconds."""

    rates: FloatArray
    uses: FloatArray
    weights: FloatArray


def points_of(steps: Sequence[Step]) -> Points:
    """The means of the steps."""
    return Points(
        rates=np.array([step.rate for step in steps]),
        uses=np.array([step.use for step in steps]),
        weights=np.array([step.seconds for step in steps]),
    )


def draw_uses(steps: Sequence[Step], points: Points, idle: float, demand: float) -> tuple[FloatArray, FloatArray]:
    """Rates and uses of `DRAWS` sweeps like this one, [draw, step].

    Blocks of each step are drawn with replacement, one fewer than there are, which leaves the variance of a mean of few
    blocks unbiased (Rao and Wu, "Resampling inference with complex survey data", 1988). What a drawn step is off the
    line is stretched by how far the steps lie about the line beyond what their blocks explain, with that stretch itself
    drawn by its degrees of freedom. The seed is the shape of the data: the same load in another unit, at another time,
    or under another name gives the same interval.
    """
    draw = np.random.default_rng([len(steps), *(len(step.rates) for step in steps)])
    inherited = _inherited(steps, demand)
    within = _variances(steps, demand) * inherited
    residuals = points.uses - idle - demand * points.rates
    if not within.any():
        within = np.full(len(steps), max(float((residuals**2).mean()), (1e-9 * float(points.uses.max())) ** 2))
        prior = 0.0
    else:
        prior = PRIOR
    freedom = prior + len(steps) - 2
    stretch = (prior + _squares(residuals, within)) / freedom
    factor = np.sqrt(stretch * freedom / draw.chisquare(freedom, DRAWS))
    rates, uses = np.empty((2, DRAWS, len(steps)))
    for place, step in enumerate(steps):
        moved = np.zeros(DRAWS)
        count = len(step.rates)
        if count > 1:
            chosen = draw.integers(0, count, (DRAWS, count - 1))
            moved = step.rates[chosen].mean(axis=1) - step.rate
            off = (step.uses[chosen].mean(axis=1) - step.use - demand * moved) * np.sqrt(inherited)
        else:
            off = draw.normal(0.0, np.sqrt(within[place]), DRAWS)
        rates[:, place] = step.rate + moved
        uses[:, place] = step.use + demand * moved + factor * off
    return rates, uses


def _variances(steps: Sequence[Step], demand: float) -> FloatArray:
    """Variance of each step's mean off the line by its blocks; a single block's is that of a block elsewhere."""
    squares = [_off(step, demand) for step in steps]
    freedom = sum(len(one) - 1 for one in squares)
    pooled = sum(float((one**2).sum()) for one in squares) / freedom if freedom else 0.0
    own = [float((one**2).sum()) / (len(one) - 1) if len(one) > 1 else pooled for one in squares]
    means = np.array([one / len(block) for one, block in zip(own, squares, strict=True)])
    return np.maximum(means, means.mean() / 4)


def _inherited(steps: Sequence[Step], demand: float) -> float:
    """How much less a block tells because it resembles the one before: (1 + r) / (1 - r), r their correlation."""
    apart = [_off(step, demand) for step in steps]
    squares = sum(float((one**2).sum()) for one in apart)
    if squares <= 0:
        return 1.0
    products = sum(float((one[1:] * one[:-1]).sum()) for one in apart)
    # The mean of few blocks is taken off them, which makes neighbours look unlike.
    bias = len(apart) / sum(len(one) for one in apart)
    found = min(max(products / squares + bias, 0.0), MOST_INHERITED)
    return (1 + found) / (1 - found)


def _off(step: Step, demand: float) -> FloatArray:
    off = step.uses - demand * step.rates
    return off - off.mean()


def _squares(residuals: FloatArray, within: FloatArray) -> float:
    """Sum of the squared residuals in units of the blocks' scatter; single ones that lie far apart are cut off."""
    units = np.abs(residuals) / np.sqrt(within)
    bound = FAR * max(1.0, deviation(units))
    return float((np.minimum(units, bound) ** 2).sum())
