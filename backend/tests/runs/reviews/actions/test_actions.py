"""Actions over HTTP: kept with the review, listed over all runs, scored by later ones."""

from typing import Any

from loadwatch_backend.runs.reviews.actions.repository import find_action

from backend.tests.runs.sending import imported, vegeta_csv

NOW_MS = 1_800_000_000_000
TODAY = "2027-01-15"


def write(server: Any, run: str, version: int, *actions: dict[str, Any]) -> Any:
    return server.client.put(f"/api/runs/{run}/review", json={"version": version, "actions": list(actions)})


def review(server: Any, run: str) -> Any:
    return server.client.get(f"/api/runs/{run}/review").json()


def load(server: Any, ago_ms: int, **options: Any) -> str:
    """A run of the scenario that began so long before now."""
    sent = {name: options.pop(name) for name in ("rate", "failing", "seconds") if name in options}
    content = vegeta_csv(server.clock.now_ms - ago_ms, **sent)
    return imported(server, content, **{"scenario": "s", **options})["id"]


def action(id: str, **fields: Any) -> dict[str, Any]:
    return {"id": id, "text": f"do {id}", **fields}


def told(scores: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [(one["of_run"], one["action"], one["run"], one["state"], one["reason"]) for one in scores]


def test_the_next_run_of_the_scenario_scores_by_itself(server: Any):
    first = load(server, 900_000, failing=2, name="before")
    expected = action("fix", owner="葵", due="2027-01-20", expected="error_rate<1%")
    written = write(server, first, 0, expected, action("fast", expected="p95<1ms"), action("none")).json()
    assert [one["problem"] for one in written["standings"]] == ["", "", ""]
    assert (written["standings"][0]["before"], written["standings"][0]["unit"]) == (0.1, "ratio")
    server.clock.now_ms += 60_000
    other = load(server, 500_000, scenario="other")
    earlier = load(server, 5_000_000)
    second = load(server, 500_000, name="after")
    server.services.runs.scorer.tick()
    found = review(server, first)
    fix, fast, none = (one["scores"] for one in found["standings"])
    assert told(fix) == [(first, "fix", second, "held", "")]
    assert told(fast) == [(first, "fast", second, "missed", "")]
    assert none == []
    (score,) = fix
    assert (score["before"], score["actual"], score["limit"], score["window"]) == (0.1, 0.0, 0.01, "steady")
    assert (score["text"], score["owner"], score["run_name"], score["of_name"]) == ("do fix", "葵", "after", "before")
    assert score["load"] == {"kind": "rate", "before": 20.0, "now": 20.0}
    # The other direction; runs of other scenarios and of before say nothing.
    assert review(server, second)["scored"] == fix + fast
    assert [review(server, run)["scored"] for run in (first, other, earlier)] == [[], [], []]
    # A later one has its say, too, and the one before keeps what it said.
    third = load(server, 300_000, failing=1)
    server.services.runs.scorer.tick()
    fix = review(server, first)["standings"][0]["scores"]
    assert told(fix) == [(first, "fix", third, "missed", ""), (first, "fix", second, "held", "")]


def test_a_run_waits_until_it_has_settled(server: Any):
    first = load(server, 900_000)
    write(server, first, 0, action("a", expected="requests>1"))
    run = server.client.post("/api/runs", json={"scenario": "s"}).json()["id"]
    server.clock.now_ms += 10_000
    server.client.post(f"/api/runs/{run}/finish", json={"ended_ms": server.clock.now_ms, "aborted": True})
    server.clock.now_ms += 74_000
    server.services.runs.scorer.tick()
    assert review(server, run)["scored"] == []
    server.clock.now_ms += 1_000
    server.services.runs.scorer.tick()
    assert told(review(server, run)["scored"]) == [(first, "a", run, "cannot-tell", "aborted")]


def test_what_was_known_when_it_was_written_says_nothing_of_it(server: Any):
    first = load(server, 900_000)
    write(server, first, 0, action("a", expected="p95<1s"), action("b", expected="p95<1s"))
    second = load(server, 500_000)
    server.clock.now_ms += 1_000
    write(server, first, 1, action("a", expected="p95<1ms"), action("b", text="other words", expected="p95<1s"))
    server.services.runs.scorer.tick()
    assert told(review(server, second)["scored"]) == [(first, "b", second, "held", "")]


def test_what_is_dropped_or_cannot_be_read_is_not_held(server: Any):
    first = load(server, 900_000)
    write(
        server,
        first,
        0,
        action("a", expected="p95<1s", state="dropped"),
        action("b", expected="p95<"),
        action("c", expected="pool-exhausted gone"),
        action("d", expected="p95<1s", state="done"),
    )
    assert [one["problem"] for one in review(server, first)["standings"]] == ["", "unreadable", "not-there", ""]
    second = load(server, 500_000)
    server.services.runs.scorer.tick()
    assert told(review(server, second)["scored"]) == [
        (first, "b", second, "cannot-tell", "unreadable"),
        (first, "c", second, "cannot-tell", "not-there-before"),
        (first, "d", second, "held", ""),
    ]


def test_a_score_follows_the_figures_of_its_run(server: Any):
    first = load(server, 900_000)
    write(server, first, 0, action("a", expected="requests>300"))
    second = load(server, 500_000)
    server.services.runs.scorer.tick()
    assert review(server, second)["scored"][0]["actual"] == 360
    server.clock.now_ms += 1_000
    window = {"steady_window": {"from_seconds": 5, "to_seconds": 10}}
    assert server.client.patch(f"/api/runs/{second}", json=window).status_code == 200
    # What the review says by now is not what was scored.
    write(server, first, 1, action("a", expected="requests>1"))
    server.services.runs.scorer.tick()
    (score,) = review(server, second)["scored"]
    assert (score["expected"], score["actual"], score["window"], score["state"]) == (
        "requests>300",
        100,
        "steady",
        "missed",
    )
    server.services.runs.scorer.tick()
    assert review(server, second)["scored"] == [score]


def test_a_list_over_all_runs_has_first_what_is_due_first(server: Any):
    first, second = load(server, 900_000, name="one"), load(server, 500_000)
    write(server, first, 0, action("a", owner="mika"), action("b", due="2027-02-01"), action("c", state="done"))
    write(server, second, 0, action("d", due="2026-12-31", owner="mika"), action("e", owner="ken"), {"id": "blank"})
    found = server.client.get("/api/actions", params={"state": "open"}).json()
    assert [(one["id"], one["run"], one["overdue"]) for one in found["actions"]] == [
        ("d", second, True),
        ("b", first, False),
        ("e", second, False),
        ("a", first, False),
    ]
    assert (found["total"], found["owners"]) == (4, ["mika", "ken"])
    assert (found["actions"][3]["run_name"], found["actions"][3]["scenario"]) == ("one", "s")
    part = server.client.get("/api/actions", params={"limit": 1, "offset": 1}).json()
    assert ([one["id"] for one in part["actions"]], part["total"]) == (["b"], 5)
    write(server, second, 1, action("e", owner="ken", state="done"))
    left = server.client.get("/api/actions", params={"state": "open"}).json()["actions"]
    assert [one["id"] for one in left] == ["b", "a"]


def test_actions_are_bounded_and_each_has_an_id_of_its_own(server: Any):
    run = load(server, 900_000)
    for wrong in (
        [action(f"a{number}") for number in range(51)],
        [action("a"), action("a")],
        [action("A")],
        [{"id": "a", "text": "x" * 1_001}],
        [action("a", expected="x" * 201)],
        [action("a", owner="x" * 101)],
        [action("a", due="tomorrow")],
        [action("a", state="later")],
    ):
        assert write(server, run, 0, *wrong).status_code == 422
    assert write(server, run, 0, *(action(f"a{number}") for number in range(50))).status_code == 200


def test_two_servers_score_once(server: Any):
    first = load(server, 900_000)
    write(server, first, 0, action("a", expected="p95<1s"))
    second = load(server, 500_000)
    services = server.services
    other = type(services.runs.scorer)(services.relational, services.runs.analyses, server.clock)
    inner = other._judge

    def judge_late(*given: Any) -> Any:
        said = inner(*given)
        services.runs.scorer.tick()
        return said

    other._judge = judge_late
    other.tick()
    assert told(review(server, second)["scored"]) == [(first, "a", second, "held", "")]
    with services.relational.transaction() as session:
        row = find_action(session, first, "a")
        assert row is not None
        assert row.scores == 1


def test_scores_stay_with_the_run_that_gave_them(server: Any):
    first = load(server, 900_000, name="before")
    write(server, first, 0, action("a", expected="p95<1s"))
    second = load(server, 500_000)
    server.services.runs.scorer.tick()
    assert server.client.delete(f"/api/runs/{first}").status_code == 204
    (score,) = review(server, second)["scored"]
    assert (score["of_run"], score["of_name"], score["text"], score["state"]) == (first, None, "do a", "held")
    assert server.client.get("/api/actions").json()["actions"] == []
    assert server.client.delete(f"/api/runs/{second}").status_code == 204


def test_archives_carry_actions_and_scores(start_server: Any, tmp_path: Any):
    with start_server(tmp_path / "a") as one, start_server(tmp_path / "b") as other:
        first = load(one, 900_000)
        write(one, first, 0, action("a", expected="p95<1s", due=TODAY), action("b", expected="p95<1ms"))
        second = load(one, 500_000)
        one.services.runs.scorer.tick()
        other.clock.now_ms += 50_000
        for run in (second, first):
            archive = one.client.get(f"/api/runs/{run}/archive").content
            assert other.client.post("/api/archives", content=archive).status_code == 201
        other.services.runs.scorer.tick()
        for run in (first, second):
            assert review(other, run) == review(one, run)
        assert other.client.get("/api/actions").json() == one.client.get("/api/actions").json()
        third = load(other, 100_000)
        other.services.runs.scorer.tick()
        assert told(review(other, third)["scored"]) == [
            (first, "a", third, "held", ""),
            (first, "b", third, "missed", ""),
        ]
