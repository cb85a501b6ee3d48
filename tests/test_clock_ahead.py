"""Clocks that are off, with real processes: an agent writes at the server's time, a stranger is named at once."""

import math
import socket
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import urllib3
from loadwatch_collectors.pipeline.sender import TOLERATED_SECONDS

from backend.tests.ingest.writing import HEADERS, body, series
from tests.alerting import wait_for
from tests.serving import LOADWATCH, RealServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    server = RealServer(tmp_path_factory.mktemp("server"))
    server.start()
    yield server
    server.kill()


@contextmanager
def agent(folder: Path, server: RealServer, instance: str, ahead_ms: int = 0, spool: str = "spool") -> Generator[Path]:
    """A real agent whose host's clock is ahead; yields the file that sets that clock."""
    offset = folder / f"offset-{instance}"
    offset.write_text(str(ahead_ms))
    config = folder / f"{instance}.yml"
    config.write_text(
        f"server: {{url: '{server.url}'}}\ninterval: 200ms\nspool: {{directory: '{folder / instance / spool}'}}\n"
        # As an agent of another host, of one there is one: labels of its own, which its series have not.
        f"labels: {{spool: {spool}}}\n"
        f"targets: [{{job: clocks, instance: {instance}, host: {{}}, labels: {{spool: any}}}}]\n"
    )
    process = subprocess.Popen(
        [LOADWATCH, "agent", "--config", config], env={"LOADWATCH_AGENT_CLOCK_OFFSET_FILE": str(offset), "PATH": ""}
    )
    try:
        yield offset
    finally:
        process.terminate()
        process.wait(60)


def ask(server: RealServer, query: str) -> list[tuple[dict[str, str], float]]:
    answer = urllib3.request("GET", f"{server.url}/prometheus/api/v1/query", fields={"query": query}, timeout=60)
    found: list[dict[str, Any]] = answer.json()["data"]["result"]
    return [(one["metric"], float(one["value"][1])) for one in found]


def future(instance: str) -> str:
    """Samples that are further ahead than the clock's error, which an answer proves to TOLERATED_SECONDS only."""
    return f'count_over_time(up{{instance="{instance}"}}[1h] offset -{3600 + math.ceil(TOLERATED_SECONDS)}s)'


@pytest.mark.parametrize("ahead_s", [590, 700, -590])
def test_an_agent_whose_clock_is_off_is_seen_now(server: RealServer, tmp_path: Path, ahead_s: int) -> None:
    instance = f"off-by-{ahead_s}"
    with agent(tmp_path, server, instance, ahead_s * 1000):
        fresh = f'up{{instance="{instance}"}} and time() - timestamp(up{{instance="{instance}"}}) < 5'
        wait_for("fresh samples", lambda: ask(server, fresh) != [])
        skew = "agent_clock_skew_seconds and on() agent_clock_correction_seconds != 0"
        wait_for("the skew", lambda: any(abs(value - ahead_s) < 2 for _, value in ask(server, skew)))
    # Nothing is in the future, and nothing was refused.
    assert ask(server, future(instance)) == []
    page = urllib3.request("GET", f"{server.url}/metrics").data.decode()
    assert 'loadwatch_ingest_rejected_samples_total{reason="too-far-ahead"}' not in page
    assert f'sender_instance="{instance}"' not in page


def test_a_clock_that_is_set_wrong_while_the_agent_runs(server: RealServer, tmp_path: Path) -> None:
    with agent(tmp_path, server, "jumps") as offset:
        count = 'count_over_time(up{instance="jumps"}[5m])'
        wait_for("samples", lambda: any(value > 3 for _, value in ask(server, count)))
        new = offset.with_suffix(".new")
        new.write_text("700000")
        new.rename(offset)
        wait_for(
            "the correction", lambda: any(value > 600 for _, value in ask(server, "agent_clock_correction_seconds"))
        )
        before = ask(server, count)[0][1]
        wait_for("more samples", lambda: ask(server, count)[0][1] > before + 3)
    assert ask(server, future("jumps")) == []


def test_two_agents_that_write_the_same_are_named(server: RealServer, tmp_path: Path) -> None:
    """As with a copied loadwatch.yml on two hosts; once one of them is stopped, all is well."""

    def agents() -> list[str]:
        targets = urllib3.request("GET", f"{server.url}/api/targets").json()["targets"]
        found = [one for target in targets if target["instance"] == "same" for one in target["collectors"]]
        return found[0]["agents"] if found else []

    with agent(tmp_path, server, "same", spool="a"):
        wait_for("one agent", lambda: len(agents()) == 1)
        with agent(tmp_path, server, "same", spool="b"):
            wait_for("two agents", lambda: len(agents()) == 2)
            rule = (
                'count by (job, instance, collector) (time() - timestamp(collector_agent_info{instance="same"}) < 10)'
            )
            wait_for("fresh samples of both", lambda: [value for _, value in ask(server, rule)] == [2])
        wait_for("one agent again", lambda: len(agents()) == 1)
        assert agents()[0].startswith(f"{socket.gethostname()}[")


@pytest.mark.parametrize(("ahead_s", "status"), [(590, 204), (700, 400)])
def test_a_stranger_is_named_at_once(server: RealServer, ahead_s: int, status: int) -> None:
    now_ms = int(float(ask(server, "vector(time())")[0][1]) * 1000)
    labels = {"__name__": "m", "job": "stranger", "instance": f"by-{ahead_s}"}
    sent = body(series(labels, (now_ms + ahead_s * 1000, 1.0)))
    answer = urllib3.request("POST", f"{server.url}/prometheus/api/v1/write", body=sent, headers=HEADERS)
    assert answer.status == status
    page = urllib3.request("GET", f"{server.url}/metrics").data.decode()
    [line] = [line for line in page.splitlines() if f'sender_instance="by-{ahead_s}"' in line]
    assert 'sender_job="stranger"' in line
    assert abs(float(line.split()[-1]) - ahead_s) < 30
