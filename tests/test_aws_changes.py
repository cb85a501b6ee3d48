"""A failover at AWS, seen by a real agent, noted by a real server: once, though the server is killed in between."""

import json
import os
import sqlite3
import time
import urllib.request
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from collectors.tests.sources.aws import aws_world
from collectors.tests.sources.aws.moto_server import ENVIRONMENT, REGION, MotoServer, running_moto
from tests.fork_server import ForkedLoadwatch
from tests.serving import LOADWATCH, RealServer

FAILOVER = "Failover of the Aurora cluster shop: writer is shop-2, was shop-1."
BACK = "Failover of the Aurora cluster shop: writer is shop-1, was shop-2."


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
    if server.process is not None:
        assert server.stop() == 0


@contextmanager
def running_agent(folder: Path, server: RealServer, moto: MotoServer) -> Generator[None]:
    config = folder / "loadwatch.yml"
    config.write_text(
        f"""
server: {{url: "{server.url}"}}
spool: {{directory: "{folder / "spool"}"}}
targets:
  - job: aws
    instance: tokyo
    interval: 1s
    cloudwatch:
      regions: [{REGION}]
      presets: [rds]
      discovery_interval: 10s
      endpoint_url: {moto.url}
"""
    )
    with (folder / "agent.log").open("wb") as log:
        command = [str(LOADWATCH), "agent", "--config", str(config)]
        agent = ForkedLoadwatch(command, env={**os.environ, **ENVIRONMENT}, stdout=log, stderr=log)
        try:
            yield
        finally:
            agent.terminate()
            agent.wait(120)


def get(server: RealServer, path: str) -> Any:
    with urllib.request.urlopen(f"{server.url}{path}", timeout=120) as answer:
        return json.load(answer)


def texts(server: RealServer) -> list[str]:
    return [note["text"] for note in get(server, "/api/annotations?tag=failover")["annotations"]]


def roles(server: RealServer) -> dict[str, str]:
    found = get(server, "/prometheus/api/v1/query?query=aws_rds_info")["data"]["result"]
    return {one["metric"]["identifier"]: one["metric"]["role"] for one in found}


def is_known(server: RealServer) -> bool:
    """Whether the server has written down who writes."""
    with closing(sqlite3.connect(f"file:{server.data / 'loadwatch.sqlite'}?mode=ro", uri=True)) as tables:
        rows = tables.execute("SELECT fields FROM watched_facts WHERE metric = 'aws_rds_cluster_info'").fetchall()
    return any(json.loads(fields).get("writer") == "shop-1" for (fields,) in rows)


def wait_until(holds: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 240
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.2)


def fail_over(moto: MotoServer, to: str) -> None:
    moto.client("rds").failover_db_cluster(DBClusterIdentifier="shop", TargetDBInstanceIdentifier=to)


def test_a_failover_becomes_one_annotation_though_the_server_is_killed(
    moto: MotoServer, server: RealServer, tmp_path: Path
):
    aws_world.make_cluster(moto)
    with running_agent(tmp_path, server, moto):
        wait_until(lambda: roles(server) == {"shop-1": "writer", "shop-2": "reader"})
        wait_until(lambda: is_known(server))  # a change before that would be the first thing that is known
        fail_over(moto, "shop-2")
        wait_until(lambda: texts(server) == [FAILOVER])
        wait_until(lambda: roles(server) == {"shop-1": "reader", "shop-2": "writer"})
        server.kill()
        fail_over(moto, "shop-1")
        time.sleep(4)  # the agent sees it, and keeps it while the server is away
        server.start()
        wait_until(lambda: texts(server) == [FAILOVER, BACK])
        server.kill()
        server.start()
        wait_until(lambda: roles(server) == {"shop-1": "writer", "shop-2": "reader"})
        time.sleep(3)
        assert texts(server) == [FAILOVER, BACK]
