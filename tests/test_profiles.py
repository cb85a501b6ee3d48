"""Profiles from a real Go process to the page's document: through a real agent and a real server."""

import gzip
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
import urllib3

from collectors.tests.mariadb import MariaDB, running_mariadb
from collectors.tests.measuring_server import MeasuringServer, build
from collectors.tests.measuring_server import running as running_app
from tests.fork_server import ForkedLoadwatch, run_forked
from tests.ports import free_port
from tests.serving import LOADWATCH, RealServer

CONFIG = """\
server: {{url: "{server}"}}
spool: {{directory: "{folder}/spool"}}
targets:
  - job: shop
    instance: web-1
    interval: 500ms
    pprof: {{url: "{app}/debug/pprof", kinds: [cpu, mutex, block, heap, goroutine, allocs], seconds: {seconds}}}
"""
TYPES = {
    "cpu": "cpu",
    "mutex": "delay",
    "block": "delay",
    "heap": "inuse_space",
    "goroutine": "goroutine",
    "allocs": "alloc_space",
}
KINDS = TYPES.keys()
FIXTURES = Path(__file__).parents[1] / "backend" / "tests" / "evidence" / "profiles" / "fixtures"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDB]:
    with running_mariadb(tmp_path_factory.mktemp("lw")) as server:
        server.run(
            "CREATE DATABASE shop",
            "CREATE USER application@'127.0.0.1'",
            "GRANT ALL ON shop.* TO application@'127.0.0.1'",
        )
        yield server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    directory = tmp_path / "server"
    directory.mkdir()
    running = RealServer(directory)
    try:
        running.start()
        yield running
    finally:
        if running.process is not None:
            running.stop()


@pytest.fixture
def client(server: RealServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60, verify=False) as client:
        yield client


@contextmanager
def agent(folder: Path, server: RealServer, app: str, seconds: int = 1) -> "Generator[subprocess.Popen[bytes]]":
    config = folder / "loadwatch.yml"
    config.write_text(CONFIG.format(server=server.url, folder=folder, app=app, seconds=seconds))
    with (folder / "agent.log").open("ab") as log:
        process = ForkedLoadwatch([str(LOADWATCH), "agent", "--config", str(config)], stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)


@contextmanager
def load(app: MeasuringServer) -> Generator[None]:
    """Hits one after another by a few clients, so that there is something to profile."""
    over = threading.Event()
    pool = urllib3.PoolManager(maxsize=8)

    def hit() -> None:
        while not over.is_set():
            with suppress(urllib3.exceptions.HTTPError):
                pool.request("GET", f"{app.url}/?name=a&value=1", retries=False, timeout=10)

    clients = [threading.Thread(target=hit) for _ in range(8)]
    for client in clients:
        client.start()
    try:
        yield
    finally:
        over.set()
        for client in clients:
            client.join(60)


def wait_for(condition: Callable[[], Any], folder: Path) -> Any:
    for _ in range(1_200):
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError((folder / "agent.log").read_text(errors="replace")[-5_000:])


def begin(client: httpx.Client, run: str, ago_ms: int = 0, **facts: Any) -> None:
    now_ms = client.get("/api/status").json()["now_ms"]
    body = {"id": run, "name": run, "scenario": "shop", "started_ms": now_ms - ago_ms, **facts}
    answer = client.post("/api/runs", json=body)
    assert answer.status_code == 201, answer.text


def orders_of(client: httpx.Client, run: str) -> list[dict[str, Any]]:
    orders: list[dict[str, Any]] = client.get(f"/api/runs/{run}/profile-orders").json()["orders"]
    return orders


def test_a_run_is_profiled_by_itself(
    server: RealServer, client: httpx.Client, database: MariaDB, program: Path, tmp_path: Path
) -> None:
    flags = ("-max-open=2", "-cpu-per-hit=200us")
    with running_app(program, database, tmp_path / "app.log", *flags) as app, agent(tmp_path, server, app.url):
        with load(app):
            # Most of what comes before the steady part is over.
            begin(client, "run-1", ago_ms=11_000, target_duration_seconds=30)
            over = wait_for(
                lambda: (orders := orders_of(client, "run-1")) and all(one["ended_ms"] for one in orders) and orders,
                tmp_path,
            )
    assert {one["kind"]: one["state"] for one in over} == dict.fromkeys(KINDS, "done"), over
    assert {(one["cause"], one["job"], one["instance"]) for one in over} == {("run", "shop", "web-1")}
    taken = [(one["taken_ms"], one["ended_ms"]) for one in over]
    assert all(ended <= begun for (_, ended), (begun, _) in pairwise(taken)), "one at a time"
    profiles = client.get("/api/runs/run-1/profiles").json()["profiles"]
    assert {one["kind"] for one in profiles} == KINDS
    for one in profiles:
        original = client.get(f"/api/evidence/{one['id']}")
        assert gzip.decompress(original.content)
        view = client.get("/api/profiles/view", params={"file": one["id"]}).json()
        assert view["tree"]["parent"][0] == -1, one["kind"]
        assert view["kind"] == one["kind"]
        assert view["type"]["name"] == TYPES[one["kind"]]
    by_kind = {one["kind"]: one["id"] for one in profiles}
    block = client.get("/api/profiles/view", params={"file": by_kind["block"]}).json()
    assert "database/sql.(*DB).conn" in {one["name"] for one in block["functions"]}
    cpu = client.get("/api/profiles/view", params={"file": by_kind["cpu"]}).json()
    routes = [label for label in cpu["labels"] if label["key"] == "route"]
    assert routes
    assert routes[0]["values"][0]["text"] == "/"


def test_an_app_that_dies_meanwhile_ends_the_order_with_words_and_the_next_is_taken(
    server: RealServer, client: httpx.Client, database: MariaDB, program: Path, tmp_path: Path
) -> None:
    begin(client, "run-2")
    port = free_port()
    log = tmp_path / "app.log"
    with running_app(program, database, log, port=port) as app, agent(tmp_path, server, app.url, seconds=30):
        wait_for(lambda: client.get("/api/runs/run-2/profile-orders").json()["processes"], tmp_path)
        answer = client.post("/api/profile-orders", json={"run": "run-2", "kinds": ["cpu"]})
        assert answer.status_code == 201, answer.text
        wait_for(lambda: orders_of(client, "run-2")[0]["taken_ms"], tmp_path)
        app.process.kill()
        order = wait_for(lambda: orders_of(client, "run-2")[0]["ended_ms"] and orders_of(client, "run-2")[0], tmp_path)
        assert order["state"] == "failed"
        assert f"127.0.0.1:{port}/debug/pprof" in order["reason"]
        with running_app(program, database, log, port=port):
            # Until the agent has met the application again, no process offers profiles, and the order is refused.
            order = {"run": "run-2", "kinds": ["heap"]}
            wait_for(lambda: client.post("/api/profile-orders", json=order).status_code == 201, tmp_path)
            wait_for(lambda: orders_of(client, "run-2")[-1]["state"] == "done", tmp_path)
    [kept] = client.get("/api/runs/run-2/profiles").json()["profiles"]
    assert (kept["kind"], kept["cause"], kept["asked_by"]) == ("heap", "hand", "local")


def test_files_are_brought_by_the_command_line(server: RealServer, client: httpx.Client, tmp_path: Path) -> None:
    begin(client, "run-4")
    junk = tmp_path / "page.html"
    junk.write_text("<html>")
    files = [str(FIXTURES / "go" / "00-cpu-now.pb.gz"), str(junk), str(FIXTURES / "py-spy" / "app.collapsed")]
    command = ["import", "--server", server.url, "--profile"]
    done = run_forked(*command, "--run", "run-4", *files)
    assert done.returncode == 1
    assert "page.html: " in done.stderr
    assert "HTML" in done.stderr
    page = f"{server.url}/runs/run-4/profiles?kind="
    assert done.stdout.splitlines() == [f"{page}cpu", f"{page}other"]
    assert {one["cause"] for one in client.get("/api/runs/run-4/profiles").json()["profiles"]} == {"upload"}
    without = run_forked(*command, *files)
    assert (without.returncode, "--profile needs --run" in without.stderr) == (2, True)


def test_an_order_is_not_given_twice(server: RealServer, client: httpx.Client, tmp_path: Path) -> None:
    begin(client, "run-3")
    refused = client.post("/api/profile-orders", json={"run": "run-3", "kinds": ["cpu"]})
    assert refused.status_code == 422
    assert "pprof" in refused.json()["detail"]
    assert client.get("/api/profiles/orders", params={"job": "shop"}).json() == {"orders": []}
    for what in ("begin", "failure", "profile"):
        body = {"reason": "x"} if what == "failure" else None
        assert client.post(f"/api/profiles/orders/7/{what}", json=body).status_code == 404, what
