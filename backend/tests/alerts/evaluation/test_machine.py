"""The state machine: a table of cases, and properties that hold for any series of readings."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.alerting.alerts.evaluation.explain import RuleStates, Runs, TrackedAlert, source_key
from loadwatch_backend.alerting.alerts.evaluation.machine import (
    PROMETHEUS,
    MachineSettings,
    dismiss,
    holding_until_ms,
    resolve_all,
    shift_states,
    shift_timers,
)
from loadwatch_backend.alerting.alerts.schemas import AlertState, ResolvedReason
from loadwatch_backend.alerting.rules.model import NoDataPolicy, Rule, RuleResult

from backend.tests.alerts.machine_parts import NOW_MS, Player, during, make_rule, play, read

YES, NO, GONE = read("a"), read((), "a"), read()
ABSENCE = read(knows_absence=False)
KEY = source_key({"i": "a"})
FLAPS = MachineSettings(flap_changes=4, flap_window_ms=60_000, flap_hold_ms=10_000)

CASES: dict[str, tuple[Rule, list[tuple[float, RuleResult]], list[str]]] = {
    "without for it fires at once": (
        make_rule(),
        [(0, NO), (1, YES), (2, YES), (3, NO)],
        ["1 inactive>firing", "3 firing>resolved recovered"],
    ),
    "for is waited out": (
        make_rule(for_s=2),
        [(0, YES), (1, YES), (2, YES), (3, YES), (4, NO)],
        ["0 inactive>pending", "2 pending>firing", "4 firing>resolved recovered"],
    ),
    "what ends before for never fires": (
        make_rule(for_s=5),
        [(0, YES), (4, YES), (5, NO), (6, YES), (10, YES), (11, YES)],
        [
            "0 inactive>pending",
            "5 pending>resolved recovered",
            "6 inactive>pending",
            "11 pending>firing",
        ],
    ),
    "keep_firing_for holds": (
        make_rule(keep_s=3),
        [(0, YES), (1, NO), (2, NO), (3, YES), (4, NO), (6, NO), (7, NO)],
        ["0 inactive>firing", "7 firing>resolved recovered"],
    ),
    "keep: vanished data are no recovery": (
        make_rule(),
        [(0, YES), (1, GONE), (999, GONE), (1_000, YES), (1_001, NO)],
        [
            "0 inactive>firing",
            "1 firing>firing no-data",
            "1000 firing>firing data-back",
            "1001 firing>resolved recovered",
        ],
    ),
    "keep: recovery shows when the data are back": (
        make_rule(),
        [(0, YES), (1, GONE), (2, NO)],
        ["0 inactive>firing", "1 firing>firing no-data", "2 firing>resolved recovered"],
    ),
    "keep: a pending alert without data neither ends nor fires, and the gap counts for nothing": (
        make_rule(for_s=5),
        [(0, YES), (3, GONE), (60, GONE), (63, YES), (64, YES), (65, YES)],
        [
            "0 inactive>pending",
            "3 pending>pending no-data",
            "63 pending>pending data-back",
            "65 pending>firing",
        ],
    ),
    "ok: as in Prometheus": (
        make_rule(no_data=NoDataPolicy.OK),
        [(0, YES), (1, GONE)],
        ["0 inactive>firing", "1 firing>resolved no-data"],
    ),
    "ok: keep_firing_for holds without data too": (
        make_rule(no_data=NoDataPolicy.OK, keep_s=5),
        [(0, YES), (1, GONE), (5, GONE), (6, GONE)],
        ["0 inactive>firing", "6 firing>resolved no-data"],
    ),
    "alert: vanished data are an alert of their own": (
        make_rule(no_data=NoDataPolicy.ALERT),
        [(0, NO), (1, GONE), (2, GONE), (3, NO)],
        ["1 inactive>firing", "3 firing>resolved recovered"],
    ),
    "alert: what fired stays, and the vanishing is told": (
        make_rule(no_data=NoDataPolicy.ALERT),
        [(0, YES), (1, GONE), (2, YES)],
        [
            "0 inactive>firing",
            "1 firing>firing no-data",
            "1 inactive>firing",
            "2 firing>firing data-back",
            "2 firing>resolved recovered",
        ],
    ),
    "an expression that asks for absence": (
        make_rule(),
        [(0, replace(YES, present=None)), (1, ABSENCE)],
        ["0 inactive>firing", "1 firing>resolved recovered"],
    ),
    "a flapping alert is held until it is quiet": (
        make_rule(),
        [(0, YES), (1, NO), (2, YES), (3, NO), (4, YES), (5, NO), (6, YES), (7, NO), (16, NO), (17, NO)],
        [
            "0 inactive>firing",
            "1 firing>resolved recovered",
            "2 inactive>firing",
            "3 firing>resolved recovered",
            "4 inactive>firing",
            "5 firing>firing flapping",
            "17 firing>resolved recovered",
        ],
    ),
    "a flapping alert whose condition stays is no longer flapping": (
        make_rule(),
        [(0, YES), (1, NO), (2, YES), (3, NO), (4, YES), (5, NO), (6, YES), (15, YES), (16, YES), (70, NO)],
        [
            "0 inactive>firing",
            "1 firing>resolved recovered",
            "2 inactive>firing",
            "3 firing>resolved recovered",
            "4 inactive>firing",
            "5 firing>firing flapping",
            "16 firing>firing steady",
            "70 firing>resolved recovered",
        ],
    ),
    "vanished data do not end the hold of a flapping alert": (
        make_rule(),
        [(0, YES), (1, NO), (2, YES), (3, NO), (4, YES), (5, NO), (6, GONE), (60, GONE), (61, NO)],
        [
            "0 inactive>firing",
            "1 firing>resolved recovered",
            "2 inactive>firing",
            "3 firing>resolved recovered",
            "4 inactive>firing",
            "5 firing>firing flapping",
            "6 firing>firing no-data",
            "61 firing>resolved recovered",
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    rule, readings, story = CASES[name]
    assert play(rule, readings, settings=FLAPS) == story


def test_an_episode_keeps_its_id_and_labels_and_the_next_has_another() -> None:
    player = Player(make_rule(for_s=1))
    player.at(0, YES, during("r1"))
    player.at(1, YES, Runs(known={**during("r1").known, **during("r2").known}))
    first = player.states.alerts[KEY]
    assert first.labels == {"alertname": "TooMany", "i": "a", "run": "r1"}
    player.at(2, NO)
    player.at(3, YES, during("r2"))
    second = player.states.alerts[KEY]
    assert {transition.alert.id for transition in player.said[:3]} == {first.id}
    assert second.id != first.id
    assert second.labels["run"] == "r2"


def test_a_label_of_the_result_wins_over_the_run() -> None:
    player = Player(make_rule())
    result = read("a")
    own = replace(result.active[0], labels={"alertname": "TooMany", "run": "own"})
    player.at(0, replace(result, active=[own]), during("r1"))
    assert player.states.alerts[KEY].labels["run"] == "own"


def test_the_last_value_and_annotations_are_kept_and_are_no_change_to_write() -> None:
    player = Player(make_rule())
    player.at(0, YES)
    news = replace(YES, active=[replace(YES.active[0], value=9.0, annotations={"summary": "y"})])
    step = player.at(1, news)
    assert step.changed == []
    assert player.states.alerts[KEY].value == 9.0
    player.at(2, GONE)
    assert player.states.alerts[KEY].value == 9.0
    assert player.states.alerts[KEY].annotations == {"summary": "y"}


def test_what_is_held_says_until_when() -> None:
    rule = make_rule(keep_s=30)
    player = Player(rule)
    player.at(0, YES)
    assert holding_until_ms(player.states.alerts[KEY], rule.keep_firing_for_ms, player.settings) is None
    player.at(10, NO)
    assert holding_until_ms(player.states.alerts[KEY], rule.keep_firing_for_ms, player.settings) == NOW_MS + 40_000


def test_a_rule_that_is_gone_ends_its_alerts() -> None:
    player = Player(make_rule(for_s=1))
    player.at(0, read(["a", "b"]))
    step = resolve_all(player.states, NOW_MS + 500, ResolvedReason.RULE_GONE)
    assert [alert.resolved_reason for alert in step.changed] == [ResolvedReason.RULE_GONE] * 2
    assert not step.states.alerts


def test_only_alerts_without_data_can_be_dismissed() -> None:
    player = Player(make_rule())
    player.at(0, YES)
    alert_id = player.states.alerts[KEY].id
    assert dismiss(player.states, alert_id, NOW_MS) is None
    player.at(1, GONE)
    step = dismiss(player.states, alert_id, NOW_MS + 2_000)
    assert step is not None
    assert not step.states.alerts
    assert step.transitions[0].notifies
    player.states = step.states
    assert not player.at(3, GONE).transitions


def test_the_alert_of_a_vanishing_can_be_dismissed_and_does_not_come_again() -> None:
    player = Player(make_rule(no_data=NoDataPolicy.ALERT))
    player.at(0, NO)
    player.at(1, GONE)
    (alert,) = player.states.alerts.values()
    assert alert.labels["no_data"] == "true"
    step = dismiss(player.states, alert.id, NOW_MS + 2_000)
    assert step is not None
    player.states = step.states
    assert not player.at(3, GONE).transitions
    player.at(4, NO)
    assert player.at(5, GONE).transitions


def test_an_alert_whose_target_nobody_sends_any_more_has_stopped_sending_and_not_recovered() -> None:
    player = Player(make_rule(keep_s=60))
    player.at(0, YES, stopped=True)
    player.at(1, GONE)
    step = player.at(2, GONE, stopped=True)
    (ended,) = step.changed
    assert (ended.state, ended.resolved_reason) == (AlertState.RESOLVED, ResolvedReason.STOPPED_SENDING)
    assert step.transitions[0].notifies
    assert player.at(3, YES).transitions[0].before is None


def test_a_condition_that_was_over_before_its_data_vanished_is_not_known_to_have_stayed_over() -> None:
    player = Player(make_rule(keep_s=60))
    player.at(0, YES)
    player.at(1, NO)
    player.at(2, GONE)
    player.at(500, GONE)
    assert player.states.alerts[KEY].state is AlertState.FIRING
    player.at(501, GONE, stopped=True)
    assert player.story()[-1] == "501 firing>resolved stopped-sending"


def test_what_was_told_to_have_vanished_ends_as_well_and_comes_again_with_the_next_vanishing() -> None:
    player = Player(make_rule(no_data=NoDataPolicy.ALERT))
    player.at(0, NO)
    player.at(1, GONE)
    player.at(2, GONE, stopped=True)
    assert player.story()[-1] == "2 firing>resolved stopped-sending"
    assert not player.at(3, GONE, stopped=True).transitions
    player.at(4, NO)
    assert player.at(5, GONE).transitions


def test_a_clock_set_back_an_hour_changes_no_duration() -> None:
    hour = 3_600_000
    player = Player(make_rule(for_s=5))
    player.at(0, YES)
    player.states = shift_states(player.states, -hour)
    player.at(4 - 3_600, YES)
    assert player.states.alerts[KEY].state is AlertState.PENDING
    player.at(5 - 3_600, YES)
    assert player.states.alerts[KEY].state is AlertState.FIRING
    assert player.states.alerts[KEY].active_ms == NOW_MS - hour


def test_time_without_a_server_does_not_count_and_the_beginning_stays() -> None:
    player = Player(make_rule(for_s=5))
    player.at(0, YES)
    alerts = {key: shift_timers(alert, 100_000) for key, alert in player.states.alerts.items()}
    player.states = replace(player.states, alerts=alerts)
    player.at(104, YES)
    assert player.states.alerts[KEY].state is AlertState.PENDING
    player.at(105, YES)
    assert player.states.alerts[KEY].state is AlertState.FIRING
    assert player.states.alerts[KEY].active_ms == NOW_MS


# Properties -----------------------------------------------------------------------------------------------------------

series_states = st.sampled_from(["true", "false", "gone"])
histories = st.lists(st.tuples(st.integers(1, 40), series_states, series_states), max_size=40)
rules = st.builds(
    make_rule,
    for_s=st.sampled_from([0, 3, 30]),
    keep_s=st.sampled_from([0, 5, 60]),
    no_data=st.sampled_from(list(NoDataPolicy)),
)


def reading_of(a: str, b: str) -> RuleResult:
    both = {"a": a, "b": b}
    return read(
        [name for name, how in both.items() if how == "true"], [name for name, how in both.items() if how == "false"]
    )


@given(rules, histories, st.sampled_from([FLAPS, PROMETHEUS]))
def test_every_story_is_well_formed(rule: Rule, history: list[tuple[int, str, str]], settings: MachineSettings) -> None:
    player = Player(rule, settings=settings)
    second = 0
    for pause, a, b in history:
        second += pause
        states = player.states
        step = player.at(second, reading_of(a, b))
        # Each open alert changed state along allowed edges, and what is written is what changed.
        ended = {one.alert.id for one in step.transitions if one.after is AlertState.RESOLVED}
        assert {alert.id for alert in states.alerts.values()} <= ended | {
            alert.id for alert in step.states.alerts.values()
        }
        for one in step.transitions:
            assert (one.before, one.after) in ALLOWED
            assert one.alert in step.changed
        for alert in step.states.alerts.values():
            assert alert.state is not AlertState.RESOLVED
            if alert.fired_ms is not None:
                assert alert.fired_ms - alert.active_ms >= rule.for_ms
    if rule.no_data is not NoDataPolicy.OK:
        assert all(one.alert.resolved_reason is not ResolvedReason.NO_DATA for one in player.said)


ALLOWED = {
    (None, AlertState.PENDING),
    (None, AlertState.FIRING),
    (AlertState.PENDING, AlertState.PENDING),
    (AlertState.PENDING, AlertState.FIRING),
    (AlertState.PENDING, AlertState.RESOLVED),
    (AlertState.FIRING, AlertState.FIRING),
    (AlertState.FIRING, AlertState.RESOLVED),
}


@given(histories)
def test_a_vanished_series_never_reads_as_recovery(history: list[tuple[int, str, str]]) -> None:
    player = Player(make_rule())
    second = 0
    for pause, a, b in history:
        second += pause
        step = player.at(second, reading_of(a, b))
        for one in step.transitions:
            if one.after is AlertState.RESOLVED:
                assert {"a": a, "b": b}[one.alert.source["i"]] == "false"


@given(histories, st.sampled_from([0, 3, 30]), st.sampled_from([0, 5, 60]))
def test_with_the_policy_ok_and_no_damping_it_is_prometheus(
    history: list[tuple[int, str, str]], for_s: int, keep_s: int
) -> None:
    rule = make_rule(for_s=for_s, keep_s=keep_s, no_data=NoDataPolicy.OK)
    player = Player(rule, settings=PROMETHEUS)
    model: dict[str, PrometheusAlert] = {}
    second = 0
    for pause, a, b in history:
        second += pause
        player.at(second, reading_of(a, b))
        step_prometheus(model, {name for name, how in {"a": a, "b": b}.items() if how == "true"}, second, for_s, keep_s)
        ours = {alert.source["i"]: alert.state for alert in player.states.alerts.values()}
        assert ours == {name: alert.state for name, alert in model.items()}


class PrometheusAlert:
    """rules.Alert of Prometheus, as far as states need it."""

    def __init__(self, active_at: int) -> None:
        self.active_at = active_at
        self.state = AlertState.PENDING
        self.keep_firing_since: int | None = None


def step_prometheus(active: dict[str, PrometheusAlert], true: set[str], now: int, hold: int, keep: int) -> None:
    """AlertingRule.Eval of rules/alerting.go, line by line."""
    for name in true:
        active.setdefault(name, PrometheusAlert(now))
    for name, alert in list(active.items()):
        if name not in true:
            keep_firing = False
            if alert.state is AlertState.FIRING and keep > 0:
                if alert.keep_firing_since is None:
                    alert.keep_firing_since = now
                keep_firing = now - alert.keep_firing_since < keep
            if alert.state is AlertState.PENDING or not keep_firing:
                del active[name]
            continue
        alert.keep_firing_since = None
        if alert.state is AlertState.PENDING and now - alert.active_at >= hold:
            alert.state = AlertState.FIRING


@given(histories, st.integers(0, 39), st.sampled_from([-3_600_000, 3_600_000, 12_345]))
def test_a_clock_that_is_set_changes_no_story(history: list[tuple[int, str, str]], place: int, jump_ms: int) -> None:
    plain, jumped = Player(make_rule(for_s=3, keep_s=5), FLAPS), Player(make_rule(for_s=3, keep_s=5), FLAPS)
    second = 0
    shift_s = 0.0
    for number, (pause, a, b) in enumerate(history):
        second += pause
        if number == place:
            jumped.states = shift_states(jumped.states, jump_ms)
            shift_s = jump_ms / 1_000
        plain.at(second, reading_of(a, b))
        jumped.at(second + shift_s, reading_of(a, b))
    assert [(one.before, one.after, one.reason, one.alert.id) for one in plain.said] == [
        (one.before, one.after, one.reason, one.alert.id) for one in jumped.said
    ]


@given(histories)
def test_a_flapping_alert_is_told_of_rarely(history: list[tuple[int, str, str]]) -> None:
    """Within any window no more changes are sent than the limit, and one for the way back."""
    player = Player(make_rule(), settings=FLAPS)
    second = 0
    for pause, a, b in history:
        second += pause
        player.at(second, reading_of(a, b))
    for name in ("a", "b"):
        sent = [one.at_ms for one in player.said if one.notifies and one.alert.source["i"] == name]
        for first in sent:
            within = [at for at in sent if first <= at < first + FLAPS.flap_window_ms]
            assert len(within) <= FLAPS.flap_changes + FLAPS.flap_window_ms // FLAPS.flap_hold_ms + 1


def test_empty_states_do_nothing() -> None:
    player = Player(make_rule())
    step = player.at(0, NO)
    assert step.states == RuleStates()
    assert not step.transitions


def test_an_alert_carries_the_finding_of_the_moment_at_which_it_fires() -> None:
    asked: list[str] = []

    def explain(alert: TrackedAlert) -> Mapping[str, str]:
        asked.append(str(alert.state))
        return {"finding": f"The pool ran out ({len(asked)})."}

    player = Player(make_rule(for_s=2), explain=explain)
    (pending,) = player.at(0, read(["a"])).changed
    assert (pending.finding, asked) == ({}, [])
    (fires,) = player.at(2, read(["a"])).changed
    assert (fires.state, fires.finding) == ("firing", {"finding": "The pool ran out (1)."})
    # It stays as it was said, and to its end.
    assert player.at(3, read(["a"])).changed == []
    (over,) = player.at(4, read(false=["a"])).changed
    assert (over.finding, len(asked)) == (fires.finding, 1)


def test_what_becomes_known_later_is_noted_once_and_changes_no_state() -> None:
    known: dict[str, str] = {}
    player = Player(make_rule(), explain=lambda _alert: dict(known))
    (first,) = player.at(0, read(["a"])).changed
    assert first.finding == {}
    assert player.at(1, read(["a"])).changed == []
    known["finding"] = "The pool ran out."
    step = player.at(2, read(["a"]))
    assert (step.transitions, [one.finding for one in step.changed]) == ([], [known])
    assert player.at(3, read(["a"])).changed == []
