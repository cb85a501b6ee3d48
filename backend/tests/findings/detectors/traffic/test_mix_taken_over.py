"""A route that takes over the mix is found, against the baseline or the beginning; a mix that stays is none."""

from dataclasses import replace

from loadwatch_backend.evidence.cost.model import Cost
from loadwatch_backend.findings.detectors.traffic import mix_taken_over as DETECTOR
from loadwatch_backend.findings.model import Certainty, Severity
from loadwatch_backend.findings.window import Window

from backend.tests.findings.detectors.baseline.baselines import baseline
from backend.tests.findings.detectors.statements.costs import of_routes, route
from backend.tests.findings.windows import START_MS, found, load, window

SLOW = [0.05] * 40 + [2.0] * 20


def mix(timeline: float, thirds: tuple[float, float, float] | None = None) -> Cost:
    if thirds is None:
        return of_routes(route("/timeline", timeline), route("/login", 1_000.0 - timeline))
    rest = tuple(1_000.0 / 3 - one for one in thirds)
    return of_routes(
        route("/timeline", sum(thirds), thirds=thirds), route("/login", 1_000.0 - sum(thirds), thirds=rest)
    )


def seen(cost: Cost, *, before: Cost | None = None, slow: bool = False, worse: bool = False) -> Window:
    base = None if before is None else replace(baseline({}, {}, p95=0.5 if worse else 0.1), cost=before)
    return replace(window({"up": 1.0}, load=load(10.0, p95=SLOW if slow else 0.05)), cost=cost, baseline=base)


def test_a_mix_that_is_another_than_in_the_baseline_and_a_worse_run_is_a_warning() -> None:
    finding = found(DETECTOR, seen(mix(800.0), before=mix(300.0), worse=True))
    assert (finding.weight, finding.certainty) == (Severity.WARNING, Certainty.LIKELY)
    assert "80 % of all requests were GET /timeline, against 30 % in run 12. p95 was" in finding.sentence.en
    assert "リクエストの80 %がGET /timeline(run 12では30 %)" in finding.sentence.ja
    assert found(DETECTOR, seen(mix(800.0), before=mix(300.0))).weight is Severity.INFO


def test_a_route_that_takes_over_in_the_last_third_is_told_with_its_time() -> None:
    cost = mix(0.0, (60.0, 150.0, 280.0))
    finding = found(DETECTOR, seen(cost, slow=True))
    assert finding.weight is Severity.WARNING
    assert finding.from_ms >= START_MS + 39_000
    assert "84 % of all requests were GET /timeline in the last third" in finding.sentence.en
    assert "against 18 % in the first third of the time" in finding.sentence.en
    assert found(DETECTOR, seen(cost)).weight is Severity.INFO


def test_a_mix_that_stays_and_routes_of_other_names_are_none() -> None:
    renamed = of_routes(route("/feed", 300.0), route("/login", 700.0))
    for one in (
        seen(mix(800.0), slow=True),
        seen(mix(800.0), before=mix(700.0), worse=True),
        seen(mix(450.0), before=mix(100.0), worse=True),
        seen(mix(800.0), before=renamed, worse=True),
        seen(of_routes(route("/", 900.0)), before=mix(100.0), worse=True),
    ):
        assert not DETECTOR.look(one).findings
    assert not DETECTOR.look(window({"up": 1.0})).findings
