"""The embedded engine: the contract, and what is its own (sealing, retention, the lock, the head's limit)."""

import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pytest
from loadwatch_backend.core.clock import SteadyClock
from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.series.store.embedded.block import LATEST_MS
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.errors import (
    LabelBytesLimitError,
    QueryLimitError,
    SeriesLimitError,
    StoreBusyError,
)
from loadwatch_backend.series.store.port import Batch

from backend.tests.store.contract import METRIC, NOW_MS, StoreContract, append, select, series_of


class Clock:
    def __init__(self) -> None:
        self.now = NOW_MS

    def __call__(self) -> int:
        return self.now


@contextmanager
def opened(directory: Path, clock: Callable[[], int] | None = None, **limits: int) -> Generator[EmbeddedStore]:
    # Nothing is sealed or deleted but by the test, however long that takes, unless it says otherwise.
    given = {"maintenance_ms": HOUR_MS, **limits}
    # Whatever the first look seals meanwhile: rollups are gone when samples are.
    given.setdefault("rollup_retention_ms", given.get("retention_ms", 15 * DAY_MS))
    store = open_embedded(EmbeddedSettings(data_directory=directory, **given), clock or Clock())
    try:
        yield store
    finally:
        store.close()


class TestEmbeddedStore(StoreContract):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Callable[[], AbstractContextManager[EmbeddedStore]]:
        return lambda: opened(tmp_path)


class TestEmbeddedStoreSealing(StoreContract):
    """The same with a store that seals everything all the time."""

    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Callable[[], AbstractContextManager[EmbeddedStore]]:
        return lambda: opened(tmp_path, seal_rows=1, maintenance_ms=20)


class TestEmbeddedStoreWithoutMemory(StoreContract):
    """The same with a head that holds next to nothing, so that the disk answers."""

    @pytest.fixture
    def open_store(self, tmp_path: Path) -> Callable[[], AbstractContextManager[EmbeddedStore]]:
        return lambda: opened(tmp_path, head_bytes=1)


@pytest.mark.parametrize("head_bytes", [1, 1 << 20])
def test_sealing_keeps_the_last_of_repeated_samples(tmp_path: Path, head_bytes: int) -> None:
    labels = {"__name__": "m", "i": "0"}
    with opened(tmp_path, head_bytes=head_bytes) as store:
        append(store, labels, (0, 1.0), (1, 1.0), (1, 2.0), (3, 1.0))
        assert store.seal(NOW_MS + 3000) == 2
        append(store, labels, (0, 5.0), (2, 6.0))
        assert select(store) == {"0": [(0, 5.0), (1, 2.0), (2, 6.0), (3, 1.0)]}
        assert store.seal(NOW_MS + 4000) == 3
        expected = {"0": [(0, 5.0), (1, 2.0), (2, 6.0), (3, 1.0)]}
        assert select(store) == expected
        assert store.statistics().sealed_rows_total == 5
    with opened(tmp_path, head_bytes=head_bytes) as store:
        assert select(store) == expected


def test_finished_hours_are_sealed_without_being_asked(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock, maintenance_ms=10, seal_delay_ms=1000) as store:
        append(store, {"__name__": "m", "i": "0"}, (0, 1.0))
        assert store.statistics().sealed_rows_total == 0
        clock.now += 2 * HOUR_MS
        for _ in range(12_000):
            if store.statistics().sealed_rows_total == 1:
                break
            threading.Event().wait(0.01)
        assert store.statistics().sealed_rows_total == 1
        assert select(store) == {"0": [(0, 1.0)]}


def test_commits_go_on_while_hours_are_sealed(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        ids = store.resolve(series_of(1000))
        for second in range(200):
            store.append(
                Batch(series=ids, timestamps=np.full(1000, NOW_MS + second * 1000, np.int64), values=np.zeros(1000))
            )
        sealing = threading.Thread(target=store.seal, args=(NOW_MS + 10_000_000,))
        sealing.start()
        for second in range(200, 300):
            append(store, {"__name__": "m", "i": "0", "even": "yes"}, (second, 1.0))
        sealing.join()
        found = select(store)
        assert [value for _, value in found["0"]] == [0.0] * 200 + [1.0] * 100
        assert len(found) == 1000


def test_old_samples_and_series_are_deleted_and_pinned_windows_kept(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock, retention_ms=DAY_MS, head_bytes=1) as store:
        append(store, {"__name__": "m", "i": "old"}, (0, 1.0), (10, 1.0))
        append(store, {"__name__": "m", "i": "both"}, (5, 1.0), (86_400, 2.0))
        generation = store.generation()
        store.keep_pinned(lambda: [(NOW_MS + 4000, NOW_MS + 6000)])
        clock.now = NOW_MS + DAY_MS + 60_000
        # The store looks by itself, too, and may have been first.
        store.apply_retention()
        assert store.statistics().deleted_rows_total == 2
        assert select(store, end=90_000) == {"both": [(5, 1.0), (86_400, 2.0)]}
        assert store.generation() == generation
        store.keep_pinned(lambda: [])
        store.apply_retention()
        assert store.statistics().deleted_rows_total == 3
        assert select(store, end=90_000) == {"both": [(86_400, 2.0)]}
        assert store.label_values("i", [], 0, clock.now) == ["both"]
        assert store.generation() != generation
        assert store.statistics().series == 1
    with opened(tmp_path, clock) as store:
        assert store.statistics().series == 1
        assert select(store, end=90_000) == {"both": [(86_400, 2.0)]}


def test_a_clock_that_jumps_deletes_nothing_and_hides_nothing(tmp_path: Path) -> None:
    wall, passed = Clock(), Clock()
    steady = SteadyClock(wall, lambda: passed.now / 1_000)

    def after(seconds: int) -> None:
        wall.now += seconds * 1_000
        passed.now += seconds * 1_000

    # Nobody says what is pinned, so the store deletes nothing by itself.
    with opened(tmp_path, steady, retention_ms=15 * DAY_MS, maintenance_ms=3_600_000) as store:
        append(
            store, {"__name__": "m", "i": "0"}, *((second, float(second)) for second in range(-DAY_MS // 1_000, 0, 600))
        )
        for jump in (20, 400, -1):
            wall.now += jump * DAY_MS
            after(90)
            assert steady.span()[1] - steady.span()[0] == abs(jump) * DAY_MS
            assert store.statistics().clock_jump_seconds == jump * 86_400
            assert store.apply_retention(DAY_MS) == 0
            wall.now -= jump * DAY_MS
            after(90)
            assert store.statistics().clock_jump_seconds == 0
        assert store.whole_spans() == [(0, LATEST_MS)]
        # It has lasted: the new time is believed, and a day goes at a time.
        wall.now += 16 * DAY_MS
        after(90)
        assert steady.jump_ms
        after(900)
        assert steady.jump_ms == 0
        deleted = store.apply_retention(DAY_MS // 2)
        assert 70 <= deleted <= 73
        assert store.apply_retention(DAY_MS) == 144 - deleted
        # What had not come by then was not deleted.
        wall.now -= 16 * DAY_MS
        assert store.whole_spans()[-1][0] <= NOW_MS
        append(store, {"__name__": "m", "i": "0"}, (60, 1.0), (120, 2.0))
        assert len(select(store, end=200)["0"]) == 2
    # At a start the newest sample tells.
    passed.now = 5_000
    wall.now = NOW_MS + 20 * DAY_MS
    steady = SteadyClock(wall, lambda: passed.now / 1_000)
    with opened(tmp_path, steady, retention_ms=15 * DAY_MS) as store:
        assert steady() == NOW_MS + 120_000
        assert store.apply_retention(DAY_MS) == 0


def test_a_sample_for_a_series_that_was_just_removed_is_kept(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock, retention_ms=DAY_MS) as store:
        labels = {"__name__": "m", "i": "0"}
        append(store, labels, (0, 1.0))
        stale_id = store.resolve([labels])
        clock.now += 2 * DAY_MS
        store.apply_retention()
        assert store.statistics().series == 0
        store.append(Batch(series=stale_id, timestamps=np.array([clock.now], np.int64), values=np.array([7.0]))).result(
            timeout=120
        )
        assert select(store, end=3 * 86_400) == {"0": [(2 * 86_400, 7.0)]}


def test_the_head_stays_within_its_limit(tmp_path: Path) -> None:
    limit = 200_000
    with opened(tmp_path, head_bytes=limit) as store:
        ids = store.resolve(series_of(100))
        for second in range(500):
            store.append(
                Batch(
                    series=ids,
                    timestamps=np.full(100, NOW_MS + second * 1000, np.int64),
                    values=np.full(100, float(second)),
                )
            ).result(timeout=120)
            assert store.statistics().head_bytes <= limit
        assert store.statistics().head_complete_ms > NOW_MS + 300_000
        assert select(store)["7"] == [(second, float(second)) for second in range(500)]
        append(store, series_of(1)[0], (0, -1.0))
        assert select(store, end=1)["0"] == [(0, -1.0), (1, 1.0)]


def test_the_head_is_loaded_again_at_the_start(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        append(store, {"__name__": "m", "i": "0"}, *((second, float(second)) for second in range(0, 4000, 7)))
        store.seal(NOW_MS + 2_000_000)
    with opened(tmp_path) as store:
        for _ in range(12_000):
            if store.statistics().head_complete_ms == 0:
                break
            threading.Event().wait(0.01)
        assert store.statistics().head_complete_ms == 0
        assert len(select(store)["0"]) == len(range(0, 4000, 7))


def test_a_query_that_would_load_too_much_is_refused(tmp_path: Path) -> None:
    for head_bytes in (1, 1 << 20):
        with opened(tmp_path / str(head_bytes), query_samples=10, head_bytes=head_bytes) as store:
            append(store, {"__name__": "m", "i": "0"}, *((second, 0.0) for second in range(11)))
            assert len(select(store, end=9)["0"]) == 10
            with pytest.raises(QueryLimitError, match="LOADWATCH_QUERY_MEMORY_BYTES"):
                store.select([METRIC], 0, NOW_MS + 100_000)


def test_too_many_series_are_refused_by_the_name_of_the_setting(tmp_path: Path) -> None:
    with opened(tmp_path, series_limit=3) as store:
        store.resolve(series_of(3))
        with pytest.raises(SeriesLimitError, match="LOADWATCH_STORE_SERIES_LIMIT"):
            store.resolve(series_of(4))
        assert len(store.resolve(series_of(3))) == 3


def test_too_many_bytes_of_labels_are_refused_by_the_name_of_the_setting(tmp_path: Path) -> None:
    long = [{"__name__": "m", "i": f"{number}", "text": "ä" * 500} for number in range(3)]
    with opened(tmp_path, label_bytes=2_500) as store:
        store.resolve(long[:2])
        with pytest.raises(LabelBytesLimitError, match="LOADWATCH_STORE_SERIES_LIMIT"):
            store.resolve(long)
        assert len(store.resolve([*long[:2], {"__name__": "m"}])) == 3


def test_a_start_reads_labels_that_are_larger_than_the_memory_for_them(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.resolve(series_of(1))
    with duckdb.connect(str(tmp_path / "samples.duckdb")) as connection:
        connection.execute(
            "INSERT INTO series SELECT i, list_concat(['__name__', 'm' || i], flatten(list_transform(range(60),"
            " lambda k: ['l' || k, repeat('v', 4000)]))), NULL, NULL FROM range(1, 1001) t(i)"
        )
    with opened(tmp_path, database_bytes=64 << 20) as store:
        assert store.statistics().series == 1_000
        assert store.series([[METRIC]], 0, NOW_MS) == []


def test_a_full_queue_is_told(tmp_path: Path) -> None:
    with opened(tmp_path, queue_samples=100) as store:
        ids = store.resolve(series_of(1))
        batch = Batch(series=np.repeat(ids, 60), timestamps=np.arange(60) + NOW_MS, values=np.zeros(60))
        entered, leave = threading.Event(), threading.Event()

        def hold(_newest: int, _committed: int) -> None:
            entered.set()
            leave.wait(120)

        stop = store.on_commit(hold)
        first = store.append(batch)
        assert entered.wait(120)
        waiting = store.append(batch)
        with pytest.raises(StoreBusyError, match="are waiting for the disk"):
            store.append(batch)
        leave.set()
        stop()
        first.result(timeout=120)
        waiting.result(timeout=120)
        assert store.statistics().busy_rejections_total == 1


def test_listeners_hear_of_commits_until_they_stop(tmp_path: Path) -> None:
    clock = Clock()
    heard: list[tuple[int, int]] = []
    with opened(tmp_path, clock) as store:
        stop = store.on_commit(lambda newest, committed: heard.append((newest, committed)))
        append(store, {"__name__": "m", "i": "0"}, (1, 0.0))
        append(store, {"__name__": "m", "i": "0"}, (0, 0.0))
    stop()
    assert heard == [(NOW_MS + 1000, NOW_MS)] * 2


def test_listeners_hear_which_metrics_a_commit_touched(tmp_path: Path) -> None:
    heard: list[frozenset[str]] = []
    with opened(tmp_path) as store:
        stop = store.on_touch(heard.append)
        append(store, {"__name__": "m", "i": "0"}, (1, 0.0))
        append(store, {"__name__": "n", "i": "0"}, (1, 0.0))
    stop()
    assert heard == [{"m"}, {"n"}]


def test_a_listener_that_fails_harms_nobody(tmp_path: Path) -> None:
    def fail(_newest: int, _committed: int) -> None:
        raise ValueError("a listener's own mistake")

    with opened(tmp_path) as store:
        store.on_commit(fail)
        append(store, {"__name__": "m", "i": "0"}, (1, 0.0))
        append(store, {"__name__": "m", "i": "0"}, (2, 0.0))
        assert len(select(store)["0"]) == 2


def test_a_directory_serves_one_process(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib\n"
        "from loadwatch_backend.series.store.embedded.engine import open_embedded\n"
        "from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings\n"
        "open_embedded(EmbeddedSettings(data_directory=pathlib.Path(sys.argv[1])), lambda: 0)\n"
    )
    with opened(tmp_path):
        second = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
        )
    assert second.returncode != 0
    assert "is in use by another loadwatch server" in second.stderr
    with opened(tmp_path) as store:
        assert store.newest_ms() is None


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataDirectoryError, match="LOADWATCH_DATA"), opened(tmp_path / "file" / "data"):
        pass


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "samples.duckdb").write_text("not a database, but long enough to be looked at" * 100)
    with pytest.raises(DataDirectoryError, match=r"samples\.duckdb"), opened(tmp_path):
        pass
