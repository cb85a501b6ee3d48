"""What the live page asks for is what the cloudwatch collector sends: by name, and through a real agent and server."""

import json
import os
import re
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.signals.catalogue.registry import CATALOGUE
from loadwatch_collectors.aws.discovery.catalogue import FACT_METRICS
from loadwatch_collectors.aws.presets import preset_metrics

from collectors.tests.aws import aws_world
from collectors.tests.aws.moto_server import ENVIRONMENT, REGION, MotoServer, running_moto
from tests.serving import LOADWATCH, RealServer

MINUTE_MS = 60_000


def test_every_series_of_the_catalogue_is_one_that_the_collector_sends():
    sent = {metric.name for metric in (*preset_metrics(), *FACT_METRICS)}
    signals = [signal for group in CATALOGUE.groups for panel in group.panels for signal in panel.signals]
    texts = [signal.expression for signal in signals]
    texts += [f"{one.used} {one.limit}" for one in CATALOGUE.resources]
    texts += [signal.facts.info for signal in signals if signal.facts is not None]
    asked = {name for text in texts for name in re.findall(r"\baws_\w+", text)}
    assert len(asked) > 40
    assert asked - sent == set()


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


def ask(server: RealServer) -> dict[str, Any]:
    now_ms = int(time.time() * 1000)
    body = {"signals": ["aws_db_cpu"], "start_ms": now_ms - 20 * MINUTE_MS, "end_ms": now_ms}
    request = urllib.request.Request(
        f"{server.url}/api/signals/query", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def test_writer_and_reader_are_told_apart_and_nothing_is_drawn_that_did_not_come(
    moto: MotoServer, server: RealServer, tmp_path: Path
):
    aws_world.make_cluster(moto)
    beginning = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=12)
    put_cpu(moto, "shop-1", beginning, [40.0, 50.0, 60.0, 70.0, 80.0])
    put_cpu(moto, "shop-2", beginning, [10.0, 20.0, 30.0, 40.0])
    config = tmp_path / "loadwatch.yml"
    config.write_text(
        f"""
server: {{url: "{server.url}"}}
spool: {{directory: "{tmp_path / "spool"}"}}
targets:
  - job: aws
    instance: tokyo
    interval: 1s
    cloudwatch:
      regions: [{REGION}]
      presets: [rds]
      reread: 15m
      endpoint_url: {moto.url}
"""
    )
    command = [str(LOADWATCH), "agent", "--config", str(config)]
    with (tmp_path / "agent.log").open("wb") as log:
        agent = subprocess.Popen(command, env={**os.environ, **ENVIRONMENT}, stdout=log, stderr=log)
        try:
            give_up = time.monotonic() + 120
            answer = ask(server)
            while len(answer["results"][0]["series"]) < 2:
                assert time.monotonic() < give_up
                time.sleep(0.3)
                answer = ask(server)
        finally:
            agent.terminate()
            agent.wait(30)
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
