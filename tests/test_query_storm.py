"""Queries of fifty million cells, twenty at once, against a real server: its memory, its answers, its end."""

import json
import math
import threading
import time
import urllib.parse
from collections.abc import Generator
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import cramjam
import pytest
from loadwatch_backend.series.store.remote_pb2 import Label, Sample, TimeSeries, WriteRequest

from tests.serving import RealServer

SERIES, SAMPLES = 4_990, 20
STEPS = 10_000
CLIENTS = 20
MEBIBYTE = 1 << 20
QUERY_MIB, HEAD_MIB, DATABASE_MIB = 128, 32, 64
CEILING_MIB = 300 + 2 * HEAD_MIB + DATABASE_MIB + QUERY_MIB * 5 // 4
"""As docs/guide/server.md reckons it."""
HOSTILE = (
    "x",
    "x + x",
    "sum(x)",
    "sum(rate(x[5m]))",
    "sum by (shard) (quantile_over_time(0.9, x[5m]))",
    "x * on (shard) group_left () max by (shard) (x)",
    'count_values("value", x)',
    "topk(2000, x) or x > 1e9",
    'label_replace(x, "copy", "$1", "host", "(.*)")',
    '{__name__=~".+"}[1d]',
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RealServer]:
    environment = {
        "LOADWATCH_QUERY_MEMORY_BYTES": str(QUERY_MIB * MEBIBYTE),
        "LOADWATCH_STORE_MEMORY_BYTES": str((HEAD_MIB + DATABASE_MIB) * MEBIBYTE),
        "LOADWATCH_QUERY_TIMEOUT_SECONDS": "2",
        "LOADWATCH_DEFAULT_RULES": "false",
    }
    running = RealServer(tmp_path_factory.mktemp("storm"), environment)
    running.start()
    try:
        _fill(running)
        yield running
    finally:
        if running.process is not None:
            running.kill()


def _fill(server: RealServer) -> None:
    now = int(time.time()) * 1000
    for first in range(0, SERIES, 1_000):
        series = [
            TimeSeries(
                labels=[
                    Label(name=name.encode(), value=value.encode())
                    for name, value in (("__name__", "x"), ("host", f"h{number}"), ("shard", str(number % 50)))
                ],
                samples=[
                    Sample(value=number * 1.5 + back, timestamp=now - 1_000_000 + 50_000 * back)
                    for back in range(SAMPLES)
                ],
            )
            for number in range(first, min(first + 1_000, SERIES))
        ]
        body = bytes(cramjam.snappy.compress_raw(WriteRequest(timeseries=series).SerializeToString()))
        connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
        headers = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy"}
        connection.request("POST", "/prometheus/api/v1/write", body, headers)
        answer = connection.getresponse()
        assert answer.status == 204, answer.read()
        connection.close()


def _path(text: str) -> str:
    now = time.time()
    if text.endswith("]"):
        return "/prometheus/api/v1/query?" + urllib.parse.urlencode({"query": text})
    asked = {"query": text, "start": now - 1_000, "end": now, "step": 1_000 / STEPS}
    return "/prometheus/api/v1/query_range?" + urllib.parse.urlencode(asked)


def _get(server: RealServer, path: str) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def _metric(server: RealServer, name: str) -> float:
    """The sum over its labels."""
    _, page = _get(server, "/metrics")
    lines = [line for line in page.decode().splitlines() if line.startswith((name + "{", name + " "))]
    assert lines, name
    return math.fsum(float(line.rpartition(" ")[2]) for line in lines)


def _wait(holds: object, what: str) -> None:
    assert callable(holds)
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def _peak_mib(server: RealServer) -> int:
    assert server.process is not None
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def test_memory_stays_below_the_stated_ceiling(server: RealServer) -> None:
    found: list[tuple[str, int, bytes]] = []

    def client(number: int) -> None:
        text = HOSTILE[number % len(HOSTILE)]
        found.append((text, *_get(server, _path(text))))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(found) == CLIENTS
    for text, status, body in found:
        assert status in (200, 422, 503), (text, status, body[:300])
        document = json.loads(body)
        assert (document["status"] == "success") == (status == 200), text
        assert status == 200 or "LOADWATCH_QUERY" in document["error"] or "longer than" in document["error"], document
    assert any(status == 422 for _, status, _ in found)
    assert _peak_mib(server) < CEILING_MIB
    # Nothing of it stays, and who asks for little is answered.
    _wait(lambda: _metric(server, "loadwatch_query_memory_bytes") == 0, "memory was given back")
    status, body = _get(server, "/prometheus/api/v1/query?query=count(x)")
    assert (status, json.loads(body)["data"]["result"][0]["value"][1]) == (200, str(SERIES))


def test_a_query_ends_with_its_client(server: RealServer) -> None:
    gone = _metric(server, "loadwatch_queries_refused_total")
    before = _metric(server, "loadwatch_queries_total")
    connections = [HTTPConnection("127.0.0.1", server.port, timeout=120) for _ in range(4)]
    for connection in connections:
        connection.request("GET", _path("sum(rate(x[5m]))"))
    _wait(lambda: _metric(server, "loadwatch_queries_total") >= before + 2, "two have their turn")
    for connection in connections:
        connection.close()
    _wait(
        lambda: (
            _metric(server, "loadwatch_queries_running") == 0
            and _metric(server, "loadwatch_queries_waiting") == 0
            and _metric(server, "loadwatch_query_memory_bytes") == 0
        ),
        "nobody asks any more",
    )
    assert _metric(server, "loadwatch_queries_refused_total") > gone


def test_the_server_stops_while_it_is_asked(server: RealServer) -> None:
    stop = threading.Event()

    def client(number: int) -> None:
        while not stop.is_set():
            try:
                _get(server, _path(HOSTILE[number % len(HOSTILE)]))
            except (OSError, HTTPException):
                return

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    before = _metric(server, "loadwatch_queries_total")
    for thread in threads:
        thread.start()
    try:
        _wait(lambda: _metric(server, "loadwatch_queries_total") > before, "queries are under way")
        assert server.stop() == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join(120)
