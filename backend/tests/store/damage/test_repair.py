"""`loadwatch store repair`: what is whole comes out bit for bit, and cutting it off costs nothing."""

import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loadwatch_backend.store.embedded.damage.repair import COPY, REPAIRED, put_in_place
from loadwatch_backend.store.set_aside import SAMPLES, SAMPLES_LOG

from backend.tests.store.damage.damaged_store import (
    HOURS,
    Samples,
    blocks_of,
    checked,
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


def repair(directory: Path, file_bytes: int | None = None) -> "subprocess.CompletedProcess[str]":
    def limit() -> None:
        if file_bytes is not None:
            # As on a disk without room: a write beyond it fails.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

    return subprocess.run(
        [LOADWATCH, "store", "repair", "--data", directory],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=limit,
    )


@pytest.mark.parametrize(("table", "column"), [("segments", "data"), ("segments", "first_ms"), ("hot", "value")])
def test_all_that_is_whole_comes_out_bit_for_bit(
    whole: tuple[Path, list[Samples]], tmp_path: Path, table: str, column: str
) -> None:
    directory = tmp_path / "data"
    number = long_block(whole[0]) if column == "data" else blocks_of(whole[0], table, column)[0]
    damage(whole[0], directory, number)
    before = (directory / SAMPLES).read_bytes()
    done = repair(directory)
    assert (done.returncode, f"Lost: table {table}: " in done.stdout) == (0, True), done.stderr
    (kept,) = directory.glob(f"{SAMPLES}.set-aside-*")
    assert (kept.read_bytes() == before, f"kept: {kept}" in done.stdout) == (True, True)
    store = opened(directory)
    found = checked(store)
    assert store.survey().losses == []
    store.close()
    changed = 0
    for hour in range(HOURS):
        those = found[hour]
        assert not isinstance(those, str)
        for name, samples in whole[1][hour].items():
            left = those.get(name, [])
            assert set(left) <= set(samples)
            changed += left != samples
    assert changed > 0
    if column == "data":
        # Ten rows of long blobs share a block of 256 KiB.
        assert changed < 15
    assert "No damage found" in repair(directory).stdout


def test_samples_without_names_get_some(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, blocks_of(whole[0], "series", "labels")[0])
    done = repair(directory)
    assert "320 series lost their labels" in done.stdout
    store = opened(directory)
    assert store.label_values("__name__", [], 0, 1 << 43) == ["loadwatch_unnamed_series"]
    store.close()


def test_a_whole_file_is_left_alone(whole: tuple[Path, list[Samples]]) -> None:
    before = (whole[0] / SAMPLES).read_bytes()
    assert "No damage found" in repair(whole[0]).stdout
    assert (whole[0] / SAMPLES).read_bytes() == before
    assert sorted(path.name for path in whole[0].iterdir()) == ["loadwatch.lock", SAMPLES]


def test_it_refuses_while_a_server_runs(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, 0, wrong=0)
    store = opened(directory)
    done = repair(directory)
    store.close()
    assert (done.returncode, "is in use" in done.stderr) == (1, True)


def test_contents_that_are_damaged_are_left_as_they_are(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, 0)
    before = (directory / SAMPLES).read_bytes()
    done = repair(directory)
    assert (done.returncode, "cannot be repaired" in done.stderr, "--set-aside" in done.stderr) == (1, True, True)
    assert (directory / SAMPLES).read_bytes() == before
    assert sorted(path.name for path in directory.iterdir()) == ["loadwatch.lock", SAMPLES]


def test_a_full_disk_is_said_and_leaves_the_old_file(whole: tuple[Path, list[Samples]], tmp_path: Path) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, long_block(whole[0]))
    before = (directory / SAMPLES).read_bytes()
    done = repair(directory, file_bytes=3_000_000)
    assert (done.returncode, "Nothing was changed" in done.stderr) == (1, True), done.stderr
    assert (directory / SAMPLES).read_bytes() == before
    assert not list(directory.glob(f"{COPY}*"))


@pytest.mark.parametrize("part", [0.6, 0.9])
def test_a_kill_leaves_the_old_file_or_the_new_one(
    whole: tuple[Path, list[Samples]], tmp_path: Path, part: float
) -> None:
    directory = tmp_path / "data"
    damage(whole[0], directory, long_block(whole[0]))
    process = subprocess.Popen(
        [LOADWATCH, "store", "repair", "--data", directory], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(part * _usual_seconds(whole[0], tmp_path))
    process.kill()
    process.wait()
    store = opened(directory)
    for hour, samples in enumerate(whole[1]):
        slow = {name: those for name, those in samples.items() if name.startswith("slow")}
        assert hour_of(store, hour, ["slow"]) == slow
    store.close()
    assert repair(directory).returncode == 0
    store = opened(directory)
    assert store.survey().losses == []
    store.close()


_SECONDS: list[float] = []


def _usual_seconds(source: Path, tmp_path: Path) -> float:
    if not _SECONDS:
        damage(source, tmp_path / "timed", long_block(source))
        begin = time.monotonic()
        repair(tmp_path / "timed")
        _SECONDS.append(time.monotonic() - begin)
    return _SECONDS[0]


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_putting_the_new_file_in_place_goes_on(tmp_path: Path, gone: int) -> None:
    for name in (SAMPLES_LOG, SAMPLES)[gone:]:
        (tmp_path / name).write_text(f"old {name}")
    (tmp_path / REPAIRED).write_text("new")
    kept = put_in_place(tmp_path)
    assert [path.read_text() for path in kept] == [f"old {name}" for name in (SAMPLES_LOG, SAMPLES)[gone:]]
    assert (tmp_path / SAMPLES).read_text() == "new"
    assert not (tmp_path / SAMPLES_LOG).exists()
    assert put_in_place(tmp_path) == []
