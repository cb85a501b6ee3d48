"""What a run's load brought about ends with the run; what vanishes has not recovered all the same."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest
from loadwatch_backend.alerting.alerts.evaluation.evaluation import KnownRuns
from loadwatch_backend.alerting.alerts.evaluation.explain import RuleStates, Runs, source_key
from loadwatch_backend.alerting.alerts.evaluation.machine import MachineSettings
from loadwatch_backend.alerting.rules.model import NoDataPolicy, RuleResult
from loadwatch_backend.runs.registry.under_way import RunFacts
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.store.port import Labels

from backend.tests.alerts.machine_parts import NOW_MS, Player, after, during, make_rule, read

YES, NO, GONE = read("a"), read((), "a"), read()
LOAD = source_key({"run": "r1"})


def of_load(name: str = "r1", source: Labels | None = None) -> RuleResult:
    """The condition holds for a series of a run's load."""
    labels = {"alertname": "LoadTimeouts", "run": name}
    one = replace(YES.active[0], source=source or {"run": name}, labels=labels)
    return RuleResult(active=[one], present=frozenset((source_key({"run": name}),)))


def test_after_the_run_an_alert_ends_with_its_condition():
    player = Player(make_rule(keep_s=180))
    player.at(0, YES, during("r1"))
    player.at(5, YES, after(4))
    player.at(6, NO, after(4))
    assert player.story() == ["0 inactive>firing", "6 firing>resolved recovered"]


def test_what_was_kept_when_the_run_ended_ends_then():
    player = Player(make_rule(keep_s=180))
    player.at(0, YES, during("r1"))
    player.at(1, NO, during("r1"))
    player.at(2, NO, after(2))
    assert player.story() == ["0 inactive>firing", "2 firing>resolved recovered"]


def test_a_cause_outlives_what_follows_from_it():
    player = Player(make_rule(keep_s=180))
    player.at(0, YES, during("r1"))
    player.at(5, NO, after(4, "r1"))
    player.at(90, NO, after(4))
    assert player.story() == ["0 inactive>firing", "90 firing>resolved recovered"]


def test_the_other_alerts_of_its_own_rule_hold_it_too():
    player = Player(make_rule(keep_s=180))
    player.at(0, read(["a", "b"]), during("r1"))
    player.at(5, read(["b"], ["a"]), after(4))
    player.at(6, read([], ["a", "b"]), after(4))
    assert player.story()[2:] == ["6 firing>resolved recovered"] * 2


def test_it_is_kept_no_longer_than_its_rule_says_however_busy_the_run_is():
    player = Player(make_rule(keep_s=30))
    player.at(0, YES, during("r1"))
    player.at(5, NO, after(4, "r1"))
    player.at(35, NO, after(4, "r1"))
    assert player.story()[-1] == "35 firing>resolved recovered"


def test_what_begins_after_the_run_bears_it_not_and_is_kept_as_any():
    player = Player(make_rule(keep_s=30))
    player.at(10, YES, after(9))
    player.at(12, NO, after(9))
    assert player.story() == ["10 inactive>firing"]
    assert [alert.labels for alert in player.states.alerts.values()] == [{"alertname": "TooMany", "i": "a"}]


@pytest.mark.parametrize(
    ("expression", "seconds"),
    [("x > 5", 5), ("rate(x[15s]) > 5 or rate(x[1m]) > 5", 20), ("rate(x[40s]) > 5", 45), ("delta(x[1h]) > 5", 65)],
)
def test_what_holds_by_what_was_measured_after_the_run_outlives_it(expression: str, seconds: float):
    rule = replace(make_rule(keep_s=30), parsed=parse_expression(expression))
    player = Player(rule)
    player.at(0, YES, during("r1", "Ten instances"))
    (before,) = player.states.alerts.values()
    assert not player.at(4 + seconds - 0.1, YES, after(4)).unbound
    step = player.at(4 + seconds, YES, after(4))
    (now,) = player.states.alerts.values()
    assert list(step.unbound) == list(step.changed) == [now]
    assert now == replace(before, labels={"alertname": "TooMany", "i": "a"})
    # From then on it is an alert as any.
    player.at(100, NO, after(4))
    assert player.story() == ["0 inactive>firing", f"{4 + seconds:g} firing>firing outlived-run"]


def test_the_run_that_is_not_heard_of_or_was_deleted_holds_no_label():
    for runs in (after(4, finished=False), Runs()):
        player = Player(make_rule())
        player.at(0, YES, during("r1"))
        assert player.at(60, YES, runs).unbound


def test_a_label_that_a_series_or_a_rule_gives_stays():
    for rule, result in ((make_rule(), of_load()), (make_rule(labels={"run": "r1"}), of_load(source={"i": "a"}))):
        player = Player(rule)
        player.at(0, result, during("r1"))
        assert not player.at(60, result, after(4, finished=False)).unbound


def test_what_vanishes_at_the_end_of_a_run_has_not_recovered():
    player = Player(make_rule(keep_s=30))
    player.at(0, YES, during("r1"))
    player.at(5, GONE, after(4))
    player.at(500, GONE, after(4))
    assert player.story() == ["0 inactive>firing", "5 firing>firing no-data"]


def test_damping_ends_with_the_run():
    player = Player(make_rule(), MachineSettings(flap_changes=2, flap_window_ms=60_000, flap_hold_ms=120_000))
    for second in range(6):
        player.at(second, YES if second % 2 == 0 else NO, during("r1"))
    assert player.states.alerts
    player.at(7, NO, after(6))
    assert not player.states.alerts


@pytest.mark.parametrize("policy", NoDataPolicy)
def test_an_alert_about_the_load_is_over_with_the_run(policy: NoDataPolicy):
    """Rates over the last minute hold for a minute more, and no requests have recovered from that."""
    player = Player(make_rule(keep_s=30, no_data=policy))
    player.at(0, of_load())
    player.at(5, of_load(), after(4))
    player.at(6, of_load(), after(4))
    player.at(7, read(), after(4))
    assert player.story() == ["0 inactive>firing", "5 firing>resolved run-ended"]


def test_the_load_of_another_run_goes_on():
    player = Player(make_rule())
    player.at(0, of_load("r2"))
    player.at(5, of_load("r2"), after(4))
    assert player.story() == ["0 inactive>firing"]


def test_runs_are_asked_for_when_an_alert_begins_and_else_once_a_second():
    rule, asked = make_rule(), list[list[str]]()
    known = dict(during("r1").known)

    def ask(runs: Collection[str]) -> Mapping[str, RunFacts]:
        asked.append(sorted(runs))
        return known

    runs = KnownRuns(ask)
    player = Player(rule)
    for second in (0, 0.5, 0.9):
        player.at(second, YES, runs.at(rule, {rule.id: player.states}, YES, NOW_MS + int(second * 1_000)))
    assert asked == [[], ["r1"]]
    known.update(after(1).known)
    ended = runs.at(rule, {rule.id: player.states}, NO, NOW_MS + 1_500)
    assert ended.is_finished("r1")
    assert asked == [[], ["r1"], ["r1"]]
    runs.at(rule, {rule.id: RuleStates()}, NO, NOW_MS + 9_000)
    assert len(asked) == 3, "nothing bears a run, and nothing begins"


def test_a_run_is_busy_while_an_alert_of_another_rule_holds_with_data():
    rule, other = make_rule(), Player(make_rule(name="Other", keep_s=60))
    runs = KnownRuns(lambda _ids: after(0).known)
    mine = Player(rule)
    mine.at(0, YES, during("r1"))

    def busy() -> bool:
        return "r1" in runs.at(rule, {rule.id: mine.states, other.rule.id: other.states}, NO, NOW_MS).busy

    assert not busy()
    other.at(0, YES, during("r1"))
    assert busy()
    other.at(1, GONE, during("r1"))
    assert not busy()
    other.at(2, YES, during("r1"))
    other.at(3, NO, during("r1"))
    assert not busy()
