"""A real server on a real VictoriaMetrics: what it takes in while the engine is away, and after kill -9, arrives."""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from backend.tests.ingest.writing import HEADERS, body, series
from backend.tests.store.prometheus.engines import RealEngine, victoria_metrics, wait_for
from tests.fork_server import run_forked
from tests.ports import free_port
from tests.serving import RealServer, wait_until_answers

START_MS = int(time.time() * 1000) // 1000 * 1000 - 12 * 3_600_000
SERIES = 20


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[RealEngine]:
    with victoria_metrics(tmp_path / "engine") as engine:
        yield engine


@pytest.fixture
def server(tmp_path: Path, engine: RealEngine) -> Iterator[RealServer]:
    server = RealServer(tmp_path / "server", {"LOADWATCH_STORE_URL": engine.url})
    server.directory.mkdir()
    yield server
    if server.process is not None:
        server.kill()


HTTP = urllib3.PoolManager(retries=False, timeout=60)


def start(server: RealServer) -> None:
    log = server.launch()
    assert server.process is not None
    try:
        wait_until_answers(f"{server.url}/-/ready", server.process, 900)
    except AssertionError as error:
        raise AssertionError(log.read_text(errors="replace")) from error


def write(server: RealServer, second: int, name: str = "engine_test") -> int:
    """Status of a push of one sample each of all series."""
    content = body(
        *(
            series({"__name__": name, "i": f"{number:03d}"}, (START_MS + second * 1000, second))
            for number in range(SERIES)
        )
    )
    return HTTP.request("POST", f"{server.url}/prometheus/api/v1/write", body=content, headers=HEADERS).status


def loadwatch(*arguments: str) -> str:
    """What a command says, which succeeds."""
    done = run_forked(*arguments, seconds=900)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def ask(url: str, path: str, **fields: str) -> Any:
    answer = HTTP.request("GET", f"{url}{path}", fields=fields)
    return json.loads(answer.data)


def rows_of(engine: RealEngine, name: str) -> set[tuple[str, int]]:
    """What the engine itself has: series and second."""
    engine.show_all()
    answer = HTTP.request("GET", f"{engine.url}/api/v1/export", fields={"match[]": name, "start": "0"})
    assert answer.status == 200
    return {
        (document["metric"]["i"], (time_ms - START_MS) // 1000)
        for document in map(json.loads, answer.data.splitlines())
        for time_ms in document["timestamps"]
    }


@pytest.mark.timeout(3600)
def test_nothing_acknowledged_is_lost_while_the_engine_is_away(server: RealServer, engine: RealEngine) -> None:
    start(server)
    assert write(server, 0) == 204
    engine.stop()

    for second in range(1, 60):
        assert write(server, second) == 204
        if second == 20:
            server.kill()
            start(server)
    assert HTTP.request("GET", f"{server.url}/-/ready").status == 200
    metrics = HTTP.request("GET", f"{server.url}/metrics").data.decode().splitlines()
    (waiting,) = (line for line in metrics if line.startswith("loadwatch_store_engine_queue_samples "))
    assert float(waiting.split()[1]) >= SERIES * 59
    away = HTTP.request("GET", f"{server.url}/prometheus/api/v1/query", fields={"query": "engine_test"})
    assert away.status == 503
    assert json.loads(away.data)["errorType"] == "unavailable"
    server.kill()

    engine.start()
    start(server)
    wanted = {(f"{number:03d}", second) for number in range(SERIES) for second in range(60)}
    wait_for("all of it is with the engine", lambda: wanted == rows_of(engine, "engine_test"), 900)
    assert server.stop() == 0


@pytest.mark.timeout(3600)
def test_queries_are_the_engines_and_lists_are_joined(server: RealServer, engine: RealEngine) -> None:
    start(server)
    for second in range(60):
        assert write(server, second) == 204
    end = str(START_MS // 1000 + 59)
    wait_for("it is all there", lambda: len(rows_of(engine, "engine_test")) == 60 * SERIES, 900)
    # MetricsQL, which only the engine speaks.
    answer = ask(server.url, "/prometheus/api/v1/query", query="range_last(sum(engine_test))", time=end)
    assert answer["status"] == "success"
    ours = ask(server.url, "/prometheus/api/v1/query_range", query="sum(engine_test)", start=end, end=end, step="1")
    theirs = ask(engine.url, "/api/v1/query_range", query="sum(engine_test)", start=end, end=end, step="1")
    assert ours["data"]["result"] == theirs["data"]["result"]
    assert ours["data"]["result"][0]["values"] == [[int(end), str(59 * SERIES)]]
    wrong = HTTP.request("GET", f"{server.url}/prometheus/api/v1/query", fields={"query": "sum("})
    assert wrong.status == 422
    assert json.loads(wrong.data)["status"] == "error"
    names = ask(server.url, "/prometheus/api/v1/label/__name__/values")["data"]
    assert "engine_test" in names
    assert "loadwatch_newest_sample_timestamp_seconds" in names
    assert ask(server.url, "/api/status")["newest_sample_ms"] == START_MS + 59_000

    # A backup has all else, and says where the samples are.
    kept = server.directory / "backups"
    loadwatch("backup", str(kept), "--server", server.url)
    said = loadwatch("restore", str(kept), "--data", str(server.directory / "restored"))
    assert "LOADWATCH_STORE_URL" in said
    assert (server.directory / "restored" / "loadwatch.sqlite").exists()


@pytest.mark.timeout(3600)
def test_the_start_is_refused_where_nobody_answers(tmp_path: Path) -> None:
    server = RealServer(tmp_path, {"LOADWATCH_STORE_URL": f"http://127.0.0.1:{free_port()}"})
    log = server.launch()
    assert server.process is not None
    assert server.process.wait(900) == 1
    text = log.read_text()
    assert "the connection was refused" in text
    assert "LOADWATCH_STORE_URL" in text
    assert "Traceback" not in text


BEHIND = """
groups:
  - name: engine
    rules:
      - {alert: Behind, expr: loadwatch_store_engine_queue_seconds > 2, labels: {severity: critical}}
      - {alert: Lost, expr: 'absent(nothing_of_it)', labels: {severity: critical}}
"""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP], ids=["ended", "hangs"])
def test_that_the_engine_is_away_is_told_while_it_is_away(
    tmp_path: Path, server: RealServer, engine: RealEngine, end: signal.Signals
) -> None:
    rules = tmp_path / "rules.yml"
    rules.write_text(BEHIND)
    server.environment = {
        **server.environment,
        "LOADWATCH_RULES": str(rules),
        "LOADWATCH_OWN_METRICS_SECONDS": "1",
    }
    start(server)

    def names() -> set[str]:
        return {one["name"] for one in ask(server.url, "/api/alerts", sparklines="false")["alerts"]}

    wait_for("rules are evaluated", lambda: "Lost" in names(), 300)
    wait_for("nothing waits", lambda: "Behind" not in names(), 300)
    assert engine.process is not None
    engine.process.send_signal(end)
    try:
        wait_for("it is told", lambda: "Behind" in names(), 900)
        # What cannot be evaluated now is not resolved.
        assert "Lost" in names()
    finally:
        engine.process.send_signal(signal.SIGCONT)
