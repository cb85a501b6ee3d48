"""A real PgBouncer whose pool is used up is told of, and one that has room is not."""

import time
from contextlib import closing
from pathlib import Path

from collectors.tests.pgbouncer import PgBouncer, running_pgbouncer
from collectors.tests.postgresql import running_postgresql
from tests.packs.ticks import Ticks

SECONDS = 25


def follow(server: PgBouncer, ticks: Ticks) -> None:
    with closing(server.collector()) as collector:
        for _ in range(SECONDS):
            ticks.add(collector.collect())
            time.sleep(0.1)


def test_a_pool_for_which_clients_wait_is_found(tmp_path: Path) -> None:
    ticks = Ticks(job="shop", instance="db-1")
    with running_pgbouncer(running_postgresql(), pool=2) as server:
        follow(server, ticks)
        with server.crowded(12):
            follow(server, ticks)
            follow(server, ticks)
    found = ticks.findings(tmp_path / "data")["pgbouncer-pool-exhausted"]
    assert found["labels"] == {"job": "shop", "instance": "db-1", "database": "shop", "user": "app"}
    assert "2 of 2 connections" in found["sentence"]["en"]
    assert "waited for it at once" in found["sentence"]["en"]


def test_a_pool_with_room_is_not(tmp_path: Path) -> None:
    ticks = Ticks(job="shop", instance="db-1")
    with running_pgbouncer(running_postgresql()) as server, server.crowded(4):
        follow(server, ticks)
    assert ticks.findings(tmp_path / "data") == {}
