"""A log that nobody followed, imported for its run: cost, findings and requests as if it had been followed."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from loadwatch_formats.access_logs.groups import MatchingGroups
from loadwatch_formats.access_logs.lines.line import LineOptions
from loadwatch_formats.access_logs.lines.registry import recognise
from loadwatch_formats.access_logs.run_part import MOST_CELLS, RunPart
from loadwatch_formats.run_spans import Span

from backend.tests.evidence.cost.made import Made
from backend.tests.evidence.cost.test_cost_of_runs import (
    LENGTH,
    MARGIN,
    ROUTES,
    SECOND,
    begun,
    made,
    run_of,
    write,
    write_statements,
)

PATHS = {"/timeline": "/timeline", "/users/:id": "/users/7", "/posts": "/posts"}


def log_of(start_ms: int, load: Made, seconds: float) -> Sequence[str]:
    """Lines as nginx writes them, in the order in which the requests ended, up to `seconds` after it began."""
    lines: list[tuple[float, str]] = []
    for (method, route), ends in zip(ROUTES, load.ends, strict=True):
        for number, end in enumerate(ends[ends < seconds]):
            at = datetime.fromtimestamp(start_ms / 1_000 + end, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
            status = 304 if method == "GET" and number % 4 == 0 else 200
            text = f'192.0.2.1 - - [{at}] "{method} {PATHS[route]} HTTP/1.1" {status} 2000 "-" "-" 0.050\n'
            lines.append((float(end), text))
    return [text for _, text in sorted(lines)]


def keep(server: Any, run: str, start_ms: int, lines: Sequence[str], most_cells: int = MOST_CELLS) -> None:
    begin = start_ms + MARGIN * SECOND
    part = RunPart(Span(begin, begin + LENGTH * SECOND), None, MatchingGroups(), most_cells)
    text = "".join(lines)
    part.begin(recognise(text[:20_000], LineOptions()))
    part.feed(text)
    part.end(0)
    content = json.dumps(part.document({"file": "access.log"})).encode()
    params = {"kind": "access_log", "name": "access.log.json"}
    server.client.post(f"/api/runs/{run}/evidence", params=params, content=content).raise_for_status()


def cost_of(server: Any, run: str) -> Any:
    return server.client.get(f"/api/runs/{run}/cost").raise_for_status().json()


def test_a_log_that_was_imported_tells_which_route_asks_what(server: Any) -> None:
    start_ms = begun(server)
    load = made()
    write_statements(server, start_ms, load)
    run = run_of(server, start_ms)
    assert cost_of(server, run)["reason"] == "no-routes"
    before = server.client.get(f"/api/runs/{run}").json()
    assert "n-plus-one" not in {one["id"] for one in before["findings"]}
    keep(server, run, start_ms, log_of(start_ms, load, load.seconds))
    cost = cost_of(server, run)
    assert (cost["reason"], cost["counted_by"]) == (None, "access.log")
    timeline = cost["routes"][0]
    assert timeline["name"] == "GET /timeline"
    assert timeline["calls"]["value"] == pytest.approx(101, rel=0.05)
    assert timeline["statements"][0]["repeated"]
    assert timeline["not_modified"] == pytest.approx(timeline["requests"] / 4, rel=0.05)
    assert timeline["seconds"] == pytest.approx(0.05, rel=0.05)
    assert timeline["bytes"] == pytest.approx(2_000, rel=0.05)
    run_now = server.client.get(f"/api/runs/{run}").json()
    found = {one["id"]: one for one in run_now["findings"]}
    assert found["n-plus-one"]["labels"]["route"] == "GET /timeline", "what is found is found anew"
    assert "not-modified" in found
    statements = server.client.get(f"/api/runs/{run}/statements").json()
    assert statements["requests_by"] == "routes"
    assert statements["requests"] == pytest.approx(sum(one["requests"] for one in cost["routes"]), rel=0.02)


def test_that_coarse_seconds_tell_too_and_a_log_that_breaks_off_says_nothing_of_the_rest(server: Any) -> None:
    start_ms = begun(server)
    load = made()
    write_statements(server, start_ms, load)
    run = run_of(server, start_ms)
    keep(server, run, start_ms, log_of(start_ms, load, MARGIN + 40), most_cells=100)
    cost = cost_of(server, run)
    assert cost["step_seconds"] >= 2
    assert cost["routes"][0]["calls"]["value"] == pytest.approx(101, rel=0.1)
    requests = sum(len(ends[(ends >= MARGIN) & (ends < MARGIN + 40)]) for ends in load.ends)
    assert sum(one["requests"] for one in cost["routes"]) == pytest.approx(requests, rel=0.05)


def test_that_samples_and_an_imported_log_are_not_added_up(server: Any) -> None:
    start_ms = begun(server)
    load = made()
    write(server, start_ms, load)
    run = run_of(server, start_ms)
    alone = cost_of(server, run)
    keep(server, run, start_ms, log_of(start_ms, load, load.seconds))
    both = cost_of(server, run)
    assert both["counted_by"] == alone["counted_by"] == "nginx"
    assert [one["requests"] for one in both["routes"]] == [one["requests"] for one in alone["routes"]]


@pytest.mark.parametrize(
    "seconds",
    [
        7,
        {"step": 0, "from_ms": 0, "known_ms": [0, 1], "routes": []},
        {"step": 1, "from_ms": 0, "known_ms": [0], "routes": []},
        {"step": 1, "from_ms": 0, "known_ms": [0, 1], "routes": [{"method": "GET", "route": "/", "at": [2, 1]}]},
        {
            **{"step": 1, "from_ms": 0, "known_ms": [0, 1]},
            "routes": [{"method": "GET", "route": "/", "at": [0], "count": [float(np.finfo(np.float64).max)]}],
        },
    ],
    ids=["number", "no step", "half", "disorder", "endless"],
)
def test_that_seconds_which_are_none_are_left_alone(server: Any, seconds: Any) -> None:
    start_ms = begun(server)
    run = run_of(server, start_ms)
    digest: dict[str, Any] = {
        "routes": [],
        "run": {"from_ms": start_ms, "to_ms": start_ms + 1, "file": "a"},
        "seconds": seconds,
    }
    params = {"kind": "access_log", "name": "access.log.json"}
    content = json.dumps(digest).encode()
    server.client.post(f"/api/runs/{run}/evidence", params=params, content=content).raise_for_status()
    assert cost_of(server, run)["reason"] == "no-routes"
