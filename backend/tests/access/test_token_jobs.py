"""A token that is limited to jobs sends samples of no other, by whatever protocol."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from loadwatch_backend.app.commands.access import token as token_command
from loadwatch_backend.evidence.profiles.capture.planning import Cause, Wanted

from backend.tests.access.people import Town
from backend.tests.conftest import NOW_MS
from backend.tests.ingest.writing import HEADERS, body, series

WRITE = "/prometheus/api/v1/write"
OTLP = "/prometheus/api/v1/otlp/v1/metrics"


def token_for(people: Town, *jobs: str) -> dict[str, str]:
    given = {"name": "web", "scopes": ["samples:write"], "jobs": list(jobs)}
    made = people.signed_in("ann").post("/api/tokens", json=given)
    assert made.status_code == 201, made.text
    assert made.json()["record"]["jobs"] == list(jobs)
    return {"authorization": f"Bearer {made.json()['token']}"}


def otlp(service: str) -> dict[str, object]:
    point = {"timeUnixNano": str(NOW_MS * 1_000_000), "asDouble": 1}
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    metrics = [{"name": "depth", "gauge": {"dataPoints": [point]}}]
    return {"resourceMetrics": [{"resource": resource, "scopeMetrics": [{"metrics": metrics}]}]}


def values(people: Town, metric: str) -> dict[str, str]:
    asked = {"query": metric, "time": NOW_MS / 1_000}
    found = people.signed_in("vi").get("/prometheus/api/v1/query", params=asked).json()["data"]["result"]
    return {row["metric"].get("job", ""): row["value"][1] for row in found}


def test_samples_of_other_jobs_are_refused_by_name_and_counted(people: Town):
    client, limited = people.server.client, token_for(people, "web", "loadwatch-agent")
    every = people.token("all", "samples:write")
    rows = [series({"__name__": "m", **labels}, (NOW_MS, 1.0)) for labels in ({"job": "web"}, {"job": "db"}, {})]
    # What the server has learned of another sender's series opens no way for this one.
    assert client.post(WRITE, content=body(*rows), headers={**HEADERS, **every}).status_code == 204
    for _ in range(2):
        changed = [series({"__name__": "m", **labels}, (NOW_MS, 2.0)) for labels in ({"job": "web"}, {"job": "db"}, {})]
        refused = client.post(WRITE, content=body(*changed), headers={**HEADERS, **limited})
        assert refused.status_code == 400
        assert refused.json()["detail"].startswith("2 of 3 samples were refused")
        assert "m{job='db'}: this token may send samples of these jobs only: loadwatch-agent, web" in refused.text
    assert values(people, "m") == {"web": "2", "db": "1", "": "1"}
    metrics = people.signed_in("ann").get("/metrics").text
    assert 'loadwatch_ingest_rejected_samples_total{reason="job"} 4.0' in metrics


def test_otlp_is_limited_by_the_name_of_the_service(people: Town):
    client, limited = people.server.client, token_for(people, "web")
    assert client.post(OTLP, json=otlp("web"), headers=limited).json() == {}
    partial = client.post(OTLP, json=otlp("db"), headers=limited).json()["partialSuccess"]
    assert partial["rejectedDataPoints"] == "1"
    assert "of these jobs only: web" in partial["errorMessage"]
    assert values(people, "depth") == {"web": "1"}


def test_profiles_of_other_jobs_are_neither_asked_for_nor_taken(people: Town):
    client, limited = people.server.client, token_for(people, "web")
    run = people.signed_in("ed").post("/api/runs", json={}).json()["id"]
    orders = people.server.services.profile_orders
    with people.server.services.relational.transaction() as session:
        wanted = [
            Wanted(run_id=run, job=job, instance="a", kind="cpu", seconds=5, cause=Cause.HAND, asked_by="ed")
            for job in ("web", "db")
        ]
        orders.add(session, wanted)
    listed = client.get("/api/profiles/orders", params={"job": ["web", "db"]}, headers=limited).json()["orders"]
    assert [one["job"] for one in listed] == ["web"]
    others = listed[0]["id"] + 1
    assert client.post(f"/api/profiles/orders/{others}/begin", headers=limited).status_code == 403
    assert client.post(f"/api/profiles/orders/{listed[0]['id']}/begin", headers=limited).status_code == 200


def test_a_token_that_may_do_more_cannot_be_limited(people: Town):
    given = {"name": "web", "scopes": ["samples:write", "runs:write"], "jobs": ["web"]}
    refused = people.signed_in("ann").post("/api/tokens", json=given)
    assert (refused.status_code, refused.json()["code"]) == (422, "token-jobs")


@pytest.mark.parametrize(
    ("given", "option"),
    [
        (["--job", "x" * 100], "--job"),
        (["--job", "a\nb"], "--job"),
        ([part for number in range(21) for part in ("--job", str(number))], "--job"),
        (["--name", "x" * 64], "--name"),
        (["--name", "-x"], "--name"),
    ],
)
def test_the_command_line_refuses_what_the_server_would_not_take(tmp_path: Path, given: list[str], option: str):
    data = tmp_path / "data"
    asked = ["create", "--scope", "samples:write", "--name", "a", "--data", str(data), *given]
    refused = CliRunner().invoke(token_command, asked, env={"LOADWATCH_TOKEN_FILE": ""})
    assert refused.exit_code == 2
    assert f"Error: {option}: " in refused.output
    assert not data.exists()
