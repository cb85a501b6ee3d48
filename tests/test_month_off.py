"""One sender's clock is off by a month: it is told and counted, the samples of all others are as they would be."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import urllib3

from backend.tests.ingest.writing import HEADERS, body, series
from tests.alerting import wait_for
from tests.run_cli import Cli
from tests.serving import RealServer

MONTH_MS = 30 * 24 * 3_600_000
HOUR_MS = 3_600_000


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path)
    yield server
    if server.process is not None:
        server.kill()


def ask(server: RealServer, path: str, **fields: str) -> Any:
    answer = urllib3.request("GET", server.url + path, fields=fields, timeout=60)
    assert answer.status == 200, answer.data
    return json.loads(answer.data)


def push(server: RealServer, *rows: tuple[str, int, float]) -> tuple[int, str]:
    """Samples by job; the answer's status and text."""
    content = body(*(series({"__name__": "m", "job": job, "instance": "a"}, (at, value)) for job, at, value in rows))
    answer = urllib3.request("POST", f"{server.url}/prometheus/api/v1/write", body=content, headers=HEADERS)
    return answer.status, answer.data.decode()


def counted(server: RealServer) -> Mapping[str, float]:
    page = urllib3.request("GET", f"{server.url}/metrics").data.decode()
    found = re.findall(r'^loadwatch_ingest_rejected_samples_total\{reason="([^"]+)"\} (\S+)$', page, re.MULTILINE)
    return {reason: float(count) for reason, count in found if float(count)}


def values(server: RealServer, job: str, at_ms: int) -> list[float]:
    """What a query of the hour before a time finds."""
    found = ask(server, "/prometheus/api/v1/query", query=f'm{{job="{job}"}}[1h]', time=f"{at_ms / 1000:.3f}")
    return [float(value) for one in found["data"]["result"] for _, value in one["values"]]


@pytest.mark.parametrize(
    ("off_ms", "reason", "said"),
    [
        (MONTH_MS, "too_far_ahead", "ahead of the server's clock; at most 600 s are allowed"),
        (-MONTH_MS, "too_old", "older than the retention of 15 days (LOADWATCH_RETENTION_DAYS)"),
    ],
)
def test_it_is_refused_with_a_reason_and_counted(server: RealServer, off_ms: int, reason: str, said: str) -> None:
    server.start()
    now_ms = int(time.time() * 1000)
    assert push(server, ("right", now_ms - 2_000, 1.0)) == (204, "")
    # In one request with what is right, as behind a proxy that collects for several hosts.
    status, text = push(server, ("off", now_ms + off_ms, 5.0), ("right", now_ms - 1_000, 2.0))
    assert (status, said in text) == (400, True)
    assert counted(server) == {reason: 1}
    assert push(server, ("off", now_ms + off_ms, 5.0))[0] == 400
    assert push(server, ("right", now_ms, 3.0)) == (204, "")
    for _ in range(2):
        assert values(server, "right", now_ms) == [1.0, 2.0, 3.0]
        assert values(server, "off", now_ms + off_ms) == []
        assert ask(server, "/api/status")["newest_sample_ms"] == now_ms
        server.kill()
        server.start()


def test_within_a_longer_retention_a_month_in_the_past_is_taken_and_harms_nobody(server: RealServer) -> None:
    server.environment = {"LOADWATCH_RETENTION_DAYS": "60"}
    server.start()
    now_ms = int(time.time() * 1000)
    past_ms = now_ms - MONTH_MS
    for number in range(5):
        status = push(
            server, ("right", now_ms - 5_000 + number, float(number)), ("off", past_ms + number, float(number))
        )
        assert status == (204, "")
    cli = Cli(server=server.url, directory=server.directory)
    for step in ("stored", "sealed", "started again"):
        assert values(server, "right", now_ms) == [0.0, 1.0, 2.0, 3.0, 4.0], step
        assert values(server, "off", past_ms + HOUR_MS // 2) == [0.0, 1.0, 2.0, 3.0, 4.0], step
        assert ask(server, "/api/status")["newest_sample_ms"] == now_ms - 5_000 + 4, step
        if step == "stored":
            # The hour a month ago is over: it is sealed by itself, or now.
            assert cli("store", "compact").returncode == 0
        elif step == "sealed":
            server.kill()
            server.start()
    assert counted(server) == {}


def test_what_is_a_month_ahead_in_the_store_is_in_nobodys_way(server: RealServer) -> None:
    """As when the server's own clock was a month ahead for a while."""
    offset = server.directory / "offset"
    offset.write_text(str(MONTH_MS + HOUR_MS))
    server.environment = {"LOADWATCH_CLOCK_OFFSET_FILE": str(offset)}
    server.start()
    now_ms = int(time.time() * 1000)
    assert push(server, ("off", now_ms + MONTH_MS, 5.0)) == (204, "")
    server.environment = {}
    for number in range(2):
        server.kill()
        server.start()
        assert push(server, ("right", now_ms - 3_000 + number, float(number))) == (204, "")
        wait_for("the head", lambda: head_from(server) == 0)
        assert values(server, "right", now_ms) == [float(one) for one in range(number + 1)]
        assert ask(server, "/api/status")["newest_sample_ms"] < time.time() * 1000 + 60_000
        instant = ask(server, "/prometheus/api/v1/query", query="m", time=f"{now_ms / 1000:.3f}")["data"]["result"]
        assert [one["metric"]["job"] for one in instant] == ["right"]
    assert values(server, "off", now_ms + MONTH_MS) == [5.0]


def head_from(server: RealServer) -> int:
    """From when on samples are in memory; 0: all of them."""
    return ask(server, "/prometheus/api/v1/status/tsdb")["data"]["headStats"]["minTime"]
