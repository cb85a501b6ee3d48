from typing import Any

import pytest

SECOND = 1_000
POOL = {"job": "app", "db_name": "main"}
DB = {"job": "mysql", "instance": "db-1"}


def write(server: Any, *, instances: int = 1, in_use: float = 12, seconds: int = 60) -> int:
    """A minute of load that ended now; the time at which it began."""
    end = server.clock.now_ms // SECOND * SECOND
    times = range(end - seconds * SECOND, end + 1, SECOND)
    values = {
        "go_sql_in_use_connections": in_use,
        "go_sql_open_connections": in_use,
        "go_sql_max_open_connections": 30,
        "go_sql_max_idle_connections": 2,
        "go_sql_connection_max_lifetime_seconds": 0,
    }
    series = [
        ({"__name__": name, **POOL, "instance": f"web-{number}"}, [(time, value) for time in times])
        for number in range(instances)
        for name, value in values.items()
    ]
    server.write(
        *series,
        ({"__name__": "mysql_global_variables_max_connections", **DB}, [(time, 151.0) for time in times]),
        ({"__name__": "process_cpu_seconds_total", **DB}, [(time, time / SECOND * 1.9) for time in times]),
        *(
            ({"__name__": "node_cpu_seconds_total", **DB, "job": "host", "cpu": core, "mode": "idle"}, [(end, 1.0)])
            for core in ("0", "1")
        ),
        (
            {"__name__": "mysql_global_status_threads_connected", **DB},
            [(time, in_use * instances + 7) for time in times],
        ),
    )
    return times[0]


def ask(server: Any, **parameters: Any) -> Any:
    answer = server.client.get("/api/pool-advice", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_last_quarter_of_an_hour(server: Any) -> None:
    write(server)
    advice = ask(server)
    assert advice["to_ms"] - advice["from_ms"] == 900 * SECOND
    (group,) = advice["groups"]
    assert (group["job"], group["pool"], group["seen"], group["wanted"]) == ("app", "main", 1, 15)
    assert [(one["name"], one["now"], one["advised"]) for one in group["settings"]] == [
        ("max_open", [30], 15),
        ("max_idle", [2], 15),
        ("lifetime", [0], 30),
        ("idle_time", [], 30),
    ]
    assert group["settings"][0]["formula"]["ja"].startswith("web-0が最も忙しい10秒: 平均12接続")
    (member,) = group["members"]
    assert (member["instance"], member["demand"]["connections"], member["demand"]["short"]) == ("web-0", 12, False)
    assert (advice["server"]["max_connections"], advice["server"]["others"], advice["room"]) == (151, 7, 136)
    assert advice["servers"] == ["db-1"]
    (note,) = advice["notes"]
    assert note["id"] == "database-full"
    assert "it used 1.9 of its host's 2 cores" in note["text"]["en"]


def test_ten_instances_and_a_number_that_is_not_there(server: Any) -> None:
    start_ms = write(server, instances=10)
    window = {"start_ms": start_ms, "end_ms": start_ms + 60 * SECOND}
    advice = ask(server, **window)
    assert (advice["now"], advice["wanted"], advice["advised"]) == (300, 150, 130)
    assert {note["id"] for note in advice["notes"]} == {"exceeds-server", "no-room", "database-full"}
    twenty = ask(server, **window, instances="app:20")
    assert (twenty["groups"][0]["instances"], twenty["wanted"]) == (20, 160)
    assert ask(server, **window, instances="other:20")["groups"][0]["instances"] == 10


def test_the_time_of_a_run(server: Any) -> None:
    start_ms = write(server)
    created = server.client.post("/api/runs", json={"name": "pools", "started_ms": start_ms + 10 * SECOND})
    run = created.json()["id"]
    server.client.post(f"/api/runs/{run}/finish", json={"ended_ms": start_ms + 40 * SECOND})
    advice = ask(server, run=run)
    assert (advice["from_ms"], advice["to_ms"]) == (start_ms + 10 * SECOND, start_ms + 40 * SECOND)
    assert advice["groups"][0]["wanted"] == 15
    assert server.client.get("/api/pool-advice", params={"run": "none-such"}).status_code == 404


def test_nothing_is_seen(server: Any) -> None:
    advice = ask(server)
    assert (advice["groups"], advice["server"], advice["room"]) == ([], None, None)
    assert [note["id"] for note in advice["notes"]] == ["no-pool", "no-server"]


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"start_ms": 0, "end_ms": 6 * 3_600_000 + 1}, "invalid-window"),
        ({"start_ms": 5, "end_ms": 5}, "invalid-window"),
        ({"start_ms": -1}, "invalid"),
        ({"end_ms": 10**18}, "invalid"),
        ({"instances": "app"}, "invalid"),
        ({"instances": "app:0"}, "invalid"),
        ({"instances": "app:99999999"}, "invalid"),
        ({"instances": ["app:1"] * 21}, "invalid"),
        ({"server": "x" * 201}, "invalid"),
    ],
)
def test_what_cannot_be_asked(server: Any, parameters: dict[str, Any], code: str) -> None:
    answer = server.client.get("/api/pool-advice", params=parameters)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
