"""Figures of one's own as they are typed."""

import pytest
from loadwatch_formats.own_figures import find_path, parse_figure, parse_path, parse_pattern, read_number


@pytest.mark.parametrize(
    ("given", "figure"),
    [
        (r"score=final = (\d+)", ("score", "regex", r"final = (\d+)")),
        ("lag =json:$.a", ("lag", "json", "$.a")),
        ('q=promql: up{a="b"}', ("q", "promql", 'up{a="b"}')),
        ("x=jsonish:(1)", ("x", "regex", "jsonish:(1)")),
    ],
)
def test_a_figure_has_a_name_and_says_where_it_is_read(given: str, figure: tuple[str, str, str]) -> None:
    assert parse_figure(given) == figure


@pytest.mark.parametrize("given", ["score", "=(1)", "a b=(1)", "1a=(1)", "a=", "a" * 41 + "=(1)"])
def test_what_is_no_figure_is_told_how_to_write_one(given: str) -> None:
    with pytest.raises(ValueError, match=r"NAME=REGEX, NAME=json:\$\.path or NAME=promql:EXPR"):
        parse_figure(given)


def test_a_pattern_needs_its_group() -> None:
    assert parse_pattern("a(b)", 1).groups == 1
    for text, said in (
        ("ab", "no group"),
        ("(", "no regular expression"),
        ("(a{5000000000})", "no regular expression"),
    ):
        with pytest.raises(ValueError, match=said):
            parse_pattern(text, 1)


def test_a_path_goes_through_objects_and_lists() -> None:
    document = {"a": {"b-c": [{"d e": 7}, None]}}
    assert find_path(document, parse_path('$.a.b-c[0]["d e"]')) == 7
    for missing in ("$.a.b", "$.a[0]", "$.a.b-c[2]", "$.a.b-c[1].x"):
        assert find_path(document, parse_path(missing)) is None
    for wrong in ("a.b", "$", "$..a", "$.a[*]", "$.a[", "$.a b"):
        with pytest.raises(ValueError, match="is no path"):
            parse_path(wrong)


@pytest.mark.parametrize(
    ("found", "number"),
    [
        ("12", 12.0),
        ("-1.5e3", -1500.0),
        (".5", 0.5),
        ("1,234,567.8", 1234567.8),
        ("12,5", None),
        ("", None),
        ("1_000", None),
        ("nan", None),
        ("9" * 400, None),
        (10**400, None),
        (True, None),
        ([1], None),
        (3, 3.0),
    ],
)
def test_only_numbers_are_numbers(found: object, number: float | None) -> None:
    assert read_number(found) == number
