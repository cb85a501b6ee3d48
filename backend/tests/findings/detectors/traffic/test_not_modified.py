"""Answers without a body are noted where they are many, moved, or differ from the baseline; they accuse nobody."""

from dataclasses import replace

from loadwatch_backend.evidence.cost.model import Cost
from loadwatch_backend.findings.detectors.traffic import not_modified as DETECTOR
from loadwatch_backend.findings.model import Severity
from loadwatch_backend.findings.window import Window

from backend.tests.findings.detectors.baseline.baselines import baseline
from backend.tests.findings.detectors.statements.costs import of_routes, route
from backend.tests.findings.windows import found, load, window


def seen(cost: Cost, before: Cost | None = None) -> Window:
    base = None if before is None else replace(baseline({}, {}), cost=before)
    return replace(window({"up": 1.0}, load=load(10.0)), cost=cost, baseline=base)


def icons(not_modified: float, thirds: tuple[float, float, float] | None = None) -> Cost:
    even = (not_modified / 3,) * 3
    return of_routes(
        route("/", 600.0),
        route("/icons/:id", 400.0, not_modified=not_modified, not_modified_thirds=thirds or even),
    )


def test_many_are_noted_with_the_route() -> None:
    finding = found(DETECTOR, seen(icons(300.0)))
    assert finding.weight is Severity.INFO
    assert finding.sentence.en == "30 % of all answers were 304, most of them of GET /icons/:id (75 % of its own)."
    assert "応答の30 %が304、最多はGET /icons/:id(その75 %)" in finding.sentence.ja
    assert finding.evidence[0].expression == (
        'sum(rate(http_requests_total{job="nginx",code="304"}[15s])) / sum(rate(http_requests_total{job="nginx"}[15s]))'
    )


def test_a_half_in_which_they_took_over_and_another_run_are_said() -> None:
    moved = found(DETECTOR, seen(icons(300.0, (10.0, 90.0, 200.0))))
    assert "In the first third of the time 3.0 %, in the last 60 %." in moved.sentence.en
    fewer = found(DETECTOR, seen(icons(0.0), icons(300.0)))
    assert fewer.sentence.en == "0 % of all answers were 304. In run 12 30 % were."


def test_few_are_not_worth_a_word() -> None:
    for one in (seen(icons(50.0)), seen(icons(50.0), icons(60.0)), seen(of_routes(route("/", 100.0)))):
        assert not DETECTOR.look(one).findings
    assert not DETECTOR.look(window({"up": 1.0})).findings
