"""`loadwatch run -- locust`: streamed while it runs, imported at its end, and each request counted once.

Locust is a stand-in that writes a recorded test's files, or the program that LOADWATCH_LOCUST names.
"""

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.run_cli import ROOT, Cli, query_range, target, wait_until
from tests.serving import RealServer

RECORDING = ROOT / "backend" / "tests" / "importers" / "fixtures" / "locust" / "whole"
SCRIPT = """
from locust import HttpUser, constant_throughput, task
class User(HttpUser):
    wait_time = constant_throughput(5)
    @task(4)
    def good(self): self.client.get("/ok")
    @task(1)
    def bad(self): self.client.get("/fail")
"""
REAL = os.environ.get("LOADWATCH_LOCUST")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RealServer]:
    (tmp_path / "server").mkdir()
    started = RealServer(tmp_path / "server")
    started.start()
    yield started
    started.stop()


def test_failures_are_counted_once_and_the_last_interval_is_there(server: RealServer, tmp_path: Path) -> None:
    cli = Cli(server=server.url, directory=tmp_path)
    program = tmp_path / "bin" / "locust"
    program.parent.mkdir()
    replay = f'"{sys.executable}" "{ROOT / "tests" / "replay_locust.py"}" "{RECORDING}"'
    program.write_text(f'#!/bin/sh\nexec {REAL or replay} "$@"\n')
    program.chmod(0o755)
    (tmp_path / "locustfile.py").write_text(SCRIPT)
    enough = tmp_path / "enough"
    cli.environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", "REPLAY_LASTS_UNTIL": str(enough)}
    began = time.time() - 60

    def counted() -> dict[str, int]:
        expression = "sum by (outcome) (last_over_time(loadtest_requests_total[5m]))"
        found = query_range(server.url, expression, began, time.time() + 2)
        return {item["metric"]["outcome"]: int(item["values"][-1][1]) for item in found}

    with target() as address:
        words = ("-f", "locustfile.py", "--host", address, "--headless", "-u", "5", "-r", "5", "-t", "8s")
        process = cli.start("run", "--", "locust", *words, "--only-summary")
        wait_until(lambda: counted().get("other", 0) > 0, "failures in the stream, which does not tell their kind")
        enough.touch()
        assert process.wait(180) == 1, "Locust's own status for failures"
    (summary,) = cli.list()
    run = cli.json("runs", "show", summary["id"])
    assert counted() == run["outcomes"]
    assert set(run["outcomes"]) == {"ok", "http_5xx" if REAL else "http_4xx"}
    printed = cli.errors() if REAL else (RECORDING / "report.txt").read_text()
    row = re.search(r"^ +Aggregated +(\d+) +(\d+)\(", printed, re.M)
    assert row is not None
    assert (run["requests"], run["requests"] - run["outcomes"]["ok"]) == (int(row[1]), int(row[2]))
    assert "locust-last-second" not in [remark["code"] for remark in run["remarks"]]
