"""News of runs: found in the table, told once, with headline figures."""

from typing import Any

import pytest
from loadwatch_backend.alerting.notify.model import NoticeKind
from loadwatch_backend.alerting.run_notices import RunNotices, notice_of
from loadwatch_backend.core.language import Language
from loadwatch_backend.findings.model import Certainty, Severity
from loadwatch_backend.findings.schemas import FindingOut, TextOut
from loadwatch_backend.runs.registry.news import NewsDesk, RunEvent, RunNews

from backend.tests.conftest import NOW_MS, RunningServer
from backend.tests.findings.said import finding
from backend.tests.report.making import judged
from backend.tests.runs.sending import send, vegeta_csv

EXTERNAL = "https://watch.example.org"


@pytest.fixture
def notices(server: RunningServer) -> RunNotices:
    return fresh(server)


def fresh(server: RunningServer) -> RunNotices:
    """As after a restart."""
    services = server.services
    return RunNotices(NewsDesk(services.relational, services.runs.registry, server.clock), EXTERNAL)


def create(server: RunningServer, **more: Any) -> str:
    given = {"name": "checkout ramp", "scenario": "checkout", "commit": "1f0c2ab", "started_ms": NOW_MS, **more}
    answer = server.client.post("/api/runs", json=given)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def finish(server: RunningServer, run: str, **more: Any) -> None:
    answer = server.client.post(f"/api/runs/{run}/finish", json={"ended_ms": server.clock.now_ms, **more})
    assert answer.status_code == 200, answer.text


def tell(notices: RunNotices) -> list[str]:
    found = notices.latest()
    for notice in found:
        notices.delivered(notice)
    return [notice.key for notice in found]


def test_a_run_that_begins_while_another_is_analysed_is_told_of_with_its_thresholds(
    server: RunningServer, notices: RunNotices
) -> None:
    analyses = server.services.runs.registry._analyses  # pyright: ignore[reportPrivateUsage] - as the analysis of another run holds it
    with analyses._lock:  # pyright: ignore[reportPrivateUsage] - no port tells it
        create(server, thresholds=["p95<5ms"])
        (started,) = notices.latest()
    assert dict(started.texts[Language.EN].facts)["Thresholds"] == "p95<5ms"


def test_a_run_is_told_of_when_it_begins_and_when_its_verdict_is_known(
    server: RunningServer, notices: RunNotices
) -> None:
    run = create(server, thresholds=["p95<5ms", "error_rate<50%"], target_rate=20)
    (started,) = notices.latest()
    assert (started.kind, started.key) == (NoticeKind.RUN_STARTED, f"run-{run}-started")
    assert (started.texts[Language.EN].title, started.url) == (
        "Load test started: checkout ramp",
        f"{EXTERNAL}/runs/{run}",
    )
    assert dict(started.texts[Language.EN].facts)["Thresholds"] == "p95<5ms, error_rate<50%"
    # Not told yet, so it is news still.
    assert tell(notices) == [started.key]
    assert tell(notices) == []

    server.clock.now_ms += 20_000
    finish(server, run)
    assert tell(notices) == []
    job = send(server, vegeta_csv(NOW_MS, failing=1), run=run)
    assert job["state"] == "done", job
    (finished,) = notices.latest()
    assert (finished.kind, finished.texts[Language.EN].title) == (
        NoticeKind.RUN_FINISHED,
        "Load test failed: checkout ramp",
    )
    facts = dict(finished.texts[Language.EN].facts)
    assert facts["Verdict"] == "failed"
    assert facts["Requests"] == "400"
    assert facts["Errors"] == "5%"
    assert facts["Failed thresholds"].startswith("p95<5ms: was 16 ms")
    assert finished.texts[Language.EN].text == facts["Failed thresholds"]
    assert facts["p50 / p95 / p99"].count(" / ") == 2
    assert facts["Commit"] == "1f0c2ab"
    in_japanese = finished.texts[Language.JA]
    assert in_japanese.title == "負荷試験は不合格でした: checkout ramp"
    assert in_japanese.text.startswith("p95<5ms: 実測 16 ms")
    assert dict(in_japanese.facts)["判定"] == "不合格"
    assert len(in_japanese.facts) == len(facts)
    assert finished.labels["verdict"] == "failed"
    assert finished.labels["scenario"] == "checkout"


def test_without_a_result_the_end_is_told_after_a_while_and_after_a_restart_too(
    server: RunningServer, notices: RunNotices
) -> None:
    run = create(server, name="")
    tell(notices)
    finish(server, run, aborted=True, reason="Ctrl-C")
    assert tell(notices) == []
    server.clock.now_ms += 31_000
    again = fresh(server)
    (ended,) = again.latest()
    assert (ended.texts[Language.EN].title, ended.texts[Language.EN].text) == (
        "Load test aborted: checkout",
        "Aborted: Ctrl-C",
    )
    assert tell(again) == [f"run-{run}-finished"]


def test_what_is_long_past_is_no_news(server: RunningServer, notices: RunNotices) -> None:
    old = send(server, vegeta_csv(NOW_MS - 7_200_000), name="old")
    recent = send(server, vegeta_csv(NOW_MS - 60_000), name="recent")
    assert tell(notices) == [f"run-{recent['run']}-finished"]
    create(server)
    server.clock.now_ms += 3_600_000
    assert tell(fresh(server)) == []
    assert old["state"] == "done"


def test_the_end_tells_what_ran_out_first_and_how_much_more_there_is() -> None:
    full = TextOut(en="The pool of 5 ran out.", ja="5接続のプールが枯渇した。")
    noise = finding("host-noise", severity=Severity.INFO, certainty=Certainty.POSSIBLE)
    follows = finding("ingest-lag-growing", severity=Severity.WARNING, certainty=Certainty.LIKELY)
    each: list[list[FindingOut]] = [[], [noise], [finding(sentence=full), noise], [finding(sentence=full), follows]]
    texts = [notice_of(RunNews(event=RunEvent.FINISHED, run=judged(*findings)), EXTERNAL).texts for findings in each]
    assert [dict(text[Language.EN].facts).get("What ran out") for text in texts] == [
        None,
        None,
        "The pool of 5 ran out. (certain)",
        "The pool of 5 ran out. (certain) · and 1 more",
    ]
    assert dict(texts[3][Language.JA].facts)["尽きたもの"] == "5接続のプールが枯渇した。 (確実) · ほか1件"
    first, second = texts[3][Language.JA].findings
    assert (first.id, first.sentence, first.severity, first.certainty) == (
        "pool-exhausted",
        "5接続のプールが枯渇した。",
        "critical",
        "certain",
    )
    assert (second.id, second.severity, second.certainty) == ("ingest-lag-growing", "warning", "likely")
    assert [one.id for one in texts[1][Language.EN].findings] == ["host-noise"]
