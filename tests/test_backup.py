"""Backup of a real server under load into a second one: all that was acknowledged is there, and figures are equal.

And what is cut off in the middle by kill -9, or finds no room, leaves nothing that looks whole.
"""

import json
import os
import resource
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import urllib3
from loadwatch_formats.backups import HOUR, MANIFEST, PARTIAL, read_manifest, whole_backups

from backend.tests.ingest.writing import HEADERS, body, series
from tests.fork_server import run_forked
from tests.serving import LOADWATCH, RealServer
from tests.test_kill_server import Writer, read

HOUR_MS = 3_600_000
RESULT = Path(__file__).parents[1] / "backend/tests/importers/fixtures/hey"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    yield from running(tmp_path / "first")


@pytest.fixture
def second(tmp_path: Path) -> Iterator[RealServer]:
    yield from running(tmp_path / "second")


def running(directory: Path) -> Iterator[RealServer]:
    directory.mkdir()
    server = RealServer(directory)
    yield server
    if server.process is not None:
        server.kill()


def loadwatch(*arguments: str, most_file_bytes: int | None = None) -> "subprocess.CompletedProcess[str]":
    if most_file_bytes is None:
        return run_forked(*arguments, environment=os.environ, seconds=600)
    return subprocess.run(
        [LOADWATCH, *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most_file_bytes, most_file_bytes)),
    )


def back_up(server: RealServer, directory: Path, *more: str) -> Path:
    done = loadwatch("backup", str(directory), "--server", server.url, *more)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def ask(server: RealServer, method: str, path: str, content: Any = None, **fields: Any) -> Any:
    if content is not None and not isinstance(content, bytes):
        content = json.dumps(content).encode()
        fields["headers"] = {"content-type": "application/json", **fields.get("headers", {})}
    answer = urllib3.request(method, server.url + path, body=content, timeout=120, **fields)
    assert answer.status < 300, (answer.status, answer.data[:500])
    return json.loads(answer.data) if "json" in answer.headers.get("content-type", "") else answer.data


def wait_for(condition: Callable[[], Any], what: str, pause: float = 0.1) -> Any:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(pause)
    raise AssertionError(f"{what} within 240 s")


def write_hours(server: RealServer, hours: int, value: float = 1.5) -> None:
    """A few samples in each of many hours."""
    now = int(time.time()) * 1000 // HOUR_MS * HOUR_MS
    rows = [(now - hour * HOUR_MS + second * 1000, value) for hour in range(1, hours + 1) for second in range(20)]
    content = body(series({"__name__": "hours", "job": "old"}, *sorted(rows)))
    answer = urllib3.request("POST", f"{server.url}/prometheus/api/v1/write", body=content, headers=HEADERS)
    assert answer.status == 204, answer.data


@pytest.mark.timeout(900)
def test_a_backup_under_load_holds_all_that_was_acknowledged(
    server: RealServer, second: RealServer, tmp_path: Path
) -> None:
    server.start()
    stop = threading.Event()
    writers = [Writer(str(number), f"{server.url}/prometheus/api/v1/write", stop) for number in range(2)]
    for writer in writers:
        writer.start()
    try:
        files = sorted(path for path in RESULT.iterdir() if path.suffix == ".csv")
        job = ask(server, "POST", f"/api/imports?file_name={files[0].name}&name=kept", files[0].read_bytes())
        job = wait_for(lambda: (now := ask(server, "GET", f"/api/imports/{job['id']}"))["run"] and now, "an import")
        run = job["run"]
        note = ask(server, "POST", "/api/annotations", {"text": "before the backup", "start_ms": 1_750_000_000_000})
        evidence = ask(server, "POST", f"/api/runs/{run}/evidence?name=notes.txt", b"what was seen\n" * 100)
        write_hours(server, 30)
        wait_for(lambda: min(len(writer.acknowledged) for writer in writers) > 5, "samples")
        before = {writer.name: list(writer.acknowledged) for writer in writers}
        backups = tmp_path / "backups"
        first = back_up(server, backups)
        during = {writer.name: len(writer.acknowledged) for writer in writers}
        wait_for(lambda: all(len(writer.acknowledged) > during[writer.name] for writer in writers), "writing goes on")
    finally:
        stop.set()
        for writer in writers:
            writer.join(120)
    assert [writer.surprises for writer in writers] == [[], []]
    assert not list((server.data / "backup").iterdir())
    question = f"/prometheus/api/v1/query?query=sum_over_time(hours[40h])&time={time.time() // 3600 * 3600 - 3600}"
    of_the_first = ask(server, "GET", question)["data"]["result"]
    assert of_the_first
    # Again: whole by itself, with what came since.
    write_hours(server, 1, value=2.5)
    again = back_up(server, backups)
    assert read_manifest(again).rows > read_manifest(first).rows
    assert all(path.stat().st_nlink == 1 for path in again.rglob("*.parquet"))
    assert whole_backups(backups) == [first, again]
    # All of it in a second server, from the first of the two.
    done = loadwatch("restore", str(first), "--data", str(second.data))
    assert done.returncode == 0, done.stderr
    assert read_manifest(first).rows == int(done.stdout.split(" has ")[1].split()[0])
    second.start()
    for path in (f"/api/runs/{run}", f"/api/annotations/{note['id']}"):
        assert same(ask(second, "GET", path)) == same(ask(server, "GET", path))
    for path in (f"/api/runs/{run}/seconds", f"/api/evidence/{evidence['id']}/content", f"/api/runs/{run}/summary"):
        answers = [urllib3.request("GET", one.url + path, timeout=120) for one in (second, server)]
        assert answers[0].status == answers[1].status
        assert answers[0].data == answers[1].data
    stored = ask(second, "GET", "/api/runs")["runs"][0]
    assert stored["name"] == "kept"
    assert ask(second, "GET", question)["data"]["result"] == of_the_first
    assert second.stop() == 0
    found = read(second.data)
    for writer in writers:
        for number in range(50):
            missing = set(before[writer.name]) - found[writer.name, str(number)]
            assert not missing, f"{len(missing)} acknowledged samples are not in the backup"


def same(document: Any) -> Any:
    """Without what goes on with time."""
    moving = {"evaluated_ms", "now_ms", "last_evaluation_ms", "value", "updated_ms", "last_seen_ms", "seconds"}
    if isinstance(document, dict):
        fields = cast("dict[str, Any]", document)
        return {key: same(value) for key, value in fields.items() if key not in moving}
    return [same(value) for value in cast("list[Any]", document)] if isinstance(document, list) else document


def cut_off(server: RealServer, backups: Path, victim: str) -> bool:
    """Kill one of both when a part of a backup is there; False when it was whole by then, as on a busy machine."""
    command = [LOADWATCH, "backup", str(backups), "--server", server.url]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def arrives() -> bool:
        files = [len(list(path.glob("samples/*"))) for path in backups.glob(f"*{PARTIAL}")]
        return process.poll() is not None or max(files, default=0) > 3

    wait_for(arrives, "a backup begins", pause=0.01)
    if victim == "client":
        process.kill()
    else:
        server.kill()
    _, said = process.communicate(timeout=120)
    if victim == "server":
        server.start()
        assert not (server.data / "backup").exists()
    if whole_backups(backups):
        assert loadwatch("restore", str(backups), "--check").returncode == 0
        shutil.rmtree(backups)
        return False
    if victim == "server":
        assert (process.returncode, "There is no new backup." in said) == (1, True)
        assert not list(backups.glob("2*"))
    return True


@pytest.mark.timeout(900)
def test_a_backup_that_is_killed_leaves_none_and_the_next_is_whole(server: RealServer, tmp_path: Path) -> None:
    server.start()
    write_hours(server, 150)
    backups = tmp_path / "backups"
    whole = back_up(server, backups)
    shutil.rmtree(whole)
    for victim in ("client", "server", "client"):
        while not cut_off(server, backups, victim):
            pass
        refused = loadwatch("restore", str(backups), "--data", str(tmp_path / "new"))
        assert (refused.returncode, "holds no backup that is whole" in refused.stderr) == (1, True)
    last = back_up(server, backups)
    assert [path.name for path in backups.glob("2*")] == [last.name]
    assert loadwatch("restore", str(backups), "--check").returncode == 0


@pytest.mark.timeout(600)
def test_a_full_disk_is_said_and_nothing_is_left(server: RealServer, tmp_path: Path) -> None:
    server.start()
    write_hours(server, 3)
    backups, new = tmp_path / "backups", tmp_path / "new"
    full = loadwatch("backup", str(backups), "--server", server.url, most_file_bytes=100_000)
    assert full.returncode == 1
    assert "File too large. There is no new backup." in full.stderr
    assert not list(backups.glob("2*"))
    back_up(server, backups)
    full = loadwatch("restore", str(backups), "--data", str(new), most_file_bytes=100_000)
    assert full.returncode == 1
    assert "Traceback" not in full.stderr
    assert not new.exists()
    assert loadwatch("restore", str(backups), "--data", str(new)).returncode == 0


@pytest.mark.timeout(600)
def test_damage_is_named_by_its_hour_and_a_restore_is_never_into_something(server: RealServer, tmp_path: Path) -> None:
    server.start()
    write_hours(server, 5)
    backups, new = tmp_path / "backups", tmp_path / "new"
    backup = back_up(server, backups)
    manifest = read_manifest(backup)
    hour = Path(sorted(file.path for file in manifest.files if HOUR.fullmatch(file.path))[2])
    content = bytearray((backup / hour).read_bytes())
    content[len(content) // 2] ^= 1
    (backup / hour).write_bytes(content)
    used = loadwatch("restore", str(backups), "--data", str(server.data), "--skip-damaged")
    assert (used.returncode, "is in use" in used.stderr) == (1, True)
    refused = loadwatch("restore", str(backups), "--data", str(new))
    assert refused.returncode == 1
    name = hour.name
    said = f"the samples of the hour from {name[:4]}-{name[4:6]}-{name[6:8]} {name[9:11]}:00 UTC on"
    assert said in refused.stderr
    assert not new.exists()
    without = loadwatch("restore", str(backups), "--data", str(new), "--skip-damaged")
    assert without.returncode == 0
    assert f"has {manifest.rows - 20} samples" in without.stdout
    assert said in without.stderr
    again = loadwatch("restore", str(backups), "--data", str(new))
    assert (again.returncode, "is not empty" in again.stderr) == (1, True)
    # The next backup does not build on the damaged one.
    time.sleep(1.1)
    repaired = back_up(server, backups, "--keep", "1")
    assert loadwatch("restore", str(repaired), "--check").returncode == 0
    assert whole_backups(backups) == [repaired]
    # A restore that was cut off is no data directory.
    os.rename(new / "samples.duckdb", tmp_path / "away")
    (new / "restore-under-way").touch()
    half = RealServer(tmp_path / "half")
    half.directory.mkdir()
    shutil.move(new, half.data)
    with pytest.raises(AssertionError, match="was cut off"):
        half.start()
    assert (backup / MANIFEST).exists() is False
