"""Figures of one's own as they are typed."""

import pytest
from loadwatch_formats.own_figures import UnitError, find_path, parse_figure, parse_path, parse_pattern, read_number


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
    assert parse_figure(given) == (*figure, "")


@pytest.mark.parametrize(
    ("unit", "base", "printed", "number"),
    [
        ("ms", "seconds", 250, 0.25),
        ("s", "seconds", 1.5, 1.5),
        ("%", "ratio", 98.1, 0.981),
        ("ratio", "ratio", 0.981, 0.981),
        ("requests/s", "per_second", 450, 450),
        ("k/s", "per_second", 1.5, 1500),
        ("bytes", "bytes", 512, 512),
        ("MiB", "bytes", 3, 3 * 2**20),
        ("KiB/s", "bytes_per_second", 1, 1024),
        ("k", "count", 2, 2000),
        ("µs", "seconds", 0.5, 5e-7),
    ],
)
def test_a_figure_may_say_its_unit_and_is_kept_in_base_units(
    unit: str, base: str, printed: float, number: float
) -> None:
    figure = parse_figure(f"lag[{unit}]=json:$.a")
    assert (figure.name, figure.base_unit, figure.in_base(printed)) == ("lag", base, number)


def test_a_unit_that_is_none_is_refused_with_the_list() -> None:
    for given in ("lag[furlong]=(1)", "lag[]=(1)", "lag [MS]=json:$.a"):
        with pytest.raises(UnitError, match=r"one of us, µs, ms, .*%, .*MiB, .*requests/s"):
            parse_figure(given)


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
