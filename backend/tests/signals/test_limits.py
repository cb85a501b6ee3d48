from typing import Any

import pytest

SECOND = 1_000


def labels(name: str, **more: str) -> dict[str, str]:
    return {"__name__": name, "job": "app", "instance": "a", **more}


def level(now: int, value: float, seconds: int = 300) -> list[tuple[int, float]]:
    return [(now - i * SECOND, value) for i in range(seconds)]


def counter(now: int, rate: float, seconds: int = 300) -> list[tuple[int, float]]:
    return [(now - i * SECOND, rate * (seconds - i)) for i in range(seconds)]


def order(server: Any, **query: Any) -> list[str]:
    return [one["resource"] for one in server.client.get("/api/headroom", params=query).json()["resources"]]


def test_headroom_puts_the_nearest_limit_first_and_tells_when_it_is_reached(server: Any):
    now = server.clock.now_ms
    rising = [(now - i * SECOND, 60.0 - 0.1 * i) for i in range(300)]
    level = [(now - i * SECOND, 100.0) for i in range(300)]
    server.write(
        (labels("mysql_global_status_threads_connected"), rising),
        (labels("mysql_global_variables_max_connections"), level),
        (labels("process_open_fds"), [(time, 99.9) for time, _ in level]),
        (labels("process_max_fds"), level),
        (labels("go_sql_in_use_connections", db_name="x"), level),
        (labels("go_sql_max_open_connections", db_name="x"), [(time, 0.0) for time, _ in level]),
        (labels("node_memory_SwapTotal_bytes"), [(time, 0.0) for time, _ in level]),
        (labels("node_memory_SwapFree_bytes"), [(time, 0.0) for time, _ in level]),
    )
    answer = server.client.get("/api/headroom").json()
    assert answer["at_ms"] == now
    fds, connections = answer["resources"]
    assert (fds["resource"], fds["state"], fds["exhaustion_seconds"]) == ("process_fds", "exhausted", None)
    assert connections["resource"] == "db_connections"
    assert (connections["used"], connections["limit"], connections["state"]) == (60, 100, "ok")
    assert connections["headroom"] == pytest.approx(0.4)
    assert connections["exhaustion_seconds"] == pytest.approx(400, rel=0.01)
    assert connections["name"] == "a"
    assert len(connections["history"]) == 60
    assert connections["history"][-1] == pytest.approx(0.6)
    assert connections["history"][0] < 0.32


def test_headroom_of_what_went_silent_is_not_shown_as_if_it_held(server: Any):
    now = server.clock.now_ms
    level = [(now - i * SECOND, 100.0) for i in range(60)]
    server.write((labels("process_open_fds"), level), (labels("process_max_fds"), level))
    assert len(server.client.get("/api/headroom").json()["resources"]) == 1
    server.clock.now_ms += 30 * SECOND
    (late,) = server.client.get("/api/headroom").json()["resources"]
    assert (late["late"], late["as_of_ms"], late["used"], late["state"]) == (True, now, 100, "exhausted")
    assert (late["exhaustion_seconds"], late["source"], late["history"][-1]) == (None, None, None)
    past = server.client.get(f"/api/headroom?at_ms={now}&lang=ja").json()
    assert [(one["title"], one["late"], one["as_of_ms"]) for one in past["resources"]] == [
        ("ファイル記述子", False, None)
    ]
    server.clock.now_ms += 300 * SECOND
    assert server.client.get("/api/headroom").json()["resources"] == [], "five minutes later it says nothing any more"


def test_no_more_cpu_is_used_than_there_is(server: Any):
    now = server.clock.now_ms
    times = [now - i * SECOND for i in range(120)]
    server.write(
        *(
            (
                {"__name__": "node_cpu_seconds_total", "instance": "h", "cpu": cpu, "mode": mode},
                [(time, share * (time - now + 10**6) / SECOND) for time in times],
            )
            for cpu in "01"
            for mode, share in (("user", 1.06), ("idle", 0.0))
        )
    )
    (cpu,) = [one for one in server.client.get("/api/headroom").json()["resources"] if one["resource"] == "host_cpu"]
    assert (cpu["used"], cpu["limit"], cpu["headroom"]) == (2, 2, 0)


def write_full_cpu(server: Any, now: int, waiting: float | None) -> None:
    for cpu in "01":
        for mode, rate in (("user", 1.0), ("idle", 0.0)):
            series = {"__name__": "node_cpu_seconds_total", "instance": "h", "cpu": cpu, "mode": mode}
            server.write((series, counter(now, rate)))
    if waiting is not None:
        pressure = {"__name__": "node_pressure_cpu_waiting_seconds_total", "instance": "h"}
        server.write((pressure, counter(now, waiting)))


def write_pool(server: Any, now: int, in_use: float, waits: float) -> None:
    server.write(
        (labels("go_sql_in_use_connections", db_name="x"), level(now, in_use)),
        (labels("go_sql_max_open_connections", db_name="x"), level(now, 10.0)),
        (labels("go_sql_wait_count_total", db_name="x"), counter(now, waits)),
    )


def test_a_limit_that_somebody_waits_for_comes_before_a_full_host(server: Any):
    now = server.clock.now_ms
    write_pool(server, now, in_use=9.0, waits=5.0)
    write_full_cpu(server, now, waiting=None)
    assert order(server) == ["pool_connections", "host_cpu"]
    pool, cpu = server.client.get("/api/headroom").json()["resources"]
    assert (pool["demand"], pool["state"], pool["headroom"]) == (True, "near", pytest.approx(0.1))
    assert (cpu["demand"], cpu["state"]) == (None, "exhausted"), "nothing tells whether anybody waits"


def test_a_nearer_limit_comes_first_where_both_are_waited_for(server: Any):
    now = server.clock.now_ms
    write_pool(server, now, in_use=9.0, waits=5.0)
    write_full_cpu(server, now, waiting=0.6)
    assert order(server) == ["host_cpu", "pool_connections"]
    write_pool(server, now, in_use=10.0, waits=5.0)
    assert order(server) == ["pool_connections", "host_cpu"], "of equals what belongs to a program"


def test_a_host_that_is_full_and_keeps_nobody_waiting_comes_last(server: Any):
    now = server.clock.now_ms
    write_pool(server, now, in_use=2.0, waits=0.0)
    write_full_cpu(server, now, waiting=0.01)
    assert order(server) == ["pool_connections", "host_cpu"]
    cpu = server.client.get("/api/headroom").json()["resources"][1]
    assert (cpu["demand"], cpu["headroom"]) == (False, 0)


def test_a_full_pool_without_waits_stays_where_its_headroom_puts_it(server: Any):
    now = server.clock.now_ms
    write_pool(server, now, in_use=10.0, waits=0.0)
    server.write(
        (labels("process_open_fds"), level(now, 50.0)),
        (labels("process_max_fds"), level(now, 100.0)),
    )
    pool, fds = server.client.get("/api/headroom").json()["resources"]
    assert (pool["resource"], pool["demand"], fds["demand"]) == ("pool_connections", False, None)


def write_fleet_pool(server: Any, name: str, end: int, *, waits: float, waiting: float) -> None:
    """A full pool for which so many a second wait, together so many seconds a second."""
    own = {"db_name": "hits", "instance": name}
    server.write(
        (labels("go_sql_in_use_connections", **own), level(end, 6.0)),
        (labels("go_sql_max_open_connections", **own), level(end, 6.0)),
        (labels("go_sql_wait_count_total", **own), counter(end, waits)),
        (labels("go_sql_wait_duration_seconds_total", **own), counter(end, waiting)),
    )


def pools(server: Any) -> list[str]:
    resources = server.client.get("/api/headroom").json()["resources"]
    return [one["labels"]["instance"] for one in resources if one["resource"] == "pool_connections"]


def test_of_a_fleet_whose_requests_lose_most_time_comes_first_and_not_who_waits_most_often(server: Any):
    now = server.clock.now_ms
    write_fleet_pool(server, "web-1", now, waits=20.0, waiting=1.0)
    write_fleet_pool(server, "web-7", now, waits=6.0, waiting=3.0)
    write_fleet_pool(server, "web-9", now, waits=30.0, waiting=1.4)
    assert pools(server) == ["web-7", "web-9", "web-1"]
    # A wait is counted when it begins and its time when it ends: waits that never end are demand all the same.
    write_fleet_pool(server, "web-2", now, waits=5.0, waiting=0.0)
    (stuck,) = [
        one
        for one in server.client.get("/api/headroom").json()["resources"]
        if one["labels"]["instance"] == "web-2" and one["resource"] == "pool_connections"
    ]
    assert stuck["demand"] is True


def test_an_instance_of_a_fleet_that_is_gone_is_no_limit_of_now(server: Any):
    now = server.clock.now_ms
    write_fleet_pool(server, "web-1", now, waits=5.0, waiting=1.0)
    write_fleet_pool(server, "web-2", now - 20 * SECOND, waits=5.0, waiting=1.0)
    write_fleet_pool(server, "web-3", now - 120 * SECOND, waits=5.0, waiting=1.0)
    # Who has just fallen silent may be at its limit; who is gone for minutes is counted no more.
    assert sorted(pools(server)) == ["web-1", "web-2"]
