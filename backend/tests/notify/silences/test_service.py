"""Silences over HTTP, against a real server."""

from typing import Any

import pytest

from backend.tests.conftest import NOW_MS, RunningServer

HOUR = 3_600_000
MATCHERS = [{"name": "alertname", "operator": "=", "value": "Lag"}]


def given(**changes: Any) -> dict[str, Any]:
    return {"matchers": MATCHERS, "starts_ms": NOW_MS, "ends_ms": NOW_MS + HOUR, "comment": "maintenance", **changes}


def add(server: RunningServer, **changes: Any) -> dict[str, Any]:
    answer = server.client.post("/api/silences", json=given(**changes))
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def test_the_life_of_a_silence(server: RunningServer) -> None:
    made = add(server)
    assert (made["state"], made["holds_now"], made["author"]) == ("active", True, "local")
    path = f"/api/silences/{made['id']}"
    assert server.client.get(path).json() == made
    server.clock.now_ms += 60_000
    changed = server.client.put(path, json=given(comment="longer", ends_ms=NOW_MS + 2 * HOUR)).json()
    assert (changed["id"], changed["comment"]) == (made["id"], "longer")
    assert (changed["created_ms"], changed["updated_ms"]) == (NOW_MS, NOW_MS + 60_000)
    ended = server.client.post(f"{path}/expire").json()
    assert (ended["state"], ended["ends_ms"]) == ("expired", NOW_MS + 60_000)
    assert server.client.put(path, json=given()).json()["code"] == "silence-over"
    assert server.client.post(f"{path}/expire").json()["code"] == "silence-over"


def test_the_list_begins_with_those_that_hold(server: RunningServer) -> None:
    over = add(server, comment="over")
    later = add(server, comment="later", starts_ms=NOW_MS + HOUR, ends_ms=NOW_MS + 2 * HOUR)
    now = add(server, comment="now")
    server.client.post(f"/api/silences/{over['id']}/expire")

    def listed(**query: Any) -> list[str]:
        silences = server.client.get("/api/silences", params=query).json()["silences"]
        return [silence["comment"] for silence in silences]

    assert listed() == ["now", "later", "over"]
    assert listed(state="pending") == ["later"]
    assert later["state"] == "pending"
    assert later["next_ms"] == NOW_MS + HOUR
    assert now["next_ms"] is None
    server.clock.now_ms += 31 * 24 * HOUR
    assert listed() == []


def test_one_that_comes_again(server: RunningServer) -> None:
    # The clock of tests stands at 08:00 UTC on a Friday, which is 17:00 in Tokyo.
    recurrence = {"weekdays": [4], "from_time": "22:00", "to_time": "06:00", "time_zone": "Asia/Tokyo"}
    made = add(server, ends_ms=NOW_MS + 100 * 24 * HOUR, recurrence=recurrence)
    assert made["recurrence"] == recurrence
    assert (made["state"], made["holds_now"], made["next_ms"]) == ("active", False, NOW_MS + 5 * HOUR)
    server.clock.now_ms += 6 * HOUR
    assert server.client.get(f"/api/silences/{made['id']}").json()["holds_now"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"ends_ms": NOW_MS}, "silence-span"),
        ({"starts_ms": NOW_MS - 2 * HOUR, "ends_ms": NOW_MS - HOUR}, "silence-span"),
        ({"matchers": [{"name": "a", "operator": "=~", "value": "("}]}, "silence-matcher"),
        ({"matchers": [{"name": "a", "operator": "=~", "value": ".*"}]}, "silence-matcher"),
        ({"recurrence": {"from_time": "08:00", "to_time": "09:00", "time_zone": "Mars/Base"}}, "silence-recurrence"),
        ({"recurrence": {"from_time": "08:00", "to_time": "09:00", "weekdays": [7]}}, "invalid"),
        ({"recurrence": {"from_time": "12:00", "to_time": "13:00"}}, "silence-recurrence"),
        ({"matchers": []}, "invalid"),
    ],
)
def test_what_is_refused(shared_server: RunningServer, changes: dict[str, Any], code: str) -> None:
    answer = shared_server.client.post("/api/silences", json=given(**changes))
    assert (answer.status_code, answer.json()["code"]) == (422, code)


def test_there_is_no_such_silence(shared_server: RunningServer) -> None:
    for answer in (
        shared_server.client.get("/api/silences/nothing"),
        shared_server.client.put("/api/silences/nothing", json=given()),
        shared_server.client.post("/api/silences/nothing/expire"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "silence-not-found")


def test_the_preview_says_when_nearly_everything_would_match(shared_server: RunningServer) -> None:
    def preview(operator: str, value: str) -> Any:
        matchers = [{"name": "severity", "operator": operator, "value": value}]
        return shared_server.client.post("/api/silences/preview", json={"matchers": matchers}).json()

    assert preview("=", "page") == {"alerts": 0, "names": [], "everything": False}
    assert preview("!=", "page")["everything"]
