"""The database or the disk is away: what needs it is 503 with the cause, and all else goes on."""

import os
import resource
import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from loadwatch_backend.core.database import relational as relational_module

from backend.tests.conftest import NOW_MS, RunningServer, run_server
from backend.tests.databases import make_database, mariadb_server
from backend.tests.ingest.writing import HEADERS, body, series
from collectors.tests.postgresql import running_postgresql
from tests.serving import RealServer

NOTE = {"author": "a", "text": "t", "start_ms": NOW_MS}


@pytest.fixture(autouse=True)
def _short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relational_module, "ANSWER_SECONDS", 2)


@contextmanager
def stopped(kind: str) -> Generator[None]:
    """The database's processes are there and do nothing."""
    server = mariadb_server() if kind == "mariadb" else running_postgresql()
    assert server.process is not None
    first = server.process.pid
    processes = [first, *map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())]
    try:
        for pid in processes:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in processes:
            os.kill(pid, signal.SIGCONT)


def wait_for(what: str, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def check_away(server: RunningServer) -> None:
    """All that needs the database says so, nobody waits long, and what needs none goes on."""

    def standstill() -> Any:
        return server.client.get("/api/status").json()["not_evaluating"]

    wait_for("the page is told", lambda: standstill() is not None)
    assert standstill()["cause"] == "database-unavailable"
    assert standstill()["reason"] != ""
    for method, path in (("GET", "/api/annotations"), ("GET", "/api/runs"), ("POST", "/api/annotations")):
        answer = server.client.request(method, path, json=NOTE if method == "POST" else None)
        assert (answer.status_code, answer.json()["code"]) == (503, "database-unavailable"), answer.text
        assert answer.headers["retry-after"] == "5"
        assert "does not answer" in answer.json()["detail"]
    assert server.client.get("/-/ready").status_code == 503
    assert "loadwatch_database_up 0.0" in server.client.get("/metrics").text
    sent = body(series({"__name__": "m"}, (NOW_MS, 7.0)))
    assert server.client.post("/prometheus/api/v1/write", content=sent, headers=HEADERS).status_code == 204
    found = server.client.get("/prometheus/api/v1/query", params={"query": "m", "time": NOW_MS / 1_000}).json()
    assert found["data"]["result"][0]["value"][1] == "7"


def check_back(server: RunningServer) -> None:
    wait_for("it is evaluated again", lambda: server.client.get("/api/status").json()["not_evaluating"] is None)
    wait_for("notes are taken again", lambda: server.client.post("/api/annotations", json=NOTE).status_code == 201)
    assert server.client.get("/-/ready").status_code == 200


@pytest.mark.parametrize("kind", ["mariadb", "postgresql"])
def test_a_database_that_hangs(kind: str, tmp_path: Path):
    with run_server(tmp_path / "data", database_url=make_database(kind, tmp_path)) as server:
        assert server.client.post("/api/annotations", json=NOTE).status_code == 201
        with stopped(kind):
            check_away(server)
        check_back(server)


def test_a_database_that_was_killed(tmp_path: Path):
    with run_server(tmp_path / "data", database_url=make_database("mariadb", tmp_path)) as server:
        database = mariadb_server()
        assert database.process is not None
        database.process.kill()
        database.process.wait()
        try:
            check_away(server)
        finally:
            database.start()
        check_back(server)


def test_nobody_gets_in_while_the_database_is_away(tmp_path: Path):
    with (
        run_server(tmp_path / "data", database_url=make_database("mariadb", tmp_path), access="users") as server,
        stopped("mariadb"),
    ):
        for path in ("/api/annotations", "/api/runs", "/prometheus/api/v1/query?query=1"):
            answer = server.client.get(path, headers={"authorization": "Bearer lw_" + "x" * 40})
            assert answer.status_code in (401, 503), path
            assert server.client.get(path).status_code in (401, 503)


def test_a_disk_that_takes_no_more(tmp_path: Path):
    """The kernel refuses writes to files beyond a size, as it does on a full disk; the server is another process."""
    server = RealServer(directory=tmp_path)
    server.start()
    assert server.process is not None
    try:
        with httpx.Client(base_url=server.url, timeout=120, verify=False) as client:
            now_ms = client.get("/api/status").json()["now_ms"]
            note = {**NOTE, "text": "x" * 4_000, "start_ms": now_ms}
            assert client.post("/api/annotations", json=note).status_code == 201
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
            answer = client.post("/api/annotations", json=note)
            assert answer.status_code == 503, answer.text
            assert answer.json()["code"] in ("disk-full", "disk-failed")
            wait_for("the page is told", lambda: client.get("/api/status").json()["not_evaluating"] is not None)
            assert client.get("/api/status").json()["not_evaluating"]["cause"] in ("disk-full", "disk-failed")
            ready = client.get("/-/ready")
            assert ready.status_code == 503
            assert "amples are taken" not in ready.text
            sent = body(*(series({"__name__": f"m{number}"}, (now_ms, 7.0)) for number in range(500)))
            assert client.post("/prometheus/api/v1/write", content=sent, headers=HEADERS).status_code == 503
            ready = client.get("/-/ready")
            assert (ready.status_code, "none are taken" in ready.text) == (503, True), ready.text
            resource.prlimit(
                server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
            )
            wait_for("back", lambda: client.get("/api/status").json()["not_evaluating"] is None)
            assert client.post("/api/annotations", json=note).status_code == 201
    finally:
        server.kill()
