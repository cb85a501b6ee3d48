"""Which rules arrivals wake; what rules write themselves never wakes them."""

from collections.abc import Mapping

import pytest
from loadwatch_backend.alerting.alerts.evaluation.recorder import make_watch_list
from loadwatch_backend.alerting.rules.model import Rule, RuleKind
from loadwatch_backend.series.promql.parsing.parse import parse_expression


def rule(name: str, expression: str, *, records: bool = False) -> Rule:
    kind = RuleKind.RECORDING if records else RuleKind.ALERTING
    return Rule(id=name, kind=kind, name=name, expression=expression, parsed=parse_expression(expression), line=1)


RULES = [
    rule("hot", "temperature > 30"),
    rule("both", "temperature > 30 and on() humidity > 90"),
    rule("room:mean", "avg by (room) (temperature)", records=True),
    rule("on_recorded", "room:mean > 25"),
    rule("counts_alerts", 'count(ALERTS{alertstate="firing"}) > 10'),
    rule("ping", "pong + seed", records=True),
    rule("pong", "ping + seed", records=True),
    rule("after_ping", "ping > 3"),
    rule("anything", 'count({job="x"}) > 3'),
    rule("everything:count", 'count({__name__=~".+"})', records=True),
    rule("constant", "vector(1)"),
]


@pytest.mark.parametrize(
    ("touched", "woken"),
    [
        ({"temperature"}, {"hot", "both", "room:mean", "anything", "everything:count"}),
        ({"humidity"}, {"both", "anything", "everything:count"}),
        ({"room:mean"}, {"on_recorded", "anything", "everything:count"}),
        # An alerting rule writes ALERTS, so ALERTS do not wake it; what counts everything makes more of it.
        ({"ALERTS"}, set[str]()),
        # In a circle nobody wakes anybody; what hangs on it is woken.
        ({"ping"}, {"after_ping", "anything", "everything:count"}),
        ({"seed"}, {"ping", "pong", "anything", "everything:count"}),
        ({"everything:count"}, set[str]()),
        (set[str](), set[str]()),
    ],
)
def test_woken(touched: set[str], woken: set[str]) -> None:
    assert make_watch_list(RULES).woken_by(touched) == woken


def test_what_is_written_after_a_wake_ends_in_silence() -> None:
    """However rules hang together, waking by what the woken write comes to an end."""
    watch_list = make_watch_list(RULES)
    outputs: Mapping[str, set[str]] = {
        one.id: {one.name} if one.kind is RuleKind.RECORDING else {"ALERTS", "ALERTS_FOR_STATE"} for one in RULES
    }
    for metric in ("temperature", "seed", "humidity", "other"):
        touched = {metric}
        for _ in range(len(RULES) + 1):
            woken = watch_list.woken_by(touched)
            touched = {name for one in woken for name in outputs[one]}
        assert not touched


def test_a_rule_sleeps_while_nothing_that_it_reads_was_ever_seen() -> None:
    rules = [
        rule("hot", "temperature > 30"),
        rule("both", "temperature > 30 and on() humidity > 90"),
        rule("late", "time() - timestamp(temperature) > 15"),
        rule("gone", "absent(temperature)"),
        rule("guarded", "temperature > 30 and on() (sum(humidity) or vector(0)) > 1"),
        rule("only_numbers", "vector(time()) > 3 and on() temperature"),
        rule("filled", "(temperature or vector(0)) < 1"),
        rule("clock", "temperature > 1 or hour() > 5"),
        rule("anything", 'count({job="x"}) > 3'),
        rule("constant", "vector(1)"),
    ]
    watch_list = make_watch_list(rules)
    assert watch_list.asleep({"pressure"}) == {"hot", "both", "late", "guarded", "only_numbers"}
    assert watch_list.asleep({"humidity"}) == {"hot", "late", "only_numbers"}
    assert watch_list.asleep({"temperature"}) == set()
