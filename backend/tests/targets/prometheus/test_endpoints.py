from typing import Any

SECOND = 1_000


def test_targets_in_prometheus_shape(server: Any) -> None:
    now = server.clock.now_ms
    mysql = {"job": "mysql", "instance": "db", "collector": "mysql"}
    seconds = [now - number * SECOND for number in range(30)]
    server.write(
        ({"__name__": "up", **mysql}, [(time, 0.0) for time in seconds]),
        ({"__name__": "collector_error_info", **mysql, "error": "no login"}, [(time, 1.0) for time in seconds]),
        (
            {"__name__": "up", "job": "node", "instance": "n:1"},
            [(now - 15 * SECOND * number, 1.0) for number in range(4)],
        ),
        ({"__name__": "scrape_duration_seconds", "job": "node", "instance": "n:1"}, [(now, 0.25)]),
        ({"__name__": "up", "job": "silent", "instance": "s"}, [(now - 3 * 3_600 * SECOND, 1.0)]),
    )

    def asked(**fields: str) -> dict[str, Any]:
        answer = server.client.get("/prometheus/api/v1/targets", params=fields)
        assert (answer.status_code, answer.json()["status"]) == (200, "success")
        return answer.json()["data"]

    data = asked()
    assert data.keys() == {"activeTargets", "droppedTargets", "droppedTargetCounts"}
    assert data["droppedTargetCounts"] == {"mysql": 0, "node": 0, "silent": 0}
    found = {one["scrapePool"]: one for one in data["activeTargets"]}
    assert found["mysql"]["labels"] == mysql
    assert (found["mysql"]["health"], found["mysql"]["lastError"]) == ("down", "no login")
    assert (found["node"]["health"], found["node"]["lastScrapeDuration"]) == ("up", 0.25)
    assert found["node"]["labels"] == {"job": "node", "instance": "n:1"}
    assert found["silent"]["health"] == "unknown"
    assert found["node"]["lastScrape"].endswith("Z")

    assert [one["scrapePool"] for one in asked(scrapePool="node")["activeTargets"]] == ["node"]
    assert asked(state="Active")["droppedTargetCounts"] is None
    assert asked(state="dropped")["activeTargets"] == []
    pools = server.client.get("/prometheus/api/v1/scrape_pools").json()["data"]
    assert pools == {"scrapePools": ["mysql", "node", "silent"]}
