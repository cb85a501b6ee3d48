"""A data directory has one process: whoever comes second says who holds it, and nothing of it is changed."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3

from backend.tests.ingest.writing import HEADERS, body, series
from tests.fork_server import run_forked
from tests.ports import free_port
from tests.serving import RealServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path)
    server.start()
    yield server
    if server.process is not None:
        server.kill()


def push(server: RealServer) -> int:
    content = body(series({"__name__": "m"}, (int(time.time() * 1000), 1.0)))
    return urllib3.request("POST", f"{server.url}/prometheus/api/v1/write", body=content, headers=HEADERS).status


def loadwatch(server: RealServer, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {
        **os.environ,
        "LOADWATCH_DATA": str(server.data),
        "LOADWATCH_LISTEN": f"127.0.0.1:{free_port()}",
        "LOADWATCH_SERVER": server.url,
    }
    return run_forked(*arguments, environment=environment)


def contents(data: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in data.glob("samples.*")}


@pytest.mark.parametrize(
    "command",
    [
        ("server",),
        ("store", "migrate", "--to", "http://127.0.0.1:9", "--patience", "0"),
        ("restore", "BACKUPS", "--data", "DATA", "--skip-damaged"),
        ("server", "--set-aside", "samples.duckdb"),
    ],
)
def test_the_second_refuses(server: RealServer, tmp_path: Path, command: tuple[str, ...]) -> None:
    assert push(server) == 204
    backups = tmp_path / "backups"
    made = loadwatch(server, "backup", str(backups))
    assert made.returncode == 0, made.stderr
    before = contents(server.data)
    places = {"BACKUPS": str(backups), "DATA": str(server.data)}
    second = loadwatch(server, *(places.get(one, one) for one in command))
    assert second.returncode == 1
    assert server.process is not None
    assert f"is in use by another loadwatch server (process {server.process.pid})" in second.stderr
    assert "Traceback" not in second.stderr
    assert contents(server.data) == before
    # The first one goes on, and who comes by its address is no second one.
    assert push(server) == 204
    compacted = loadwatch(server, "store", "compact")
    assert compacted.returncode == 0, compacted.stderr
    again = loadwatch(server, "backup", str(tmp_path / "others"))
    assert again.returncode == 0, again.stderr
    assert server.stop() == 0
