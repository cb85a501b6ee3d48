"""Data gone against condition false, expression by expression, on the engine."""

import pytest
from loadwatch_backend.alerting.rules.evaluate import RuleEvaluator
from loadwatch_backend.alerting.rules.model import Rule, RuleKind
from loadwatch_backend.alerting.rules.presence import constant_of, metrics_of, presence_of, value_of
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.labels import label_key
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.promql.parsing.series_notation import parse_labels

from backend.tests.rules.promtool_format.store import MemoryStore

NOW = 1_000_000


def rule(text: str) -> Rule:
    return Rule(id="1", kind=RuleKind.ALERTING, name="A", expression=text, parsed=parse_expression(text), line=1)


def result(text: str, data: dict[str, float]) -> tuple[set[str], set[str]]:
    """Values of `x` for which the condition holds, and for which there are data."""
    store = MemoryStore()
    for series, value in data.items():
        store.put(parse_labels(series), [(NOW - 5_000, value), (NOW, value)])
    found = RuleEvaluator(Engine(store)).alerting(rule(text), NOW)
    assert found.present is not None
    for one in found.active:
        assert label_key(one.source) in found.present
    return {one.source.get("x", "") for one in found.active}, {dict(key).get("x", "") for key in found.present}


DATA = {'a{x="1"}': 1.0, 'a{x="2"}': 9.0, 'b{x="1"}': 5.0, 'b{x="3"}': 5.0, "limit": 6.0}


@pytest.mark.parametrize(
    ("text", "holds", "present"),
    [
        ("a > 5", {"2"}, {"1", "2"}),
        ("5 < a", {"2"}, {"1", "2"}),
        ("a", {"1", "2"}, {"1", "2"}),
        ("a > bool 5", {"1", "2"}, {"1", "2"}),
        ("gone > 5", set[str](), set[str]()),
        ("a * 2 > 15", {"2"}, {"1", "2"}),
        ("(a > 5) * 2", {"2"}, {"1", "2"}),
        ("-(a > 5)", {"2"}, {"1", "2"}),
        ("a > b", set[str](), {"1"}),
        ("a < b", {"1"}, {"1"}),
        ("a > 5 and b > 3", set[str](), {"1"}),
        ("a > 5 and on() limit", {"2"}, {"1", "2"}),
        ("a > 5 or b > 7", {"2"}, {"1", "2", "3"}),
        ("a > 5 unless on() limit > 100", {"2"}, {"1", "2"}),
        ("a > 5 unless on() limit > 5", set[str](), {"1", "2"}),
        ("a > scalar(limit)", {"2"}, {"1", "2"}),
        ("a > scalar(gone)", set[str](), set[str]()),
        ("a > on() group_left limit", {"2"}, {"1", "2"}),
        ("sum(a > 100)", set[str](), {""}),
        ("count(a > 5) > 1", set[str](), {""}),
        ("count(gone > 5) > 1", set[str](), set[str]()),
        ("topk(1, a) > 5", {"2"}, {"1", "2"}),
        ("max_over_time((a > 5)[1m:1s])", {"2"}, {"1", "2"}),
        ("abs(a > 5)", {"2"}, {"1", "2"}),
        ("rate(a[10s]) > 1", set[str](), {"1", "2"}),
        ('label_replace(a > 5, "y", "z", "x", ".*")', {"2"}, {"1", "2"}),
        ("absent(gone)", {""}, {""}),
        ("absent(a)", set[str](), {""}),
        ('absent(gone{x="7"})', {"7"}, {"7"}),
        ('absent(a{x="1"})', set[str](), {"1"}),
        ('absent_over_time(a{x="1"}[1m])', set[str](), {"1"}),
        ("absent(sum(a))", set[str](), {""}),
        ("a > 5 or absent(a)", {"2"}, {"", "1", "2"}),
        ("a > 5 and on() absent(limit)", set[str](), {"1", "2"}),
        ("vector(1) > 2", set[str](), {""}),
        ("time() - timestamp(a) > 60", set[str](), {"1", "2"}),
        ("1", {""}, {""}),
        # The condition picks one side of many: asked without it, the sides do not match. Asked as a whole instead.
        ("limit > on() (a > 8)", set[str](), set[str]()),
    ],
)
def test_presence(text: str, holds: set[str], present: set[str]) -> None:
    assert result(text, DATA) == (holds, present)


def test_presence_as_a_whole() -> None:
    """Where series cannot be asked one by one, data of every selector mean that all is known."""
    store = MemoryStore()
    store.put({"__name__": "build", "x": "1"}, [(NOW, 3.0)])
    evaluator = RuleEvaluator(Engine(store))
    counted = rule('count_values("version", build) > 1')
    found = evaluator.alerting(counted, NOW)
    assert found.present is not None
    assert not found.active
    assert (("version", "2"),) in found.present
    later = evaluator.alerting(counted, NOW + 3_600_000)
    assert later.present is not None
    assert (("version", "2"),) not in later.present


def test_presence_of_count_values() -> None:
    assert presence_of(parse_expression('count_values("v", a) > 1')) is None


@pytest.mark.parametrize(
    ("text", "expression", "threshold"),
    [
        ("a > 5", "a", 5.0),
        ("5 < a", "a", 5.0),
        ("a / b > 0.8 * 100", "a / b", 80.0),
        ("a > -1", "a", -1.0),
        ("a > 5 and b < 3", "a", 5.0),
        ("a > 5 unless b", "a", 5.0),
        ("a > 5 or b > 5", "a or b", 5.0),
        ("a > 5 or b > 6", "a or b", None),
        ("a > b", "a + b * 0", None),
        ("a > on(x) group_left b", "a + on(x) group_left() (b * 0)", None),
        ("a > scalar(b)", "a", None),
        ("a > bool 5", "a > bool 5", None),
        ("sum(a)", "sum(a)", None),
    ],
)
def test_value(text: str, expression: str, threshold: float | None) -> None:
    view = value_of(parse_expression(text))
    assert view.expression == parse_expression(expression)
    assert view.threshold == threshold


def test_constants() -> None:
    assert constant_of(parse_expression("(60 * 60) ^ 2 - 1")) == 12_959_999
    assert constant_of(parse_expression("1 > bool 2")) == 0
    assert constant_of(parse_expression("time()")) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("rate(a[1m]) / on(x) sum(b offset 5m) > 1 and absent(c)", {"a", "b", "c"}),
        ('{__name__="a", x="1"}', {"a"}),
        ("vector(1)", set[str]()),
        ('{__name__=~"a|b"}', None),
        ('a and {x="1"}', None),
    ],
)
def test_metrics(text: str, names: set[str] | None) -> None:
    assert metrics_of(parse_expression(text)) == names
