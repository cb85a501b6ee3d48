"""What a forecast is made of, and what it says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.runs.compare.statistics import Interval

ENGINE = "1"
"""Version of the method; kept with every forecast."""
CONFIDENCE = 0.9


class Reason(StrEnum):
    WARM_UP = "warm-up"
    RAMP_DOWN = "ramp-down"
    FAILURES = "failures"
    """Requests that fail use more or less than those that do not."""
    TRANSIENT = "transient"
    """The rate has just changed; what is in use follows later."""
    OTHERS = "others"
    """The host was full of programs that are not watched: its CPU says nothing of the load."""
    NO_DATA = "no-data"


class Refusal(StrEnum):
    """Why a forecast gives no figure."""

    FEW_STEPS = "few-steps"
    NARROW = "narrow"
    UNDERLOADED = "underloaded"
    FLAT = "flat"
    DRIFTS = "drifts"
    STOCK = "stock"
    """A store such as memory, which time and data fill, rather than a service that requests use."""
    NOT_CONSTANT = "not-constant"
    FEW_USERS = "few-users"
    GROWING = "growing"
    BEFORE_THE_BEND = "before-the-bend"
    BEND_UNSURE = "bend-unsure"
    NO_USERS = "no-users"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """No number, and why; `figures` fill the text's places."""

    refusal: Refusal
    figures: Mapping[str, float] = field(default_factory=dict[str, float])


class LeftOut(NamedTuple):
    run: str
    reason: Reason
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A time in which the rate stood still, in blocks of equal length.

    Attributes:
        run: its id.
        from_ms, to_ms: where it begins and ends, gaps included.
        block_seconds: length of a block.
        rates: good answers per second, [block].
        uses: of the resource, in its unit, [block].
    """

    run: str
    from_ms: int
    to_ms: int
    block_seconds: float
    rates: FloatArray
    uses: FloatArray

    @property
    def rate(self) -> float:
        return float(self.rates.mean())

    @property
    def use(self) -> float:
        return float(self.uses.mean())

    @property
    def seconds(self) -> float:
        return self.block_seconds * len(self.rates)


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """The utilisation law of a resource: use = idle + rate * demand.

    Attributes:
        full: good answers per second at which it is full.
        demand: use for each request per second.
        idle: use without load.
        curved: what a request needs changes with the load, and the interval is as wide as that makes it.
        points: steps that it rests on.
        top_rate, top_use: of the step with the highest rate.
        reached: rate at which it was full already; None where it was not.
    """

    full: Interval
    demand: float
    idle: float
    curved: bool
    points: int
    top_rate: float
    top_use: float
    reached: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The Universal Scalability Law: the highest rate, and the users that bring it."""

    rate: Interval
    users: float
    contention: float
    coherency: float
    points: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A resource with all that is known of its use; `limit` in the resource's unit, above zero.

    `name` tells it from others of its kind, such as an instance. A `stock` is what is kept, such as memory: time and
    data fill it, whatever the rate is, and a load that rises with time makes it look otherwise.
    """

    id: str
    title: Words
    name: str
    limit: float
    steps: Sequence[Step]
    left_out: Sequence[LeftOut] = ()
    stock: bool = False

    @property
    def key(self) -> str:
        """Identifies the resource in later forecasts."""
        return f"{self.id} {self.name}".strip()


class ResourceForecast(NamedTuple):
    resource: Measured
    outcome: Law | Refused


class Forecast(NamedTuple):
    """Resources by the rate at which they are full, those without a number behind them."""

    resources: Sequence[ResourceForecast]
    peak: Peak | Refused

    @property
    def laws(self) -> Sequence[tuple[Measured, Law]]:
        return [(one.resource, one.outcome) for one in self.resources if isinstance(one.outcome, Law)]


# Lines through points, many at once, by Theil and Sen. Arrays are [..., point].
#
# The slope is the median of those between all pairs of points, each with the weight of its length (Theil, "A
# rank-invariant method of linear and polynomial regression analysis", 1950; Sen, "Estimates of the regression
# coefficient based on Kendall's tau", 1968). Up to 29 % of the points may lie anywhere.

NORMAL = 1.4826
"""Standard deviation of a normal distribution over the median of its absolute deviations."""


def fit_line(rates: FloatArray, uses: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Intercept and slope; NaN where all rates are the same. At least three points; `weights` are [point]."""
    first, second = np.triu_indices(rates.shape[-1], 1)
    lengths = rates[..., second] - rates[..., first]
    rises = uses[..., second] - uses[..., first]
    both = weights[first] * weights[second] / (weights[first] + weights[second])
    apart = np.abs(lengths) > 1e-9 * np.abs(rates).max(axis=-1, keepdims=True)
    slopes = np.where(apart, rises / np.where(apart, lengths, 1.0), 0.0)
    demand = weighted_median(slopes, np.where(apart, np.abs(lengths) * both, 0.0))
    return weighted_median(uses - demand[..., None] * rates, weights * np.ones_like(rates)), demand


def weighted_median(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Along the last axis, the middle of the two where the weights leave it open; NaN without any weight."""
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    sums = np.cumsum(np.take_along_axis(weights, order, axis=-1), axis=-1)
    half = sums[..., -1:] / 2
    slack = 1e-12 * sums[..., -1:]
    lower = np.argmax(sums >= half - slack, axis=-1)[..., None]
    upper = np.argmax(sums > half + slack, axis=-1)[..., None]
    middle = (np.take_along_axis(ordered, lower, axis=-1) + np.take_along_axis(ordered, upper, axis=-1)) / 2
    return np.where(half > 0, middle, np.nan)[..., 0]


def deviation(apart: FloatArray) -> float:
    """Standard deviation of points about a line, from the median of their absolute distances."""
    return float(np.median(apart)) * NORMAL * float(np.sqrt(len(apart) / max(len(apart) - 2, 1)))


def fit_curve(rates: FloatArray, uses: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients of a parabola (constant first) by least squares and their covariance; at least four points."""
    scale = float(rates.max())
    terms = np.vander(rates / scale, 3, increasing=True)
    normal = np.asarray(np.linalg.pinv((terms * weights[:, None]).T @ terms), np.float64)
    found = normal @ (terms * weights[:, None]).T @ uses
    residuals = uses - terms @ found
    variance = float((weights * residuals**2).sum()) / max(len(rates) - 3, 1)
    units = np.array([1.0, 1 / scale, 1 / scale**2])
    return found * units, np.asarray(normal * variance * np.outer(units, units), np.float64)


# Little's law as a check of the data: requests at work at once = rate * time of a request.
#
# Little, "A Proof for the Queuing Formula L = lambda W", 1961; it holds for any system that
# neither fills nor empties.

MARGIN = 0.15


class Agreement(StrEnum):
    """Whether users, rate and response time satisfy Little's law."""

    CONSISTENT = "consistent"
    THINK_TIME = "think-time"
    """More users than requests at work: users wait between requests, or the tool does."""
    INCONSISTENT = "inconsistent"
    """More requests at work than there can be: one of the three figures is wrong."""


class Consistency(NamedTuple):
    """Rate times seconds over those at work; 1 where the figures agree."""

    ratio: float
    agreement: Agreement


def check_little(at_work: float, rate: float, seconds: float) -> Consistency | None:
    """Users or requests at work at once against rate (per second) and mean time (seconds); None without any."""
    if not (at_work > 0 and rate > 0 and seconds > 0):
        return None
    ratio = rate * seconds / at_work
    if ratio > 1 + MARGIN:
        return Consistency(ratio=ratio, agreement=Agreement.INCONSISTENT)
    agrees = ratio >= 1 - MARGIN
    return Consistency(ratio=ratio, agreement=Agreement.CONSISTENT if agrees else Agreement.THINK_TIME)
