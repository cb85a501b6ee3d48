"""What Loadwatch writes is its owner's alone, whatever the shell's umask and whatever an earlier version left."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loadwatch_collectors.pipeline.spool import SpoolFolder

from tests.ports import free_port
from tests.serving import LOADWATCH, RealServer, wait_until_answers

LOOSE = 0o022


@pytest.fixture(autouse=True)
def loose_umask() -> Iterator[None]:
    """That of most shells."""
    before = os.umask(LOOSE)
    yield
    os.umask(before)


def open_to_others(root: Path) -> list[str]:
    """Paths at and below the root that others than their owner can do anything with; sockets and links aside."""
    found: list[str] = []
    for path in [root, *root.rglob("*")]:
        mode = path.lstat().st_mode
        if (stat.S_ISDIR(mode) or stat.S_ISREG(mode)) and stat.S_IMODE(mode) & 0o077:
            found.append(f"{path.relative_to(root)} {stat.S_IMODE(mode):o}")
    return found


def test_everything_of_up_and_of_a_run_is_private(tmp_path: Path):
    data, state, work = tmp_path / "data", tmp_path / "state", tmp_path / "work"
    work.mkdir()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {
        **os.environ,
        "LOADWATCH_DATA": str(data),
        "LOADWATCH_LISTEN": f"127.0.0.1:{port}",
        "XDG_STATE_HOME": str(state),
        "LOADWATCH_DEFAULT_RULES": "false",
    }
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([str(LOADWATCH), "up"], env=environment, stdout=log, stderr=log, cwd=work)
        try:
            wait_until_answers(f"{url}/-/ready", process)
            script = "open('made-by-the-load', 'w').close()"
            run = [str(LOADWATCH), "run", "--server", url, "--name", "r", "--", sys.executable, "-c", script]
            done = subprocess.run(run, env=environment, cwd=work, capture_output=True, timeout=300)
            assert done.returncode == 0, done.stderr
            names = {path.name for path in data.rglob("*")}
            assert {"samples.duckdb", "loadwatch.sqlite", "loadwatch.lock", "server.id"} <= names
            assert list(state.rglob("*"))
            assert open_to_others(data) == []
            assert open_to_others(state) == []
            # What the load tool writes is not ours: it has the umask of the shell.
            assert stat.S_IMODE((work / "made-by-the-load").stat().st_mode) == 0o644
        finally:
            process.terminate()
            process.wait(120)
    assert open_to_others(data) == []


def test_what_an_earlier_version_left_open_is_closed_at_the_start(tmp_path: Path):
    server = RealServer(tmp_path, {"LOADWATCH_DEFAULT_RULES": "false"})
    server.start()
    server.stop()
    (server.data / "runs" / "one").mkdir(parents=True)
    (server.data / "runs" / "one" / "records.parquet").write_bytes(b"")
    for path in [server.data, *server.data.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    server.start()
    log = (tmp_path / "server-2.log").read_text()
    server.stop()
    assert open_to_others(server.data) == []
    assert "other users of this machine could read the data directory" in log
    server.start()
    server.stop()
    assert "could read the data directory" not in (tmp_path / "server-3.log").read_text()


def test_a_directory_that_holds_other_things_is_left_as_it_is(tmp_path: Path):
    server = RealServer(tmp_path, {"LOADWATCH_DEFAULT_RULES": "false"})
    server.data.mkdir(mode=0o755)
    (server.data / "photo").write_text("")
    server.start()
    log = (tmp_path / "server-1.log").read_text()
    server.stop()
    assert "holds other things" in log
    assert {found.partition(" ")[0] for found in open_to_others(server.data)} == {".", "photo"}


@pytest.mark.parametrize("make", [["token", "create", "--role", "agent", "--name", "a"], ["user", "list"]])
def test_commands_beside_the_server_write_private_files(tmp_path: Path, make: list[str]):
    data = tmp_path / "data"
    subprocess.run(
        [str(LOADWATCH), *make],
        env={**os.environ, "LOADWATCH_DATA": str(data)},
        check=True,
        capture_output=True,
        timeout=120,
    )
    assert (data / "loadwatch.sqlite").exists()
    assert open_to_others(data) == []


def test_an_agents_spool_of_an_earlier_version_is_closed(tmp_path: Path):
    folder = tmp_path / "spool"
    SpoolFolder(folder).close()
    folder.chmod(0o755)
    SpoolFolder(folder).close()
    assert open_to_others(folder) == []
