"""Runs that were analysed before lists showed the course of p95 get it without being opened, while nothing runs."""

from typing import Any

from loadwatch_backend.runs.catch_up import CatchUp
from loadwatch_backend.runs.registry.tables import RunRow
from sqlalchemy import update

from backend.tests.runs.sending import imported, vegeta_csv

NOW_MS = 1_800_000_000_000


def courses(server: Any) -> list[list[float | None] | None]:
    """Of the listed runs, the newest first."""
    return [run["p95_sparkline"] for run in server.client.get("/api/runs").json()["runs"]]


def test_older_runs_get_their_course_one_by_one_the_newest_first_and_not_while_one_is_under_way(server: Any):
    for place in (1, 2):
        imported(server, vegeta_csv(NOW_MS - 600_000 * place, seconds=30), tool="vegeta")
    with server.services.relational.transaction() as session:
        session.execute(update(RunRow).values(p95_sparkline=None))
    catch_up = CatchUp(server.services.relational, server.services.runs.analyses, server.clock)

    begun = server.client.post("/api/runs", json={"name": "under way"}).json()
    assert catch_up.tick()
    assert courses(server)[1:] == [None, None]
    server.client.post(f"/api/runs/{begun['id']}/finish", json={"ended_ms": server.clock.now_ms}).raise_for_status()

    def known() -> list[bool]:
        return [course is not None for course in courses(server)]

    done = [known()]
    while catch_up.tick():
        done.append(known())
    assert done[0] in ([False, False, False], [True, False, False])
    assert done[-2:] == [[True, True, False], [True, True, True]]
    assert len(courses(server)[2] or []) == 30


def test_what_cannot_be_brought_up_to_date_is_tried_once(server: Any):
    run = imported(server, vegeta_csv(NOW_MS - 600_000, seconds=30), tool="vegeta")["id"]
    catch_up = CatchUp(server.services.relational, server.services.runs.analyses, server.clock)
    with server.services.relational.transaction() as session:
        session.execute(update(RunRow).values(p95_sparkline=None))
    files = [file for file in (server.data / "runs" / run).rglob("*") if file.is_file()]
    assert files
    for file in files:
        file.write_bytes(b"torn")
    assert catch_up.tick()
    assert courses(server) == [None]
    assert not catch_up.tick()
