"""`loadwatch store salvage`: what is whole comes out bit for bit, and the old file stays as it is."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from loadwatch_backend.core.database.set_aside import SAMPLES

from backend.tests.store.damaged_store import (
    HOURS,
    Samples,
    blocks_of,
    checked,
    cut_off,
    damage,
    fill,
    hour_of,
    long_block,
    opened,
)

LOADWATCH = Path(sys.executable).parent / "loadwatch"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Samples]]:
    directory = tmp_path_factory.mktemp("whole") / "data"
    fill(directory)
    store = opened(directory)
    samples = [hour_of(store, hour) for hour in range(HOURS)]
    store.close()
    return directory, samples


def salvage(directory: Path, target: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [LOADWATCH, "store", "salvage", directory, target], capture_output=True, text=True, timeout=300, check=False
    )


def salvaged(directory: Path, tmp_path: Path) -> tuple[str, Path]:
    """What the command printed, and a data directory of the file that it made."""
    before = (directory / SAMPLES).read_bytes()
    new = tmp_path / "new"
    new.mkdir()
    done = salvage(directory, new / SAMPLES)
    assert done.returncode == 0, done.stderr
    assert (directory / SAMPLES).read_bytes() == before
    assert [path.name for path in new.iterdir()] == [SAMPLES]
    return done.stdout, new


@pytest.mark.parametrize(
    ("table", "column"),
    [("segments", "data"), ("segments", "first_ms"), ("hot", "value"), ("rollups", "rest"), ("metadata", "metric")],
)
def test_all_that_is_whole_comes_out_bit_for_bit(
    whole: tuple[Path, list[Samples]], tmp_path: Path, table: str, column: str
) -> None:
    directory = tmp_path / "data"
    blocks = blocks_of(whole[0], table, column)
    if not blocks:
        shutil.copytree(whole[0], directory)
    else:
        damage(whole[0], directory, long_block(whole[0]) if column == "data" else blocks[0])
    text, new = salvaged(directory, tmp_path)
    assert ("All was read." in text) == (not blocks)
    assert (f"Could not be read: table {table}: " in text) == bool(blocks)
    assert f"mv {new / SAMPLES} {directory / SAMPLES}" in text
    store = opened(new)
    found = checked(store)
    assert store.survey().losses == []
    assert store.compact() >= 0
    store.close()
    changed = 0
    for hour in range(HOURS):
        those = found[hour]
        assert isinstance(those, dict)
        for name, samples in whole[1][hour].items():
            left = those.get(name, [])
            assert set(left) <= set(samples)
            changed += left != samples
    assert (changed > 0) == (table in ("segments", "hot"))
    if column == "data":
        # Ten rows of long blobs share a block of 256 KiB.
        assert changed < 15
        assert re.search(r"table segments: [\d,]+ samples of .* \([12] hours\)", text)


def test_samples_without_labels_get_some(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, blocks_of(whole[0], "series", "labels")[0])
    text, new = salvaged(directory, tmp_path)
    assert "2020 series have no labels left" in text
    store = opened(new)
    assert store.label_values("__name__", [], 0, 1 << 43) == ["loadwatch_unnamed_series"]
    store.close()


@pytest.mark.parametrize("share", [0.001, 0.97])
def test_a_file_that_was_cut_off(whole: tuple[Path, list[Samples]], tmp_path: Path, share: float) -> None:
    directory = tmp_path / "data"
    cut_off(whole[0], directory, share)
    if share < 0.1:
        done = salvage(directory, tmp_path / "new.duckdb")
        assert (done.returncode, "cannot read" in done.stderr, "backup" in done.stderr) == (1, True, True)
        assert not list(tmp_path.glob("new.duckdb*"))
        return
    text, new = salvaged(directory, tmp_path)
    assert "Could not be read: " in text
    store = opened(new)
    found = checked(store)
    store.close()
    left = 0
    for hour in range(HOURS):
        those = found[hour]
        assert isinstance(those, dict)
        for name, samples in those.items():
            assert set(samples) <= set(whole[1][hour][name])
            left += len(samples)
    assert left > 0


def test_it_refuses_a_directory_in_use_and_a_file_that_is_there(
    whole: tuple[Path, list[Samples]], tmp_path: Path
) -> None:
    directory = tmp_path / "data"
    shutil.copytree(whole[0], directory)
    store = opened(directory)
    done = salvage(directory, tmp_path / "new.duckdb")
    store.close()
    assert (done.returncode, "is in use" in done.stderr) == (1, True)
    (tmp_path / "new.duckdb").write_text("mine")
    done = salvage(directory, tmp_path / "new.duckdb")
    assert (done.returncode, "exists already" in done.stderr) == (1, True)
    assert (tmp_path / "new.duckdb").read_text() == "mine"
