"""Every metric that the server knows, sent alone: no page of a run and no report breaks by it."""

from typing import Any

import pytest
from loadwatch_backend.evidence.statements import StatementTables
from loadwatch_backend.findings.registry import METRICS as OF_FINDINGS
from loadwatch_formats.metrics import mysql_statements, postgresql_statements

from backend.tests.conftest import NOW_MS
from backend.tests.runs.sending import imported, vegeta_csv

START_MS = NOW_MS - 600_000
LABELS = {
    "job": "a", "instance": "b:1", "schema": "s", "digest": "d", "digest_text": "SELECT ?", "datname": "s",
    "queryid": "1", "query": "SELECT $1", "route": "/a", "method": "GET", "code": "200", "le": "0.5", "db_name": "m",
    "pattern_id": "p", "level": "error", "mode": "idle", "cpu": "0", "device": "x", "mountpoint": "/", "name": "n",
    "state": "run", "port": "80", "function": "f", "type": "cpu",
}  # fmt: skip
PATHS = ("report", "report?format=md", "report?format=json", "statements", "routes", "cost", "findings", "")


def known_metrics() -> list[str]:
    """Those that detectors read, and those of statements and routes."""
    counted = {*mysql_statements.FIELDS.values(), *postgresql_statements.FIELDS.values()}
    duration = "http_server_request_duration_seconds"
    return sorted({*OF_FINDINGS, *counted, f"{duration}_count", f"{duration}_sum", f"{duration}_bucket"})


def test_each_metric_alone_and_each_with_absurd_values_breaks_nothing(server: Any) -> None:
    run = imported(server, vegeta_csv(START_MS, seconds=20))["id"]
    paths = [f"/api/runs/{run}/{path}" for path in PATHS if path not in ("findings", "")]
    for place, metric in enumerate(known_metrics()):
        scale = 8e307 if place % 2 else 1.0
        labels = {"__name__": metric, **LABELS}
        server.write((labels, [(START_MS + 1_000 * n, scale * (n + 1) / 40) for n in range(-5, 30)]))
        # Asked after every fortieth, and after those that count by route and statement: there one needs another.
        if place % 40 == 0 or "statements" in metric or "http_" in metric:
            for path in paths:
                answer = server.client.get(path)
                assert answer.status_code in (200, 404), (metric, path, answer.text)
                assert "part_failed" not in answer.text
            assert server.client.post(f"/api/runs/{run}/findings").status_code == 200, metric
    assert server.client.get("/api/pool-advice").status_code == 200


@pytest.mark.parametrize("alone", ["mysql_perf_schema_events_statements_total", "pg_stat_statements_calls_total"])
def test_a_counter_without_its_partner_is_no_table(server: Any, alone: str) -> None:
    run = imported(server, vegeta_csv(START_MS, seconds=20))["id"]
    up = [(START_MS + 1_000 * n, float(n + 9)) for n in range(-5, 30)]
    server.write(({"__name__": alone, **LABELS}, up))
    for path in ("report", "report?format=json", "statements"):
        answer = server.client.get(f"/api/runs/{run}/{path}")
        assert answer.status_code == 200, answer.text
    assert server.client.get(f"/api/runs/{run}/statements").json()["statements"] == []
    # With a partner for another statement only, that one alone is told.
    seconds = alone.replace("_calls_total", "_seconds_total").replace("statements_total", "statements_seconds_total")
    other = {**LABELS, "digest": "e", "queryid": "2"}
    server.write(({"__name__": alone, **other}, up), ({"__name__": seconds, **other}, up))
    told = server.client.get(f"/api/runs/{run}/statements").json()["statements"]
    assert len(told) == 1


def test_a_part_that_fails_says_so_and_the_rest_is_shown(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(StatementTables, "of_run", fails)
    run = imported(server, vegeta_csv(START_MS, seconds=20), name="night run")["id"]
    for form in ("html", "md"):
        text = server.client.get(f"/api/runs/{run}/report", params={"format": form}).text
        assert "night run" in text
        assert "This part could not be read" in text
        assert "Statements of the database" in text
    answer = server.client.get(f"/api/runs/{run}/report", params={"format": "json"}).json()
    assert (answer["failed"], answer["statements"]) == (["statements"], None)
