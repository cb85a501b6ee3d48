"""What a run's load brought about ends with the run; what vanishes has not recovered all the same."""

from collections.abc import Collection
from dataclasses import replace

import pytest
from loadwatch_backend.alerts.evaluation.machine import MachineSettings
from loadwatch_backend.alerts.evaluation.run_ends import RunEnds
from loadwatch_backend.alerts.evaluation.state import RuleStates, RunsOver, source_key
from loadwatch_backend.rules.contract import RuleResult
from loadwatch_backend.rules.model import NoDataPolicy

from backend.tests.alerts.machine_parts import NOW_MS, Player, make_rule, read

RUN = {"run": "r1"}
YES, NO, GONE = read("a"), read((), "a"), read()
LOAD = source_key({"run": "r1"})


def over(ended_s: float, *busy: str) -> RunsOver:
    return RunsOver(ended={"r1": NOW_MS + int(ended_s * 1_000)}, busy=frozenset(busy))


def of_load(name: str = "r1") -> RuleResult:
    """The condition holds for a series of a run's load."""
    one = replace(YES.active[0], source={"run": name}, labels={"alertname": "LoadTimeouts", "run": name})
    return RuleResult(active=[one], present=frozenset((source_key({"run": name}),)))


def test_after_the_run_an_alert_ends_with_its_condition():
    player = Player(make_rule(keep_s=180))
    player.at(0, YES, RUN)
    player.at(5, YES, RUN, over(4))
    player.at(6, NO, RUN, over(4))
    assert player.story() == ["0 inactive>firing", "6 firing>resolved recovered"]


def test_what_was_kept_when_the_run_ended_ends_then():
    player = Player(make_rule(keep_s=180))
    player.at(0, YES, RUN)
    player.at(1, NO, RUN)
    player.at(2, NO, RUN, over(2))
    assert player.story() == ["0 inactive>firing", "2 firing>resolved recovered"]


def test_a_cause_outlives_what_follows_from_it():
    player = Player(make_rule(keep_s=180))
    player.at(0, YES, RUN)
    player.at(5, NO, RUN, over(4, "r1"))
    player.at(90, NO, RUN, over(4))
    assert player.story() == ["0 inactive>firing", "90 firing>resolved recovered"]


def test_the_other_alerts_of_its_own_rule_hold_it_too():
    player = Player(make_rule(keep_s=180))
    player.at(0, read(["a", "b"]), RUN)
    player.at(5, read(["b"], ["a"]), RUN, over(4))
    player.at(6, read([], ["a", "b"]), RUN, over(4))
    assert player.story()[2:] == ["6 firing>resolved recovered"] * 2


def test_it_is_kept_no_longer_than_its_rule_says_however_busy_the_run_is():
    player = Player(make_rule(keep_s=30))
    player.at(0, YES, RUN)
    player.at(5, NO, RUN, over(4, "r1"))
    player.at(35, NO, RUN, over(4, "r1"))
    assert player.story()[-1] == "35 firing>resolved recovered"


def test_what_begins_after_the_run_is_kept_as_any():
    """Waves of what a load leaves behind are one alert."""
    player = Player(make_rule(keep_s=30))
    player.at(10, YES, RUN, over(4))
    player.at(12, NO, RUN, over(4))
    assert player.story() == ["10 inactive>firing"]


def test_what_vanishes_at_the_end_of_a_run_has_not_recovered():
    player = Player(make_rule(keep_s=30))
    player.at(0, YES, RUN)
    player.at(5, GONE, RUN, over(4))
    player.at(500, GONE, RUN, over(4))
    assert player.story() == ["0 inactive>firing", "5 firing>firing no-data"]


def test_damping_ends_with_the_run():
    player = Player(make_rule(), MachineSettings(flap_changes=2, flap_window_ms=60_000, flap_hold_ms=120_000))
    for second in range(6):
        player.at(second, YES if second % 2 == 0 else NO, RUN)
    assert player.states.alerts
    player.at(7, NO, RUN, over(6))
    assert not player.states.alerts


@pytest.mark.parametrize("policy", NoDataPolicy)
def test_an_alert_about_the_load_is_over_with_the_run(policy: NoDataPolicy):
    """Rates over the last minute hold for a minute more, and no requests have recovered from that."""
    player = Player(make_rule(keep_s=30, no_data=policy))
    player.at(0, of_load())
    player.at(5, of_load(), {}, over(4))
    player.at(6, of_load(), {}, over(4))
    player.at(7, read(), {}, over(4))
    assert player.story() == ["0 inactive>firing", "5 firing>resolved run-ended"]


def test_the_load_of_another_run_goes_on():
    player = Player(make_rule())
    player.at(0, of_load("r2"))
    player.at(5, of_load("r2"), {}, over(4))
    assert player.story() == ["0 inactive>firing"]


def test_ends_are_asked_for_once_a_second_and_remembered():
    rule, asked = make_rule(), list[list[str]]()
    known: dict[str, int] = {}

    def ask(runs: Collection[str]) -> dict[str, int]:
        asked.append(sorted(runs))
        return known

    ends = RunEnds(ask)
    player = Player(rule)
    player.at(0, YES, RUN)
    states = {rule.id: player.states}
    assert not ends.over(rule, states, NO, NOW_MS).ended
    assert not ends.over(rule, states, NO, NOW_MS + 500).ended
    known["r1"] = NOW_MS + 600
    assert ends.over(rule, states, NO, NOW_MS + 1_000).ended == known
    assert ends.over(rule, states, NO, NOW_MS + 9_000).ended == known
    assert asked == [["r1"], ["r1"]]
    assert not ends.over(rule, {rule.id: RuleStates()}, of_load("r2"), NOW_MS).busy


def test_a_run_is_busy_while_an_alert_of_another_rule_holds_with_data():
    rule, other = make_rule(), Player(make_rule(name="Other", keep_s=60))
    ends = RunEnds(lambda runs: dict.fromkeys(runs, NOW_MS))
    mine = Player(rule)
    mine.at(0, YES, RUN)

    def busy() -> bool:
        return "r1" in ends.over(rule, {rule.id: mine.states, other.rule.id: other.states}, NO, NOW_MS).busy

    assert not busy()
    other.at(0, YES, RUN)
    assert busy()
    other.at(1, GONE, RUN)
    assert not busy()
    other.at(2, YES, RUN)
    other.at(3, NO, RUN)
    assert not busy()
