"""A small shop in AWS, answered by the proxy, and a recording of it.

`python -m collectors.tests.sources.aws.recorded_shop` writes the recording in `fixtures/aws/` again, and its golden
file: what the collector made of it.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.aws.cloudwatch import CloudWatchCollector
from loadwatch_collectors.sources.aws.recording.session import replay_recordings
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings, CustomMetricSettings, SelectSettings

from collectors.tests.sources.aws.fault_proxy.fault_proxy import FaultProxy, running_proxy
from collectors.tests.sources.aws.fault_proxy.faults import deny
from collectors.tests.sources.aws.fault_proxy.insights import Insights
from collectors.tests.sources.aws.fault_proxy.metrics import CloudWatchData, Query
from collectors.tests.sources.aws.moto_server import ACCOUNT, ENVIRONMENT, REGION

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "aws"
RECORDING = FIXTURES / "shop.jsonl"
GOLDEN = FIXTURES / "shop.golden"
NOW = 1_800_000_000
POLLS = 2
NAMES = (
    "shop-orders-1",
    "shop-orders-2",
    "shop-orders",
    "checkout",
    "tokyo-store",
    "test-db",
    "hunter2",
    "ALTER ROLE",
    "5F1A",
)
"""Words of the user's that must not be in a recording."""


def make_settings(url: str, **changes: Any) -> CloudWatchSettings:
    """The shop's block: two of three instances by name, queues, and a metric of its own."""
    return replace(
        CloudWatchSettings(
            regions=(REGION,),
            presets=("rds_load", "rds_insights", "sqs", "rds_insights_sql"),
            reread=60.0,
            select=dict.fromkeys(
                ("rds_load", "rds_insights"), SelectSettings(names=("shop-*",), tags={"team": "check*"})
            ),
            custom=(
                CustomMetricSettings(
                    namespace="Shop", metric="Paid", dimensions={"Store": "tokyo-store"}, statistics=("Sum", "p95")
                ),
            ),
            endpoint_url=url,
        ),
        **changes,
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
    # A point each five seconds is enough to be averaged, and keeps the recording small.
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


def replay_shop() -> list[str]:
    """What the replay tells of AWS; the collector's own counters are not what the golden file is about."""
    lines = replay_recordings(RECORDING)
    return [line for line in lines if line.startswith("#") or "dimension_" in line or "_info{" in line]


def main() -> None:
    """Write the recording and its golden file again."""
    os.environ.update(ENVIRONMENT)
    FIXTURES.mkdir(parents=True, exist_ok=True)
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder, running_proxy("http://127.0.0.1:9") as proxy:
        serve_shop(proxy, CloudWatchData(now=clock, value=value_of, hold_back=30.0, page_points=30))
        poll_shop(make_settings(proxy.url, record=folder), clock)
        (written,) = Path(folder).glob("*.jsonl")
        shutil.copyfile(written, RECORDING)
    GOLDEN.write_text("\n".join(replay_shop()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
