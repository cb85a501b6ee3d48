"""When a run says that an expectation was held, that it was missed, and that it cannot tell."""

from dataclasses import replace
from typing import Any

import pytest
from loadwatch_backend.findings.model import DiagnosisState
from loadwatch_backend.findings.schemas import CheckedOut, FindingOut, FindingsOut, MissingOut, TextOut
from loadwatch_backend.runs.analysis.schemas import ThresholdOut, ThresholdState
from loadwatch_backend.runs.fields import RunState
from loadwatch_backend.runs.reviews.actions.schemas import LoadKind, ScoreReason, ScoreState
from loadwatch_backend.runs.reviews.actions.score import Side, score_gone, score_threshold

TEXT = TextOut(en="x", ja="x")


def findings(*found: str, checked: tuple[str, ...] = (), missing: tuple[str, ...] = ()) -> FindingsOut:
    return FindingsOut(
        state=DiagnosisState.FOUND,
        engine=1,
        from_ms=0,
        to_ms=1,
        said_ms=1,
        observations=[],
        checked=[CheckedOut(id=id, title=TEXT, text=TEXT) for id in checked],
        missing=[MissingOut(id=id, title=TEXT, needs=["a", "b"], config="") for id in missing],
        findings=[FindingOut.model_construct(id=id) for id in found],
    )


BEFORE = Side(
    state=RunState.FINISHED,
    requests=1_000,
    loads={LoadKind.TARGET_RATE: 200.0, LoadKind.RATE: 180.0},
    generator="ok",
    findings=findings("pool-exhausted"),
    targets=frozenset({"app 10.0.0.1:80"}),
)
NOW = replace(BEFORE, findings=findings(checked=("pool-exhausted",)))


def measured(expression: str, state: str, operator: str = "<", metric: str = "p95", detail: str = "") -> ThresholdOut:
    return ThresholdOut(
        expression=expression,
        metric=metric,
        operator=operator,
        limit=1.0,
        unit="seconds",
        actual=0.5,
        window="steady",
        state=ThresholdState(state),
        detail=detail,
    )


FAST = measured("p95<300ms", "passed")
SLOW = measured("p95<300ms", "failed")
MUCH = measured("ok_rate>160/s", "passed", ">", "ok_rate")
LITTLE = measured("ok_rate>160/s", "failed", ">", "ok_rate")
ALL = measured("rate>=0.99*target", "passed", ">=", "rate")
NOT_ALL = measured("rate>=0.99*target", "failed", ">=", "rate")
GOOD = measured("success_ratio>99%", "passed", ">", "success_ratio")
BAD = measured("success_ratio>99%", "failed", ">", "success_ratio")
SIGNAL = measured("avg(up)<1", "passed", "<", "avg(up)")
EQUAL = measured("failures==0", "passed", "==", "failures")


def under(rate: float) -> Side:
    return replace(NOW, loads={LoadKind.TARGET_RATE: rate})


def test_held_and_missed():
    for expected, state in ((FAST, ScoreState.HELD), (SLOW, ScoreState.MISSED), (SIGNAL, ScoreState.HELD)):
        said = score_threshold(expected, BEFORE, NOW)
        assert (said.state, said.reason) == (state, ScoreReason.NONE)
    assert score_gone("pool-exhausted", BEFORE, NOW).state is ScoreState.HELD
    assert score_gone("pool-exhausted", BEFORE, BEFORE).state is ScoreState.MISSED


@pytest.mark.parametrize(
    ("change", "expected", "reason"),
    [
        ({"state": RunState.ABORTED}, SLOW, "aborted"),
        ({"targets": frozenset({"app 10.9.9.9:80"})}, FAST, "other-targets"),
        ({}, measured("p95<1s", "unknown", detail="No samples."), "not-measured"),
        ({"requests": 0}, measured("p95<1s", "unknown"), "no-requests"),
        ({"generator": "saturated"}, SLOW, "generator-saturated"),
    ],
)
def test_a_run_that_cannot_tell_says_why(change: dict[str, Any], expected: ThresholdOut, reason: str):
    said = score_threshold(expected, BEFORE, replace(NOW, **change))
    assert (said.state, said.reason.value, said.detail.en) == (ScoreState.CANNOT_TELL, reason, expected.detail)


def test_where_targets_are_not_known_of_both_the_run_may_judge():
    assert score_threshold(FAST, BEFORE, replace(NOW, targets=frozenset())).state is ScoreState.HELD


@pytest.mark.parametrize(
    ("expected", "rate", "reason"),
    [
        # Less load: what is easier then is not proved by being held, what is harder not refuted by being missed.
        (FAST, 100.0, "load-lower"),
        (SLOW, 100.0, ""),
        (MUCH, 100.0, ""),
        (LITTLE, 100.0, "load-lower"),
        (ALL, 100.0, "load-lower"),
        (NOT_ALL, 100.0, ""),
        (GOOD, 100.0, "load-lower"),
        (BAD, 100.0, ""),
        (SIGNAL, 100.0, "load-lower"),
        (EQUAL, 100.0, "load-lower"),
        # More load, the other way round; what is carried under more is carried.
        (FAST, 300.0, ""),
        (SLOW, 300.0, "load-higher"),
        (MUCH, 300.0, ""),
        (LITTLE, 300.0, ""),
        (SIGNAL, 300.0, "load-higher"),
        # As good as the same.
        (FAST, 191.0, ""),
        (SLOW, 209.0, ""),
    ],
)
def test_another_load_leaves_only_what_it_would_not_have_changed(expected: ThresholdOut, rate: float, reason: str):
    said = score_threshold(expected, BEFORE, under(rate))
    assert said.reason.value == reason
    assert (said.state is ScoreState.CANNOT_TELL) == bool(reason)
    assert said.load is not None
    assert (said.load.kind, said.load.before, said.load.now) == (LoadKind.TARGET_RATE, 200.0, rate)


def test_loads_are_compared_by_the_surest_that_both_have():
    users = replace(BEFORE, loads={LoadKind.USERS: 10.0, LoadKind.RATE: 50.0})
    more = replace(NOW, loads={LoadKind.USERS: 20.0, LoadKind.RATE: 50.0})
    assert score_threshold(SLOW, users, more).reason is ScoreReason.LOAD_HIGHER
    # More requests that were sent may be what the action brought.
    faster = replace(NOW, loads={LoadKind.RATE: 500.0})
    assert score_threshold(SLOW, users, faster).state is ScoreState.MISSED
    slower = replace(NOW, loads={LoadKind.RATE: 20.0})
    assert score_threshold(FAST, users, slower).reason is ScoreReason.LOAD_LOWER
    nothing = replace(NOW, loads={})
    assert score_threshold(FAST, users, nothing).reason is ScoreReason.LOAD_UNKNOWN
    assert score_threshold(SLOW, users, nothing).state is ScoreState.MISSED


def test_a_finding_is_gone_only_where_it_was_and_where_it_was_looked_for():
    never = replace(BEFORE, findings=findings(checked=("pool-exhausted",)))
    assert score_gone("pool-exhausted", never, NOW).reason is ScoreReason.NOT_THERE_BEFORE
    blind = replace(NOW, findings=findings(missing=("pool-exhausted",)))
    said = score_gone("pool-exhausted", BEFORE, blind)
    assert (said.reason, said.detail.en) == (ScoreReason.NOT_CHECKED, "a, b")
    for lacking in (findings(), None):
        assert score_gone("pool-exhausted", BEFORE, replace(NOW, findings=lacking)).reason is ScoreReason.NOT_CHECKED
    assert score_gone("pool-exhausted", BEFORE, under(100.0)).reason is ScoreReason.LOAD_LOWER
    there = replace(under(100.0), findings=findings("pool-exhausted"))
    assert score_gone("pool-exhausted", BEFORE, there).state is ScoreState.MISSED
    assert score_gone("pool-exhausted", BEFORE, replace(NOW, state=RunState.ABORTED)).reason is ScoreReason.ABORTED
