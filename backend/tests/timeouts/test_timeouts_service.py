import math
from typing import Any

import numpy as np
from loadwatch_backend.series.store.port import STALE_NAN_BITS

MINUTE = 60_000
STALE = float(np.array([STALE_NAN_BITS], np.uint64).view(np.float64)[0])


def given(layer: str, kind: str, **labels: str) -> dict[str, str]:
    return {
        "__name__": "timeout_seconds", "job": "shop", "instance": "app-1", "layer": layer, "kind": kind,
        "source": "configuration", **labels,
    }  # fmt: skip


def balancer() -> dict[str, str]:
    return {
        "__name__": "aws_applicationelb_idle_timeout_seconds", "job": "aws", "instance": "ap-northeast-1",
        "dimension_LoadBalancer": "app/prod-api/50dc6c495c0c9188", "region": "ap-northeast-1",
    }  # fmt: skip


def wrong(answer: Any) -> list[str]:
    (ladder,) = answer["ladders"]
    return [check["rule"] for check in ladder["checks"] if check["verdict"] == "wrong"]


def test_the_ladder_of_needs_a12(server: Any) -> None:
    now = server.clock.now_ms
    server.write(
        (given("client", "request"), [(now - MINUTE, 90.0)]),
        (given("app", "idle"), [(now - MINUTE, 30.0)]),
        (given("app", "write", source="runtime"), [(now - MINUTE, math.inf)]),
        (balancer(), [(now - 5 * MINUTE, 60.0)]),
    )
    answer = server.client.get("/api/timeouts").json()
    assert wrong(answer) == ["balancer_idle_before_app", "answer_before_balancer"]
    (ladder,) = answer["ladders"]
    assert [layer["layer"] for layer in ladder["layers"]] == ["client", "load_balancer", "app", "pool", "database"]
    check = ladder["checks"][0]
    assert (check["shorter"], check["longer"]) == ("load_balancer.idle.60", "app.idle.30")
    assert "502 or 504" in check["consequence"]
    assert "30 s" in check["consequence"]
    assert "may work on an answer for ever" in ladder["checks"][1]["consequence"]
    (rung,) = ladder["layers"][1]["rungs"]
    assert (rung["text"], rung["names"]) == ("60 s", ["prod-api"])
    assert rung["said"] == [{"origin": "discovery", "field": "aws_applicationelb_idle_timeout_seconds"}]
    write = next(rung for rung in ladder["layers"][2]["rungs"] if rung["kind"] == "write")
    assert (write["seconds"], write["text"]) == (None, "no limit")
    missing = {one["kind"]: one["hint"] for one in ladder["layers"][4]["missing"]}
    assert "wait_timeout" in missing["wait"]


def test_the_words_in_japanese(server: Any) -> None:
    now = server.clock.now_ms
    server.write((given("app", "idle"), [(now, 30.0)]), (balancer(), [(now, 60.0)]))
    (ladder,) = server.client.get("/api/timeouts", params={"lang": "ja"}).json()["ladders"]
    assert ladder["layers"][1]["title"] == "ロードバランサー"
    assert "502 や 504" in ladder["checks"][0]["consequence"]


def test_a_change_is_seen_and_the_past_can_be_asked(server: Any) -> None:
    now = server.clock.now_ms
    app = given("app", "idle")
    server.write(
        (app, [(now - 30 * MINUTE, 30.0), (now, 75.0)]), (balancer(), [(now - 30 * MINUTE, 60.0), (now, 60.0)])
    )
    assert wrong(server.client.get("/api/timeouts").json()) == []
    past = server.client.get("/api/timeouts", params={"at_ms": now - 20 * MINUTE}).json()
    assert past["at_ms"] == now - 20 * MINUTE
    assert wrong(past) == ["balancer_idle_before_app"]


def test_what_has_ended_or_is_old_is_not_known(server: Any) -> None:
    now = server.clock.now_ms
    server.write(
        (given("app", "idle"), [(now - MINUTE, 30.0), (now, STALE)]),
        (given("app", "write"), [(now - 20 * MINUTE, 30.0)]),
        (balancer(), [(now, 60.0)]),
    )
    (ladder,) = server.client.get("/api/timeouts").json()["ladders"]
    assert (ladder["job"], [rung["id"] for layer in ladder["layers"] for rung in layer["rungs"]]) == (
        "",
        ["load_balancer.idle.60"],
    )


def test_nothing_is_known(server: Any) -> None:
    answer = server.client.get("/api/timeouts").json()
    assert answer == {"at_ms": server.clock.now_ms, "ladders": []}
    assert server.client.get("/api/timeouts", params={"at_ms": -1}).status_code == 422
    assert server.client.get("/api/timeouts", params={"lang": "tlh"}).status_code == 422
