"""What the live page asks for is what the cloudwatch collector sends: by name, and through a real agent and server."""

import json
import os
import re
import time
import urllib.request
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_collectors.sources.aws.presets import load_presets, preset_files

from collectors.tests.sources.aws import aws_world
from collectors.tests.sources.aws.fault_proxy.fault_proxy import AwsRequest, running_proxy
from collectors.tests.sources.aws.moto_server import ENVIRONMENT, REGION, MotoServer, running_moto
from tests.fork_server import ForkedLoadwatch
from tests.serving import LOADWATCH, RealServer

MINUTE_MS = 60_000
ROLE = "arn:aws:iam::123456789012:role/rds-monitoring"
OS = Path(__file__).parents[1] / "collectors/tests/fixtures/aws/enhanced_monitoring.json"


def test_what_is_written_only_when_it_happens_is_the_same_to_the_page_as_to_the_collector():
    presets = load_presets(tuple(preset_files())).values()
    rare = {name for preset in presets for metric in preset.metrics for name in metric.names if metric.absent != "gap"}
    signals = [signal for group in shipped_catalogue().groups for panel in group.panels for signal in panel.signals]
    late = [signal for signal in signals if signal.cadence is not None]
    of_events = {one.id for one in late if set(re.findall(r"\baws_\w+", one.expression)) & rare}
    assert of_events == {one.id for one in late if one.cadence is not None and one.cadence.events}
    assert {"aws_lb_target_5xx", "aws_lambda_throttles"} <= of_events


@pytest.fixture
def moto(tmp_path: Path) -> Iterator[MotoServer]:
    with running_moto(tmp_path / "moto") as server:
        yield server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path / "server")
    server.directory.mkdir()
    server.start()
    yield server
    assert server.stop() == 0


def put_cpu(moto: MotoServer, database: str, beginning: datetime, percent: list[float]) -> None:
    moto.client("cloudwatch").put_metric_data(
        Namespace="AWS/RDS",
        MetricData=[
            {
                "MetricName": "CPUUtilization",
                "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": database}],
                "Timestamp": beginning + timedelta(minutes=minute),
                "Value": value,
                "Unit": "Percent",
            }
            for minute, value in enumerate(percent)
        ],
    )


def ask(server: RealServer, *signals: str) -> dict[str, Any]:
    now_ms = int(time.time() * 1000)
    body = {"signals": signals, "start_ms": now_ms - 20 * MINUTE_MS, "end_ms": now_ms}
    request = urllib.request.Request(
        f"{server.url}/api/signals/query", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def ask_until(server: RealServer, signals: Sequence[str], complete: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    give_up = time.monotonic() + 120
    while not complete(answer := ask(server, *signals)):
        assert time.monotonic() < give_up, answer
        time.sleep(0.3)
    return answer


@contextmanager
def running_agent(server: RealServer, aws_url: str, presets: str, directory: Path) -> Generator[None]:
    config = directory / "loadwatch.yml"
    config.write_text(
        f"""
server: {{url: "{server.url}"}}
spool: {{directory: "{directory / "spool"}"}}
targets:
  - job: aws
    instance: tokyo
    interval: 1s
    cloudwatch:
      regions: [{REGION}]
      presets: [{presets}]
      reread: 15m
      endpoint_url: {aws_url}
"""
    )
    command = [str(LOADWATCH), "agent", "--config", str(config)]
    with (directory / "agent.log").open("wb") as log:
        agent = ForkedLoadwatch(command, env={**os.environ, **ENVIRONMENT}, stdout=log, stderr=log)
        try:
            yield
        finally:
            agent.terminate()
            agent.wait(30)


def test_writer_and_reader_are_told_apart_and_nothing_is_drawn_that_did_not_come(
    moto: MotoServer, server: RealServer, tmp_path: Path
):
    aws_world.make_cluster(moto)
    beginning = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=12)
    put_cpu(moto, "shop-1", beginning, [40.0, 50.0, 60.0, 70.0, 80.0])
    put_cpu(moto, "shop-2", beginning, [10.0, 20.0, 30.0, 40.0])
    with running_agent(server, moto.url, "rds", tmp_path):
        answer = ask_until(server, ["aws_db_cpu"], lambda answer: len(answer["results"][0]["series"]) == 2)
    [result] = answer["results"]
    start_ms = int(beginning.timestamp() * 1000)
    found = {
        one["labels"]["role"]: {
            (answer["start_ms"] + i * answer["step_ms"] - start_ms) // MINUTE_MS: value
            for i, value in enumerate(one["values"])
            if value is not None
        }
        for one in result["series"]
    }
    # A value lies at the end of its minute.
    assert found == {
        "writer": {1: 0.4, 2: 0.5, 3: 0.6, 4: 0.7, 5: 0.8},
        "reader": {1: 0.1, 2: 0.2, 3: 0.3, 4: 0.4},
    }
    assert result["newest_ms"] == start_ms + 5 * MINUTE_MS


def write_os_log(moto: MotoServer, stream: str, newest: datetime, seconds: int) -> None:
    """Enhanced Monitoring's log, an entry each `seconds`, five of them."""
    document = json.loads(OS.read_text(encoding="utf-8"))
    events = [
        {
            "timestamp": int((newest - timedelta(seconds=seconds * age)).timestamp() * 1000),
            "message": json.dumps(document),
        }
        for age in (4, 3, 2, 1, 0)
    ]
    logs = moto.client("logs")
    logs.create_log_group(logGroupName="RDSOSMetrics")
    logs.create_log_stream(logGroupName="RDSOSMetrics", logStreamName=stream)
    logs.put_log_events(logGroupName="RDSOSMetrics", logStreamName=stream, logEvents=events)


def answer_insights(request: AwsRequest) -> Mapping[str, Any]:
    """Database load as Performance Insights documents it: 3 sessions, of which 2.5 have names, by wait or statement."""
    asked = request.parameters
    seconds = range(int(asked["StartTime"]), int(asked["EndTime"]), asked["PeriodInSeconds"])

    group = asked["MetricQueries"][0].get("GroupBy", {}).get("Group", "")

    def entry(value: float, **dimensions: str) -> dict[str, Any]:
        named = {f"{group}.{name}": text for name, text in dimensions.items()}
        key = {"Metric": "db.load.avg", **({"Dimensions": named} if named else {})}
        return {"Key": key, "DataPoints": [{"Timestamp": second, "Value": value} for second in seconds]}

    if group == "db.sql_tokenized":
        statement = "UPDATE \"stock\" SET left = ? WHERE note = 'hunter2'"
        return {
            "Identifier": asked["Identifier"],
            "MetricList": [entry(3.0), entry(2.5, id="5F1A", statement=statement)],
        }
    waits = (entry(1.5, name="CPU", type="CPU"), entry(1.0, name="io/table/sql/handler", type="io"))
    return {"Identifier": asked["Identifier"], "MetricList": [entry(3.0), *waits]}


def test_load_by_wait_and_the_operating_system_come_at_their_own_pace(
    moto: MotoServer, server: RealServer, tmp_path: Path
):
    aws_world.make_instance(moto, "orders", MonitoringInterval=10, MonitoringRoleArn=ROLE)
    [instance] = moto.client("rds").describe_db_instances()["DBInstances"]
    newest = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=30)
    newest -= timedelta(seconds=newest.second % 10)
    write_os_log(moto, instance["DbiResourceId"], newest, 10)
    signals = ["aws_db_load_waits", "aws_db_load_vcpu_limit"]
    layers = ["aws_db_os_cpu_user", "aws_db_os_cpu_system", "aws_db_os_memory_used", "aws_db_os_swap"]
    with running_proxy(moto.url) as proxy:
        # moto does not tell that Performance Insights is on, nor what it has measured.
        on = {**instance, "PerformanceInsightsEnabled": True}
        proxy.answers["rds", "DescribeDBInstances"] = lambda _: {"DBInstances": [on]}
        proxy.answers["pi", "GetResourceMetrics"] = answer_insights
        with running_agent(server, proxy.url, "rds_insights, rds_insights_sql, rds_enhanced", tmp_path):
            load = ask_until(
                server, signals, lambda answer: [len(one["series"]) for one in answer["results"]] == [3, 1]
            )
            told = ask_until(server, ["aws_db_statements"], lambda answer: len(answer["results"][0]["series"]) == 2)
            system = ask_until(server, layers, lambda answer: all(one["series"] for one in answer["results"]))
    waits, cores = load["results"]
    assert load["step_ms"] == 10_000
    found = {one["labels"].get("wait_event", ""): set(one["values"]) - {None} for one in waits["series"]}
    assert found == {"CPU": {1.5}, "io/table/sql/handler": {1.0}, "": {0.5}}
    assert set(cores["series"][0]["values"]) - {None} == {2}
    by_statement = {
        (one["labels"].get("sql_id"), one["labels"].get("statement")): set(one["values"]) - {None}
        for one in told["results"][0]["series"]
    }
    assert by_statement == {("5F1A", "UPDATE ? SET left = ? WHERE note = ?"): {2.5}, (None, None): {0.5}}
    # What is read is what its entries say, each once, and nothing after the newest.
    assert system["step_ms"] == 10_000
    newest_ms = int(newest.timestamp() * 1000)
    for result, value in zip(system["results"], (0.335, 0.045, 1.3e6 * 1024, 1e5 * 1024), strict=True):
        [series] = result["series"]
        drawn = {system["start_ms"] + i * 10_000: one for i, one in enumerate(series["values"]) if one is not None}
        assert drawn == {newest_ms - age * 10_000: pytest.approx(value) for age in range(5)}
        assert result["newest_ms"] == newest_ms
