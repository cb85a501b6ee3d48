"""What reading costs: estimated before, and counted while it runs. Pure; the prices are in `cost_prices.yml`.

A month has 30 days here. What is free each month (`requests`, `insights`) is taken as free, as if nobody else in the
account used it up.
"""

import math
import threading
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from loadwatch_collectors.collector import Sample
from loadwatch_collectors.settings import option
from loadwatch_collectors.settings_loader import load_text
from loadwatch_collectors.sources.aws.client.client import ApiCall
from loadwatch_collectors.sources.aws.model import WantedMetric
from loadwatch_collectors.sources.aws.reading.states import CATCH_UP_MS

MONTH_SECONDS = 30 * 86_400.0

KINDS = ("metrics", "requests", "insights")
"""What is billed: metrics by GetMetricData, other requests to CloudWatch, requests to Performance Insights."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """List prices in USD."""

    date: str = option(help="Day on which they were looked up.")
    sources: tuple[str, ...] = option(help="Where.")
    metrics_per_thousand: float = option(help="GetMetricData, for a thousand metrics.")
    statistics_per_metric: int = option(help="Statistics of one metric that are billed as one.")
    requests_per_thousand: float = option(help="Other requests to CloudWatch.")
    requests_free_per_month: int = option(help="Those of them that are free.")
    insights_per_thousand: float = option(help="Requests to Performance Insights.")
    insights_free_per_month: int = option(help="Those of them that are free.")

    def free(self, kind: str) -> int:
        """Number of free requests a month."""
        return 0 if kind == "metrics" else getattr(self, f"{kind}_free_per_month")

    def usd(self, kind: str, number: float) -> float:
        return number / 1000 * getattr(self, f"{kind}_per_thousand")


@cache
def read_prices() -> Prices:
    """The prices that come with Loadwatch.

    Raises:
        ConfigError: the file is wrong.
    """
    text = (files("loadwatch_collectors.sources.aws") / "cost_prices.yml").read_text(encoding="utf-8")
    return load_text(text, "cost_prices.yml", Prices, "the prices")


@dataclass(frozen=True, slots=True)
class Load:
    """Equal questions: `count` billed metrics (or requests) each `period_seconds`, for one preset at one urgency."""

    preset: str
    priority: int
    kind: str
    period_seconds: float
    count: int

    def per_month(self, interval_seconds: float, every: int = 1) -> float:
        """How often it is billed in a month, asked once in `every` periods by a collector with this interval."""
        if every == 0:
            return 0.0
        return self.count * MONTH_SECONDS / max(self.period_seconds * self.stretch(every), interval_seconds)

    def stretch(self, every: int) -> int:
        """The factor that really holds: a gap of more than three hours would lose points."""
        return max(1, min(every, int(CATCH_UP_MS / 1000 / self.period_seconds)))


def make_loads(wanted: Iterable[WantedMetric], prices: Prices) -> list[Load]:
    counts: Counter[tuple[str, int, int]] = Counter()
    for metric in wanted:
        billed = math.ceil(len(metric.statistics) / prices.statistics_per_metric)
        counts[metric.preset, metric.priority, metric.period_seconds] += billed
    return [
        Load(preset, priority, "metrics", period, count) for (preset, priority, period), count in sorted(counts.items())
    ]


def merge_loads(loads: Iterable[Load]) -> list[Load]:
    """Equal loads as one, in a fixed order; ten thousand instances are no more work to plan for than one."""
    counts: Counter[tuple[str, int, str, float]] = Counter()
    for load in loads:
        counts[load.preset, load.priority, load.kind, load.period_seconds] += load.count
    return [Load(*key, count) for key, count in sorted(counts.items())]


class Estimate(NamedTuple):
    """USD a month, by what is billed and by preset (before what is free is taken off)."""

    by_kind: Mapping[str, float]
    by_preset: Mapping[str, float]
    billed_per_month: Mapping[str, float]

    @property
    def total(self) -> float:
        """USD a month."""
        return sum(self.by_kind.values())


Factors = Mapping[tuple[str, int], int]
"""How much less often a preset's metrics of one priority are read; 0 is not at all, and 1 where nothing is said."""


def estimate_cost(
    loads: Sequence[Load], prices: Prices, *, interval_seconds: float, factors: Factors | None = None
) -> Estimate:
    """What loads cost in a month of 30 days."""
    billed: dict[str, float] = dict.fromkeys(KINDS, 0.0)
    by_preset: dict[str, float] = {}
    for load in loads:
        every = (factors or {}).get((load.preset, load.priority), 1)
        number = load.per_month(interval_seconds, every)
        billed[load.kind] += number
        by_preset[load.preset] = by_preset.get(load.preset, 0.0) + prices.usd(load.kind, number)
    by_kind = {kind: prices.usd(kind, max(0.0, number - prices.free(kind))) for kind, number in billed.items()}
    return Estimate(by_kind=by_kind, by_preset=by_preset, billed_per_month=billed)


def describe_estimate(estimate: Estimate, prices: Prices) -> list[str]:
    metrics = estimate.billed_per_month["metrics"]
    lines = [
        f"about {estimate.total:.2f} USD in 30 days, by AWS's list prices of {prices.date}: "
        f"{metrics:,.0f} metrics by GetMetricData for {estimate.by_kind['metrics']:.2f} USD"
    ]
    for kind, text in (("requests", "other requests to CloudWatch"), ("insights", "requests to Performance Insights")):
        if number := estimate.billed_per_month[kind]:
            free = prices.free(kind)
            lines.append(f"{number:,.0f} {text} for {estimate.by_kind[kind]:.2f} USD; {free:,} a month are free")
    dearest = sorted(estimate.by_preset.items(), key=lambda item: -item[1])
    lines += [f"{preset}: {usd:.2f} USD" for preset, usd in dearest if usd >= 0.005]
    return lines


@dataclass(slots=True, eq=False)
class CostMeter:
    """Counts what was billed since the start, by what really went to AWS.

    What is free is counted anew each month (UTC), and at each start: it cannot know what others used of it, or what it
    used itself before a restart in the same month.
    """

    prices: Prices
    usd: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    _seen: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    _month: tuple[int, int] = (0, 0)
    _this_month: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))

    def update(self, calls: Mapping[ApiCall, int], metrics_requested: int, now: datetime) -> None:
        """Take the totals since the start: requests by kind, and metrics asked for."""
        if (now.year, now.month) != self._month:
            self._month = (now.year, now.month)
            self._this_month = dict.fromkeys(KINDS, 0)
        totals = {"metrics": metrics_requested, "requests": 0, "insights": 0}
        for call, count in calls.items():
            kind = _kind_of(call)
            if kind is not None:
                totals[kind] += count
        for kind, total in totals.items():
            free = self.prices.free(kind)
            before = self._this_month[kind]
            after = before + max(0, total - self._seen[kind])
            self.usd[kind] += self.prices.usd(kind, max(0, after - free) - max(0, before - free))
            self._this_month[kind], self._seen[kind] = after, total


def _kind_of(call: ApiCall) -> str | None:
    """What a request is billed as; None for those that cost nothing, and for GetMetricData, billed by metric."""
    if call.outcome not in ("ok", "throttled", "failed"):
        return None
    if call.service == "cloudwatch":
        return None if call.operation == "get_metric_data" else "requests"
    return "insights" if call.service == "pi" else None


# Reads less often rather than cost more than was allowed: which metrics, and by which factor.
#
# Metrics that are read less often lose nothing but freshness: CloudWatch bills a metric that is asked for, not its
# points, so one question a quarter of an hour brings the same fifteen points as one a minute, later.

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
    costs = _costs(loads, prices, interval_seconds, factors)
    for key in sorted(costs, key=lambda key: (-key[1], -costs[key], key)):
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
