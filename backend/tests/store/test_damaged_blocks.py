"""Damage within the file of samples: found, named by hour, not made worse, and never answered with wrong values."""

import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import numpy as np
import pytest
from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.core.database.set_aside import SAMPLES
from loadwatch_backend.series.store.embedded import reading
from loadwatch_backend.series.store.embedded.damage import HEADER_BYTES, HEADERS, HEADERS_BYTES, is_whole
from loadwatch_backend.series.store.embedded.settings import HOUR_MS
from loadwatch_backend.series.store.errors import StoreReadError, StoreWriteError
from loadwatch_backend.series.store.losses import CONTENTS, Loss, lost_hours
from loadwatch_backend.series.store.port import Batch

from backend.tests.store.damaged_store import (
    BEGIN_MS,
    HOURS,
    NOW_MS,
    Samples,
    blocks_of,
    checked,
    cut_off,
    damage,
    fill,
    hour_of,
    long_block,
    opened,
    put_wrong_bytes,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Samples]]:
    directory = tmp_path_factory.mktemp("whole") / "data"
    fill(directory)
    store = opened(directory)
    samples = [hour_of(store, hour) for hour in range(HOURS)]
    store.close()
    return directory, samples


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


def write_on(directory: Path) -> None:
    """Samples of later hours, hours after them: they are stored and answered, and nothing is sealed or deleted."""
    later_ms = NOW_MS + 9 * HOUR_MS
    store = opened(directory, later_ms)
    wait_until(lambda: store.statistics().damaged_hours)
    ids = store.resolve([{"__name__": "later", "i": str(number)} for number in range(300)])
    for hour in range(HOURS, HOURS + 9):
        times = np.full(300, BEGIN_MS + hour * HOUR_MS)
        store.append(Batch(series=ids, timestamps=times, values=np.full(300, float(hour)))).result(120)
    for change in (store.compact, lambda: store.seal(later_ms), lambda: store.apply_retention()):
        with pytest.raises(StoreWriteError, match=r"is damaged .*nothing in it is sealed, moved or deleted"):
            change()
    figures = store.statistics()
    assert (figures.failed_commits_total, figures.sealed_rows_total, figures.deleted_rows_total) == (0, 0, 0)
    store.close()
    store = opened(directory, later_ms)
    found = hour_of(store, HOURS + 3, ["later"])
    assert {len(samples) for samples in found.values()} == {1}
    assert len(found) == 300
    store.close()


@pytest.mark.parametrize("column", ["data", "first_ms"])
@pytest.mark.parametrize("share", [0.1, 0.99])
def test_a_damaged_block_of_sealed_samples_is_named_by_its_hours(
    whole: tuple[Path, list[Samples]], tmp_path: Path, column: str, share: float
) -> None:
    numbers = blocks_of(whole[0], "segments", column)
    directory = tmp_path / "data"
    damage(whole[0], directory, numbers[int(share * len(numbers))])
    before = (directory / SAMPLES).read_bytes()
    store = opened(directory)
    found = checked(store)
    wait_until(lambda: store.statistics().damaged_hours)
    losses: Sequence[Loss] = ()
    if column == "data":
        losses = store.survey().losses
    else:
        # Figures of tables that cannot be read: the error names the hours.
        with pytest.raises(StoreReadError, match=r"Damaged: table segments: .* of 20\d\d-.* UTC"):
            store.survey()
    assert (directory / SAMPLES).read_bytes() == before
    store.close()
    bad = [BEGIN_MS + hour * HOUR_MS for hour in range(HOURS) if isinstance(found[hour], str)]
    assert bad
    if column == "data":
        assert {one.part for one in losses} == {"segments"}
        assert lost_hours(losses) == bad
        # Rows of two hours that DuckDB reads at once.
        assert len(bad) <= 2
    for hour in range(HOURS):
        if BEGIN_MS + hour * HOUR_MS in bad:
            assert "The file of samples is damaged" in str(found[hour])
            assert "loadwatch store salvage" in str(found[hour])
        else:
            assert found[hour] == whole[1][hour]
    assert isinstance(found[HOURS - 1], dict)
    write_on(directory)


@pytest.mark.parametrize("column", ["ts", "value"])
def test_damage_of_samples_that_are_not_sealed(whole: tuple[Path, list[Samples]], tmp_path: Path, column: str) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, blocks_of(whole[0], "hot", column)[-1])
    store = opened(directory)
    found = checked(store)
    assert [found[hour] == whole[1][hour] for hour in range(HOURS)] == [True] * (HOURS - 1) + [False]
    assert "The file of samples is damaged" in str(found[HOURS - 1])
    store.close()
    write_on(directory)


def test_damaged_names_are_named_by_the_start(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, blocks_of(whole[0], "series", "labels")[0])
    with pytest.raises(DataDirectoryError, match=f"(?s)table series .*restore.*loadwatch store salvage {directory}"):
        opened(directory)


def test_names_that_are_damaged_while_it_runs(
    whole: tuple[Path, list[Samples]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "AGAIN_SECONDS", 0.1)
    directory = tmp_path / "data"
    shutil.copytree(whole[0], directory)
    store = opened(directory)
    checked(store)
    assert store.statistics().damaged_hours == 0
    put_wrong_bytes(directory, blocks_of(whole[0], "series", "labels")[0])
    wait_until(lambda: store.statistics().damaged_hours)
    assert {one.part for one in store.survey().losses} == {"series"}
    assert checked(store) == dict(enumerate(whole[1]))
    # New series do not have the log folded in: that would join them with what cannot be read.
    ids = store.resolve([{"__name__": "new", "i": str(number)} for number in range(1_000)])
    for second in range(3):
        times = np.full(1_000, NOW_MS + second * 1_000)
        store.append(Batch(series=ids, timestamps=times, values=np.ones(1_000))).result(120)
    assert store.statistics().failed_commits_total == 0
    store.close()


@pytest.mark.parametrize("share", [0.001, 0.01, 0.97])
def test_a_file_that_was_cut_off(whole: tuple[Path, list[Samples]], tmp_path: Path, share: float) -> None:
    directory = tmp_path / "data"
    cut_off(whole[0], directory, share)
    if share < 0.5:
        with pytest.raises(DataDirectoryError, match=f"(?s){directory / SAMPLES}.*backup"):
            opened(directory)
        return
    store = opened(directory)
    found = checked(store)
    wait_until(lambda: store.statistics().damaged_hours)
    store.close()
    for hour in range(HOURS):
        assert isinstance(found[hour], str) or found[hour] == whole[1][hour]
    assert {type(one) for one in found.values()} == {str, dict}


@pytest.mark.parametrize("place", [2, 9, 100, HEADER_BYTES + 20, 2 * HEADER_BYTES + 3_000])
def test_a_damaged_header_is_named_by_the_start_and_by_a_server_that_runs(
    whole: tuple[Path, list[Samples]], tmp_path: Path, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "AGAIN_SECONDS", 0.1)
    directory = tmp_path / "data"
    shutil.copytree(whole[0], directory)
    store = opened(directory)
    checked(store)
    with (directory / SAMPLES).open("rb+") as file:
        file.seek(place)
        byte = file.read(1)
        file.seek(place)
        file.write(bytes([byte[0] ^ 0xFF]))
    wait_until(lambda: store.statistics().damaged_hours)
    assert {one.part for one in store.survey().losses} == {CONTENTS}
    # As a kill leaves it.
    shutil.copytree(directory, tmp_path / "copy")
    store.close()
    with pytest.raises(DataDirectoryError, match=f"(?s){tmp_path / 'copy' / SAMPLES}.*backup"):
        opened(tmp_path / "copy")


def test_what_an_earlier_version_took_out_is_not_answered(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    shutil.copytree(whole[0], directory)
    with duckdb.connect(str(directory / SAMPLES)) as connection:
        (one,) = connection.execute(
            "SELECT id FROM series WHERE labels = ['__name__', 'fast', 'i', '3']"
        ).fetchone() or (0,)
        connection.execute(
            "CREATE TABLE lost (part VARCHAR NOT NULL, first_ms BIGINT, last_ms BIGINT, ids UINTEGER[], samples BIGINT)"
        )
        connection.execute(
            "INSERT INTO lost VALUES ('segments', ?, ?, ?, 3600)", [BEGIN_MS, BEGIN_MS + HOUR_MS - 1, [one]]
        )
    store = opened(directory)
    with pytest.raises(StoreReadError, match="A damaged disk took a part of these samples"):
        hour_of(store, 0, ["fast-3"])
    assert hour_of(store, 0, ["fast-4"]) == {"fast-4": whole[1][0]["fast-4"]}
    assert hour_of(store, 1, ["fast-3"]) == {"fast-3": whole[1][1]["fast-3"]}
    assert store.statistics().damaged_hours == 1
    store.compact()
    store.close()


def test_a_whole_file_has_no_damage(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    shutil.copytree(whole[0], directory)
    store = opened(directory)
    assert checked(store) == dict(enumerate(whole[1]))
    assert store.survey().losses == []
    assert store.seal(NOW_MS) > 0
    store.close()


def test_checksums_are_those_that_duckdb_writes(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    path = tmp_path / "file"
    shutil.copyfile(whole[0] / SAMPLES, path)
    count = (path.stat().st_size - HEADERS_BYTES) // (1 << 18)
    assert count > 10
    file = os.open(path, os.O_RDWR)
    try:
        assert all(is_whole(file, number) for number in range(-HEADERS, count))
        assert not is_whole(file, count)
        os.pwrite(file, b"\x01\x02", HEADERS_BYTES + (long_block(whole[0]) << 18) + 5_000)
        assert [number for number in range(-HEADERS, count) if not is_whole(file, number)] == [long_block(whole[0])]
    finally:
        os.close(file)
