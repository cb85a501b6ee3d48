import pytest
from loadwatch_backend.promql.errors import QueryParseError, QueryUnsupportedError
from loadwatch_backend.promql.parsing.expression import (
    Aggregation,
    Binary,
    Call,
    Cardinality,
    Matching,
    Negation,
    Number,
    RangeSelector,
    Selector,
    Text,
    ValueType,
    walk,
)
from loadwatch_backend.promql.parsing.parse import parse_expression, value_type
from loadwatch_backend.promql.parsing.scan import MAX_DEPTH, MAX_LEVELS, MAX_PATTERNS, MAX_TEXT
from loadwatch_backend.store.port import Matcher, MatchOperator


def _selector(name: str, *more: Matcher, offset_ms: int = 0) -> Selector:
    return Selector(matchers=(Matcher("__name__", MatchOperator.EQUAL, name), *more), offset_ms=offset_ms)


def test_a_selector_has_all_its_matchers_and_its_offset() -> None:
    assert parse_expression('up{a="1",b!="2",c=~"3|4",d!~"5"} offset -90s') == _selector(
        "up",
        Matcher("a", MatchOperator.EQUAL, "1"),
        Matcher("b", MatchOperator.NOT_EQUAL, "2"),
        Matcher("c", MatchOperator.REGEX, "3|4"),
        Matcher("d", MatchOperator.NOT_REGEX, "5"),
        offset_ms=-90_000,
    )


def test_a_range_is_in_milliseconds() -> None:
    expected = RangeSelector(selector=_selector("x", offset_ms=250), range_ms=90_500)
    assert parse_expression("rate(x[1m30s500ms] offset 250ms)") == Call(function="rate", arguments=(expected,))


def test_aggregations_keep_labels_and_parameter() -> None:
    assert parse_expression("topk without (a, b) (3, x)") == Aggregation(
        operator="topk", expression=_selector("x"), parameter=Number(3.0), labels=("a", "b"), without=True
    )
    assert parse_expression('count_values("v", x) by (a)') == Aggregation(
        operator="count_values", expression=_selector("x"), parameter=Text("v"), labels=("a",)
    )


def test_matching_of_binary_operators() -> None:
    assert parse_expression("a > bool on (x) group_left (y) b") == Binary(
        operator=">",
        left=_selector("a"),
        right=_selector("b"),
        return_bool=True,
        matching=Matching(cardinality=Cardinality.MANY_TO_ONE, on=True, labels=("x",), include=("y",)),
    )
    plain, sets = parse_expression("a + b"), parse_expression("a and ignoring (x) b")
    assert isinstance(plain, Binary)
    assert isinstance(sets, Binary)
    assert plain.matching == Matching()
    assert sets.matching == Matching(cardinality=Cardinality.MANY_TO_MANY, labels=("x",))


def test_minus_binds_weaker_than_power() -> None:
    assert parse_expression("-x ^ 2") == Negation(
        Binary(operator="^", left=_selector("x"), right=Number(2.0), matching=Matching())
    )


def test_walk_sees_every_node_before_its_children() -> None:
    names = [type(node).__name__ for node in walk(parse_expression("topk(1 + 1, rate(x[1m])) - 2"))]
    assert names == ["Binary", "Aggregation", "Binary", "Number", "Number", "Call", "RangeSelector", "Number"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2", ValueType.SCALAR),
        ("-time()", ValueType.SCALAR),
        ("scalar(x) * 2", ValueType.SCALAR),
        ("x * 2", ValueType.VECTOR),
        ("vector(1)", ValueType.VECTOR),
        ("sum(x)", ValueType.VECTOR),
        ("x[1m]", ValueType.MATRIX),
        ('"x"', ValueType.STRING),
    ],
)
def test_types(text: str, expected: ValueType) -> None:
    assert value_type(parse_expression(text)) is expected


@pytest.mark.parametrize(
    ("text", "what", "character"),
    [
        ("max_over_time(rate(x[1m])[10m:30s])", "a subquery", 26),
        ('x{a="@"} @ 1700000000', "the modifier `@`", 10),
        ("rate(x[1m] @ end())", "the modifier `@`", 12),
        ('{a="b" or c="d"}', "`or` between label matchers", 8),
        ("a + fill(0) b", "the modifier `fill`", 5),
        ("sum(x) + histogram_fraction(0, 1, x)", "the function histogram_fraction()", 10),
        ("mad_over_time(x[1m])", "the function mad_over_time()", 1),
        ("limitk(2, x)", "the aggregation limitk", 1),
        ("rate(x[1m] smoothed)", "the modifier `smoothed`", 12),
        ("x anchored", "the modifier `anchored`", 3),
    ],
)
def test_what_is_not_evaluated_is_named_with_its_place(text: str, what: str, character: int) -> None:
    with pytest.raises(QueryUnsupportedError) as caught:
        parse_expression(text)
    assert caught.value.detail.startswith(
        f"{what} is not supported by the embedded engine (at character {character}): "
    )


def test_an_error_says_what_and_in_which_text() -> None:
    with pytest.raises(QueryParseError, match=r"invalid PromQL in 'sum\(x': unclosed left parenthesis .at character 4"):
        parse_expression("sum(x")


@pytest.mark.parametrize("text", ["x[99999999y]", "x[293y]", "x offset 99999999y", "x offset -293y"])
def test_durations_are_bounded(text: str) -> None:
    with pytest.raises(QueryParseError, match="out of range: at most 292 years"):
        parse_expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "x" * (MAX_TEXT + 1),
        "(" * (MAX_DEPTH + 1) + "x" + ")" * (MAX_DEPTH + 1),
        " + ".join(["x"] * (MAX_LEVELS + 2)),
        "-" * (MAX_LEVELS + 1) + "x",
        "(" + "-" * MAX_LEVELS + "x)",
        "x{" + ",".join('a=~"b.c"' for _ in range(MAX_PATTERNS + 1)) + "}",
    ],
)
def test_the_size_of_an_expression_is_bounded(text: str) -> None:
    with pytest.raises(QueryParseError):
        parse_expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * MAX_DEPTH + "x" + ")" * MAX_DEPTH,
        " + ".join(["x"] * (MAX_LEVELS + 1)),
        "abs(" * MAX_DEPTH + "x" + ")" * MAX_DEPTH,
        "x{" + ",".join('a!="1"' for _ in range(2 * MAX_LEVELS)) + "}",
        'x{a="((((' + "((((" * MAX_DEPTH + '"}',
    ],
)
def test_what_is_within_the_bounds_is_parsed(text: str) -> None:
    assert list(walk(parse_expression(text)))
