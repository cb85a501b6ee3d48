"""What is kept in memory and on disk until the engine has it, and no longer; and what is heard of other servers."""

from pathlib import Path

import numpy as np
import orjson
import pytest
from loadwatch_backend.series.store.embedded.block import Block
from loadwatch_backend.series.store.port import Batch
from loadwatch_backend.series.store.prometheus import engine as module
from loadwatch_backend.series.store.prometheus import recent
from loadwatch_backend.series.store.prometheus.connection import RemoteSettings
from loadwatch_backend.series.store.prometheus.durable_queue import DurableQueue
from loadwatch_backend.series.store.prometheus.engine import open_prometheus
from loadwatch_backend.series.store.prometheus.recent import Recent

from backend.tests.store.prometheus.engines import wait_for
from backend.tests.store.prometheus.stub import NOTHING, Asked, Reply, StubEngine

NOW_MS = 1_750_000_000_000


def add(memory: Recent, frame: int) -> None:
    memory.add(frame, np.array([7], np.uint32), np.array([NOW_MS + frame], np.int64), np.array([float(frame)]))


def test_while_the_engine_takes_nothing_two_slots_hold_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "_SLOT_SECONDS", -1.0)
    touched: list[Block] = []
    memory = Recent(1 << 20, touched.append)
    for frame in range(1, 101):
        add(memory, frame)
    assert memory.slots == 2
    assert sorted(value for block in memory.blocks() for value in block.values.tolist()) == list(range(1, 101))
    memory.deliver(99)
    memory.forget_settled(0)
    # The second slot has one that waits.
    assert memory.slots == 1
    assert 100.0 in [value for block in memory.blocks() for value in block.values.tolist()]
    memory.deliver(100)
    memory.forget_settled(3_600)
    assert memory.slots == 1
    memory.forget_settled(0)
    assert (memory.slots, memory.blocks()) == (0, ())
    assert sum(len(block) for block in touched) == 100


def test_a_file_of_the_queue_goes_once_all_of_it_is_delivered_and_old(tmp_path: Path) -> None:
    clock = [NOW_MS]
    queue = DurableQueue(tmp_path, lambda: clock[0], segment_bytes=100)
    for _ in range(6):
        queue.append([(bytes(60), 1)])
        clock[0] += 1000
    files = sorted(tmp_path.glob("*.frames"))
    assert len(files) == 3
    queue.deliver(3)
    queue.remove_delivered(clock[0])
    # Of the second file one frame waits.
    assert sorted(tmp_path.glob("*.frames")) == files[1:]
    queue.deliver(6)
    queue.remove_delivered(NOW_MS)
    assert sorted(tmp_path.glob("*.frames")) == files[1:]
    queue.remove_delivered(clock[0])
    assert sorted(tmp_path.glob("*.frames")) == []
    assert (queue.append([(b"x", 1)]), queue.samples) == (7, 1)
    queue.close()
    again = DurableQueue(tmp_path, lambda: clock[0])
    assert again.append([(b"y", 1)]) == 8
    assert [again.body(frame) for frame in again.wait(0, 2)] == [b"x", b"y"]
    again.close()


def test_what_another_server_took_in_is_heard_once(tmp_path: Path) -> None:
    newest = ["1750000001.5"]
    queries: list[str] = []

    def read(asked: Asked) -> Reply:
        if not asked.path.startswith("/api/v1/query"):
            return 200, {}, b""
        queries.append(asked.path)
        # At the start it is the newest of all; then that of others, whose clocks may be behind.
        metric = {"of": "up"} if len(queries) == 1 else {}
        result = [{"metric": metric, "value": [0, newest[0]]}]
        return 200, {}, orjson.dumps({"status": "success", "data": {"resultType": "vector", "result": result}})

    engine = StubEngine(read=read)
    settings = RemoteSettings(
        data_directory=tmp_path, url=engine.url, write_url=f"{engine.url}/write", instance='a "b"'
    )
    store = open_prometheus(settings, lambda: NOW_MS)
    heard: list[int] = []
    store.on_commit(lambda newest_ms, _now_ms: heard.append(newest_ms))
    try:
        wait_for("it is heard", lambda: NOW_MS + 1500 in heard)
        asked = len(queries)
        newest[0] = "1750000009"
        wait_for("news is heard, and asked for again", lambda: NOW_MS + 9000 in heard and len(queries) > asked + 4)
        assert heard.count(NOW_MS + 9000) == 1
        assert store.newest_ms() == NOW_MS + 9000
    finally:
        store.close()
        engine.close()
    assert "a+%5C%22b%5C%22" in queries[-1]


def test_a_server_that_writes_alone_reads_the_newest_samples_from_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_AHEAD_MS", 0)
    asked: list[Asked] = []

    def read(one: Asked) -> Reply:
        asked.append(one)
        return NOTHING

    engine = StubEngine(read=read)
    settings = RemoteSettings(data_directory=tmp_path, url=engine.url, write_url=f"{engine.url}/write")
    store = open_prometheus(settings, lambda: NOW_MS)
    try:
        ids = store.resolve([{"__name__": "m"}])
        store.append(Batch(series=ids, timestamps=np.array([NOW_MS]), values=np.array([5.0]))).result(timeout=60)
        before = len(asked)
        assert store.select([], NOW_MS, NOW_MS).values.tolist() == [5.0]
        assert len(asked) == before + 1
        monkeypatch.setattr(module, "_ALONE_SECONDS", 0.0)
        assert store.select([], NOW_MS, NOW_MS).values.tolist() == [5.0]
        assert len(asked) == before + 1
        # What came before the memory begins is the engine's.
        assert store.select([], NOW_MS - 86_400_000, NOW_MS).values.tolist() == [5.0]
        assert len(asked) == before + 2
    finally:
        store.close()
        engine.close()


def test_samples_in_memory_are_shown_however_old_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweeps: list[int] = []
    forget = module.PrometheusStore._forget_silent  # pyright: ignore[reportPrivateUsage] - the sweep has no other door

    def counted(store: module.PrometheusStore) -> None:
        forget(store)
        sweeps.append(1)

    monkeypatch.setattr(module, "_FORGET_SECONDS", 0.0)
    monkeypatch.setattr(module.PrometheusStore, "_forget_silent", counted)
    engine = StubEngine(read=lambda _: NOTHING)
    settings = RemoteSettings(data_directory=tmp_path, url=engine.url, write_url=f"{engine.url}/write")
    store = open_prometheus(settings, lambda: NOW_MS)
    try:
        old_ms = NOW_MS - 7_200_000
        ids = store.resolve([{"__name__": "m"}])
        store.append(Batch(series=ids, timestamps=np.array([old_ms]), values=np.array([5.0]))).result(timeout=60)
        assert store.select([], old_ms, NOW_MS).values.tolist() == [5.0]
        seen = len(sweeps)
        wait_for("two sweeps", lambda: len(sweeps) > seen + 1)
        assert store.select([], old_ms, NOW_MS).values.tolist() == [5.0]
    finally:
        store.close()
        engine.close()
