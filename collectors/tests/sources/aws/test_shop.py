"""A small shop in AWS, answered by the proxy: all that the collector makes of it, held against a committed file."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.sources.aws.cloudwatch import CloudWatchCollector
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings, CustomMetricSettings, SelectSettings

from collectors.tests.sources.aws.fault_proxy.fault_proxy import FaultProxy, running_proxy
from collectors.tests.sources.aws.fault_proxy.faults import deny
from collectors.tests.sources.aws.fault_proxy.insights import Insights
from collectors.tests.sources.aws.fault_proxy.metrics import CloudWatchData, Query
from collectors.tests.sources.aws.moto_server import ACCOUNT, REGION

pytestmark = pytest.mark.usefixtures("aws_environment")

GOLDEN = Path(__file__).resolve().parents[2] / "fixtures" / "aws" / "shop.golden"
NOW = 1_800_000_000
POLLS = 2


def make_settings(url: str) -> CloudWatchSettings:
    """The shop's block: two of three instances by name, queues, and a metric of its own."""
    return CloudWatchSettings(
        regions=(REGION,),
        presets=("rds_load", "rds_insights", "sqs", "rds_insights_sql"),
        reread=60.0,
        select=dict.fromkeys(("rds_load", "rds_insights"), SelectSettings(names=("shop-*",), tags={"team": "check*"})),
        custom=(
            CustomMetricSettings(
                namespace="Shop", metric="Paid", dimensions={"Store": "tokyo-store"}, statistics=("Sum", "p95")
            ),
        ),
        endpoint_url=url,
    )


def serve_shop(proxy: FaultProxy, data: CloudWatchData) -> None:
    """Let a proxy answer as the shop's account would: two queues are there, one permission is not."""
    proxy.answers["sts", "GetCallerIdentity"] = lambda _: {"Account": ACCOUNT, "Arn": "a", "UserId": "u"}
    proxy.answers["rds", "DescribeDBInstances"] = lambda _: {
        "DBInstances": [_instance(name) for name in ("shop-orders-1", "shop-orders-2", "test-db")]
    }
    proxy.answers["rds", "DescribeDBClusters"] = lambda _: {"DBClusters": [_cluster()]}
    proxy.answers["rds", "DescribeDBClusterParameters"] = lambda _: {"Parameters": [_parameter()]}
    base = f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}"
    proxy.answers["sqs", "ListQueues"] = lambda _: {"QueueUrls": [f"{base}/checkout", f"{base}/checkout-dead"]}
    # A point each five seconds is enough to be averaged, and keeps the file small.
    without = frozenset(second * 1000 for second in range(NOW - 900, NOW + 900) if second % 5)
    insights = Insights(newest_ms=(NOW + 900) * 1000, without_value=without)
    proxy.answers["pi", "GetResourceMetrics"] = insights.answer
    proxy.before(deny("rds:DescribeDBParameters"))
    data.attach(proxy)


def value_of(query: Query, begin: int) -> float | None:
    """A value that any reader can check: the minute's number, except where nothing happened."""
    return None if query.name == "Deadlocks" else float(begin // 60 % 1_000)


class Clock:
    """Seconds since the epoch, as the test sets them."""

    def __init__(self) -> None:
        self.now = float(NOW)

    def __call__(self) -> float:
        return self.now


def poll_shop(settings: CloudWatchSettings, clock: Clock) -> list[list[Sample]]:
    """What the collector makes of it, poll by poll."""
    collector = CloudWatchCollector(settings, wall=clock)
    polls: list[list[Sample]] = []
    try:
        for _ in range(POLLS):
            polls.append(collector.collect())
            clock.now += 60
    finally:
        collector.close()
    return polls


def _instance(name: str) -> Mapping[str, Any]:
    return {
        "DBInstanceIdentifier": name,
        "DBInstanceArn": f"arn:aws:rds:{REGION}:{ACCOUNT}:db:{name}",
        "DBInstanceClass": "db.r6g.large",
        "DBInstanceStatus": "available",
        "Engine": "aurora-mysql",
        "EngineVersion": "8.0.mysql_aurora.3.04.0",
        **({"DBClusterIdentifier": "shop-orders"} if name.startswith("shop-") else {}),
        "MasterUsername": "checkout",
        "Endpoint": {"Address": f"{name}.cabc123.{REGION}.rds.amazonaws.com", "Port": 3306},
        "PerformanceInsightsEnabled": True,
        "DbiResourceId": f"db-{name.replace('-', '').upper():A<26}",
        "DBParameterGroups": [{"DBParameterGroupName": "shop-orders-mysql", "ParameterApplyStatus": "in-sync"}],
        "TagList": [{"Key": "team", "Value": "checkout"}],
    }


def _cluster() -> Mapping[str, Any]:
    return {
        "DBClusterIdentifier": "shop-orders",
        "DBClusterArn": f"arn:aws:rds:{REGION}:{ACCOUNT}:cluster:shop-orders",
        "DBClusterParameterGroup": "shop-orders-mysql",
        "Engine": "aurora-mysql",
        "Status": "available",
        "DBClusterMembers": [
            {"DBInstanceIdentifier": "shop-orders-1", "IsClusterWriter": True},
            {"DBInstanceIdentifier": "shop-orders-2", "IsClusterWriter": False},
        ],
    }


def _parameter() -> Mapping[str, Any]:
    formula = "GREATEST({log(DBInstanceClassMemory/805306368)*45},{log(DBInstanceClassMemory/8187281408)*1000})"
    return {"ParameterName": "max_connections", "ParameterValue": formula}


def render(samples: Iterable[Sample], now_ms: int) -> list[str]:
    """Samples of AWS, sorted, with times in ms; without the collector's own and those that are only kept."""
    lines: list[str] = []
    for one in samples:
        if one.timestamp_ms == KEPT or not (
            one.name.endswith("_info") or any("dimension_" in name for name, _ in one.labels)
        ):
            continue
        labels = ",".join(f'{name}="{value}"' for name, value in sorted(one.labels))
        lines.append(
            f"{one.name}{{{labels}}} {one.value:.15g} {one.timestamp_ms if one.timestamp_ms is not None else now_ms}"
        )
    return sorted(lines)


def read_shop() -> list[str]:
    """All lines of the golden file."""
    clock = Clock()
    with running_proxy("http://127.0.0.1:9") as proxy:
        serve_shop(proxy, CloudWatchData(now=clock, value=value_of, hold_back=30.0, page_points=30))
        polls = poll_shop(make_settings(proxy.url), clock)
    return [line for at, samples in enumerate(polls, 1) for line in (f"# poll {at}", *render(samples, NOW * 1000))]


def test_the_shop_gives_its_golden_file() -> None:
    assert read_shop() == GOLDEN.read_text(encoding="utf-8").splitlines()
