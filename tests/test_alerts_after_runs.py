"""An outage after a load test is paged, and what outlasts a load test is handed to the pager.

A real server, real receivers, and the routes of `examples/alerting/notifications.yml`. Where nothing fires, the clock
is set forward in place of waiting; `LOADWATCH_TEST_REAL_DELAYS=1` waits.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from backend.tests.ingest.writing import HEADERS, body, series
from tests.alerting import Pager, Watch, wait_for
from tests.serving import RealServer

EXAMPLE = Path(__file__).parent.parent / "examples" / "alerting" / "notifications.yml"
RULES = """
groups:
  - name: switches
    interval: 500ms
    rules:
      # Named as the default rules, so that the built-in inhibition knows them.
      - alert: DatabaseConnectionsRefused
        expr: refused > 0
        keep_firing_for: 5m
        labels: {severity: critical, component: database}
      - alert: IngestFailing
        expr: failing > 0
        labels: {severity: critical, component: ingest}
"""
REFUSED, FAILING = "DatabaseConnectionsRefused", "IngestFailing"
REAL = os.environ.get("LOADWATCH_TEST_REAL_DELAYS") == "1"


class Site:
    """A server with two receivers, and the switches that raise its alerts."""

    def __init__(self, directory: Path) -> None:
        self.pager, self.load_tests = Pager(), Pager()
        self.offset = directory / "offset"
        self.ahead_ms = 0
        self.offset.write_text("0")
        file: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
        urls = {"pager": self.pager.url, "load-tests": self.load_tests.url}
        file["receivers"] = [
            {"name": one["name"], "webhook_configs": [{"url": urls[one["name"]]}]}
            if one["name"] in urls
            else {"name": one["name"]}
            for one in file["receivers"]
        ]
        del file["global"], file["loadwatch"]
        file["route"]["routes"][0]["group_wait"] = "1s"  # of the load tests' channel, on which nobody waits here
        (directory / "rules.yml").write_text(RULES)
        (directory / "notifications.yml").write_text(yaml.safe_dump(file))
        settings = {
            "LOADWATCH_RULES": str(directory / "rules.yml"),
            "LOADWATCH_DEFAULT_RULES": "false",
            "LOADWATCH_NOTIFICATIONS": str(directory / "notifications.yml"),
            "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8",
            "LOADWATCH_CLOCK_OFFSET_FILE": str(self.offset),
        }
        self.watch = Watch(server=RealServer(directory, settings), pager=self.pager)
        self.watch.server.start()

    def close(self) -> None:
        if self.watch.server.process is not None:
            self.watch.server.kill()
        self.pager.close()
        self.load_tests.close()

    def post(self, path: str, content: dict[str, Any]) -> Any:
        answer = self.watch.http.request(
            "POST",
            self.watch.server.url + path,
            body=json.dumps(content).encode(),
            headers={"content-type": "application/json"},
        )
        assert answer.status in (200, 201), answer.data
        return json.loads(answer.data)

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000 + self.ahead_ms

    def write(self, **switches: float) -> None:
        at_ms = self.now_ms()
        content = body(
            *(series({"__name__": name, "instance": "app-1"}, (at_ms, value)) for name, value in switches.items())
        )
        url = f"{self.watch.server.url}/prometheus/api/v1/write"
        assert self.watch.http.request("POST", url, body=content, headers=HEADERS).status == 204

    def begin_run(self) -> str:
        return str(self.post("/api/runs", {"name": "Ten instances"})["id"])

    def end_run(self, run: str) -> None:
        self.post(f"/api/runs/{run}/finish", {"ended_ms": self.now_ms()})

    def wait(self, seconds: float) -> None:
        """So long, or with a clock that is set forward by it."""
        if REAL:
            time.sleep(seconds)
        else:
            self.ahead_ms += int(seconds * 1_000)
            new = self.offset.with_suffix(".new")
            new.write_text(str(self.ahead_ms))
            new.rename(self.offset)
            time.sleep(1)

    def open(self) -> dict[str, dict[str, Any]]:
        return {one["name"]: one for one in self.watch.get("/api/alerts?sparklines=false")["alerts"]}


def told(receiver: Pager) -> list[tuple[str, str, str]]:
    """Status, name and label `run` of what a receiver was sent, each message once."""
    heard = {one.id: one for one in receiver.heard}.values()
    return [
        (one["status"], one["labels"]["alertname"], one["labels"].get("run", ""))
        for message in heard
        for one in message.alerts
    ]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    try:
        yield made
    finally:
        made.close()


def test_an_outage_soon_after_a_healthy_run_is_paged(site: Site) -> None:
    site.write(refused=0, failing=0)
    run = site.begin_run()
    time.sleep(5)
    site.end_run(run)
    site.wait(10)
    site.write(refused=1)
    wait_for("paged", lambda: told(site.pager) == [("firing", REFUSED, "")])
    assert told(site.load_tests) == []


@pytest.mark.parametrize("delay", [30, 90, 180])
def test_an_outage_after_a_run_with_trouble_of_its_own_is_paged(site: Site, delay: int) -> None:
    site.write(refused=0, failing=0)
    run = site.begin_run()
    site.write(refused=1)
    wait_for("the run's channel is told", lambda: told(site.load_tests) == [("firing", REFUSED, run)])
    alert = site.open()[REFUSED]
    # Somebody looks after the run, and says so: that is nothing to do with the outage.
    site.watch.acknowledge(alert["id"])
    site.end_run(run)
    site.write(refused=0)
    wait_for("over", lambda: REFUSED not in site.open())
    site.wait(delay)
    site.write(refused=1, failing=1)
    wait_for("paged", lambda: ("firing", REFUSED, "") in told(site.pager))
    found = site.open()
    assert found[REFUSED]["id"] != alert["id"]
    assert {one["acknowledged"] for one in found.values()} == {None}
    assert all(run == "" for _, _, run in told(site.pager))


def test_what_outlasts_its_run_is_handed_to_the_pager(site: Site) -> None:
    site.write(failing=0)
    run = site.begin_run()
    site.write(failing=1)
    wait_for("the run's channel is told", lambda: told(site.load_tests) == [("firing", FAILING, run)])
    before = site.open()[FAILING]
    site.end_run(run)
    site.watch.server.kill()
    site.watch.server.start()
    site.write(failing=1)
    wait_for("paged", lambda: told(site.pager) == [("firing", FAILING, "")])
    after = site.open()[FAILING]
    assert "run" not in after["labels"]
    for same in ("id", "active_ms", "fired_ms", "run"):
        assert after[same] == before[same]
    assert {one["fingerprint"] for receiver in (site.pager, site.load_tests) for one in receiver.heard[0].alerts} == {
        site.pager.heard[0].alerts[0]["fingerprint"]
    }
    site.watch.server.kill()
    site.watch.server.start()
    site.write(failing=0)
    wait_for("its end is told where it was handed to", lambda: ("resolved", FAILING, "") in told(site.pager))
    assert told(site.load_tests) == [("firing", FAILING, run)]
