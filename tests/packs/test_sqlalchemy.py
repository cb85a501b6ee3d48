"""The snippet for SQLAlchemy over a real PostgreSQL: a pool that is too small is found, one that is not is not."""

import importlib.util
import threading
import time
from pathlib import Path
from types import ModuleType

import pytest
from loadwatch_collectors.collector import Sample
from prometheus_client import REGISTRY
from sqlalchemy import create_engine, text

from collectors.tests.postgresql import running_postgresql
from tests.packs.ticks import Ticks

SNIPPET = Path(__file__).resolve().parents[2] / "examples" / "pools" / "sqlalchemy_pool.py"
SECONDS = 25


@pytest.fixture(scope="module")
def snippet() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sqlalchemy_pool", SNIPPET)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(pool: str) -> list[Sample]:
    return [
        Sample(one.name, one.value, tuple(one.labels.items()))
        for family in REGISTRY.collect()
        for one in family.samples
        if one.name.startswith("sqlalchemy_pool_") and one.labels["pool"] == pool and not one.name.endswith("_created")
    ]


def work(snippet: ModuleType, pool: str, size: int, ticks: Ticks) -> None:
    """Twenty threads that each hold a connection for most of the time."""
    database = running_postgresql().url("postgres")
    engine = create_engine(
        database, poolclass=snippet.WatchedPool, pool_logging_name=pool, pool_size=size, max_overflow=0
    )
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            with engine.connect() as connection:
                connection.execute(text("SELECT pg_sleep(0.02)"))

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for one in threads:
        one.start()
    for _ in range(SECONDS):
        time.sleep(0.05)
        ticks.add(page(pool))
    ended.set()
    for one in threads:
        one.join(60)
    engine.dispose()


def test_a_pool_of_2_for_20_threads_is_found(snippet: ModuleType, tmp_path: Path) -> None:
    ticks = Ticks(job="shop", instance="shop-1")
    work(snippet, "small", 2, ticks)
    found = ticks.findings(tmp_path / "data")["pool-exhausted"]
    assert (found["labels"]["pool"], found["labels"]["instance"]) == ("small", "shop-1")
    assert "2 of 2 connections" in found["sentence"]["en"]
    after = {one.name: one.value for one in page("small")}
    assert after["sqlalchemy_pool_checked_out"] == after["sqlalchemy_pool_waiting"] == 0
    assert after["sqlalchemy_pool_waits_total"] >= 18


def test_a_pool_of_25_is_not(snippet: ModuleType, tmp_path: Path) -> None:
    ticks = Ticks(job="shop", instance="shop-1")
    work(snippet, "large", 25, ticks)
    assert ticks.findings(tmp_path / "data") == {}
    assert {one.name: one.value for one in page("large")}.get("sqlalchemy_pool_waits_total", 0) == 0
