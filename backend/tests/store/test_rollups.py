"""One-minute rollups: what they are, that late samples and retention change them as they should, old directories."""

import threading
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path

import duckdb
import numpy as np
import pytest
from loadwatch_backend.core.cancellation import Cancellation
from loadwatch_backend.series.store.embedded import rollups, sealed
from loadwatch_backend.series.store.embedded.block import LATEST_MS, build_block
from loadwatch_backend.series.store.embedded.copies import take_in
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore
from loadwatch_backend.series.store.embedded.rollups import Minutes, of_block, pack, roll_up, unpack
from loadwatch_backend.series.store.embedded.settings import DAY_MS, HOUR_MS
from loadwatch_backend.series.store.embedded.upkeep import Upkeep
from loadwatch_backend.series.store.levels import MINUTE_MS, Level, MinuteColumns
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Selection
from loadwatch_formats.backups import DAY, WHOLE

from backend.tests.store.prometheus.engines import wait_for
from backend.tests.store.test_sealed import LATER_MS, METRIC, START_MS, Samples, everything, opened, put, some

Minute = tuple[float, ...]


@dataclass
class Anything:
    """A reading without bounds."""

    most_samples: int = 1 << 40
    cancellation: Cancellation = field(default_factory=Cancellation)

    def reserve(self, samples: int) -> None:
        assert samples <= self.most_samples


def minutes_of(samples: Samples) -> dict[tuple[int, int], Minute]:
    """By number and end: count, times and values of the first and the last sample, sum, extremes, resets."""
    parts: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for (number, time), bits in sorted(samples.items()):
        if bits != STALE_NAN_BITS:
            value = float(np.array([bits], np.uint64).view(np.float64)[0])
            parts.setdefault((number, -(-time // MINUTE_MS) * MINUTE_MS), []).append((time, value))
    found: dict[tuple[int, int], Minute] = {}
    for key, rows in parts.items():
        values = [value for _, value in rows]
        falls = [before for before, after in pairwise(values) if after < before]
        first, last = rows[0], rows[-1]
        found[key] = (len(rows), *first, *last, sum(values), min(values), max(values), sum(falls))
    return found


def read_minutes(store: EmbeddedStore, start_ms: int = 0, end_ms: int = LATER_MS) -> dict[tuple[int, int], Minute]:
    """The same, of the store; the two parts of an hour's last minute put together."""
    found = store.select([METRIC], start_ms, end_ms, Anything(), Level.MINUTES)
    rest = found.minutes
    if rest is None:
        return {}
    result: dict[tuple[int, int], Minute] = {}
    for place, labels in enumerate(found.labels):
        for row in range(int(found.offsets[place]), int(found.offsets[place + 1])):
            key = (int(labels["i"]), int(found.timestamps[row]))
            now = (
                int(rest.counts[row]),
                int(rest.first_ms[row]),
                float(rest.first[row]),
                int(rest.last_ms[row]),
                float(found.values[row]),
                *(float(column[row]) for column in (rest.sums, rest.least, rest.greatest, rest.resets)),
            )
            if key in result:
                one = result[key]
                fall = one[4] if now[2] < one[4] else 0.0
                now = (
                    one[0] + now[0],
                    *(one[1:3]),
                    *(now[3:5]),
                    one[5] + now[5],
                    min(one[6], now[6]),
                    max(one[7], now[7]),
                    one[8] + now[8] + fall,
                )
            result[key] = now
    return result


def rollups_of(store: EmbeddedStore) -> tuple[Minutes, Minutes]:
    """What the table of rollups has, and what it should have by the segments; hours without rollups left aside."""
    with store.database.reading() as cursor:
        unrolled = rollups.unrolled_hours(cursor)
        has = rollups.read(cursor, "true", 0, LATEST_MS, Cancellation())
        columns = sealed.read(cursor, "true", 0, LATEST_MS, Cancellation())
    if not len(columns.series):
        return has, roll_up(columns.series, columns.timestamps.view(np.uint64), columns.values)
    should = of_block(build_block(columns.series, columns.timestamps, columns.values))
    first, second = (one.keep(~np.isin(one.last.timestamps // HOUR_MS, unrolled)) for one in (has, should))
    return first, second


def assert_same(one: Minutes, other: Minutes) -> None:
    for name in ("series", "timestamps"):
        assert getattr(one.last, name).tolist() == getattr(other.last, name).tolist()
    assert one.last.values.view(np.uint64).tolist() == other.last.values.view(np.uint64).tolist()
    for name in (column.name for column in fields(MinuteColumns)):
        assert np.array_equal(getattr(one.rest, name), getattr(other.rest, name), equal_nan=True), name


def close(one: dict[tuple[int, int], Minute], other: dict[tuple[int, int], Minute]) -> bool:
    return one.keys() == other.keys() and all(np.allclose(one[key], other[key], rtol=1e-12, atol=0) for key in one)


@pytest.mark.parametrize("seed", range(4))
def test_rows_come_back_bit_for_bit(seed: int) -> None:
    chance = np.random.default_rng(seed)
    count = 6_000
    series = chance.integers(0, 9, count).astype(np.uint32)
    times = START_MS + chance.integers(0, 60 * HOUR_MS, count)
    kinds = (np.round(chance.normal(0, 50, count), 1), np.arange(count) * 3.0, chance.random(count))
    values = kinds[seed % 3].astype(np.float64)
    strange = chance.choice([0, 1, 2, 3, 4], count, p=[0.9, 0.03, 0.03, 0.02, 0.02])
    for number, value in enumerate((np.nan, np.inf, -0.0), start=1):
        values[strange == number] = value
    values.view(np.uint64)[strange == 4] = STALE_NAN_BITS
    minutes = of_block(build_block(series, times, values))
    rows = pack(minutes)
    back = unpack(
        rows.series_id.tolist(), rows.samples.tolist(), rows.minutes.tolist(), list(rows.data), list(rows.rest)
    )
    assert_same(back, minutes)
    assert (rows.first_ms <= rows.last_ms).all()
    assert int(minutes.rest.counts.sum()) == int((values.view(np.uint64) != STALE_NAN_BITS).sum())


def test_a_counter_needs_few_columns() -> None:
    times = START_MS + np.arange(1, 3_600) * 1_000
    one = np.zeros(len(times), np.uint32)
    noise = np.round(np.random.default_rng(1).normal(50, 5, len(times)), 2).astype(np.float64)
    sizes: list[int] = []
    for values in (np.arange(len(times), dtype=np.float64), noise):
        rows = pack(of_block(build_block(one, times, values)))
        sizes.append(sum(map(len, rows.data)) + sum(map(len, rows.rest)))
    assert sizes[0] < 300
    assert sizes[1] < 1_200


@pytest.mark.parametrize("seed", range(6))
def test_late_and_repeated_samples_by_chance(tmp_path: Path, seed: int) -> None:
    chance = np.random.default_rng(seed)
    model: Samples = {}
    with opened(tmp_path, LATER_MS) as store:
        for _ in range(8):
            part = some(chance, int(chance.integers(1, 900)), 30)
            put(store, part)
            model.update(part)
            if chance.random() < 0.7:
                store.seal(START_MS + int(chance.integers(0, 31)) * HOUR_MS)
            if chance.random() < 0.4:
                store.upkeep.joined_day = None
                store.upkeep.join_days(LATER_MS)
            assert_same(*rollups_of(store))
        assert close(read_minutes(store), minutes_of(model))
        start, end = START_MS + 20 * MINUTE_MS + 1, START_MS + 25 * HOUR_MS
        inside = {key: one for key, one in model.items() if start <= key[1] <= end}
        assert close(read_minutes(store, start, end), minutes_of(inside))
        thin = store.select([METRIC], 0, LATER_MS, Anything(), Level.LAST)
        assert newest_by_minute(thin) == newest_by_minute(store.select([METRIC], 0, LATER_MS))
    with opened(tmp_path, head_bytes=1 << 26) as store:
        assert close(read_minutes(store), minutes_of(model))


def newest_by_minute(found: Selection) -> dict[tuple[str, int], int | tuple[int, int]]:
    """Bits and time of the last sample of each minute; of a marker the bits alone."""
    result: dict[tuple[str, int], int | tuple[int, int]] = {}
    for place, labels in enumerate(found.labels):
        for row in range(int(found.offsets[place]), int(found.offsets[place + 1])):
            time, bits = int(found.timestamps[row]), int(found.values[row : row + 1].view(np.uint64)[0])
            result[labels["i"], -(-time // MINUTE_MS)] = bits if bits == STALE_NAN_BITS else (bits, time)
    return result


def test_days_that_are_over_have_one_row(tmp_path: Path) -> None:
    model = some(np.random.default_rng(4), 3_000, 60)
    with opened(tmp_path) as store:
        for hour in range(61):
            put(store, {key: bits for key, bits in model.items() if (key[1] - START_MS) // HOUR_MS == hour})
            store.seal(LATER_MS)
        store.upkeep.join_days(START_MS + 60 * HOUR_MS)
        with store.database.reading() as cursor:
            counts = dict(cursor.execute("SELECT day, count(*) FROM rollups GROUP BY day").fetchall())
        today = (START_MS + 60 * HOUR_MS) // DAY_MS
        assert {count for day, count in counts.items() if day < today} == {5}
        assert_same(*rollups_of(store))
        # A late sample in the middle of a day: that day's row is written again.
        late = {(3, START_MS + 30 * HOUR_MS + 61_003): 7}
        put(store, late)
        store.seal(LATER_MS)
        assert_same(*rollups_of(store))
        assert close(read_minutes(store), minutes_of(model | late))


def test_days_of_an_import_are_joined_with_it(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        # After the maintenance of its start.
        wait_for("days were looked at", lambda: store.upkeep.joined_day is not None)
        store.upkeep.join_days(START_MS + 60 * HOUR_MS)
        for hour in range(0, 18, 3):
            put(store, {(1, START_MS + hour * HOUR_MS + 60_000 * minute): minute for minute in range(1, 60)})
            store.seal(LATER_MS)
        # Not a day later.
        store.upkeep.join_days(START_MS + 60 * HOUR_MS)
        with store.database.reading() as cursor:
            days = cursor.execute("SELECT day FROM rollups").fetchall()
        assert len(days) == len(set(days))
        assert_same(*rollups_of(store))


def test_what_a_rate_needs_is_what_all_columns_say(tmp_path: Path) -> None:
    model = some(np.random.default_rng(7), 3_000, 60)
    with opened(tmp_path) as store:
        put(store, model)
        store.seal(LATER_MS)
        whole = store.select([METRIC], 0, LATER_MS, Anything(), Level.MINUTES)
        ends = store.select([METRIC], 0, LATER_MS, Anything(), Level.ENDS)
    assert whole.minutes is not None
    assert ends.minutes is not None
    assert np.array_equal(whole.timestamps, ends.timestamps)
    assert np.array_equal(whole.values, ends.values, equal_nan=True)
    for name in ("counts", "first_ms", "last_ms", "first", "resets"):
        assert np.array_equal(getattr(whole.minutes, name), getattr(ends.minutes, name), equal_nan=True), name
    assert np.isnan(ends.minutes.sums).all()


def test_retention_of_both_levels(tmp_path: Path) -> None:
    model = {key: bits for key, bits in some(np.random.default_rng(2), 4_000, 100).items() if bits != STALE_NAN_BITS}
    now = START_MS + 100 * HOUR_MS
    pin = (START_MS + 10 * HOUR_MS + 90_000, START_MS + 11 * HOUR_MS + 40_000)
    with opened(tmp_path, now, retention_ms=DAY_MS, rollup_retention_ms=3 * DAY_MS) as store:
        put(store, model)
        store.seal(LATER_MS)
        assert store.whole_spans() == [(0, LATEST_MS)]
        store.keep_pinned(lambda: [pin])
        store.apply_retention()
        assert store.whole_spans() == [pin, (now - DAY_MS, LATEST_MS)]
        left = read_minutes(store)
        wanted = minutes_of(model)
        # Rows of what was sealed at once go when all of them are old.
        assert min(end for _, end in left) < now - 3 * DAY_MS + DAY_MS
        recent = {key: one for key, one in wanted.items() if key[1] > now - 3 * DAY_MS}
        assert close({key: left[key] for key in recent}, recent)
        raw = everything(store)
        assert {time for _, time in raw if time < now - DAY_MS - HOUR_MS} == {
            time for _, time in model if pin[0] <= time <= pin[1]
        }
        # What is no longer pinned goes, and is no longer whole; what is pinned too late is not.
        store.keep_pinned(lambda: [(START_MS, START_MS + 20 * HOUR_MS)])
        store.apply_retention()
        assert store.whole_spans() == [pin, (now - DAY_MS, LATEST_MS)]
        store.keep_pinned(lambda: [])
        store.apply_retention()
        assert store.whole_spans() == [(now - DAY_MS, LATEST_MS)]
    with opened(tmp_path, now + 200 * DAY_MS, retention_ms=DAY_MS, rollup_retention_ms=3 * DAY_MS) as store:
        store.keep_pinned(lambda: [])
        store.apply_retention()
        assert read_minutes(store) == {}
        assert store.series([[METRIC]], 0, LATER_MS) == []


def nothing_to_do(_upkeep: Upkeep) -> None:
    """In place of `Upkeep.roll_up`."""


def format_2(directory: Path) -> None:
    """As the version before rollups left it."""
    with duckdb.connect(str(directory / "samples.duckdb")) as connection:
        for name in ("rollups", "unrolled", "whole"):
            connection.execute(f"DROP TABLE {name}")
        connection.execute("UPDATE format SET version = 2")


def test_series_that_ended_longest_ago_make_room_for_new_ones(tmp_path: Path) -> None:
    """Rollups are kept for 400 days: with churn their series alone would fill the limit."""
    settings = {"series_limit": 10, "retention_ms": DAY_MS}
    first_ms = LATER_MS - 20 * DAY_MS
    one = int(np.array(1.0).view(np.uint64))
    with opened(tmp_path, **settings) as store:
        # The lower its number, the later a series ended.
        put(store, {(number, first_ms - number * HOUR_MS): one for number in range(9)}, numbers=9)
        store.seal(LATER_MS)
        assert len({number for number, _ in read_minutes(store)}) == 9
        store.apply_retention()
        assert store.statistics().series == 8
        assert sorted({number for number, _ in read_minutes(store)}) == list(range(8))
        store.apply_retention()
        assert store.statistics().series == 8, "there is room now"
    with opened(tmp_path, **settings) as store:
        assert sorted({number for number, _ in read_minutes(store)}) == list(range(8))
        put(store, {(8, LATER_MS): one}, numbers=9)
        assert store.statistics().series == 9


def test_an_old_directory_gets_its_rollups_while_it_is_read_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = np.random.default_rng(3)
    model, late = some(chance, 900, 40), some(chance, 300, 40)
    with opened(tmp_path) as store:
        put(store, model)
        store.seal(LATER_MS)
    format_2(tmp_path)
    before = (tmp_path / "samples.duckdb").read_bytes()
    with monkeypatch.context() as patch, opened(tmp_path) as store:
        assert (tmp_path / "samples.duckdb.before-upgrade").read_bytes() == before
        patch.setattr(Upkeep, "roll_up", nothing_to_do)
        # Nothing is rolled up yet, and the same is told.
        hours = store.database.run(rollups.unrolled_hours)
        assert len(hours) == 40
        assert close(read_minutes(store), minutes_of(model))
        for hour in hours[:15]:
            store.database.run(sealed.roll_up, hour)
        put(store, late)
        store.seal(LATER_MS)
        model |= late
        assert close(read_minutes(store), minutes_of(model))
    with opened(tmp_path, maintenance_ms=5) as store:
        # Cut off in between, and begun again.
        for _ in range(12_000):
            if not store.database.run(rollups.unrolled_hours):
                break
            threading.Event().wait(0.01)
        assert not store.database.run(rollups.unrolled_hours)
        assert_same(*rollups_of(store))
        assert close(read_minutes(store), minutes_of(model))


def test_retention_waits_for_rollups_of_an_earlier_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = some(np.random.default_rng(6), 200, 2)
    with opened(tmp_path) as store:
        put(store, model)
        store.seal(LATER_MS)
    format_2(tmp_path)
    monkeypatch.setattr(Upkeep, "roll_up", nothing_to_do)
    with opened(tmp_path, retention_ms=DAY_MS) as store:
        store.keep_pinned(lambda: [])
        store.apply_retention()
        assert everything(store) == model
        monkeypatch.undo()
        assert store.compact() == 0
        store.apply_retention()
        assert everything(store) == {}
        assert close(read_minutes(store), minutes_of(model))


def test_copies_have_both_levels(tmp_path: Path) -> None:
    model = some(np.random.default_rng(8), 3_000, 80)
    now = START_MS + 80 * HOUR_MS
    pin = (START_MS + 10 * HOUR_MS + 90_000, START_MS + 11 * HOUR_MS + 40_000)
    with opened(tmp_path / "data", now, retention_ms=DAY_MS) as store:
        put(store, model)
        store.seal(LATER_MS)
        assert not [name for name, _ in store.copy_samples(tmp_path) if DAY.fullmatch(name)]
        store.keep_pinned(lambda: [pin])
        store.apply_retention()
        copied = [name for name, _ in store.copy_samples(tmp_path)]
        assert len([name for name in copied if DAY.fullmatch(name)]) == 3
        expected, raw, spans = read_minutes(store), everything(store), store.whole_spans()
    (tmp_path / "new").mkdir()
    (tmp_path / "newer").mkdir()
    take_in(tmp_path / "new", tmp_path, copied)
    with opened(tmp_path / "new", now, retention_ms=DAY_MS) as store:
        assert everything(store) == raw
        assert store.whole_spans() == spans
        assert read_minutes(store) == expected
        assert store.compact() == 0
        assert read_minutes(store) == expected
    assert close(expected, minutes_of(model))
    # A backup of before has samples alone.
    take_in(tmp_path / "newer", tmp_path, [name for name in copied if name != WHOLE and not DAY.fullmatch(name)])
    with opened(tmp_path / "newer", now, retention_ms=DAY_MS) as store:
        assert everything(store) == raw
        assert close(read_minutes(store), minutes_of(raw))
