"""What reading costs: estimated before, and counted while it runs. Pure; the prices are in `cost_prices.yml`.

A month has 30 days here. What is free each month (`requests`, `insights`) is taken as free, as if nobody else in the
account used it up.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import NamedTuple

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
        """How many a month cost nothing."""
        return 0 if kind == "metrics" else getattr(self, f"{kind}_free_per_month")

    def usd(self, kind: str, number: float) -> float:
        """What so many cost that are billed."""
        return number / 1000 * getattr(self, f"{kind}_per_thousand")


@cache
def read_prices() -> Prices:
    """The prices that come with Loadwatch.

    Raises:
        ConfigError: the file is wrong.
    """
    text = (files("loadwatch_collectors.sources.aws.cost") / "cost_prices.yml").read_text(encoding="utf-8")
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
    """The loads of metrics that are read by GetMetricData."""
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
    """The estimate in words, for a terminal."""
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
