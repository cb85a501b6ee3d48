"""Runs that were analysed before lists showed the course of p95 get it without being opened, while nothing runs."""

from typing import Any, cast

from loadwatch_backend.runs.analyses import Analyses, CatchUp
from loadwatch_backend.runs.registry.news import NewsDesk, RunEvent
from loadwatch_backend.runs.registry.repository import find_run
from loadwatch_backend.runs.registry.tables import RunRow
from sqlalchemy import update

from backend.tests.runs.sending import imported, vegeta_csv
from backend.tests.store.prometheus.engines import wait_for

NOW_MS = 1_768_550_400_000


def courses(server: Any) -> list[list[float | None] | None]:
    """Of the listed runs, the newest first."""
    return [run["p95_sparkline"] for run in server.client.get("/api/runs").json()["runs"]]


class Noting:
    """The analyses of a server, noting what the catch-up asks for: readers and notices ask for some of their own."""

    def __init__(self, analyses: Analyses) -> None:
        self._analyses = analyses
        self.asked: list[str] = []

    def refresh_for_reader(self, run_id: str, *, later: bool) -> bool:
        done = self._analyses.refresh_for_reader(run_id, later=later)
        if done:
            self.asked.append(run_id)
        return done


def forget_courses(server: Any) -> None:
    """Leave the runs as an older version did, once an analysis under way, which a notice may have set off, is done."""
    server.services.runs.analyses.close()
    with server.services.relational.transaction() as session:
        session.execute(update(RunRow).values(p95_sparkline=None))


def test_older_runs_get_their_course_one_by_one_the_newest_first_and_not_while_one_is_under_way(server: Any):
    older, old = (imported(server, vegeta_csv(NOW_MS - 600_000 * place, seconds=30), tool="vegeta") for place in (2, 1))
    noting = Noting(server.services.runs.analyses)
    catch_up = CatchUp(server.services.relational, cast("Analyses", noting), server.clock, lambda: None)

    begun = server.client.post("/api/runs", json={"name": "under way"}).json()
    forget_courses(server)
    assert catch_up.tick()
    assert noting.asked == []
    server.client.post(f"/api/runs/{begun['id']}/finish", json={"ended_ms": server.clock.now_ms}).raise_for_status()

    while catch_up.tick():
        pass
    newest_first = [begun["id"], old["id"], older["id"]]
    assert noting.asked
    assert noting.asked == [run for run in newest_first if run in noting.asked]
    assert all(course is not None for course in courses(server))
    assert len(courses(server)[2] or []) == 30


def test_whether_rows_are_lost_is_told_by_a_server_that_was_started_again_and_the_notice_waits_for_it(server: Any):
    """10 % of the rows never come: at the end nobody knows, 20 s after the last one everybody does."""
    seconds, start_ms = 15, NOW_MS - 600_000

    def sampled(first: int, last: int) -> None:
        for name, per_second in (("accepted_total", 100), ("stored_total", 90), ("queue_length", 0)):
            labels = {"__name__": f"ingest_{name}", "job": "app", "instance": "app-1"}
            counts = [(at, float(per_second * min(max(at, 0), seconds))) for at in range(first, last)]
            server.write((labels, [(start_ms + 1_000 * at, count) for at, count in counts]))

    sampled(-30, seconds + 2)
    server.clock.now_ms = start_ms
    run = server.client.post("/api/runs", json={"name": "drops", "tool": "hey"}).json()["id"]
    server.clock.now_ms = start_ms + 1_000 * seconds
    under_way = server.client.get(f"/api/runs/{run}").json()
    assert (under_way["reconciliation"]["place"], under_way["diagnosis"]["state"]) != ("not-known-yet", "cannot-tell")
    server.client.post(f"/api/runs/{run}/finish", json={"ended_ms": server.clock.now_ms}).raise_for_status()

    def analysed() -> tuple[str, list[str], bool]:
        with server.services.relational.transaction() as session:
            kept = server.services.runs.analyses.read(session, find_run(session, run))
        findings = kept.findings
        is_open = any(one.id == "rows-lost" for one in findings.unjudged)
        return kept.reconciliation.place, [one.id for one in findings.findings], is_open

    def finished() -> list[str]:
        desk = NewsDesk(server.services.relational, server.services.runs.registry, server.clock)
        return [one.run.id for one in desk.latest() if one.event is RunEvent.FINISHED]

    server.clock.now_ms += 1_400
    document = server.client.get(f"/api/runs/{run}").json()
    server.services.runs.analyses.close()
    assert analysed() == ("not-known-yet", [], True)
    assert document["diagnosis"]["state"] == "cannot-tell"
    sampled(seconds + 2, seconds + 36)
    server.clock.now_ms = start_ms + 1_000 * (seconds + 35)
    # Too early, or nobody has looked yet: what the database says is all that the next server knows.
    with server.services.runs.registry._analyses._lock:
        assert finished() == []
    catch_up = CatchUp(server.services.relational, server.services.runs.analyses, server.clock, lambda: None)

    def is_told() -> bool:
        catch_up.analyse_due()  # It leaves a run alone that somebody else analyses at this moment.
        return analysed()[0] != "not-known-yet"

    wait_for("the analysis", is_told)
    assert analysed() == ("application-buffer", ["rows-lost"], False)
    assert finished() == [run]
    document = server.client.get(f"/api/runs/{run}").json()
    assert "lost 150 of the 1,500 requests" in document["findings"][0]["sentence"]["en"]


def test_what_cannot_be_brought_up_to_date_is_tried_once(server: Any):
    run = imported(server, vegeta_csv(NOW_MS - 600_000, seconds=30), tool="vegeta")["id"]
    catch_up = CatchUp(server.services.relational, server.services.runs.analyses, server.clock, lambda: None)
    files = [file for file in (server.data / "runs" / run).rglob("*") if file.is_file()]
    assert files
    for file in files:
        file.write_bytes(b"torn")
    forget_courses(server)
    assert catch_up.tick()
    assert courses(server) == [None]
    assert not catch_up.tick()
