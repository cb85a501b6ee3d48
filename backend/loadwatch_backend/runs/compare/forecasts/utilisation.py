"""The utilisation law: what is in use grows by the same amount with each request per second.

U = X * D (Denning and Buzen, "The Operational Analysis of Queueing Network Models", 1978), here with what is in use
without load. For connections and pools it is Little's law, N = X * S, with S the time that a request holds one.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from loadwatch_backend.runs.compare.forecasts.model import (
    CONFIDENCE,
    FloatArray,
    Forecast,
    Interval,
    Law,
    Measured,
    Peak,
    Refusal,
    Refused,
    ResourceForecast,
    Step,
    deviation,
    fit_curve,
    fit_line,
)
from loadwatch_backend.runs.compare.forecasts.steps import FULL, merge_steps

DRAWS = 1_000
PRIOR = 4.0
"""Degrees of freedom that the blocks' own scatter counts for beside that of the steps about the line: few steps tell
little of it (Smyth, "Linear models and empirical Bayes methods", 2004: the moderated t)."""
MOST_INHERITED = 0.8
FAR = 3.0


class Points(NamedTuple):
    """Steps as arrays, [step]; weights are their seconds."""

    rates: FloatArray
    uses: FloatArray
    weights: FloatArray


def points_of(steps: Sequence[Step]) -> Points:
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


LEAST_STEPS = 4
LEAST_RANGE = 1.5
"""Highest rate over the lowest."""
LEAST_USED = 0.15
"""Of the limit, at the highest rates: below, what is measured is mostly the system at rest."""
CURVED = 3.5
"""Standard errors from which a bend of the line is no chance; of few steps, so many."""
CURVES_BY = 0.1
"""Relative change of the forecast that a bend must make."""
CURVE_STEPS = 6
CURVE_USED = 0.5
"""Of the limit: a bend that was seen so far is followed to the limit, otherwise nobody knows how it goes on."""
DRIFT = 4.0
DRIFT_SHARE = 0.3
"""Of what the load changes: growth at a standing rate from which time is the cause."""
DRIFT_BLOCKS = 4


def forecast_capacity(resources: Sequence[Measured], peak: Peak | Refused) -> Forecast:
    """The first to be full first; those without a number last, in the order given."""
    found = [
        ResourceForecast(
            resource=one, outcome=Refused(refusal=Refusal.STOCK) if one.stock else forecast_use(one.steps, one.limit)
        )
        for one in resources
    ]
    return Forecast(resources=sorted(found, key=_order), peak=peak)


def _order(one: ResourceForecast) -> tuple[bool, float]:
    known = isinstance(one.outcome, Law)
    return not known, one.outcome.full.value if isinstance(one.outcome, Law) else 0.0


def forecast_use(steps: Sequence[Step], limit: float) -> Law | Refused:
    """The rate at which `limit` is in use, or why nobody can tell. `limit` is above zero, in the unit of the uses."""
    if len(steps) < LEAST_STEPS:
        return Refused(refusal=Refusal.FEW_STEPS, figures={"steps": len(steps), "least": LEAST_STEPS})
    steps = merge_steps(steps)
    points = points_of(steps)
    refused = _refuse_sweep(points, limit)
    if refused is not None:
        return refused
    idle, demand = (float(one) for one in fit_line(points.rates, points.uses, points.weights))
    if demand > 0 and _drifts(steps, points, demand):
        return Refused(refusal=Refusal.DRIFTS)
    rates, uses = draw_uses(steps, points, idle, demand)
    idles, demands = fit_line(rates, uses, points.weights)
    if demand <= 0 or float((demands <= 0).mean()) >= (1 - CONFIDENCE) / 2:
        return Refused(refusal=Refusal.FLAT, figures={"used": float(points.uses.max()) / limit})
    interval = _interval((limit - idle) / demand, np.where(demands > 0, (limit - idles) / demands, np.inf))
    bend = _bend(points, limit, interval.value)
    if bend is not None:
        if float(points.uses.max()) < CURVE_USED * limit or not np.isfinite(bend):
            return Refused(refusal=Refusal.NOT_CONSTANT, figures={"used": float(points.uses.max()) / limit})
        interval = Interval(value=bend, low=min(interval.low, bend), high=max(interval.high, bend))
    return _law(points, limit, interval, idle, demand, curved=bend is not None)


def _law(points: Points, limit: float, full: Interval, idle: float, demand: float, *, curved: bool) -> Law:
    top = int(np.argmax(points.rates))
    reached = points.rates[points.uses >= FULL * limit]
    return Law(
        full=full,
        demand=demand,
        idle=idle,
        curved=curved,
        points=len(points.rates),
        top_rate=float(points.rates[top]),
        top_use=float(points.uses[top]),
        reached=float(reached.min()) if len(reached) else None,
    )


def _refuse_sweep(points: Points, limit: float) -> Refused | None:
    low, high = float(points.rates.min()), float(points.rates.max())
    if high < LEAST_RANGE * low or high <= 0:
        return Refused(refusal=Refusal.NARROW, figures={"low": low, "high": high, "least": LEAST_RANGE})
    # The mean of the upper steps, so that one of them by chance decides nothing.
    used = float(points.uses[points.rates >= 0.9 * high].mean()) / limit
    if used < LEAST_USED:
        return Refused(refusal=Refusal.UNDERLOADED, figures={"used": used, "least": LEAST_USED})
    return None


def _interval(value: float, drawn: FloatArray) -> Interval:
    """The interval with `CONFIDENCE` of what was drawn, widened to hold the value."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], method="nearest")
    return Interval(value=value, low=min(float(low), value), high=max(float(high), value))


def _bend(points: Points, limit: float, straight: float) -> float | None:
    """The rate at which a parabola through the points is full, where they bend beyond doubt; None where they do not."""
    if len(points.rates) < CURVE_STEPS:
        return None
    (constant, slope, square), covariance = fit_curve(points.rates, points.uses, points.weights)
    error = float(np.sqrt(max(covariance[2, 2], 0.0)))
    if abs(square) < CURVED * error or square == 0:
        return None
    root = slope**2 - 4 * square * (constant - limit)
    # A line that flattens may never reach the limit.
    full = (-slope + float(np.sqrt(root))) / (2 * square) if root > 0 else float("inf")
    if full <= 0 or not abs(full / straight - 1) > CURVES_BY:
        return None
    return full


def _drifts(steps: Sequence[Step], points: Points, demand: float) -> bool:
    """Whether use grows while the rate stands still: then time fills the resource, or it settles slowly."""
    long = [step for step in steps if len(step.rates) >= DRIFT_BLOCKS]
    if 2 * len(long) < len(steps):
        return False
    growth, error = zip(*(_growth(step, demand) for step in long), strict=True)
    total, variance = sum(growth), sum(one**2 for one in error)
    span = demand * float(np.ptp(points.rates))
    return abs(total) / len(long) > DRIFT_SHARE * span and abs(total) > DRIFT * float(np.sqrt(variance))


def _growth(step: Step, demand: float) -> tuple[float, float]:
    """Growth from the first to the second half of a step, beyond the rate's, and its standard error."""
    off = step.uses - demand * step.rates
    middle = len(off) // 2
    early, late = off[:middle], off[-middle:]
    error = np.sqrt((early.var(ddof=1) + late.var(ddof=1)) / middle) if middle > 1 else 0.0
    return float(late.mean() - early.mean()), float(error)
