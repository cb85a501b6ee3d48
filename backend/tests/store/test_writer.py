"""After errors that leave DuckDB useless until the file is opened again: nothing is lost, nothing is there twice."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from loadwatch_backend.series.store.embedded import database
from loadwatch_backend.series.store.embedded.damage import reason_of
from loadwatch_backend.series.store.embedded.database import Database
from loadwatch_backend.series.store.embedded.settings import DAY_MS
from loadwatch_backend.series.store.errors import StoreWriteError
from loadwatch_backend.series.store.port import Batch
from loadwatch_formats.backups import SERIES

from backend.tests.store.test_sealed import LATER_MS, METRIC, START_MS, Samples, everything, old_directory, opened, put

NOT_FOLDED = (
    "FATAL Error: Transaction COMMIT succeeded and is durable, but the autocheckpoint failed. Reopen the database"
    ' instance to recover. Could not write file "/data/samples.duckdb": No space left on device'
)
INVALIDATED = (
    "FATAL Error: Failed: database has been invalidated because of a previous fatal error. The database must be"
    f' restarted prior to being used again.\nOriginal error: "{NOT_FOLDED}"'
)


OWN = {"__name__": "loadwatch_series", "job": "loadwatch"}
ONE = np.ones(1)


def at(after_ms: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([START_MS + after_ms], np.int64)


def sample(number: int) -> Samples:
    return {(number, START_MS + number): number}


def once(monkeypatch: pytest.MonkeyPatch, name: str, text: str, *, first: bool) -> list[str]:
    """The next call of a method, or of a job, does what it does, if `first`, and fails; then it is itself again."""
    method = name if hasattr(Database, name) else "run"
    real: Callable[..., Any] = getattr(Database, method)
    told: list[str] = []

    def fails(self: Database, *arguments: Any, **options: Any) -> Any:
        if told or (method == "run" and arguments[0].__name__ != name):
            return real(self, *arguments, **options)
        told.append(name)
        if first:
            real(self, *arguments, **options)
        raise duckdb.FatalException(text)

    monkeypatch.setattr(Database, method, fails)
    return told


def reopenings(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One for each time that the database is opened again from now on."""
    found: list[None] = []
    reopen = Database.reopen

    def counted(self: Database) -> None:
        found.append(reopen(self))

    monkeypatch.setattr(Database, "reopen", counted)
    return found


def check(directory: Path, expected: Samples) -> None:
    with opened(directory) as store:
        assert everything(store) == expected
        names = [labels["i"] for labels in store.series([[METRIC]], 0, LATER_MS)]
        assert sorted(names) == sorted({str(number) for number, _ in expected})
        with store.database.reading() as cursor:
            rows = cursor.execute("SELECT id FROM series").fetchall()
        assert len(rows) == len(set(rows))


def test_a_commit_whose_log_could_not_be_folded_in_is_on_disk_and_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as store:
        once(monkeypatch, "commit", NOT_FOLDED, first=True)
        put(store, sample(1), numbers=2)
        put(store, sample(2), numbers=3)
        assert store.statistics().failed_commits_total == 0
    check(tmp_path, {**sample(1), **sample(2)})


def test_an_error_that_quotes_another_commits_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as store:
        once(monkeypatch, "commit", INVALIDATED, first=False)
        with pytest.raises(StoreWriteError, match="to disk: No space left on device; make room on the disk"):
            put(store, sample(1), numbers=2)
        put(store, sample(2), numbers=3)
    check(tmp_path, sample(2))


def test_series_of_a_commit_that_failed_and_is_there_are_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as store:
        once(monkeypatch, "commit", INVALIDATED, first=True)
        with pytest.raises(StoreWriteError):
            put(store, sample(1), numbers=2)
        put(store, sample(1), numbers=2)
    check(tmp_path, sample(1))


@pytest.mark.parametrize(("name", "first"), [("seal", True), ("pieces", False), ("checkpoint", True)])
def test_upkeep_opens_the_database_again_though_nobody_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, first: bool
) -> None:
    opened_again = reopenings(monkeypatch)
    with opened(tmp_path) as store:
        put(store, sample(1))
        once(monkeypatch, name, INVALIDATED, first=first)
        with pytest.raises(duckdb.FatalException):
            store.seal(LATER_MS)
        assert len(opened_again) == 1
        store.seal(LATER_MS)
        assert store.database.hot_rows()[0] == 0
        assert everything(store) == sample(1)
        assert len(opened_again) == 1


def test_the_database_is_opened_again_while_somebody_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened_again = reopenings(monkeypatch)
    # On a machine that is busy the reader takes longer.
    monkeypatch.setattr(database, "_CLOSE_SECONDS", 600.0)
    with opened(tmp_path) as store:
        put(store, sample(1))
        reading, done = threading.Event(), threading.Event()

        def read() -> None:
            with store.database.reading() as cursor:
                reading.set()
                cursor.execute(
                    "SELECT sum(a.range * b.range) FROM range(40000) a, range(15000) b WHERE a.range % 7 = b.range % 5"
                )
            done.set()

        reader = threading.Thread(target=read)
        reader.start()
        assert reading.wait(60)
        done.wait(0.05)
        store.writer.mend(duckdb.FatalException(INVALIDATED))
        assert len(opened_again) == 1
        assert done.wait(60)
        reader.join()
        put(store, sample(2))
        assert store.statistics().failed_commits_total == 0
    check(tmp_path, {**sample(1), **sample(2)})


def test_what_was_converted_when_it_failed_is_not_looked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of the first format is gone once the database is opened again."""
    old_directory(tmp_path, {(number, START_MS + number): number for number in range(5)}, {})
    told = once(monkeypatch, "seal", INVALIDATED, first=True)
    with opened(tmp_path) as store:
        while not told:
            # Converting is the first that the store does by itself.
            threading.Event().wait(0.005)
        store.compact()
        assert len(everything(store)) == 5


def test_after_a_start_the_newest_sample_is_none_of_the_future(tmp_path: Path) -> None:
    """As when the server's own clock was ahead for a while: pages ask up to the newest sample."""
    now_ms = START_MS + 60_000
    with opened(tmp_path, now_ms) as store:
        put(store, {**sample(1), (2, now_ms + 30 * DAY_MS): 2})
        # What a sender may send was looked at before.
        assert store.newest_ms() == now_ms + 30 * DAY_MS
    with opened(tmp_path, now_ms) as store:
        assert store.newest_ms() == now_ms
        put(store, {(1, now_ms + 500): 3})
        assert store.newest_ms() == now_ms + 500
        assert len(everything(store, 0, now_ms + 31 * DAY_MS)) == 3


def test_after_a_start_the_newest_sample_is_of_a_target_and_none_of_the_servers_own(tmp_path: Path) -> None:
    """Whoever sends nothing any more must not seem fresh because the server was restarted."""
    with opened(tmp_path) as store:
        put(store, {(0, START_MS): 1})
        up = Batch(series=store.resolve([{"__name__": "up", "job": "host"}]), timestamps=at(0), values=ONE)
        store.append(up).result(120)
        store.append(Batch(series=store.resolve([OWN]), timestamps=at(60_000), values=ONE, own=True)).result(120)
        assert store.newest_ms() == START_MS
    with opened(tmp_path) as store:
        assert store.newest_ms() == START_MS
        store.compact()
    with opened(tmp_path) as store:
        assert store.newest_ms() == START_MS
        put(store, {(0, START_MS + 90_000): 1})
        assert store.newest_ms() == START_MS + 90_000


def test_a_compaction_without_room_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as store:
        put(store, sample(1))
        once(monkeypatch, "seal", NOT_FOLDED, first=True)
        with pytest.raises(
            StoreWriteError, match="could not be sealed: No space left on device; make room on the disk"
        ):
            store.compact()
        store.compact()


def test_series_that_an_earlier_version_wrote_twice_are_one(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for number in range(4):
            put(store, sample(number), numbers=4)
    with duckdb.connect(str(tmp_path / "samples.duckdb")) as connection:
        connection.execute("INSERT INTO series SELECT * FROM series WHERE id < (SELECT max(id) FROM series)")
    with opened(tmp_path) as store:
        assert everything(store) == {key: bits for number in range(4) for key, bits in sample(number).items()}
        assert len(store.select([METRIC], 0, LATER_MS).labels) == store.statistics().series == 4
        assert SERIES in dict(store.copy_samples(tmp_path))
    with duckdb.connect() as connection:
        assert connection.execute(f"SELECT count(*) FROM read_parquet('{tmp_path}/{SERIES}')").fetchone() == (4,)


def test_a_reason_has_no_path_and_no_quotes() -> None:
    assert reason_of(duckdb.FatalException(INVALIDATED)) == "No space left on device; make room on the disk"
    assert reason_of(duckdb.CatalogException("Catalog Error: no table\n\nLINE 1: SELECT")) == "no table"
    assert reason_of(duckdb.Error("Out of Memory Error: failed to allocate")) == "failed to allocate"


def test_who_waits_no_longer_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        ids = store.resolve([{"__name__": "m"}])

        def append(time_ms: int) -> "Future[None]":
            return store.append(Batch(series=ids, timestamps=np.array([time_ms], np.int64), values=np.ones(1)))

        append(START_MS).cancel()
        append(START_MS + 1).result(60)
        append(START_MS + 2).result(60)
        assert store.select([METRIC], START_MS, LATER_MS).timestamps.tolist()[-2:] == [START_MS + 1, START_MS + 2]
