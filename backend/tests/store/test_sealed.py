"""Sealed samples: what comes late, retention with pins, old data directories, room, limits, damage."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pytest
from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.series.store.embedded import sealed, upkeep
from loadwatch_backend.series.store.embedded.arrow import fetch_columns
from loadwatch_backend.series.store.embedded.copies import take_in
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS, EmbeddedSettings
from loadwatch_backend.series.store.errors import QueryLimitError, StoreReadError
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Batch, Matcher, MatchOperator
from loadwatch_formats.backups import HOUR, METADATA, SERIES, WHOLE

START_MS = 1_750_000_000_000 // HOUR_MS * HOUR_MS
LATER_MS = START_MS + 30 * DAY_MS
METRIC = Matcher("__name__", MatchOperator.EQUAL, "m")
Samples = dict[tuple[int, int], int]
"""Bits by number of the series and time."""
OLD_SCHEMA = """
CREATE TABLE format (version INTEGER NOT NULL);
CREATE TABLE series (id UINTEGER NOT NULL, labels VARCHAR[] NOT NULL, first_ms BIGINT, last_ms BIGINT);
CREATE TABLE metadata (metric VARCHAR PRIMARY KEY, type VARCHAR, help VARCHAR, unit VARCHAR);
CREATE TABLE hot (series_id UINTEGER NOT NULL, ts BIGINT NOT NULL, value DOUBLE NOT NULL);
CREATE TABLE sorted (series_id UINTEGER NOT NULL, ts BIGINT NOT NULL, value DOUBLE NOT NULL);
INSERT INTO format VALUES (1);
"""
"""As the version before segments made it."""


@contextmanager
def opened(directory: Path, now_ms: int = LATER_MS, **given: int) -> Generator[EmbeddedStore]:
    # Hardly any head, so that the disk answers; nothing is sealed but by the test, unless it says otherwise.
    settings = {"maintenance_ms": HOUR_MS, "head_bytes": 1, "seal_delay_ms": 60 * DAY_MS, **given}
    store = open_embedded(EmbeddedSettings(data_directory=directory, **settings), lambda: now_ms)
    try:
        yield store
    finally:
        store.close()


def put(store: EmbeddedStore, samples: Samples, numbers: int = 5) -> None:
    ids = store.resolve([{"__name__": "m", "i": str(number)} for number in range(numbers)])
    store.append(
        Batch(
            series=np.array([ids[number] for number, _ in samples], np.uint32),
            timestamps=np.array([time for _, time in samples], np.int64),
            values=np.array(list(samples.values()), np.uint64).view(np.float64),
        )
    ).result(120)


def everything(store: EmbeddedStore, start_ms: int = 0, end_ms: int = LATER_MS) -> Samples:
    found = store.select([METRIC], start_ms, end_ms)
    samples: Samples = {}
    for place, labels in enumerate(found.labels):
        part = slice(int(found.offsets[place]), int(found.offsets[place + 1]))
        times = found.timestamps[part].tolist()
        assert times == sorted(set(times))
        bits = found.values[part].view(np.uint64).tolist()
        samples.update({(int(labels["i"]), time): one for time, one in zip(times, bits, strict=True)})
    return samples


def rows_of(store: EmbeddedStore) -> list[tuple[int, int, int, int]]:
    """Hour after the first, first and last second of it, samples."""
    with store.database.reading() as cursor:
        found = cursor.execute(
            "SELECT hour, first_ms, last_ms, samples FROM segments ORDER BY series_id, first_ms"
        ).fetchall()
    zero = START_MS // HOUR_MS
    return [
        (hour - zero, (first - START_MS) % HOUR_MS // 1000, (last - START_MS) % HOUR_MS // 1000, samples)
        for hour, first, last, samples in found
    ]


def some(chance: np.random.Generator, count: int, hours: int) -> Samples:
    numbers = chance.integers(0, 5, count).tolist()
    times = (START_MS + chance.integers(0, hours * 3_600, count) * 1_000).tolist()
    kinds = [
        np.round(chance.normal(50, 10, count), 2),
        chance.random(count),
        np.full(count, np.array([STALE_NAN_BITS], np.uint64).view(np.float64)[0]),
    ]
    values = np.choose(chance.choice([0, 0, 0, 1, 2], count), kinds)
    bits = values.view(np.uint64).tolist()
    # A dictionary keeps the last of a repeated time, and so must the store.
    return {(number, time): one for number, time, one in zip(numbers, times, bits, strict=True)}


@pytest.mark.parametrize("seed", range(6))
def test_late_and_repeated_samples_by_chance(tmp_path: Path, seed: int) -> None:
    chance = np.random.default_rng(seed)
    model: Samples = {}
    with opened(tmp_path) as store:
        for _ in range(8):
            part = some(chance, int(chance.integers(1, 900)), 4)
            put(store, part)
            model.update(part)
            if chance.random() < 0.7:
                store.seal(START_MS + int(chance.integers(0, 5)) * HOUR_MS)
        assert everything(store) == model
        start, end = START_MS + 1_234_000, START_MS + 2 * HOUR_MS + 999
        assert everything(store, start, end) == {key: one for key, one in model.items() if start <= key[1] <= end}
    with opened(tmp_path) as store:
        assert everything(store) == model
    with opened(tmp_path, head_bytes=1 << 26) as store:
        assert everything(store) == model


def test_parts_of_an_hour_are_put_behind_each_other_and_small_ones_joined(tmp_path: Path) -> None:
    def seconds(first: int, count: int) -> Samples:
        return {(0, START_MS + 1_000 * second): second for second in range(first, first + count)}

    with opened(tmp_path) as store:
        for first, count in ((0, 300), (300, 100), (400, 200), (600, 10)):
            put(store, seconds(first, count))
            store.seal(LATER_MS)
        assert rows_of(store) == [(0, 0, 299, 300), (0, 300, 599, 300), (0, 600, 609, 10)]
        put(store, {(0, START_MS + 5_500): 7})
        store.seal(LATER_MS)
        assert rows_of(store) == [(0, 0, 609, 611)]
        assert everything(store) == seconds(0, 610) | {(0, START_MS + 5_500): 7}


def test_pieces_are_bounded_by_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed, "PIECE_ROWS", 100)
    model = some(np.random.default_rng(1), 1_000, 6)
    with opened(tmp_path) as store:
        put(store, model)
        pieces = store.database.run(sealed.pieces, "hot", LATER_MS)
        assert len(pieces) > 6
        assert store.seal(LATER_MS) == len(model)
        assert everything(store) == model


@pytest.mark.parametrize("seed", range(4))
def test_retention_keeps_what_is_pinned_and_hours_that_are_not_over(tmp_path: Path, seed: int) -> None:
    chance = np.random.default_rng(seed)
    model = some(chance, 2_000, 6)
    cutoff = START_MS + 4 * HOUR_MS + 1_800_000
    pins = [
        (START_MS + int(first) * 1_000, START_MS + int(last) * 1_000)
        for first, last in ((600, 900), (800, 1_200), (3_000, 4_200), (7_100, 7_300), (9_000, 8_000))
    ]
    with opened(tmp_path, cutoff + DAY_MS, retention_ms=DAY_MS) as store:
        put(store, model)
        store.seal(LATER_MS)
        store.keep_pinned(lambda: pins)
        # The store looks by itself, too, and may have been first.
        store.apply_retention()
        pinned = {key for key in model if any(start <= key[1] <= end for start, end in pins)}
        left = everything(store)
        sealed_hour = START_MS + 4 * HOUR_MS
        last: dict[int, int] = {}
        for number, time in model:
            if sealed_hour <= time < sealed_hour + HOUR_MS:
                last[number] = max(last.get(number, 0), time)
        kept = {
            key: bits
            for key, bits in model.items()
            if key in pinned or key[1] >= cutoff or (key[1] >= sealed_hour and last[key[0]] >= cutoff)
        }
        assert left == kept
        assert store.statistics().deleted_rows_total == len(model) - len(left)
        rows = rows_of(store)
        # A second look finds nothing to do, and writes nothing again.
        assert store.apply_retention() == 0
        assert rows_of(store) == rows
        store.keep_pinned(lambda: [])
        store.apply_retention()
        assert everything(store) == {key: bits for key, bits in kept.items() if key[1] >= sealed_hour}


def old_directory(directory: Path, model: Samples, hot: Samples) -> None:
    """A data directory as the version before wrote it."""
    directory.mkdir(exist_ok=True)
    with duckdb.connect(str(directory / "samples.duckdb")) as connection:
        connection.execute(OLD_SCHEMA)
        for number in range(5):
            times = [time for one, time in (*model, *hot) if one == number]
            connection.execute(
                "INSERT INTO series VALUES (?, ?, ?, ?)",
                [number, ["__name__", "m", "i", str(number)], min(times), max(times)],
            )
        for table, samples in (("sorted", dict(sorted(model.items()))), ("hot", hot)):
            for (number, time), bits in samples.items():
                value = float(np.array([bits], np.uint64).view(np.float64)[0])
                connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", [number, time, value])


def plain(chance: np.random.Generator, count: int, hours: int) -> Samples:
    """Without NaN, whose bits the client of DuckDB does not keep when it inserts them one by one."""
    return {key: bits for key, bits in some(chance, count, hours).items() if bits != STALE_NAN_BITS}


def test_an_old_directory_is_read_written_and_converted(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    model, hot, late = (plain(chance, count, 6) for count in (600, 100, 200))
    old_directory(tmp_path, model, hot)
    model |= hot
    with opened(tmp_path, maintenance_ms=5) as store:
        assert everything(store) == model
        put(store, late)
        model |= late
        assert everything(store) == model
        store.seal(LATER_MS)
        assert everything(store) == model
        for _ in range(12_000):
            if not store.database.pieces_to_convert():
                break
            threading.Event().wait(0.01)
        assert not store.database.pieces_to_convert()
        assert everything(store) == model
    with opened(tmp_path) as store:
        assert everything(store) == model
        with store.database.reading() as cursor:
            assert cursor.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall() == [
                (name,) for name in ("format", "hot", "metadata", "rollups", "segments", "series", "unrolled", "whole")
            ]
            assert cursor.execute("SELECT version FROM format").fetchall() == [(3,)]


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path):
        pass
    with duckdb.connect(str(tmp_path / "samples.duckdb")) as connection:
        connection.execute("UPDATE format SET version = 4")
    with pytest.raises(DataDirectoryError, match="has format 4 and this server reads format 3"), opened(tmp_path):
        pass


def test_room_goes_back_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "_DEAD_BYTES", 0)
    monkeypatch.setattr(upkeep, "_MOVE_PAUSE_S", 0)
    monkeypatch.setattr(sealed, "MOVED_BYTES", 1 << 17)
    bits = np.random.default_rng(9).random(100_000).view(np.uint64).tolist()
    model = {(place % 5, START_MS + 1_000 * (place // 5)): one for place, one in enumerate(bits)}
    with opened(tmp_path) as store:
        for _ in range(3):
            put(store, model)
        store.writer.queue.run(store.database.checkpoint).result(120)
        store.seal(LATER_MS)
        before = store.statistics().database_bytes
        with store.keeping_order():
            store.upkeep.give_back_room()
        # Not to the last block: other tables have theirs where they were last written.
        assert store.statistics().database_bytes < before
        assert everything(store) == model
    with opened(tmp_path) as store:
        assert everything(store) == model


def test_too_much_is_refused_before_it_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path, query_samples=100) as store:
        put(store, {(0, START_MS + 1_000 * second): 0 for second in range(101)})
        store.seal(LATER_MS)
        assert len(everything(store, START_MS, START_MS + 99_000)) == 100

        def decode(*_: object) -> None:
            raise AssertionError("it was loaded")

        monkeypatch.setattr(sealed, "decode", decode)
        with pytest.raises(QueryLimitError, match="LOADWATCH_QUERY_MEMORY_BYTES"):
            everything(store)


def test_damage_is_said_and_the_rest_can_be_read(tmp_path: Path) -> None:
    model = {(number, START_MS + 1_000 * second): second for second in range(50) for number in range(2)}
    with opened(tmp_path) as store:
        put(store, model)
        store.seal(LATER_MS)
    with duckdb.connect(str(tmp_path / "samples.duckdb")) as connection:
        connection.execute(
            "UPDATE segments SET data = 'no segment'::BLOB WHERE series_id = (SELECT min(id) FROM series)"
        )
    with opened(tmp_path, head_bytes=1 << 26) as store:
        with pytest.raises(StoreReadError, match="cannot be read from the disk"):
            everything(store)
        found = store.select([METRIC, Matcher("i", MatchOperator.EQUAL, "1")], 0, LATER_MS)
        assert len(found.timestamps) == 50
        put(store, {(0, START_MS + HOUR_MS): 1})


def test_copies_hold_what_is_there(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    model, late = some(chance, 500, 3), some(chance, 50, 3)
    folders = [tmp_path / name for name in ("arriving", "sealed", "late")]
    for folder in folders:
        folder.mkdir()
    with opened(tmp_path / "data") as store:
        put(store, model)
        arriving = list(store.copy_samples(folders[0]))
        store.seal(LATER_MS)
        assert list(store.copy_samples(folders[1])) == arriving
        put(store, late)
        copied = dict(store.copy_samples(folders[2]))
    hours = [name for name in copied if HOUR.fullmatch(name)]
    assert len(hours) == 3
    assert [*copied][3:] == [WHOLE, SERIES, METADATA]
    assert sum(copied.values()) == len(model | late) > sum(dict(arriving).values()) == len(model)
    for name in hours:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    found: Samples = {}
    with duckdb.connect() as connection:
        for hour in hours:
            columns = fetch_columns(
                connection.execute(f"SELECT series_id, ts, value FROM read_parquet('{folders[2] / hour}')")
            )
            numbers, times = (columns.series - columns.series.min()).tolist(), columns.timestamps.tolist()
            found.update(zip(zip(numbers, times, strict=True), columns.values.view(np.uint64).tolist(), strict=True))
    assert found == model | late
    (tmp_path / "new").mkdir()
    assert take_in(tmp_path / "new", folders[2], list(copied)) == (len(found), 0)
    with opened(tmp_path / "new") as store:
        assert everything(store) == found
        assert store.newest_ms() == max(time for _, time in found)


def test_a_minute_of_many_series_does_not_bring_their_hours_into_memory(tmp_path: Path) -> None:
    model = {(number, START_MS + 1_000 * second): second for number in range(5) for second in range(7_200)}
    with opened(tmp_path) as store:
        put(store, model)
        store.seal(LATER_MS)
        start_ms, end_ms = START_MS + HOUR_MS // 2, START_MS + HOUR_MS // 2 + 60_000
        with store.database.reading() as cursor:
            narrow = sealed.read_rows(cursor, "true", start_ms, end_ms, Cancellation())
            wide = sealed.read_rows(cursor, "true", START_MS + 600_000, START_MS + 6_600_000, Cancellation())
        assert len(narrow.series) <= 2 * 5 * 61
        assert len(wide.series) <= 2 * 5 * 6_001
        assert everything(store, start_ms, end_ms) == {
            key: bits for key, bits in model.items() if start_ms <= key[1] <= end_ms
        }
