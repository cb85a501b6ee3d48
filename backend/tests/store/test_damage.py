"""Files that a disk damaged: the server starts with all data, or says what is lost by which command; never less."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from loadwatch_backend.core.data_directory import DataDirectoryError
from loadwatch_backend.core.database.relational import RelationalError, default_url, open_relational
from loadwatch_backend.core.database.set_aside import RELATIONS, SAMPLES, SAMPLES_LOG, set_aside
from loadwatch_backend.series.store.embedded.engine import EmbeddedStore, open_embedded
from loadwatch_backend.series.store.embedded.settings import EmbeddedSettings
from loadwatch_backend.series.store.port import Batch, Matcher, MatchOperator

from tests.fork_server import run_forked

NOW_MS = 1_750_000_000_000
LOADWATCH = Path(sys.executable).parent / "loadwatch"

CRASH = """
import os, sys
from pathlib import Path
from backend.tests.store.test_damage import opened, put
store = opened(Path(sys.argv[1]))
put(store, range(0, 20))
store.close()
store = opened(Path(sys.argv[1]))
put(store, range(20, 40))
os._exit(0)
"""


def opened(directory: Path) -> EmbeddedStore:
    return open_embedded(EmbeddedSettings(data_directory=directory), lambda: NOW_MS)


def put(store: EmbeddedStore, seconds: range) -> None:
    ids = store.resolve([{"__name__": "m", "i": str(number)} for number in range(50)])
    for second in seconds:
        batch = Batch(series=ids, timestamps=np.full(50, NOW_MS + second, np.int64), values=np.full(50, float(second)))
        store.append(batch).result(timeout=120)


def values(store: EmbeddedStore) -> list[int]:
    found = store.select([Matcher("i", MatchOperator.EQUAL, "7")], 0, NOW_MS + 10**6)
    return found.values.astype(int).tolist()


def start(directory: Path, *more: str, file_bytes: int | None = None) -> "subprocess.CompletedProcess[str]":
    """The server as a process; it ends by itself because its address is no address, or because it cannot start."""

    arguments = ["server", "--data", str(directory), *more]
    environment = {**os.environ, "LOADWATCH_LISTEN": "127.0.0.1:0"}
    if file_bytes is None:
        return run_forked(*arguments, environment=environment)
    limits = (file_bytes, file_bytes)
    return subprocess.run(
        [LOADWATCH, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits),
        env=environment,
    )


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty seconds in the file and twenty more in its log, as a killed server leaves them."""
    directory = tmp_path_factory.mktemp("crashed")
    subprocess.run([sys.executable, "-c", CRASH, str(directory)], check=True, cwd=Path(__file__).parents[3])
    assert (directory / SAMPLES_LOG).stat().st_size > 1_000
    return directory


def try_to_open(directory: Path) -> tuple[EmbeddedStore | None, str]:
    try:
        return opened(directory), ""
    except DataDirectoryError as error:
        return None, str(error)


def damaged(crashed: Path, target: Path, name: str, share: float) -> None:
    target.mkdir()
    for part in (SAMPLES, SAMPLES_LOG):
        content = bytearray((crashed / part).read_bytes())
        if part == name:
            content[int(share * (len(content) - 1))] ^= 0xFF
        (target / part).write_bytes(content)


@pytest.mark.parametrize("share", [0, 0.0005, 0.001, 0.01, 0.1, 0.33, 0.5, 0.77, 0.95, 1])
def test_a_flipped_byte_of_the_log_is_named_and_set_aside(crashed: Path, tmp_path: Path, share: float) -> None:
    directory = tmp_path / "data"
    damaged(crashed, directory, SAMPLES_LOG, share)
    store, text = try_to_open(directory)
    if store is None:
        assert f"{directory / SAMPLES_LOG} holds" in text
        assert re.search(r"arrived between about \d{4}-.* UTC, .* and \d{4}-.* UTC", text)
        assert f"loadwatch server --data {directory} --set-aside {SAMPLES_LOG}" in text
        before = (directory / SAMPLES_LOG).read_bytes()
        (renamed,) = set_aside(directory, SAMPLES_LOG, NOW_MS)
        assert renamed.name == f"{SAMPLES_LOG}.set-aside-20250615T150640Z"
        assert renamed.read_bytes() == before
        store = opened(directory)
        assert values(store) == list(range(20))
    else:
        # DuckDB takes some damage for a log that was cut off: what it leaves out is in the copy.
        found = values(store)
        assert found == list(range(len(found)))
        assert len(found) >= 20
        content = bytearray((crashed / SAMPLES_LOG).read_bytes())
        content[int(share * (len(content) - 1))] ^= 0xFF
        assert (directory / f"{SAMPLES_LOG}.last").read_bytes() == content
    store.close()


@pytest.mark.parametrize("share", [0, 0.001, 0.009])
def test_a_flipped_byte_of_the_file_is_named_and_set_aside(crashed: Path, tmp_path: Path, share: float) -> None:
    directory = tmp_path / "data"
    damaged(crashed, directory, SAMPLES, share)
    store, text = try_to_open(directory)
    if store is None:
        assert f"{directory / SAMPLES} holds all samples" in text
        assert f"--set-aside {SAMPLES}\n" in text
        assert [path.name.split(".set")[0] for path in set_aside(directory, SAMPLES, NOW_MS)] == [SAMPLES_LOG, SAMPLES]
        store = opened(directory)
        put(store, range(1))
        assert values(store) == [0]
    else:
        assert values(store) == list(range(40))
    store.close()


def test_the_command_does_what_the_start_says(crashed: Path, tmp_path: Path) -> None:
    directory = tmp_path / "data"
    log = (crashed / SAMPLES_LOG).read_bytes()
    # The checksum of the first entry behind the header: no other byte is sure to be noticed.
    place = log.index(b"\xff\xff", 30) + 12
    damaged(crashed, directory, SAMPLES_LOG, place / (len(log) - 1))
    refused = start(directory)
    assert refused.returncode == 1
    assert f"--data {directory} --set-aside {SAMPLES_LOG}" in refused.stderr
    assert "Traceback" not in refused.stderr
    done = start(directory, "--set-aside", SAMPLES_LOG)
    assert (done.returncode, "renamed: " in done.stdout) == (0, True)
    again = start(directory, "--set-aside", SAMPLES_LOG)
    assert (again.returncode, "nothing was changed" in again.stderr) == (1, True)
    store = opened(directory)
    assert values(store) == list(range(20))
    holding = start(directory, "--set-aside", SAMPLES)
    assert (holding.returncode, "is in use" in holding.stderr) == (1, True)
    store.close()


@pytest.mark.parametrize("room", [0, 100, 4_096, 8_192, 12_288, 20_000])
def test_a_first_start_on_a_full_disk_leaves_nothing_in_the_way(tmp_path: Path, room: int) -> None:
    directory = tmp_path / "data"
    refused = start(directory, file_bytes=room)
    assert refused.returncode != 0
    assert "Traceback" not in refused.stderr
    assert not (directory / SAMPLES).exists() or (directory / SAMPLES).stat().st_size >= 12_288
    store = opened(directory)
    put(store, range(3))
    assert values(store) == [0, 1, 2]
    store.close()


@pytest.mark.parametrize("size", [0, 4_096, 8_192])
def test_what_an_older_first_start_left_is_no_obstacle(tmp_path: Path, size: int) -> None:
    (tmp_path / SAMPLES).write_bytes(bytes(size))
    store = opened(tmp_path)
    put(store, range(2))
    store.close()
    store = opened(tmp_path)
    assert values(store) == [0, 1]
    store.close()


def test_an_empty_file_beside_a_log_is_not_replaced(crashed: Path, tmp_path: Path) -> None:
    (tmp_path / SAMPLES).touch()
    (tmp_path / SAMPLES_LOG).write_bytes((crashed / SAMPLES_LOG).read_bytes())
    with pytest.raises(DataDirectoryError, match="--set-aside"):
        opened(tmp_path)
    assert (tmp_path / SAMPLES_LOG).exists()


def test_a_damaged_database_of_runs_is_named_and_set_aside_with_the_files_of_runs(tmp_path: Path) -> None:
    open_relational(default_url(tmp_path)).close()
    path = tmp_path / RELATIONS
    content = bytearray(path.read_bytes())
    content[:16] = b"x" * 16
    path.write_bytes(content)
    (tmp_path / "runs" / "one").mkdir(parents=True)
    with pytest.raises(RelationalError, match=f"--set-aside {RELATIONS}"):
        open_relational(default_url(tmp_path))
    names = {path.name.split(".set")[0] for path in set_aside(tmp_path, RELATIONS, NOW_MS)}
    assert {RELATIONS, "runs"} <= names
    open_relational(default_url(tmp_path)).close()


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"\x8c\xf4\xcd\x98\x9d)\xa8\xd0DUCK" + b"\0" * 4000])
def test_what_an_earlier_first_start_did_not_finish_is_made_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / SAMPLES).write_bytes(content)
    store = opened(tmp_path)
    put(store, range(3))
    assert values(store) == [0, 1, 2]
    store.close()
