"""`GET /api/runs/{id}` is what others script against: this fails when a field goes, or changes its kind."""

from typing import Any, cast

from backend.tests.runs.sending import imported, vegeta_csv

NOW_MS = 1_768_550_400_000

NUMBER, TEXT = (int, float), str
RUN: dict[str, Any] = {
    "id": TEXT,
    "state": TEXT,
    "verdict": TEXT,
    "tool": TEXT,
    "started_at": TEXT,
    "ended_at": TEXT,
    "requests": int,
    "success_ratio": NUMBER,
    "rate": NUMBER,
    "latency_seconds": dict.fromkeys(("mean", "p50", "p90", "p95", "p99", "max"), NUMBER),
    "outcomes": {"ok": int, "http_5xx": int},
    "status_codes": {"200": int, "500": int},
    "endpoints": [
        {
            "name": TEXT,
            "requests": int,
            "rate": NUMBER,
            "success_ratio": NUMBER,
            "latency_seconds": dict.fromkeys(("mean", "p50", "p90", "p95", "p99", "max"), NUMBER),
            "outcomes": dict,
            "status_codes": dict,
        }
    ],
    "steady_window": {"from_seconds": NUMBER, "to_seconds": NUMBER, "source": TEXT, "reason": TEXT},
    "thresholds": [{"expression": TEXT, "limit": NUMBER, "actual": NUMBER, "state": TEXT, "window": TEXT}],
}


def missing(found: Any, wanted: Any, place: str) -> list[str]:
    """Places of what is not there, or is of another kind."""
    if isinstance(wanted, dict):
        if not isinstance(found, dict):
            return [place]
        fields, has = cast(dict[str, Any], wanted), cast(dict[str, Any], found)
        return [
            one for key, kind in fields.items() for one in missing(has.get(key), kind, f"{place}.{key}".lstrip("."))
        ]
    if isinstance(wanted, list):
        if not isinstance(found, list) or not found:
            return [place]
        return [one for item in cast(list[Any], found) for one in missing(item, wanted[0], place + "[]")]
    return [] if isinstance(found, wanted) else [place]


def test_a_run_has_every_field_that_scripts_rely_on(server: Any):
    content = vegeta_csv(NOW_MS - 60_000, seconds=30, failing=1)
    run = imported(server, content, threshold=["p95<300ms", "error_rate<0.1%"])
    assert missing(run, RUN, "") == []
    assert (run["state"], run["verdict"], run["tool"]) == ("imported", "failed", "vegeta")
    assert (run["requests"], run["success_ratio"], run["outcomes"]) == (600, 0.95, {"ok": 570, "http_5xx": 30})
    assert run["started_at"] == "2026-01-16T07:59:00.000Z"
    assert [threshold["state"] for threshold in run["thresholds"]] == ["passed", "failed"]


def test_a_run_without_a_result_has_the_fields_too(server: Any):
    run = server.client.post("/api/runs", json={}).json()
    assert [name for name in RUN if name not in run] == []
    assert [name for name in RUN["latency_seconds"] if name not in run["latency_seconds"]] == []
