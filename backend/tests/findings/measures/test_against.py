"""A run is worse than its baseline under the same load only."""

from dataclasses import replace

from loadwatch_backend.findings.measures.against import labels_of, pairs, worse
from loadwatch_backend.findings.window import Baseline, Start

from backend.tests.findings.windows import load, window

SEEN = window({}, load=load(100.0))


def _baseline(own: Start, other: Start | None = None) -> Baseline:
    return Baseline(name="b", own=own, other=other or Start(facts={}, rate=100.0, p95=0.1, target=100.0))


def test_slower_answers_and_a_lower_rate_are_worse() -> None:
    found = worse(SEEN, _baseline(Start(facts={}, rate=80.0, p95=0.2, target=100.0)))
    assert [one.value for one in found] == [0.2, 80.0]


def test_about_the_same_and_another_target_are_not() -> None:
    assert not worse(SEEN, _baseline(Start(facts={}, rate=97.0, p95=0.11, target=100.0)))
    assert not worse(SEEN, _baseline(Start(facts={}, rate=80.0, p95=0.2, target=200.0)))
    assert not worse(SEEN, _baseline(Start(facts={}, rate=80.0, p95=0.2)))
    assert not worse(replace(SEEN, load=None), _baseline(Start(facts={}, rate=80.0, p95=0.2, target=100.0)))


def test_only_facts_that_both_know_are_paired_by_target() -> None:
    other = Start(facts={("mysql db", "rows a"): 1.0, ("mysql db", "rowsize"): 2.0, ("mysql x", "rows a"): 3.0})
    own = Start(facts={("mysql db", "rows a"): 5.0, ("mysql db", "rows b"): 6.0})
    assert list(pairs(_baseline(own, other), "rows")) == [("mysql db", "a", 1.0, 5.0)]
    assert labels_of("mysql db") == {"job": "mysql", "instance": "db"}
    assert labels_of("mysql") == {"job": "mysql"}
