"""When rules of a group are due: at once when woken, with a gap, and at the interval otherwise."""

from collections.abc import Collection

import pytest
from loadwatch_backend.alerting.alerts.evaluation.evaluation import GroupRun
from loadwatch_backend.alerting.rules.model import Rule, RuleGroup, RuleKind
from loadwatch_backend.series.promql.parsing.parse import parse_expression


def rule(name: str, expression: str = "x > 1", *, records: bool = False) -> Rule:
    kind = RuleKind.RECORDING if records else RuleKind.ALERTING
    return Rule(id=name, kind=kind, name=name, expression=expression, parsed=parse_expression(expression), line=1)


def begin(now: float = 0.0, interval_ms: int = 1_000) -> GroupRun:
    group = RuleGroup(name="g", file="f", interval_ms=interval_ms, rules=[rule("a"), rule("b"), rule("c")])
    return GroupRun.begin(group, now)


def evaluate(run: GroupRun, now: float, takes: float = 0.001, asleep: Collection[str] = ()) -> list[str]:
    """Names of the rules that were due."""
    due = run.take_due(now, asleep)
    for one in due:
        run.status[one.id].started = now
    if due:
        run.finish(now, now + takes, round(now * 1_000))
    return [one.name for one in due]


def test_all_rules_are_evaluated_at_the_interval() -> None:
    run = begin()
    assert evaluate(run, 0.0) == ["a", "b", "c"]
    assert evaluate(run, 0.9) == []
    assert evaluate(run, 1.0) == ["a", "b", "c"]
    assert run.next_due() == 2.0


def test_a_woken_rule_is_evaluated_at_once_and_others_wait() -> None:
    run = begin()
    evaluate(run, 0.0)
    run.woken = {"b"}
    assert evaluate(run, 0.2) == ["b"]
    assert run.next_due() == 1.0


def test_a_rule_that_was_just_woken_is_not_evaluated_again_at_the_tick() -> None:
    run = begin()
    evaluate(run, 0.0)
    run.woken = {"b"}
    assert evaluate(run, 0.8) == ["b"]
    assert evaluate(run, 1.0) == ["a", "c"]
    assert evaluate(run, 2.0) == ["a", "b", "c"]


def test_between_wakes_is_a_gap_that_grows_with_the_duration() -> None:
    run = begin(interval_ms=60_000)
    evaluate(run, 0.0, takes=0.1)
    run.woken = {"a"}
    assert evaluate(run, 0.4) == []
    assert run.next_due() == pytest.approx(0.5)
    assert evaluate(run, 0.51) == ["a"]
    run.woken = {"a"}
    assert evaluate(run, 0.55) == []
    assert evaluate(run, 0.57) == ["a"]


def test_missed_evaluations_are_counted_and_not_made_up_for() -> None:
    run = begin()
    evaluate(run, 0.0)
    assert evaluate(run, 4.5) == ["a", "b", "c"]
    assert run.missed == 3
    assert run.next_due() == 5.0


def test_a_busy_group_is_left_alone() -> None:
    run = begin()
    assert len(run.take_due(0.0)) == 3
    run.woken = {"a"}
    assert run.take_due(10.0) == ()


def test_what_is_known_of_rules_stays_when_the_group_is_read_again() -> None:
    run = begin()
    evaluate(run, 0.0)
    run.missed = 2
    run.status["a"].error = "broken"
    again = GroupRun.begin(run.group, 0.5, run)
    assert again.missed == 2
    assert again.status["a"].error == "broken"
    assert evaluate(again, 0.5) == ["a", "b", "c"]


def test_a_recording_rule_that_a_later_rule_reads_is_waited_for() -> None:
    rules = [rule("m:r", "m", records=True), rule("n:r", "n", records=True), rule("a", "m:r > 1")]
    run = GroupRun.begin(RuleGroup(name="g", file="f", interval_ms=1_000, rules=rules), 0.0)
    assert run.read_later == {"m:r": True, "n:r": False, "a": False}


def test_a_rule_without_anything_to_read_costs_nothing_and_wakes_when_there_is() -> None:
    run = begin()
    asleep = {"a", "c"}
    assert evaluate(run, 0.0, asleep=asleep) == ["a", "b", "c"]
    assert [evaluate(run, float(second), asleep=asleep) for second in range(1, 600)] == [["b"]] * 599
    assert evaluate(run, 600.0, asleep=asleep) == ["a", "b", "c"]
    run.woken = {"c"}
    assert evaluate(run, 600.5, asleep={"a"}) == ["c"]
    assert evaluate(run, 601.0, asleep={"a"}) == ["b", "c"]
    assert evaluate(run, 602.0, asleep={"a"}) == ["b", "c"]
