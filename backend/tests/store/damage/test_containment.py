"""A damaged block: the server starts, says what is lost, answers the rest, and goes on writing and sealing."""

import time
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.store.embedded.damage import check, containment
from loadwatch_backend.store.embedded.settings import HOUR_MS
from loadwatch_backend.store.errors import DataDirectoryError
from loadwatch_backend.store.port import Batch

from backend.tests.store.damage.damaged_store import (
    BEGIN_MS,
    HOURS,
    NOW_MS,
    Samples,
    blocks_of,
    checked,
    damage,
    fill,
    hour_of,
    long_block,
    opened,
    put_wrong_bytes,
)

SEALED_LATER = 9
"""DuckDB joins row groups after some: a checkpoint reads what is damaged then."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Samples]]:
    directory = tmp_path_factory.mktemp("whole") / "data"
    fill(directory)
    store = opened(directory)
    samples = [hour_of(store, hour) for hour in range(HOURS)]
    store.close()
    return directory, samples


def write_on(directory: Path) -> None:
    """Samples of later hours, each sealed: nothing of that may fail."""
    store = opened(directory, NOW_MS + SEALED_LATER * HOUR_MS)
    ids = store.resolve([{"__name__": "later", "i": str(number)} for number in range(300)])
    for hour in range(HOURS, HOURS + SEALED_LATER):
        start_ms = BEGIN_MS + hour * HOUR_MS
        batch = Batch(series=ids, timestamps=np.full(300, start_ms), values=np.full(300, float(hour)))
        store.append(batch).result(10)
        store.seal(start_ms + HOUR_MS)
    assert store.compact() == 0
    assert store.survey().hot.samples == 0
    assert store.statistics().failed_commits_total == 0
    store.close()
    assert not list(directory.glob("*.wal"))


@pytest.mark.parametrize("column", ["data", "first_ms"])
@pytest.mark.parametrize("share", [0.1, 0.99])
def test_a_damaged_block_of_sealed_samples_costs_what_is_on_it(
    whole: tuple[Path, list[Samples]], tmp_path: Path, column: str, share: float
) -> None:
    numbers = blocks_of(whole[0], "segments", column)
    number = numbers[int(share * len(numbers))]
    directory = tmp_path / "data"
    damage(whole[0], directory, number)
    store = opened(directory)
    found = checked(store)
    losses = store.survey().losses
    assert {one.part for one in losses} == {"segments"}
    assert store.statistics().damaged_hours > 0
    store.close()
    bad = [hour for hour in range(HOURS) if isinstance(found[hour], str)]
    assert bad
    for hour in range(HOURS):
        if hour in bad:
            assert "table segments: " in str(found[hour])
            assert "UTC" in str(found[hour])
            assert f"loadwatch store repair --data {directory}" in str(found[hour])
        else:
            assert found[hour] == whole[1][hour]
    assert [path.name for path in directory.glob(f"samples.duckdb.block-{number}.set-aside-*")]
    write_on(directory)
    store = opened(directory)
    again = checked(store)
    assert [hour for hour in range(HOURS) if isinstance(again[hour], str)] == bad
    store.close()


def test_several_blocks_at_once(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    alone = blocks_of(whole[0], "segments", "data")[-3:]
    long = long_block(whole[0])
    damage(whole[0], directory, long)
    for number in alone:
        put_wrong_bytes(directory, number)
    store = opened(directory)
    checked(store)
    losses = store.survey().losses
    gone = {one for loss in losses for one in loss.ids or ()}
    # Three blocks of 195 short rows each, and one of a dozen long rows: nothing beside them.
    assert sum(one.samples or 0 for one in losses) == 3 * 195 * 180 + 12 * 3_600
    for hour, samples in enumerate(whole[1]):
        kept = [name for name, one in zip(samples, range(1, 321), strict=True) if one not in gone]
        assert len(kept) >= 16
        for name in kept[:3] + kept[-3:]:
            assert hour_of(store, hour, [name]) == {name: samples[name]}
    store.close()
    write_on(directory)


def test_rollups_on_a_damaged_block_are_made_again(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, blocks_of(whole[0], "rollups", "rest")[0])
    store = opened(directory)
    assert checked(store) == dict(enumerate(whole[1]))
    assert store.survey().losses == []
    store.close()
    write_on(directory)


@pytest.mark.parametrize("column", ["ts", "value"])
def test_damage_of_samples_that_are_not_sealed(whole: tuple[Path, list[Samples]], tmp_path: Path, column: str) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, blocks_of(whole[0], "hot", column)[-1])
    store = opened(directory)
    found = checked(store)
    assert {one.part for one in store.survey().losses} == {"hot"}
    assert [found[hour] == whole[1][hour] for hour in range(HOURS)] == [True] * (HOURS - 1) + [False]
    assert "table hot: " in str(found[HOURS - 1])
    store.close()
    write_on(directory)


def test_damaged_names_are_told_by_the_start(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, blocks_of(whole[0], "series", "labels")[0])
    with pytest.raises(DataDirectoryError, match=f"(?s)table series .*loadwatch store repair --data {directory}"):
        opened(directory)


def test_names_that_are_damaged_while_it_runs_are_written_again(
    whole: tuple[Path, list[Samples]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "AGAIN_SECONDS", 0.1)
    directory = tmp_path / "data"
    number = blocks_of(whole[0], "series", "labels")[0]
    damage(whole[0], directory, number, wrong=0)
    store = opened(directory)
    checked(store)
    put_wrong_bytes(directory, number)
    looked = store.statistics().checked_blocks_total
    while store.statistics().checked_blocks_total < 3 * looked:
        time.sleep(0.02)
    assert store.survey().losses == []
    store.compact()
    store.close()
    store = opened(directory)
    assert checked(store) == dict(enumerate(whole[1]))
    store.close()


def test_what_a_kill_cut_off_is_finished_by_the_next_start(
    whole: tuple[Path, list[Samples]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, blocks_of(whole[0], "segments", "data")[-1])
    store = opened(directory)
    with monkeypatch.context() as patched:
        # The block is emptied then, and its rows are still there.
        patched.setattr(containment, "_drop_emptied", _cut_off)
        deadline = time.monotonic() + 10
        while not list(directory.glob("*.block-*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        store.close()
    store = opened(directory)
    losses = store.survey().losses
    assert [(one.part, one.samples is not None, one.ids is not None) for one in losses[:1]] == [
        ("segments", True, True)
    ]
    store.close()
    write_on(directory)


def _cut_off(*_: object) -> None:
    raise OSError("cut off")


def test_a_wrong_byte_costs_nothing(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    number = blocks_of(whole[0], "segments", "data")[-1]
    damage(whole[0], directory, number, wrong=1)
    store = opened(directory)
    assert checked(store) == dict(enumerate(whole[1]))
    assert store.statistics().mended_blocks_total == 1
    store.close()
    assert (directory / "samples.duckdb").stat().st_size == (whole[0] / "samples.duckdb").stat().st_size
