"""What an expression is as text: parsed again, it is the same."""

import pytest
from loadwatch_backend.catalogue.packs.library import shipped_catalogue
from loadwatch_backend.catalogue.signals.interval import any_tree_of, selectors_of, tree_of
from loadwatch_backend.catalogue.signals.service import together
from loadwatch_backend.series.promql.engine import expression_text
from loadwatch_backend.series.promql.parsing.expression import Expression
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.promql.parsing.resolve import QueryTimes, resolve
from loadwatch_backend.series.store.port import Matcher, MatchOperator

SIGNALS = [
    one
    for group in shipped_catalogue().groups
    for panel in group.panels
    for signal in panel.signals
    for one in (signal, *together(signal))
]


def known(text: str) -> Expression:
    return resolve(parse_expression(text), QueryTimes(start_ms=1_000, end_ms=61_000, step_ms=1_000))


@pytest.mark.parametrize(
    "text",
    [
        '-up{job=~"a|b", instance!="x\\"y\\\\z\\n"} offset 5m',
        "1 + 2 * -3.5e-7 ^ Inf",
        "a / on (b, c) group_left (d) e",
        "a * ignoring (b) group_right () c",
        "a == bool on () 1 or vector(0)",
        "a and on () b unless ignoring (c) d",
        'label_replace(a, "b", "$1", "c", "(.*)")',
        "topk by (a) (3, b) + sum without () (c) - count(d)",
        'count_values("a", b)',
        "max_over_time(rate(a[5m] @ 17.25 offset -1m)[1h:30s] offset 2m)",
        "avg_over_time((a + b)[10m:])",
        "a @ start() + b @ end() offset step()",
        '{"with.dot", "a.b"="c"} + sum by ("a.b") (d)',
        '{__name__=~"a.+"}',
    ],
)
def test_it_is_the_same_when_it_is_parsed(text: str) -> None:
    assert known(expression_text(known(text))) == known(text)


def test_all_signals_can_be_asked_of_an_engine() -> None:
    for signal in SIGNALS:
        plain = known(signal.expression.replace("$window", "60s"))
        assert known(expression_text(plain)) == plain
        intervals = dict.fromkeys(selectors_of(any_tree_of(signal.expression)), 1_000)
        text = expression_text(tree_of(signal.expression, intervals, 2_000))
        assert "covered" not in text
        parse_expression(text)


def test_selectors_meet_the_conditions() -> None:
    conditions = [Matcher("job", MatchOperator.EQUAL, "shop")]
    text = expression_text(parse_expression("rate(a[1m]) + b"), conditions)
    assert parse_expression(text) == parse_expression('rate(a{job="shop"}[1m]) + b{job="shop"}')


def test_a_look_back_is_part_of_the_text() -> None:
    text = expression_text(parse_expression("a + timestamp(b) + rate(c[1m])"), lookback_ms=5_000)
    assert parse_expression(text) == parse_expression("last_over_time(a[5s]) + timestamp(b) + rate(c[1m])")


def test_what_no_engine_knows_has_no_text() -> None:
    with pytest.raises(ValueError, match="fill"):
        expression_text(parse_expression("a + fill (0) b"))
