"""Actions over HTTP: kept with the review, a filter of runs, measured by later ones."""

import json
from typing import Any

import pytest
from loadwatch_backend.runs.registry.tables import ActionScoreRow
from loadwatch_backend.runs.reviews.repository import read_scores

from backend.tests.runs.sending import imported, vegeta_csv
from backend.tests.store.prometheus.engines import wait_for

NOW_MS = 1_768_550_400_000
TODAY = "2026-01-16"


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
    return [(one["of_run"], one["action"], one["run"], one["state"]) for one in scores]


def test_the_next_run_of_the_scenario_scores_by_itself(server: Any):
    first = load(server, 900_000, failing=2, name="before")
    expected = action("fix", owner="葵", due="2026-01-21", expected="error_rate<1%")
    written = write(server, first, 0, expected, action("fast", expected="p95<1ms"), action("none")).json()
    assert [one["detail"] for one in written["standings"]] == ["", "", ""]
    assert (written["standings"][0]["before"], written["standings"][0]["unit"]) == (0.1, "ratio")
    server.clock.now_ms += 60_000
    other = load(server, 500_000, scenario="other")
    earlier = load(server, 5_000_000)
    second = load(server, 500_000, name="after")
    server.services.runs.scorer.tick()
    found = review(server, first)
    fix, fast, none = (one["scores"] for one in found["standings"])
    assert told(fix) == [(first, "fix", second, "met")]
    assert told(fast) == [(first, "fast", second, "missed")]
    assert none == []
    (score,) = fix
    assert (score["actual"], score["limit"], score["window"]) == (0.0, 0.01, "steady")
    assert (score["text"], score["owner"], score["run_name"], score["of_name"]) == ("do fix", "葵", "after", "before")
    # The other direction; runs of other scenarios and of before say nothing.
    assert review(server, second)["scored"] == fix + fast
    assert [review(server, run)["scored"] for run in (first, other, earlier)] == [[], [], []]
    # A later one has its say, too, and the one before keeps what it said.
    third = load(server, 300_000, failing=1)
    server.services.runs.scorer.tick()
    fix = review(server, first)["standings"][0]["scores"]
    assert told(fix) == [(first, "fix", third, "missed"), (first, "fix", second, "met")]


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
    assert told(review(server, run)["scored"]) == [(first, "a", run, "not-measured")]


def test_what_was_known_when_it_was_written_says_nothing_of_it(server: Any):
    # In the background it would score the second run before the action is changed.
    server.services.runs.catch_up.close()
    first = load(server, 900_000)
    write(server, first, 0, action("a", expected="p95<1s"), action("b", expected="p95<1s"))
    second = load(server, 500_000)
    server.clock.now_ms += 1_000
    write(server, first, 1, action("a", expected="p95<1ms"), action("b", text="other words", expected="p95<1s"))
    server.services.runs.scorer.tick()
    assert told(review(server, second)["scored"]) == [(first, "b", second, "met")]


def test_what_is_dropped_is_left_out_and_what_is_no_threshold_reads_as_not_measured(server: Any):
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
    assert [one["detail"] != "" for one in review(server, first)["standings"]] == [False, True, True, False]
    second = load(server, 500_000)
    server.services.runs.scorer.tick()
    scored = review(server, second)["scored"]
    assert told(scored) == [
        (first, "b", second, "not-measured"),
        (first, "c", second, "not-measured"),
        (first, "d", second, "met"),
    ]
    assert all(one["detail"] and one["actual"] is None for one in scored[:2])


@pytest.mark.parametrize(
    ("state", "reason", "read"),
    [("held", "", ("met", 0.2, "")), ("cannot-tell", "load-lower", ("not-measured", None, "load-lower"))],
)
def test_what_an_earlier_version_scored_is_still_read(
    server: Any, state: str, reason: str, read: tuple[str, float | None, str]
):
    first, second = load(server, 900_000), load(server, 500_000)
    facts = {"text": "t", "owner": "", "expected": "p95<1s", "state": state, "reason": reason, "detail": ""}
    facts |= {"unit": "seconds", "limit": 1.0, "actual": 0.2, "before": 0.4, "window": "steady", "load": None}
    document = json.dumps(facts)
    row = ActionScoreRow(action_run_id=first, action_id="a", run_id=second, scored_ms=NOW_MS * 2, document=document)
    with server.services.relational.transaction() as session:
        session.add(row)
    (score,) = review(server, second)["scored"]
    assert (score["state"], score["actual"], score["detail"]) == read


def test_a_score_follows_the_figures_of_its_run(server: Any):
    first = load(server, 900_000)
    write(server, first, 0, action("a", expected="requests>300"))
    second = load(server, 500_000)
    server.services.runs.scorer.tick()
    assert review(server, second)["scored"][0]["actual"] == 360
    # One that is under way has the earlier window, and the clock of the test does not go on by itself.
    server.services.runs.analyses.close()
    server.clock.now_ms += 1_000
    window = {"steady_window": {"from_seconds": 5, "to_seconds": 10}}
    assert server.client.patch(f"/api/runs/{second}", json=window).status_code == 200
    # What the review says by now is not what was scored.
    write(server, first, 1, action("a", expected="requests>1"))

    def is_scored_anew() -> bool:
        # The run's new window may still be under analysis.
        server.services.runs.scorer.tick()
        return review(server, second)["scored"][0]["actual"] != 360

    wait_for("the new score", is_scored_anew)
    (score,) = review(server, second)["scored"]
    assert (score["expected"], score["actual"], score["window"], score["state"]) == (
        "requests>300",
        100,
        "steady",
        "missed",
    )
    server.services.runs.scorer.tick()
    assert review(server, second)["scored"] == [score]


def test_runs_are_found_by_actions_that_are_open(server: Any):
    first, second, third = (load(server, ago_ms) for ago_ms in (900_000, 500_000, 200_000))
    write(server, first, 0, action("a", owner="mika"), action("c", state="done"))
    write(server, second, 0, action("e", owner="ken"), {"id": "blank"})
    write(server, third, 0, action("f", state="dropped"), {"id": "blank"})

    def found() -> list[str]:
        answer = server.client.get("/api/runs", params={"open_actions": True}).json()
        assert answer["total"] == len(answer["runs"])
        return [run["id"] for run in answer["runs"]]

    assert found() == [second, first]
    write(server, second, 1, action("e", owner="ken", state="done"))
    assert found() == [first]


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
    inner = other._score

    def score_late(run_id: str, scores: Any) -> None:
        services.runs.scorer.tick()
        inner(run_id, scores)

    other._score = score_late
    other.tick()
    assert told(review(server, second)["scored"]) == [(first, "a", second, "met")]
    with services.relational.transaction() as session:
        assert len(read_scores(session, of=first)) == 1


def test_scores_stay_with_the_run_that_gave_them(server: Any):
    first = load(server, 900_000, name="before")
    write(server, first, 0, action("a", expected="p95<1s"))
    second = load(server, 500_000)
    server.services.runs.scorer.tick()
    assert server.client.delete(f"/api/runs/{first}").status_code == 204
    (score,) = review(server, second)["scored"]
    assert (score["of_run"], score["of_name"], score["text"], score["state"]) == (first, None, "do a", "met")
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
        third = load(other, 100_000)
        other.services.runs.scorer.tick()
        assert told(review(other, third)["scored"]) == [
            (first, "a", third, "met"),
            (first, "b", third, "missed"),
        ]
