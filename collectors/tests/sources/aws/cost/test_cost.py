from collections import Counter
from datetime import UTC, datetime

import pytest
from loadwatch_collectors.sources.aws.client.client import ApiCall
from loadwatch_collectors.sources.aws.cost import (
    CostMeter,
    Load,
    describe_estimate,
    estimate_cost,
    make_loads,
    read_prices,
)
from loadwatch_collectors.sources.aws.model import MetricKey, WantedMetric, WantedStatistic

PRICES = read_prices()
NOVEMBER = datetime(2026, 11, 21, tzinfo=UTC)
DECEMBER = datetime(2026, 12, 1, tzinfo=UTC)


def make_wanted(
    preset: str = "rds", *, statistics: int = 1, period: int = 60, priority: int = 1, name: str = "M"
) -> WantedMetric:
    return WantedMetric(
        metric=MetricKey(namespace="AWS/RDS", name=name),
        statistics=tuple(WantedStatistic(f"p{n}", f"s_p{n}") for n in range(statistics)),
        labels=(),
        period_seconds=period,
        preset=preset,
        priority=priority,
    )


def cost(wanted: list[WantedMetric], interval: float = 60) -> float:
    return estimate_cost(make_loads(wanted, PRICES), PRICES, interval_seconds=interval).total


def test_twenty_metrics_a_minute_are_the_figure_of_the_field_notes() -> None:
    assert cost([make_wanted() for _ in range(20)]) == pytest.approx(8.64)


def test_five_statistics_of_a_metric_are_billed_once() -> None:
    assert cost([make_wanted(statistics=5)]) == pytest.approx(cost([make_wanted()]))
    assert cost([make_wanted(statistics=6)]) == pytest.approx(2 * cost([make_wanted()]))


def test_metrics_of_five_minutes_and_rare_polls_cost_less() -> None:
    assert cost([make_wanted(period=300)]) == pytest.approx(cost([make_wanted()]) / 5)
    assert cost([make_wanted()], interval=300) == pytest.approx(cost([make_wanted()]) / 5)
    # Ten points of six seconds come with one question.
    assert cost([make_wanted(period=10)]) == pytest.approx(cost([make_wanted()]))


def test_what_is_free_each_month_costs_nothing() -> None:
    few = [Load("rds_insights", 1, "insights", 60, 20)]
    many = [Load("rds_insights", 1, "insights", 60, 100)]
    assert estimate_cost(few, PRICES, interval_seconds=60).total == 0
    assert estimate_cost(many, PRICES, interval_seconds=60).by_kind["insights"] == pytest.approx(33.2)


def test_an_estimate_can_be_read() -> None:
    loads = [*make_loads([make_wanted(), make_wanted("alb")] * 10, PRICES), Load("rds_insights", 1, "insights", 60, 1)]
    lines = describe_estimate(estimate_cost(loads, PRICES, interval_seconds=60), PRICES)
    assert lines[0] == (
        "about 8.64 USD in 30 days, by AWS's list prices of 2026-11-01: 864,000 metrics by GetMetricData for 8.64 USD"
    )
    assert lines[1] == "43,200 requests to Performance Insights for 0.00 USD; 1,000,000 a month are free"
    assert lines[2:] == ["alb: 4.32 USD", "rds: 4.32 USD", "rds_insights: 0.43 USD"]


def test_no_gap_of_a_slow_metric_is_so_long_that_points_are_lost() -> None:
    assert Load("rds", 1, "metrics", 60, 1).stretch(180) == 180
    assert Load("rds_credits", 1, "metrics", 300, 1).stretch(180) == 36
    assert Load("custom", 1, "metrics", 86_400, 1).stretch(180) == 1


def test_the_meter_counts_what_went_to_aws() -> None:
    meter = CostMeter(prices=PRICES)
    calls = Counter(
        {
            ApiCall("cloudwatch", "get_metric_data", "eu-west-1", "ok"): 500,
            ApiCall("rds", "describe_db_instances", "eu-west-1", "ok"): 10_000_000,
            ApiCall("cloudwatch", "list_metrics", "eu-west-1", "unreachable"): 10_000_000,
            ApiCall("cloudwatch", "list_metrics", "eu-west-1", "ok"): 1_100_000,
            ApiCall("pi", "get_resource_metrics", "eu-west-1", "ok"): 900_000,
        }
    )
    meter.update(calls, 250_000, NOVEMBER)
    assert meter.usd == pytest.approx({"metrics": 2.5, "requests": 1.0, "insights": 0.0})
    calls[ApiCall("pi", "get_resource_metrics", "eu-west-1", "ok")] += 200_000
    meter.update(calls, 350_000, NOVEMBER)
    assert meter.usd == pytest.approx({"metrics": 3.5, "requests": 1.0, "insights": 1.0})


def test_the_meter_never_counts_twice_and_starts_the_free_share_anew_each_month() -> None:
    meter = CostMeter(prices=PRICES)
    calls = Counter({ApiCall("pi", "get_resource_metrics", "eu-west-1", "ok"): 1_500_000})
    for _ in range(3):
        meter.update(calls, 0, NOVEMBER)
    assert meter.usd["insights"] == pytest.approx(5.0)
    calls[ApiCall("pi", "get_resource_metrics", "eu-west-1", "ok")] += 1_000_000
    meter.update(calls, 0, DECEMBER)
    assert meter.usd["insights"] == pytest.approx(5.0)


def test_the_prices_have_a_date_and_sources() -> None:
    datetime.strptime(PRICES.date, "%Y-%m-%d").replace(tzinfo=UTC)
    assert all(source.startswith("https://aws.amazon.com/") for source in PRICES.sources)
