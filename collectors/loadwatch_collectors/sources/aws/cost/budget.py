"""Reads less often rather than cost more than was allowed: which metrics, and by which factor.

Metrics that are read less often lose nothing but freshness: CloudWatch bills a metric that is asked for, not its
points, so one question a quarter of an hour brings the same fifteen points as one a minute, later.
"""

import threading
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.aws.cost.cost import (
    MONTH_SECONDS,
    Estimate,
    Factors,
    Load,
    Prices,
    describe_estimate,
    estimate_cost,
    make_loads,
    merge_loads,
)
from loadwatch_collectors.sources.aws.model import WantedMetric

LEVELS = (1, 2, 3, 5, 10, 15, 30, 60, 180)
"""The factors: three hours at the most for metrics of a minute, beyond which points would be lost."""

STAGES = (
    (2, 5), (1, 2), (2, 15), (1, 5), (0, 2), (2, 60), (1, 15), (0, 5), (1, 60), (2, 180), (0, 15), (1, 180), (0, 180),
)  # fmt: skip
"""Priority and factor, in this order: metrics of a priority are slowed down to a factor before the next stage begins.

Within a stage the dearest preset goes first.
"""

NEWS_SHARE = 0.1
NEWS_USD = 1.0
"""A change of the estimate is told when it is more than a tenth of it and more than this in a month."""
_OVERHEAD_SECONDS = 3600.0
_OVERHEAD_STEP = 0.05
_MOST_OVERHEAD = 5.0


def slow_down(loads: Sequence[Load], prices: Prices, *, interval_seconds: float, usd_per_month: float) -> Factors:
    """The factors by which loads cost no more than `usd_per_month`; those that are 1 are not in it.

    Where even three hours between two questions cost too much, the least urgent loads are left out (factor 0).
    """
    factors: dict[tuple[str, int], int] = {}

    def cost() -> float:
        return estimate_cost(loads, prices, interval_seconds=interval_seconds, factors=factors).total

    for key, factor in _moves(loads, prices, interval_seconds, factors):
        if cost() <= usd_per_month:
            break
        factors[key] = factor
    for key in _by_urgency(loads, prices, interval_seconds, factors):
        if cost() <= usd_per_month:
            break
        factors[key] = 0
    return factors


def _moves(
    loads: Sequence[Load], prices: Prices, interval_seconds: float, factors: Mapping[tuple[str, int], int]
) -> Iterator[tuple[tuple[str, int], int]]:
    """What to slow down next, and to which factor; looks at `factors` as they are then."""
    for priority, most in STAGES:
        while True:
            costs = _costs(loads, prices, interval_seconds, factors)
            open_ = [key for key in costs if key[1] == priority and factors.get(key, 1) < most and costs[key] > 0]
            if not open_:
                break
            key = max(open_, key=lambda item: (costs[item], item))
            yield key, next(level for level in LEVELS if level > factors.get(key, 1))


def _by_urgency(
    loads: Sequence[Load], prices: Prices, interval_seconds: float, factors: Mapping[tuple[str, int], int]
) -> list[tuple[str, int]]:
    costs = _costs(loads, prices, interval_seconds, factors)
    return sorted(costs, key=lambda key: (-key[1], -costs[key], key))


def _costs(
    loads: Sequence[Load], prices: Prices, interval_seconds: float, factors: Factors
) -> dict[tuple[str, int], float]:
    """USD a month of each preset and priority; what is free counts as if it were billed."""
    costs: dict[tuple[str, int], float] = {}
    for load in loads:
        key = (load.preset, load.priority)
        alone = estimate_cost([load], prices, interval_seconds=interval_seconds, factors=factors)
        costs[key] = costs.get(key, 0.0) + alone.by_preset[load.preset]
    return costs


@dataclass(slots=True, eq=False)
class _Share:
    """What one place wants, and what it was given for it."""

    wanted: Sequence[WantedMetric] | None = None
    metrics: list[Load] = field(default_factory=list[Load])
    loads: list[Load] = field(default_factory=list[Load])
    given: Sequence[WantedMetric] = ()
    given_for: int = -1


class BudgetKeeper:
    """One budget for all accounts and regions of a collector. Its methods are called by many threads."""

    def __init__(self, usd_per_month: float | None, prices: Prices, *, interval_seconds: float) -> None:
        self.usd_per_month = usd_per_month
        self.prices = prices
        self._interval = interval_seconds
        self._lock = threading.Lock()
        self._shares: dict[Hashable, _Share] = {}
        self._factors: Factors = {}
        self._version = 0
        self._overhead = 1.0
        self._mark = (0, 0)
        self._told: float | None = None

    def give(
        self, place: Hashable, wanted: Sequence[WantedMetric], extra: Sequence[Load] = ()
    ) -> Sequence[WantedMetric]:
        """The metrics of one place with their factors; those that the budget has no room for are left out.

        The same list comes back for the same question until the factors change. `extra` are loads of other readers.
        """
        with self._lock:
            share = self._shares.setdefault(place, _Share())
            if share.wanted is not wanted:
                share.metrics = make_loads(wanted, self.prices)
            loads = merge_loads((*share.metrics, *extra))
            if loads != share.loads:
                share.loads = loads
                self._plan()
            if share.wanted is not wanted or share.given_for != self._version:
                share.given = _apply(wanted, self._factors)
                share.wanted, share.given_for = wanted, self._version
            return share.given

    def set_interval(self, seconds: float) -> None:
        """How often the collector is called."""
        with self._lock:
            self._interval = seconds
            self._plan()

    def factor(self, preset: str, priority: int) -> int:
        """How much less often a preset's questions of a priority are asked; 0 is not at all."""
        with self._lock:
            return self._factors.get((preset, priority), 1)

    def estimate(self) -> Estimate:
        """What all places cost in a month, with the factors as they are; repetitions are in it."""
        with self._lock:
            return self._estimate(self._factors)

    def wish(self) -> Estimate:
        """What they would cost without a budget."""
        with self._lock:
            return self._estimate({})

    def note_requested(self, metrics_requested: int, metrics_repeated: int) -> None:
        """Take the metrics requested since the start, and how many of them were repetitions after a failure.

        Repetitions cost too: the budget is planned with their share in mind, looked at whenever as many metrics were
        requested as an hour's plan has.
        """
        with self._lock:
            requested = metrics_requested - self._mark[0]
            repeated = metrics_repeated - self._mark[1]
            planned = self._estimate(self._factors).billed_per_month["metrics"] * _OVERHEAD_SECONDS / MONTH_SECONDS
            if requested <= 0 or requested < planned:
                return
            self._mark = (metrics_requested, metrics_repeated)
            seen = min(requested / max(1, requested - repeated), _MOST_OVERHEAD)
            overhead = (self._overhead + seen) / 2
            overhead = 1.0 if overhead < 1 + _OVERHEAD_STEP else overhead
            if overhead == 1.0 or abs(overhead - self._overhead) > _OVERHEAD_STEP:
                self._overhead = overhead
                self._plan()

    def news(self) -> list[str]:
        """The estimate in words for the log: at first, and when it has changed by much since it was told."""
        estimate = self.estimate()
        total = estimate.total
        if not any(estimate.billed_per_month.values()):
            return []
        if self._told is not None and abs(total - self._told) <= max(NEWS_USD, NEWS_SHARE * self._told):
            return []
        self._told = total
        return [describe_estimate(estimate, self.prices)[0], *self.describe()]

    def samples(self) -> list[Sample]:
        """Estimate, budget, and the factor of every preset and priority that is read."""
        with self._lock:
            estimate = self._estimate(self._factors)
            keys = sorted({(load.preset, load.priority) for share in self._shares.values() for load in share.loads})
            factors = self._factors
        samples = [
            Sample("aws_cost_usd_per_month_estimate", usd, (("kind", kind),)) for kind, usd in estimate.by_kind.items()
        ]
        samples += [
            Sample(
                "aws_budget_slowdown_factor",
                float(factors.get((preset, priority), 1) or "inf"),
                (("preset", preset), ("priority", str(priority))),
            )
            for preset, priority in keys
        ]
        if self.usd_per_month is not None:
            samples.append(Sample("aws_budget_usd_per_month", self.usd_per_month))
        return samples

    def describe(self) -> list[str]:
        """What the budget does, in words; nothing where it does nothing."""
        with self._lock:
            factors, wish = dict(self._factors), self._estimate({})
        if not factors or self.usd_per_month is None:
            return []
        lines = [
            f"the budget of {self.usd_per_month:.2f} USD a month is less than the {wish.total:.2f} USD that reading "
            "everything as often as it comes would cost; read less often:"
        ]
        for (preset, priority), factor in sorted(factors.items()):
            what = f"once in {factor} periods" if factor else "not at all: the budget is too small"
            lines.append(f"  {preset}, {('most urgent', 'usual', 'least urgent')[priority]} metrics: {what}")
        return lines

    def _estimate(self, factors: Factors) -> Estimate:
        loads = merge_loads(load for share in self._shares.values() for load in share.loads)
        found = estimate_cost(loads, self.prices, interval_seconds=self._interval, factors=factors)
        if self._overhead == 1.0:
            return found
        return found._replace(by_kind={**found.by_kind, "metrics": found.by_kind["metrics"] * self._overhead})

    def _plan(self) -> None:
        loads = merge_loads(load for share in self._shares.values() for load in share.loads)
        factors: Factors = {}
        if self.usd_per_month is not None:
            allowed = self.usd_per_month / self._overhead
            factors = slow_down(loads, self.prices, interval_seconds=self._interval, usd_per_month=allowed)
        if factors != self._factors:
            self._factors = factors
            self._version += 1


def _apply(wanted: Sequence[WantedMetric], factors: Factors) -> Sequence[WantedMetric]:
    if not factors:
        return wanted
    given: list[WantedMetric] = []
    for metric in wanted:
        factor = factors.get((metric.preset, metric.priority), 1)
        if factor == 1:
            given.append(metric)
        elif factor > 1:
            stretch = Load(metric.preset, metric.priority, "metrics", metric.period_seconds, 1).stretch(factor)
            given.append(replace(metric, every=stretch))
    return given
