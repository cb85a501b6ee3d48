"""One cause, one message: a real server with the default rules, a pool that runs out, a load that feels it."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backend.tests.ingest.writing import HEADERS, body, series
from tests.alerting import Pager, Watch, wait_for
from tests.serving import RealServer

RULES = """
groups:
  - name: switches
    interval: 500ms
    rules:
      # Named as the default rules, and raised by the test: what follows from the pool, and what does not.
      - {alert: LoadServerErrors, expr: load_errors > 0, labels: {severity: warning, component: load}}
      - {alert: HostDiskFull, expr: disk_full > 0, labels: {severity: warning, component: host}}
"""
ROUTES = """
route:
  receiver: pager
  group_by: [alertname, instance]
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 24h
  routes:
    # What follows from the pool by the default rules waits until the test is over.
    - {{matchers: ['alertname=~"PoolWaits|PoolWaitLong|LoadTimeouts|LoadErrorRateHigh"'], receiver: nobody}}
receivers:
  - name: nobody
  - name: pager
    webhook_configs: [{{url: '{url}'}}]
loadwatch: {{default_inhibit_rules: false}}
"""
POOL = {"job": "shop", "instance": "app-1", "db_name": "main"}
MORE_THAN_THE_POOL = 20
"""Connections to the database of runs and alerts: SQLAlchemy keeps five and opens ten more."""
BEFORE_S = 90
"""What is sent first is a minute and a half of it: nobody has to wait until it has come about."""


class Shop:
    """Sends each second what a shop with a pool of five says while fifty requests wait at once."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.begun_s = int(time.time()) - BEFORE_S
        self.sent_s = self.begun_s

    def send(self, **more: float) -> None:
        """All seconds that have passed since the last time."""
        now = int(time.time())
        seconds = range(self.sent_s + 1, now + 1)

        def counter(each: float) -> list[tuple[int, float]]:
            return [(at * 1_000, each * (at - self.begun_s)) for at in seconds]

        def gauge(value: float) -> list[tuple[int, float]]:
            return [(at * 1_000, value) for at in seconds]

        if seconds:
            content = body(
                series({"__name__": "go_sql_max_open_connections", **POOL}, *gauge(5)),
                series({"__name__": "go_sql_in_use_connections", **POOL}, *gauge(5)),
                series({"__name__": "go_sql_open_connections", **POOL}, *gauge(5)),
                series({"__name__": "go_sql_idle_connections", **POOL}, *gauge(0)),
                series({"__name__": "go_sql_wait_count_total", **POOL}, *counter(20)),
                series({"__name__": "go_sql_wait_duration_seconds_total", **POOL}, *counter(50)),
                series({"__name__": "loadtest_requests_total", "run": "r1", "outcome": "ok"}, *counter(20)),
                series({"__name__": "loadtest_requests_total", "run": "r1", "outcome": "timeout"}, *counter(5)),
                *(series({"__name__": name, "instance": "vm-1"}, (now * 1_000, value)) for name, value in more.items()),
            )
            url = f"{self.watch.server.url}/prometheus/api/v1/write"
            answer = self.watch.http.request("POST", url, body=content, headers=HEADERS)
            assert answer.status == 204, answer.data
            self.sent_s = now

    def alert(self, name: str) -> dict[str, Any] | None:
        found = [one for one in self.watch.get("/api/alerts?sparklines=false")["alerts"] if one["name"] == name]
        return found[0] if found and found[0]["state"] == "firing" else None


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    pager = Pager()
    (tmp_path / "rules.yml").write_text(RULES)
    (tmp_path / "notifications.yml").write_text(ROUTES.format(url=pager.url))
    settings = {
        "LOADWATCH_RULES": str(tmp_path / "rules.yml"),
        "LOADWATCH_NOTIFICATIONS": str(tmp_path / "notifications.yml"),
        "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8",
        "LOADWATCH_OWN_METRICS_SECONDS": "15",
    }
    watch = Watch(server=RealServer(tmp_path, settings), pager=pager)
    watch.server.start()
    try:
        yield Shop(watch)
    finally:
        watch.server.kill()
        pager.close()


def told(shop: Shop) -> list[tuple[str, str]]:
    """Status and name of what the pager was sent, each message once."""
    heard = {one.id: one for one in shop.watch.pager.heard}.values()
    return [(alert["status"], alert["labels"]["alertname"]) for one in heard for alert in one.alerts]


def test_one_cause_is_one_message_and_an_independent_one_is_another(shop: Shop) -> None:
    def goes_on(what: str, holds: Any, **more: float) -> None:
        def step() -> bool:
            shop.send(**more)
            return bool(holds())

        wait_for(what, step)

    # The cause is told, with the finding; the finding is certain, as the load has felt it.
    goes_on("the pool's alert is told", lambda: ("firing", "PoolSaturated") in told(shop))
    goes_on("its finding", lambda: (shop.alert("PoolSaturated") or {}).get("finding"))
    goes_on(
        "certain",
        lambda: (
            ("pool-exhausted", "certain")
            in [(one["id"], one["certainty"]) for one in shop.watch.get("/api/findings")["findings"]]
        ),
    )
    pool = shop.alert("PoolSaturated")
    assert pool is not None
    assert pool["finding"]["id"] == pool["annotations"]["finding_id"] == "pool-exhausted"
    assert pool["finding"]["sentence"]["en"].startswith("The pool of 5 connections of app-1 main ran out")
    assert pool["translations"]["ja"]["finding"] == pool["finding"]["sentence"]["ja"]

    # The server says it as a series, too: so what holds alerts back knows of it.
    series_of = (
        "/prometheus/api/v1/query?query=loadwatch_finding%7Bid%3D%22pool-exhausted%22%2Ccertainty%3D%22certain%22%7D"
    )
    goes_on("a series", lambda: shop.watch.get(series_of)["data"]["result"])

    # What the load feels is held back, and says from what it follows.
    goes_on("held", lambda: (shop.alert("LoadServerErrors") or {}).get("follows_from"), load_errors=1)
    held = shop.alert("LoadServerErrors")
    assert held is not None
    assert held["follows_from"]["finding"] == "pool-exhausted"
    assert held["follows_from"]["alert"] in held["inhibited_by"]
    assert held["finding"]["id"] == "pool-exhausted"

    # Who asks for the alerts while something is held back holds no connection of the database afterwards.
    for _ in range(MORE_THAN_THE_POOL):
        assert shop.alert("LoadServerErrors")

    # What has nothing to do with it is told.
    goes_on("the disk", lambda: ("firing", "HostDiskFull") in told(shop), load_errors=1, disk_full=1)
    assert sorted(told(shop)) == [("firing", "HostDiskFull"), ("firing", "PoolSaturated")]


def test_an_alert_is_told_where_nothing_can_be_said_of_the_present(shop: Shop) -> None:
    """Samples of one moment say nothing of what ran out, and the alert goes as ever."""
    now = time.time_ns() // 1_000_000
    content = body(series({"__name__": "load_errors", "instance": "vm-1"}, (now, 1.0)))
    url = f"{shop.watch.server.url}/prometheus/api/v1/write"
    assert shop.watch.http.request("POST", url, body=content, headers=HEADERS).status == 204
    wait_for("told", lambda: told(shop) == [("firing", "LoadServerErrors")])
    alert = shop.alert("LoadServerErrors")
    assert alert is not None
    assert (alert["finding"], alert["follows_from"]) == (None, None)
