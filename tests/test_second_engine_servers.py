"""Two servers behind nginx, on one database and one VictoriaMetrics: one is killed, and nobody notices.

Once with MariaDB and once with PostgreSQL, whose locks, types and errors differ.
"""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from backend.tests.databases import make_database
from backend.tests.ingest.writing import HEADERS, body, series
from backend.tests.store.prometheus.engines import RealEngine, victoria_metrics
from tests.alerting import Pager, Watch, make_watch, wait_for
from tests.ports import free_port
from tests.serving import RealServer, wait_until_answers

# A machine that does much else takes minutes for what takes seconds.
LONG = 900
START_MS = int(time.time() * 1000) // 1000 * 1000 - 600_000
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream loadwatch {{ server {first}; server {second}; }}
  server {{
    listen 127.0.0.1:{port};
    client_max_body_size 64m;
    location / {{
      proxy_pass http://loadwatch;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      # A server that is killed in the middle of a push has acknowledged nothing: the other one takes it.
      proxy_next_upstream error timeout non_idempotent http_502 http_503;
    }}
  }}
}}
"""
HTTP = urllib3.PoolManager(retries=False, timeout=300)


def start(server: RealServer) -> None:
    log = server.launch()
    assert server.process is not None
    try:
        wait_until_answers(f"{server.url}/-/ready", server.process, LONG)
    except AssertionError as error:
        raise AssertionError(log.read_text(errors="replace")) from error


@pytest.fixture
def pager() -> Iterator[Pager]:
    pager = Pager()
    yield pager
    pager.close()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[RealEngine]:
    with victoria_metrics(tmp_path / "engine") as engine:
        yield engine


@pytest.fixture(params=["mariadb", "postgresql"])
def pair(
    request: pytest.FixtureRequest, tmp_path: Path, pager: Pager, engine: RealEngine
) -> Iterator[tuple[Watch, Watch]]:
    shared = {
        "LOADWATCH_DATABASE_URL": make_database(request.param, tmp_path),
        "LOADWATCH_STORE_URL": engine.url,
    }
    first = make_watch(tmp_path / "a", pager, environment=shared)
    second = make_watch(tmp_path / "b", pager, environment=shared)
    start(first.server)
    start(second.server)
    yield first, second
    for watch in (first, second):
        if watch.server.process is not None:
            watch.server.kill()


@pytest.fixture
def balancer(tmp_path: Path, pair: tuple[Watch, Watch]) -> Iterator[str]:
    folder, port = tmp_path / "nginx", free_port()
    folder.mkdir()
    first, second = (f"127.0.0.1:{watch.server.port}" for watch in pair)
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, first=first, second=second, port=port))
    process = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])
    url = f"http://127.0.0.1:{port}"
    wait_until_answers(f"{url}/-/ready", process, LONG)
    yield url
    process.terminate()
    process.wait(120)


class Writer(threading.Thread):
    """Pushes a sample of each second through the balancer; `acknowledged` are the seconds that were taken."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.acknowledged: list[int] = []
        self.refused: list[int] = []
        self.end = threading.Event()
        self._url = f"{url}/prometheus/api/v1/write"

    def run(self) -> None:
        second = 0
        while not self.end.is_set():
            content = body(series({"__name__": "balanced"}, (START_MS + second * 1000, second)))
            answer = HTTP.request("POST", self._url, body=content, headers=HEADERS)
            (self.acknowledged if answer.status == 204 else self.refused).append(second)
            second += 1
            time.sleep(0.01)


def leads(watch: Watch) -> bool:
    return bool(watch.get("/api/alerts?sparklines=false")["evaluator"] == "here")


def ask(url: str, path: str, document: Any = None) -> Any:
    """An answer through the balancer."""
    sent = None if document is None else json.dumps(document).encode()
    method = "GET" if document is None else "POST"
    answer = HTTP.request(method, url + path, body=sent, headers={"content-type": "application/json"})
    assert answer.status < 300, answer.data
    return json.loads(answer.data)


def seconds_of(engine: RealEngine) -> set[int]:
    engine.show_all()
    answer = HTTP.request("GET", f"{engine.url}/api/v1/export", fields={"match[]": "balanced", "start": "0"})
    lines = map(json.loads, answer.data.splitlines())
    return {(time_ms - START_MS) // 1000 for line in lines for time_ms in line["timestamps"]}


@pytest.mark.timeout(7200)
def test_one_server_is_killed_and_nobody_notices(
    pair: tuple[Watch, Watch], balancer: str, pager: Pager, engine: RealEngine
) -> None:
    first, second = pair
    wait_for("the first leads", lambda: leads(first), LONG)

    # What comes in at the one that does not lead is seen, and evaluated, by the one that does.
    second.write(35)
    wait_for("told", lambda: pager.statuses() == ["firing"], LONG)
    run = ask(balancer, "/api/runs", {"name": "checkout ramp", "scenario": "checkout"})

    writer = Writer(balancer)
    writer.start()
    wait_for("samples come in", lambda: len(writer.acknowledged) > 50, LONG)
    before = len(writer.acknowledged)
    first.server.kill()
    wait_for("samples go on", lambda: len(writer.acknowledged) > before + 50, LONG)

    # All that people see goes on, by the other.
    assert ask(balancer, f"/api/runs/{run['id']}")["name"] == "checkout ramp"
    assert [alert["name"] for alert in ask(balancer, "/api/alerts?sparklines=false")["alerts"]] == ["Hot"]
    wait_for("the second leads", lambda: leads(second), LONG)
    second.write(20)
    wait_for("told of the end", lambda: pager.statuses() == ["firing", "resolved"], LONG)
    writer.end.set()
    writer.join(LONG)
    assert not writer.refused

    # What the killed one had on disk and had not delivered comes with its next start.
    start(first.server)
    acknowledged = set(writer.acknowledged)
    wait_for("all of it is with the engine", lambda: acknowledged <= seconds_of(engine), LONG)
    assert leads(second)
    assert not leads(first)
