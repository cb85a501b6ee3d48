"""Alerts of a real server at receivers that misbehave: nothing is lost, what comes twice has the same id."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import urllib3

from backend.tests.notify.receiving import Receiver, answer, endless, hang_up, run_receiver
from tests.alerting import RULES, Watch, wait_for
from tests.serving import RealServer

BEHAVIOURS: dict[str, list[Any]] = {
    "busy": [answer(429, {"Retry-After": "1"})],
    "failing": [answer(500, body=b"database is away")],
    "closing": [hang_up(), hang_up(b"HTTP/1.1 2")],
    "endless": [endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 10_000)],
    "flooding": [endless(b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"x" * 1_000 + b"\r\n")],
    "moved": [answer(301, {"Location": "http://127.0.0.1:1/elsewhere"})],
    "gone": [answer(410)],
    "missing": [answer(404)],
    "wrong": [answer(401)] * 1_000,
}
NEWS = """
loadwatch:
  run_notices:
    - receiver: news
"""
HEAD = """
route:
  receiver: page
  group_wait: 0s
  group_interval: 1s
  group_by: [room]
  routes:
"""


class House:
    """A server with a receiver for each room, which is named after how it misbehaves."""

    def __init__(self, directory: Path, receivers: dict[str, Receiver]) -> None:
        rooms = [name for name in receivers if name != "news"]
        routes = "".join(f"    - {{receiver: {room}, matchers: [room={room}]}}\n" for room in rooms)
        ways = "".join(
            f"  - name: {name}\n    webhook_configs:\n      - {{url: '{receiver.url}', timeout: 30s}}\n"
            for name, receiver in receivers.items()
        )
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "rules.yml").write_text(RULES.format(for_="0s"))
        news = NEWS if "news" in receivers else ""
        (directory / "notifications.yml").write_text(f"{news}{HEAD}{routes}receivers:\n  - name: page\n{ways}")
        settings = {
            "LOADWATCH_RULES": str(directory / "rules.yml"),
            "LOADWATCH_DEFAULT_RULES": "false",
            "LOADWATCH_NOTIFICATIONS": str(directory / "notifications.yml"),
            "LOADWATCH_NOTIFY_NETWORKS": "127.0.0.0/8",
            "LOADWATCH_EXTERNAL_URL": "https://watch.example.org",
        }
        self.receivers = receivers
        self.server = RealServer(directory, settings)
        self.http = urllib3.PoolManager(retries=False, timeout=60)

    def fire(self, *rooms: str, value: float = 35) -> None:
        watch = Watch(server=self.server, pager=None, http=self.http)  # type: ignore[arg-type] - no pager is asked
        for room in rooms:
            watch.write(value, room)

    def ask(self, method: str, path: str, document: Any = None) -> Any:
        answered = self.http.request(method, self.server.url + path, json=document)
        assert answered.status < 300, (answered.status, answered.data)
        return json.loads(answered.data)

    def retry(self, delivery: str) -> None:
        """Has a delivery tried at once, unless it was delivered in this moment."""
        answered = self.http.request("POST", f"{self.server.url}/api/deliveries/{delivery}/retry")
        assert answered.status == 200 or "was delivered" in answered.json()["detail"], answered.data

    def delivery(self, receiver: str) -> dict[str, Any]:
        """The first message to a receiver."""
        found: list[dict[str, Any]] = self.ask("GET", f"/api/deliveries?receiver={receiver}")["deliveries"]
        assert found
        return found[-1]

    def state(self, receiver: str) -> str:
        return str(self.delivery(receiver)["state"])

    def integration(self, receiver: str) -> dict[str, Any]:
        known = {one["name"]: one for one in self.ask("GET", "/api/receivers")["receivers"]}
        found: dict[str, Any] = known[receiver]["integrations"][0]
        return found


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with ExitStack() as stack:
        receivers = {
            name: stack.enter_context(run_receiver(behaviours=list(behaviours)))
            for name, behaviours in [*BEHAVIOURS.items(), ("news", [])]
        }
        house = House(tmp_path_factory.mktemp("house"), receivers)
        house.server.start()
        try:
            house.fire(*BEHAVIOURS)
            yield house
        finally:
            house.server.stop()


def test_a_receiver_that_is_busy_gets_it_when_it_asked_for_it(house: House) -> None:
    wait_for("delivered", lambda: house.state("busy") == "delivered")
    first, second = house.receivers["busy"].requests[:2]
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    found = house.ask("GET", f"/api/deliveries/{first.headers['webhook-id']}")
    assert [one["outcome"] for one in found["attempts"]] == ["passing", "delivered"]
    assert found["attempts"][0]["error"] == "answered 429 and asks to wait 1 s"
    assert found["document"] == first.json


@pytest.mark.parametrize("name", ["failing", "closing", "flooding"])
def test_what_fails_for_now_comes_again_with_the_same_id(house: House, name: str) -> None:
    wait_for("tried", lambda: house.delivery(name)["attempts"] >= 1 and house.state(name) != "sending")
    delivery = house.delivery(name)
    while house.state(name) != "delivered":
        house.retry(delivery["id"])
        tried = house.delivery(name)["attempts"]
        wait_for(
            "tried again",
            lambda tried=tried: house.delivery(name)["attempts"] > tried or house.state(name) == "delivered",
        )
    requests = house.receivers[name].requests
    assert len(requests) == len(BEHAVIOURS[name]) + 1
    assert {one.headers["webhook-id"] for one in requests} == {delivery["id"]}
    assert len({one.body for one in requests}) == 1


def test_an_endless_body_is_not_read_to_its_end(house: House) -> None:
    wait_for("delivered", lambda: house.state("endless") == "delivered")
    assert len(house.receivers["endless"].requests) == 1


@pytest.mark.parametrize(
    ("name", "error"),
    [("moved", "pointing to http://127.0.0.1:1/***; redirects"), ("gone", "410 Gone"), ("missing", "404")],
)
def test_what_looks_permanent_is_tried_until_it_is_taken(house: House, name: str, error: str) -> None:
    first, second = house.receivers[name].wait(2)
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    wait_for("delivered", lambda: house.state(name) == "delivered")
    found = house.ask("GET", f"/api/deliveries/{first.headers['webhook-id']}")
    assert [one["outcome"] for one in found["attempts"]] == ["permanent", "delivered"]
    assert error in found["attempts"][0]["error"]
    assert house.integration(name)["state"] == "ok"


def test_a_person_says_stop(house: House) -> None:
    receiver = house.receivers["wrong"]
    wait_for("tried", lambda: house.integration("wrong")["state"] == "refusing")
    assert house.state("wrong") == "waiting"
    stopped = house.ask("POST", f"/api/deliveries/{house.delivery('wrong')['id']}/stop")
    assert (stopped["state"], stopped["reason"][:10]) == ("withdrawn", "stopped by")
    # The end of the alert is news of its own.
    house.fire("wrong", value=20)
    wait_for("tried", lambda: receiver.requests[-1].json["status"] == "resolved")
    wait_for("rests", lambda: house.integration("wrong")["waiting"] == 1)
    assert house.ask("POST", "/api/receivers/wrong/integrations/webhook-0/stop")["integrations"][0]["waiting"] == 0


def test_a_test_message_is_in_the_log(house: House) -> None:
    receiver = house.receivers["news"]
    before = len(receiver.requests)
    (result,) = house.ask("POST", "/api/receivers/news/test")["results"]
    assert (result["ok"], result["status_code"]) == (True, 200)
    request = receiver.requests[before]
    assert request.json["alerts"][0]["labels"]["alertname"] == "LoadwatchTest"
    found = house.ask("GET", f"/api/deliveries/{request.headers['webhook-id']}")
    assert (found["delivery"]["kind"], found["delivery"]["state"]) == ("test", "delivered")
    answered = house.http.request("POST", f"{house.server.url}/api/receivers/nobody/test")
    assert (answered.status, json.loads(answered.data)["code"]) == (404, "receiver-not-found")


def test_runs_are_told_of(house: House) -> None:
    run = house.ask("POST", "/api/runs", {"name": "checkout ramp", "scenario": "checkout", "target_rate": 200})

    def news() -> list[Any]:
        return [one.json for one in house.receivers["news"].requests if one.json["version"] == "loadwatch/1"]

    wait_for("told of the start", lambda: len(news()) == 1)
    (told,) = news()
    assert (told["type"], told["title"]) == ("run-started", "Load test started: checkout ramp")
    assert told["url"] == f"https://watch.example.org/runs/{run['id']}"
    assert told["labels"]["scenario"] == "checkout"


def test_numbers_of_deliveries(house: House) -> None:
    wait_for("delivered", lambda: house.state("busy") == "delivered")
    page = house.http.request("GET", f"{house.server.url}/metrics").data.decode()
    for name in (
        'loadwatch_deliveries{state="delivered"}',
        'loadwatch_delivery_attempts_total{outcome="passing"}',
        'loadwatch_delivery_attempts_by_kind_total{kind="webhook"}',
        "loadwatch_delivery_attempt_seconds_total",
        "loadwatch_delivery_oldest_waiting_seconds",
    ):
        assert name in page, name


def test_a_server_killed_while_a_receiver_reads_sends_again_with_the_same_id(tmp_path: Path) -> None:
    with run_receiver() as receiver:
        house = House(tmp_path / "h", {"a": receiver})
        house.server.start()
        try:
            # The request is here, its answer is not.
            receiver.on_request = lambda _request: house.server.kill() if len(receiver.requests) == 1 else None
            house.fire("a")
            receiver.wait(1)
            wait_for("dead", lambda: house.server.process is None)
            house.server.start()
            first, second = receiver.wait(2)
            assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
            wait_for("delivered", lambda: house.state("a") == "delivered")
            assert house.delivery("a")["attempts"] == 1
        finally:
            house.server.stop()
