"""Log lines of a run by pattern, out of what an agent's collector sends."""

from typing import Any

NOW_MS = 1_768_550_400_000
RUN_MS = NOW_MS - 120_000
WHO = {"job": "shop", "instance": "web-1"}
ACCEPT = "http: Accept error: accept4: too many open files; retrying in <num>"

Series = tuple[dict[str, str], list[tuple[int, float]]]


def lines(from_ms: int, first: float = 0.0, **who: str) -> Series:
    labels = {"__name__": "log_lines_total", "result": "counted", **WHO, **who}
    return labels, [(time, first) for time in range(from_ms, NOW_MS, 1_000)]


def pattern(text: str, level: str, points: list[tuple[int, float]], id: str = "", **who: str) -> list[Series]:
    id = id or f"{hash(text):x}"
    target = {**WHO, **who}
    return [
        ({"__name__": "log_messages_total", "pattern_id": id, "level": level, **target}, points),
        (
            {"__name__": "log_pattern_info", "pattern_id": id, "pattern": text, **target},
            [(at, 1.0) for at, _ in points],
        ),
    ]


def run(server: Any) -> str:
    body = {"started_ms": RUN_MS, "clock_ms": NOW_MS}
    made: str = server.client.post("/api/runs", json=body).json()["id"]
    ended = {"ended_ms": RUN_MS + 60_000, "clock_ms": NOW_MS}
    assert server.client.post(f"/api/runs/{made}/finish", json=ended).status_code == 200
    return made


def read(server: Any, made: str) -> dict[str, Any]:
    answer = server.client.get(f"/api/runs/{made}/log-patterns")
    assert answer.status_code == 200, answer.text
    return answer.json()


def brief(document: dict[str, Any]) -> list[tuple[str, str, int, int | None, str]]:
    return [(one["pattern"], one["level"], one["count"], one["before"], one["trend"]) for one in document["patterns"]]


def steady(per_second: float, from_ms: int = RUN_MS - 90_000, first: float = 500.0) -> list[tuple[int, float]]:
    return [(at, first + per_second * (at - from_ms) / 1_000) for at in range(from_ms, NOW_MS, 15_000)]


def test_what_is_new_comes_first_and_what_always_came_last(server: Any):
    made = run(server)
    server.write(
        lines(RUN_MS - 300_000, 4_000.0),
        # Born in the run with its first number: all of it is counted.
        *pattern(ACCEPT, "error", [(RUN_MS + 20_000, 40.0), (RUN_MS + 30_000, 84.0), (RUN_MS + 45_000, 84.0)]),
        *pattern("request <num> served", "info", steady(10)),
        *pattern("slow query", "warning", [(RUN_MS - 90_000, 7.0), (RUN_MS - 30_000, 9.0), (RUN_MS + 30_000, 60.0)]),
        *pattern("only before", "error", [(RUN_MS - 90_000, 1.0), (RUN_MS - 30_000, 5.0), (RUN_MS + 30_000, 5.0)]),
    )
    document = read(server, made)
    assert brief(document) == [
        (ACCEPT, "error", 84, 0, "new"),
        ("slow query", "warning", 51, 2, "grew"),
        ("request <num> served", "info", 600, 600, "same"),
    ]
    assert document["patterns"][0]["first_ms"] == RUN_MS + 20_000
    assert document["patterns"][0]["targets"] == ["shop/web-1"]
    assert (document["lines"], document["followed"]) == (735, True)


def test_ten_instances_are_taken_together_by_the_newest_text(server: Any):
    made = run(server)
    series: list[Series] = []
    for number in range(10):
        who = {"instance": f"web-{number}"}
        series.append(lines(RUN_MS - 300_000, 1.0, **who))
        series += pattern("dial of db failed", "error", [(RUN_MS + 1_000, 1.0)], id=f"a{number}", **who)
        series += pattern("dial of <*> failed", "error", [(RUN_MS + 2_000, 3.0)], id=f"a{number}", **who)
    merged: dict[str, tuple[dict[str, str], list[tuple[int, float]]]] = {}
    for labels, points in series:
        merged.setdefault(str(sorted(labels.items())), (labels, []))[1].extend(points)
    server.write(*merged.values())
    assert brief(read(server, made)) == [("dial of <*> failed", "error", 30, 0, "new")]


def test_an_agent_that_began_with_the_run_knows_nothing_of_the_time_before(server: Any):
    made = run(server)
    server.write(lines(RUN_MS - 2_000), *pattern(ACCEPT, "error", [(RUN_MS + 1_000, 3.0), (RUN_MS + 20_000, 5.0)]))
    assert brief(read(server, made)) == [(ACCEPT, "error", 5, None, "unknown")]


def test_an_agent_that_was_restarted_and_samples_that_begin_late_count_right(server: Any):
    made = run(server)
    server.write(
        # As in an archive: the first that is there is in the middle of counting.
        lines(RUN_MS - 40_000, 9_000.0),
        *pattern("old", "error", [(RUN_MS - 39_000, 900.0), (RUN_MS - 10_000, 900.0), (RUN_MS + 10_000, 903.0)]),
        *pattern("restarted", "error", [(RUN_MS - 39_000, 50.0), (RUN_MS + 10_000, 52.0), (RUN_MS + 30_000, 4.0)]),
    )
    assert sorted(brief(read(server, made))) == [("old", "error", 3, 0, "new"), ("restarted", "error", 6, 0, "new")]


def test_lines_beyond_the_patterns_are_counted_and_a_run_without_a_log_says_so(server: Any):
    made = run(server)
    assert read(server, made)["followed"] is False
    other = {"__name__": "log_messages_total", "pattern_id": "other", "level": "info", **WHO}
    server.write(lines(RUN_MS - 300_000, 1.0), (other, [(RUN_MS - 80_000, 5.0), (RUN_MS + 5_000, 12.0)]))
    assert brief(read(server, made)) == [("", "info", 7, 0, "new")]
    assert server.client.get("/api/runs/no-such-run/log-patterns").status_code == 404
