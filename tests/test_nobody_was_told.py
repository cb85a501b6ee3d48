"""A receiver that does not take messages: told by those that do, on the page, on the alert; and the sign of life."""

import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
from loadwatch_backend.core.database.set_aside import RELATIONS

from backend.tests.notify.receiving import Receiver, answer, run_receiver
from tests.alerting import RULES, Watch, wait_for
from tests.serving import RealServer

CONFIGURATION = """
route:
  receiver: {first}
  group_wait: 0s
  group_interval: 1s
receivers:
  - name: pager
    webhook_configs: [{{url: '{pager}'}}]
  - name: chat
    webhook_configs: [{{url: '{chat}'}}]
"""
ROUTES = "  routes:\n    - {{receiver: {to}, matchers: [room=a]}}\n"
AHEAD_SECONDS = 90


class House:
    """A server that watches itself each second, with a pager that answers 404 and a chat that works."""

    def __init__(self, directory: Path, pager: Receiver, chat: Receiver, heart: Receiver) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.offset = directory / "offset"
        self.offset.write_text("0")
        (directory / "rules.yml").write_text(RULES.format(for_="0s"))
        text = CONFIGURATION.format(first="pager", pager=pager.url, chat=chat.url)
        text = text.replace(
            "receivers:", ROUTES.format(to="pager") + "    - {receiver: chat, matchers: [room=b]}\nreceivers:", 1
        )
        (directory / "notifications.yml").write_text(text)
        settings = {
            "LOADWATCH_OWN_METRICS_SECONDS": "1",
            "LOADWATCH_RULES": str(directory / "rules.yml"),
            "LOADWATCH_NOTIFICATIONS": str(directory / "notifications.yml"),
            "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8",
            "LOADWATCH_HEARTBEAT_URL": heart.url,
            "LOADWATCH_HEARTBEAT_SECONDS": "1",
            "LOADWATCH_CLOCK_OFFSET_FILE": str(self.offset),
        }
        self.server = RealServer(directory, settings)
        self.watch = Watch(server=self.server, pager=None)  # type: ignore[arg-type] - no pager is asked
        self.pager, self.chat, self.heart = pager, chat, heart

    def told(self, receiver: Receiver, name: str, status: str = "firing") -> list[dict[str, Any]]:
        """Alerts of a name that a receiver was sent."""
        return [
            alert
            for request in receiver.requests
            for alert in request.json["alerts"]
            if alert["labels"]["alertname"] == name and alert["status"] == status
        ]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with run_receiver(usually=answer(404)) as pager, run_receiver() as chat, run_receiver() as heart:
        house = House(tmp_path / "h", pager, chat, heart)
        house.server.start()
        try:
            yield house
        finally:
            if house.server.process is not None:
                house.server.kill()


def test_nobody_was_told_is_told_by_the_others(house: House) -> None:
    house.watch.write(35, "a")
    house.pager.wait(1)

    def status() -> Any:
        return house.watch.get("/api/status")

    # On every page, and on the alert.
    wait_for("said", lambda: len(status()["undelivered"]) == 1)
    (said,) = status()["undelivered"]
    assert (said["receiver"], said["integration"], said["reason"]) == ("pager", "webhook-0", "answered 404")
    assert said["waiting"] >= 1
    assert status()["integrations"] == 2
    assert status()["newest_sample_ms"] is not None
    (hot,) = house.watch.alerts()
    assert [one["receiver"] for one in hot["undelivered"]] == ["pager"]

    # By the receiver that works, although no route leads there; a minute is not waited for.
    house.offset.write_text(str(AHEAD_SECONDS * 1_000))
    wait_for("told", lambda: bool(house.told(house.chat, "LoadwatchNotificationsWaiting")))
    (told,) = house.told(house.chat, "LoadwatchNotificationsWaiting")
    assert told["labels"]["integration"] == "pager/webhook-0"
    assert "pager/webhook-0 does not take them" in told["annotations"]["summary"]

    # What is said of the pager does not wait at the pager.
    house.pager.usually = answer()
    house.watch.http.request("POST", f"{house.server.url}/api/receivers/pager/integrations/webhook-0/retry")
    wait_for("told", lambda: house.watch.get("/api/deliveries?receiver=pager")["counts"]["delivered"] >= 1)
    wait_for("over", lambda: bool(house.told(house.chat, "LoadwatchNotificationsWaiting", "resolved")))
    assert status()["undelivered"] == []
    assert len(house.told(house.chat, "LoadwatchNotificationsWaiting")) == 1


def test_the_sign_of_life_stops_with_the_evaluation(house: House) -> None:
    first = house.heart.wait(2)[0].json
    assert [alert["labels"]["alertname"] for alert in first["alerts"]] == ["Watchdog"]
    # The watchdog is no alert to anybody; a busy machine may miss evaluations, which is one.
    assert {one["name"] for one in house.watch.get("/api/alerts")["alerts"]} <= {"LoadwatchEvaluationsMissed"}
    http = urllib3.PoolManager(retries=False, timeout=60)

    def withheld() -> float:
        page = http.request("GET", f"{house.server.url}/metrics").data.decode()
        found = re.search(r'^loadwatch_heartbeats_total\{outcome="withheld"\} (\S+)$', page, re.MULTILINE)
        return float(found[1]) if found else 0.0

    # A database that takes nothing: no rule is evaluated, and that is what the silence says.
    before = withheld()
    lock = sqlite3.connect(house.server.data / RELATIONS, isolation_level=None, timeout=60)
    lock.execute("BEGIN EXCLUSIVE")
    wait_for("withheld", lambda: withheld() >= before + 2)
    silent = len(house.heart.requests)
    lock.execute("ROLLBACK")
    lock.close()
    house.heart.wait(silent + 1)
    house.server.kill()
    # What the killed server had sent may still be on its way to the list.
    time.sleep(1)
    ended = len(house.heart.requests)
    time.sleep(3)
    assert len(house.heart.requests) == ended
