import pytest
from loadwatch_backend.series.promql.errors import QueryParseError, QueryUnsupportedError
from loadwatch_backend.series.promql.parsing.expression import (
    Aggregation,
    Binary,
    Call,
    Cardinality,
    Edge,
    Matching,
    Negation,
    Number,
    RangeSelector,
    Selector,
    Subquery,
    Text,
    ValueType,
    walk,
)
from loadwatch_backend.series.promql.parsing.lexer import MAX_DEPTH, MAX_LEVELS, MAX_PATTERNS, MAX_TEXT
from loadwatch_backend.series.promql.parsing.parse import parse_expression, value_type
from loadwatch_backend.series.promql.parsing.resolve import QueryTimes, resolve
from loadwatch_backend.series.store.port import Matcher, MatchOperator


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
    ("text", "error"),
    [
        ("sum(x", "1:6: parse error: unclosed left parenthesis"),
        ("sum some", '1:5: parse error: unexpected identifier "some"'),
        ("x[5m", "1:5: parse error: unclosed left bracket"),
        ("x{a}", '1:4: parse error: unexpected "}" in label matching, expected label matching operator'),
        ('x{a="b" c}', '1:9: parse error: unexpected identifier "c" in label matching, expected "," or "}"'),
        (
            "x offset",
            "1:9: parse error: unexpected end of input in offset, expected number, duration, step(), or range()",
        ),
        ("\n x[1m]\n[2m]", "3:1: parse error: ranges only allowed for vector selectors"),
        ("x offset 1m[5m]", "1:12: parse error: no offset modifiers allowed before range"),
        ("1 == 1", "1:3: parse error: comparisons between scalars must use BOOL modifier"),
        ("a + bool b", "1:3: parse error: bool modifier can only be used on comparison operators"),
        ("abs(x[5m])", '1:5: parse error: expected type instant vector in call to function "abs", got range vector'),
        ("round(x, 1, 2)", '1:1: parse error: expected at most 2 argument(s) in call to "round", got 3'),
        ("nothing(x)", '1:1: parse error: unknown function with name "nothing"'),
        ('{a=""}', "1:1: parse error: vector selector must contain at least one non-empty matcher"),
        ('x{__name__="y"}', '1:1: parse error: metric name must not be set twice: "x" or "y"'),
        ("sum by (a b) (x)", '1:11: parse error: unexpected identifier "b" in grouping opts, expected "," or ")"'),
        ("a and group_left b", "1:7: parse error: unexpected <group_left>"),
        ("a and on (x) group_left b", '1:1: parse error: no grouping allowed for "and" operation'),
        ("x[5m:1m", "1:8: parse error: unclosed left bracket"),
        ("(x[5m])[5m:1m]", "1:1: parse error: subquery is only allowed on instant vector, got matrix instead"),
        ("x @ foo", '1:5: parse error: unexpected identifier "foo" in @, expected timestamp'),
        ("x @ 1 @ 2", "1:1: parse error: @ <timestamp> may not be set multiple times"),
        ("sum(x) offset 5m", "1:1: parse error: offset modifier must be preceded by an instant vector selector or"),
        ("x[0]", "1:3: parse error: duration must be greater than 0"),
        ("x[5m / 0]", "1:6: parse error: division by zero"),
        ("foo(x,)", "1:6: parse error: trailing commas not allowed in function call args"),
        ("x smoothed", "1:1: parse error: smoothed modifier is experimental and not enabled"),
        ("", "1:1: parse error: no expression found in input"),
    ],
)
def test_errors_are_worded_as_prometheus_words_them(text: str, error: str) -> None:
    with pytest.raises(QueryParseError) as caught:
        parse_expression(text)
    assert caught.value.detail.startswith(f"invalid PromQL in {text[:200]!r}: {error}")


def test_what_only_native_histograms_have_is_refused_by_name() -> None:
    with pytest.raises(QueryUnsupportedError, match=r"the operator </ is not supported .*at character 3"):
        parse_expression("x </ 5")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x1f", 31),
        ("0X_1F", 31),
        ("010", 8),
        ("08", 8),
        ("1_000.5", 1000.5),
        (".5", 0.5),
        ("5.", 5),
        ("1e-3", 0.001),
        ("1m30s", 90),
        ("-iNf", float("-inf")),
        ("- - 2", 2),
    ],
)
def test_numbers(text: str, value: float) -> None:
    assert parse_expression(text) == Number(value)


def test_a_subquery_has_its_range_step_and_time() -> None:
    expected = Subquery(
        expression=_selector("x"), range_ms=300_000, step_ms=10_000, offset_ms=60_000, at_ms=None, at_edge=Edge.END
    )
    assert parse_expression("max_over_time(x[5m:10s] @ end() offset 1m)") == Call(
        function="max_over_time", arguments=(expected,)
    )


@pytest.mark.parametrize(
    ("text", "offset_ms"),
    [
        ("x offset (-2 * 2)", -4_000),
        ("x offset -(1m + 5)", -65_000),
        ("x offset (2m ^ 1)", 120_000),
        ("x offset max_of(1m, 2m)", 120_000),
        ("x offset 1.5", 1_500),
        ("x offset (10 % 4)", 2_000),
    ],
)
def test_arithmetic_of_durations(text: str, offset_ms: int) -> None:
    assert parse_expression(text) == _selector("x", offset_ms=offset_ms)


def test_what_depends_on_the_query_is_known_with_its_times() -> None:
    times = QueryTimes(start_ms=10_000, end_ms=70_000, step_ms=20_000)
    found = resolve(parse_expression("rate(x[1+(step()-5)*2] @ end()) + range()"), times)
    selector = Selector(matchers=_selector("x").matchers, at_ms=70_000)
    assert isinstance(found, Binary)
    assert found.left == Call(function="rate", arguments=(RangeSelector(selector=selector, range_ms=31_000),))
    assert found.right == Number(60.0)
    plain = parse_expression("max_over_time(rate(x[1m] @ 5)[1m:])")
    assert resolve(plain, times) is plain


@pytest.mark.parametrize("text", ["x[99999999y]", "x[293y]", "x offset 99999999y", "x offset -293y", "x[1e300]"])
def test_durations_are_bounded(text: str) -> None:
    with pytest.raises(QueryParseError, match="out of range"):
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
