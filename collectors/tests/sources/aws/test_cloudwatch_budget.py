"""The collector under a budget: what it asks for is counted by CloudWatch's side, as AWS bills it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.aws.cloudwatch import CloudWatchCollector
from loadwatch_collectors.sources.aws.cost import estimate_cost, make_loads, read_prices
from loadwatch_collectors.sources.aws.iam import plan_resources
from loadwatch_collectors.sources.aws.model import AccountRegion, Resource, WantedMetric
from loadwatch_collectors.sources.aws.presets import read_preset_file
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings

from collectors.tests.sources.aws.fault_proxy.fault_proxy import FaultProxy
from collectors.tests.sources.aws.fault_proxy.metrics import CloudWatchData
from collectors.tests.sources.aws.moto_server import REGION, MotoServer

pytestmark = pytest.mark.usefixtures("aws_environment")

QUEUES = 4
METRICS = 9 * QUEUES
MINUTES_A_MONTH = 30 * 24 * 60


class Wall:
    def __init__(self) -> None:
        self.now = time.time() // 3600 * 3600 + 5.0

    def read(self) -> float:
        return self.now


@pytest.fixture
def wall() -> Wall:
    return Wall()


@pytest.fixture
def data(moto: MotoServer, proxy: FaultProxy, wall: Wall) -> CloudWatchData:
    for number in range(QUEUES):
        moto.client("sqs").create_queue(QueueName=f"orders-{number}")
    made = CloudWatchData(now=wall.read, value=lambda _query, begin: float(begin))
    made.attach(proxy)
    return made


@pytest.fixture
def collectors() -> Iterator[list[CloudWatchCollector]]:
    made: list[CloudWatchCollector] = []
    yield made
    for collector in made:
        collector.close()


def make(
    collectors: list[CloudWatchCollector], proxy: FaultProxy, wall: Wall, budget: float | None
) -> CloudWatchCollector:
    settings = CloudWatchSettings(
        regions=(REGION,), presets=("sqs",), budget_usd_per_month=budget, endpoint_url=proxy.url
    )
    collectors.append(CloudWatchCollector(settings, wall=wall.read))
    return collectors[-1]


def value_of(samples: list[Sample], name: str, **labels: str) -> float:
    [found] = [item.value for item in samples if item.name == name and labels.items() <= dict(item.labels).items()]
    return found


def poll(collector: CloudWatchCollector, wall: Wall, minutes: int) -> list[Sample]:
    """All points of so many polls, and at last the collector's own series."""
    points: list[Sample] = []
    last: list[Sample] = []
    for _ in range(minutes):
        last = collector.collect()
        points += [sample for sample in last if sample.name.startswith("aws_sqs_") and sample.timestamp_ms]
        wall.now += 60
    return points + [sample for sample in last if sample not in points]


def test_a_budget_is_kept_and_no_point_is_lost(
    data: CloudWatchData, proxy: FaultProxy, wall: Wall, collectors: list[CloudWatchCollector]
) -> None:
    budget = 5.0
    collector = make(collectors, proxy, wall, budget)
    collector.collect()
    start = wall.now
    wall.now += 60
    before = data.metrics_requested
    samples = poll(collector, wall, 60)
    asked = data.metrics_requested - before
    price = read_prices().metrics_per_thousand / 1000
    assert asked / 60 * MINUTES_A_MONTH * price <= budget
    assert asked < 60 * METRICS / 2
    assert value_of(samples, "aws_cost_usd_total", kind="metrics") == pytest.approx(data.metrics_requested * price)
    assert value_of(samples, "aws_cost_usd_per_month_estimate", kind="metrics") <= budget
    assert value_of(samples, "aws_budget_usd_per_month") == budget
    factors = {level: value_of(samples, "aws_budget_slowdown_factor", preset="sqs", priority=level) for level in "012"}
    assert factors["2"] >= factors["1"] > factors["0"] >= 1
    for series, factor in (
        ("aws_sqs_approximate_number_of_messages_visible_average", factors["0"]),
        ("aws_sqs_number_of_messages_sent_sum", factors["1"]),
        ("aws_sqs_number_of_empty_receives_sum", factors["2"]),
    ):
        times = sorted(
            (sample.timestamp_ms or 0) // 1000
            for sample in samples
            if sample.name == series and dict(sample.labels)["dimension_QueueName"] == "orders-0"
        )
        first = int(start) // 60 * 60 - 60
        assert times == list(range(first, times[-1] + 1, 60)), series
        assert wall.now - 60 - times[-1] <= 120 + 60 * (factor + 1)


def test_without_a_budget_everything_is_asked_each_minute(
    data: CloudWatchData, proxy: FaultProxy, wall: Wall, collectors: list[CloudWatchCollector]
) -> None:
    collector = make(collectors, proxy, wall, None)
    samples = poll(collector, wall, 3)
    assert data.metrics_requested == 3 * METRICS
    assert value_of(samples, "aws_budget_slowdown_factor", preset="sqs", priority="2") == 1
    assert not [sample for sample in samples if sample.name == "aws_budget_usd_per_month"]
    text = "\n".join(collector.explain())
    assert "about 15.55 USD in 30 days" in text


def test_check_tells_what_the_budget_does(
    data: CloudWatchData, proxy: FaultProxy, wall: Wall, collectors: list[CloudWatchCollector]
) -> None:
    collector = make(collectors, proxy, wall, 5.0)
    collector.collect()
    text = "\n".join(collector.explain())
    assert "the budget of 5.00 USD a month is less than the 15.55 USD" in text
    assert "sqs, least urgent metrics: once in" in text


def test_the_costs_in_the_guide_are_those_of_the_presets() -> None:
    guide = Path(__file__).parents[4] / "docs" / "guide" / "cloudwatch.md"
    lines = guide.read_text(encoding="utf-8").splitlines()
    rows = [line.split("|")[1:-1] for line in lines if line.startswith("| ") and "(`" in line]
    assert len(rows) >= 6
    prices = read_prices()
    for what, metrics, usd in rows:
        wanted: list[WantedMetric] = []
        for name in what.partition("(")[2].rstrip(" )").replace("`", "").split(", "):
            preset = read_preset_file(name)
            dimensions = tuple((dimension, "x") for dimension in preset.dimensions)
            resource = Resource(
                kind=preset.kind, name="x", place=AccountRegion(account_id="", region=""), dimensions=dimensions
            )
            wanted += plan_resources([resource], {name: preset})
        assert len(wanted) == int(metrics), what
        total = estimate_cost(make_loads(wanted, prices), prices, interval_seconds=60).total
        assert f"{total:.2f}" == usd.strip(), what
