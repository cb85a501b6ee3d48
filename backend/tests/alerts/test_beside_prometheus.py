"""The same samples to Debian's Prometheus and to us: the same alerts go through the same states in the same order."""

import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
from loadwatch_backend.core.clock import system_clock

from backend.tests.alerts.watched import wait_for
from backend.tests.conftest import run_server
from backend.tests.ingest.writing import HEADERS, body, series
from tests.serving import free_port, wait_until_answers

RULES = """
groups:
  - name: g
    interval: 1s
    rules:
      - alert: AtOnce
        expr: x > 5
        labels: {severity: page}
        annotations: {loadwatch_no_data: ok}
      - alert: AfterSix
        expr: x > 5
        for: 6s
        annotations: {loadwatch_no_data: ok}
      - alert: Kept
        expr: x > 5
        keep_firing_for: 3s
        annotations: {loadwatch_no_data: ok}
"""
# Six seconds are long enough to be seen pending by who asks several times a second, busy as the machine may be.
# Prometheus 2.42 knows all of this; keep_firing_for came with it.
STORY = [
    ({"a": 6.0, "b": 1.0}, {"AtOnce a firing", "Kept a firing", "AfterSix a firing"}),
    ({"a": 1.0, "b": 6.0}, {"AtOnce b firing", "Kept b firing", "AfterSix b firing"}),
    ({"a": 1.0, "b": 1.0}, set[str]()),
]


@pytest.fixture
def prometheus(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "prometheus"
    folder.mkdir()
    (folder / "rules.yml").write_text(RULES)
    (folder / "p.yml").write_text("global: {evaluation_interval: 1s}\nrule_files: [rules.yml]\n")
    port = free_port()
    binary = shutil.which("prometheus")
    assert binary is not None
    process = subprocess.Popen(
        [
            binary,
            f"--config.file={folder}/p.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{port}",
            "--web.enable-remote-write-receiver",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until_answers(f"http://127.0.0.1:{port}/-/ready", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(60)


class Follower:
    """Asks again and again, and writes down each alert's states in order."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.states: dict[str, list[str]] = {}

    def look(self) -> set[str]:
        with urllib.request.urlopen(f"{self.url}/api/v1/alerts", timeout=60) as answer:
            alerts: list[dict[str, Any]] = json.load(answer)["data"]["alerts"]
        now = {f"{one['labels']['alertname']} {one['labels']['i']}": str(one["state"]) for one in alerts}
        for name in {*now, *self.states}:
            states = self.states.setdefault(name, ["inactive"])
            if states[-1] != now.get(name, "inactive"):
                states.append(now.get(name, "inactive"))
        return {f"{name} {state}" for name, state in now.items()}


def test_the_same_states_in_the_same_order(prometheus: str, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yml"
    rules.write_text(RULES)
    http = urllib3.PoolManager(retries=False, timeout=60)
    with run_server(tmp_path / "data", rules=(str(rules),), flap_changes=0) as server:
        ours = f"{server.url}/prometheus"
        followers = Follower(prometheus), Follower(ours)
        for values, settled in STORY:

            def write(values: dict[str, float] = values) -> None:
                server.clock.now_ms = system_clock()
                rows = [
                    series({"__name__": "x", "i": name}, (server.clock.now_ms, value)) for name, value in values.items()
                ]
                for url in (prometheus, ours):
                    answer = http.request("POST", f"{url}/api/v1/write", body=body(*rows), headers=HEADERS)
                    assert answer.status == 204, answer.data

            def both(settled: set[str] = settled, write: Any = write) -> bool:
                write()
                time.sleep(0.1)
                return [follower.look() for follower in followers] == [settled, settled]

            wait_for(f"{settled}", both)
        assert followers[0].states == followers[1].states
        assert followers[0].states["Kept a"] == ["inactive", "firing", "inactive"]
        assert followers[0].states["AfterSix b"] == ["inactive", "pending", "firing", "inactive"]
