from typing import Any

SECOND = 1_000


def test_targets_and_their_collectors(server: Any):
    now = server.clock.now_ms
    seconds = [now - i * SECOND for i in range(30)]
    target = {"job": "mysql", "instance": "db"}
    mysql, host = {**target, "collector": "mysql"}, {"job": "host", "instance": "h", "collector": "host"}
    error = "cannot log in: Access denied for user 'monitor'"
    server.write(
        ({"__name__": "up", **mysql}, [(time, 0.0) for time in seconds]),
        ({"__name__": "collector_error_info", **mysql, "error": error}, [(time, 1.0) for time in seconds]),
        ({"__name__": "up", **host}, [(time, 1.0) for time in seconds]),
        ({"__name__": "scrape_duration_seconds", **host}, [(time, 0.25) for time in seconds]),
        ({"__name__": "scrape_samples_scraped", **host}, [(time, 136.0) for time in seconds]),
        ({"__name__": "collector_cpu_seconds_total", **host}, [(time, time / SECOND * 0.01) for time in seconds]),
        ({"__name__": "up", "job": "node", "instance": "pushed"}, [(now - 15 * SECOND * i, 1.0) for i in range(4)]),
        ({"__name__": "up", "job": "gone", "instance": "g"}, [(now - 3 * 3_600 * SECOND, 1.0)]),
    )
    answer = server.client.get("/api/targets").json()
    assert answer["now_ms"] == now
    found = {
        (target["job"], target["instance"], collector["collector"]): collector
        for target in answer["targets"]
        for collector in target["collectors"]
    }
    assert list(found) == [("gone", "g", ""), ("host", "h", "host"), ("mysql", "db", "mysql"), ("node", "pushed", "")]
    assert (found["mysql", "db", "mysql"]["up"], found["mysql", "db", "mysql"]["error"]) == (False, error)
    assert found["node", "pushed", ""]["up"] is True
    host_health = found["host", "h", "host"]
    assert (host_health["up"], host_health["duration_seconds"], host_health["samples"]) == (True, 0.25, 136)
    assert abs(host_health["cpu_ratio"] - 0.01) < 1e-6
    gone = found["gone", "g", ""]
    assert (gone["up"], gone["last_sample_ms"]) == (None, now - 3 * 3_600 * SECOND)
    assert gone["lag_seconds"] == 3 * 3_600


def test_a_target_that_falls_silent_stays_listed(server: Any):
    up = {"__name__": "up", "job": "app", "instance": "a", "collector": "dbstats"}
    server.write((up, [(server.clock.now_ms - i * SECOND, 1.0) for i in range(5)]))
    first_ms = server.clock.now_ms

    def listed() -> list[tuple[bool | None, int | None]]:
        targets = server.client.get("/api/targets").json()["targets"]
        return [(one["up"], one["last_sample_ms"]) for target in targets for one in target["collectors"]]

    assert listed() == [(True, first_ms)]
    for seconds in (30, 600, 12 * 3_600):
        server.clock.now_ms = first_ms + seconds * SECOND
        assert listed() == [(None, first_ms)]
        assert listed() == [(None, first_ms)]
    server.write((up, [(server.clock.now_ms, 1.0)]))
    assert listed() == [(True, server.clock.now_ms)]


def test_two_agents_that_read_the_same_are_named_and_one_that_was_started_anew_is_not(server: Any):
    now = server.clock.now_ms
    up = {"__name__": "up", "job": "shop", "instance": "db", "collector": "mysql"}

    def told_by(host: str, process: str, newest_ms: int) -> tuple[dict[str, str], list[tuple[int, float]]]:
        who = {"agent_host": host, "agent_pid": process, "agent_started": "2026-11-22T10:00:00Z"}
        labels = {**up, "__name__": "collector_agent_info", **who}
        return labels, [(newest_ms - i * SECOND, 1.0) for i in range(3)]

    def agents() -> list[str]:
        [target] = server.client.get("/api/targets").json()["targets"]
        return target["collectors"][0]["agents"]

    server.write((up, [(now, 1.0)]), told_by("vm-1", "7", now - 11 * SECOND), told_by("vm-1", "8", now))
    assert agents() == ["vm-1[8] 2026-11-22T10:00:00Z"]
    server.write(told_by("vm-2", "9", now - SECOND))
    assert agents() == ["vm-1[8] 2026-11-22T10:00:00Z", "vm-2[9] 2026-11-22T10:00:00Z"]


def _answer(server: Any, taken_away: bool, *targets: tuple[str, str]) -> Any:
    names = [{"job": job, "instance": instance} for job, instance in targets]
    return server.client.post("/api/targets/answers", json={"targets": names, "taken_away": taken_away})


def _listed(server: Any) -> dict[str, tuple[bool, str | None]]:
    targets = server.client.get("/api/targets").json()["targets"]
    return {target["instance"]: (target["gone"], target["kept_by"]) for target in targets}


def test_a_target_that_nobody_sends_is_gone_after_15_minutes_and_is_asked_for_until_somebody_answers(server: Any):
    a, b = ({"__name__": "up", "job": "app", "instance": name, "collector": "dbstats"} for name in "ab")
    first_ms = server.clock.now_ms
    server.write((a, [(first_ms, 1.0)]), (b, [(first_ms, 0.0)]))
    server.clock.now_ms = first_ms + 899 * SECOND
    # An agent that is there and says that it cannot read the target sends it.
    server.write((b, [(server.clock.now_ms, 0.0)]))
    assert _listed(server) == {"a": (False, None), "b": (False, None)}
    server.clock.now_ms = first_ms + 900 * SECOND
    assert _listed(server) == {"a": (True, None), "b": (False, None)}
    # After a weekend it is still asked for.
    server.clock.now_ms = first_ms + 3 * 86_400 * SECOND
    server.write((b, [(server.clock.now_ms, 1.0)]))
    assert _listed(server)["a"] == (True, None)
    kept = _answer(server, False, ("app", "a"))
    assert kept.status_code == 200
    assert _listed(server)["a"][0] is True
    assert _listed(server)["a"][1]


def test_a_target_that_was_taken_away_leaves_the_list_until_it_is_sent_again(server: Any):
    up = {"__name__": "up", "job": "app", "instance": "a", "collector": "dbstats"}
    first_ms = server.clock.now_ms
    server.write((up, [(first_ms, 1.0)]))
    refused = _answer(server, True, ("app", "a"))
    assert (refused.status_code, refused.json()["code"]) == (409, "target-sent")
    assert _listed(server) == {"a": (False, None)}
    server.clock.now_ms = first_ms + 60 * SECOND
    assert _answer(server, True, ("app", "a")).json()["targets"] == []
    assert server.client.get("/prometheus/api/v1/targets").json()["data"]["activeTargets"] == []
    # What a spool brings late was sent before the answer.
    server.write((up, [(first_ms + 30 * SECOND, 1.0)]))
    assert _listed(server) == {}
    server.clock.now_ms += 5 * SECOND
    server.write((up, [(server.clock.now_ms, 1.0)]))
    assert _listed(server) == {"a": (False, None)}
    # The answer was about the silence before.
    server.clock.now_ms += 3_600 * SECOND
    assert _listed(server) == {"a": (True, None)}
