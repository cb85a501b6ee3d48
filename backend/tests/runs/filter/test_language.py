"""The language of the list's filter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.kit.language import Language
from loadwatch_backend.runs.filter.language import (
    FIGURES,
    KEYS,
    MOST_TERMS,
    Comparison,
    Fact,
    FilterProblem,
    Time,
    Word,
    parse_filter,
)
from loadwatch_backend.texts.run_filter import RUN_FILTER
from loadwatch_backend.texts.words import Texts


def conditions(text: str) -> list[object]:
    return [term.condition for term in parse_filter(text)]


def test_every_kind_of_term_is_read() -> None:
    assert conditions('scenario:checkout pool>10 verdict:failed tag:x commit:abc since:7d "free text" hello') == [
        Fact(key="scenario", value="checkout"),
        Comparison(name="pool", is_figure=False, operator=">", text="10", number=10.0),
        Fact(key="verdict", value="failed"),
        Fact(key="tag", value="x"),
        Fact(key="commit", value="abc"),
        Time(key="since", ago_ms=7 * 86_400_000, at_ms=None),
        Word(text="free text"),
        Word(text="hello"),
    ]
    assert conditions("") == conditions(" 　\t") == []


def test_values_are_quoted_and_terms_taken_out() -> None:
    terms = parse_filter('-scenario:"a \\"b\\" \\\\ c" -"x:y" - -z')
    assert [(term.negated, term.condition) for term in terms] == [
        (True, Fact(key="scenario", value='a "b" \\ c')),
        (True, Word(text="x:y")),
        (False, Word(text="-")),
        (True, Word(text="z")),
    ]


@pytest.mark.parametrize(
    ("text", "name", "is_figure", "operator", "number"),
    [
        ("p95>=300ms", "p95", True, ">=", 0.3),
        ("success<99%", "success", True, "<", 0.99),
        ("rate>100/s", "rate", True, ">", 100.0),
        ("duration>5m", "duration", True, ">", 300.0),
        ("param.rate!=10", "rate", False, "!=", 10.0),
        ("buffer.size=16MiB", "buffer.size", False, "=", 16_777_216.0),
        ("mode=fast", "mode", False, "=", None),
        ('モード="速い 方"', "モード", False, "=", None),
    ],
)
def test_figures_and_parameters_are_compared(
    text: str, name: str, is_figure: bool, operator: str, number: float | None
) -> None:
    (found,) = conditions(text)
    assert isinstance(found, Comparison)
    assert (found.name, found.is_figure, found.operator) == (name, is_figure, operator)
    assert found.number == (None if number is None else pytest.approx(number))


def test_a_day_ends_at_its_end() -> None:
    assert conditions("since:1970-01-02 until:1970-01-02 since:1970-01-02T09:00+09:00") == [
        Time(key="since", ago_ms=None, at_ms=86_400_000),
        Time(key="until", ago_ms=None, at_ms=2 * 86_400_000),
        Time(key="since", ago_ms=None, at_ms=86_400_000),
    ]


@pytest.mark.parametrize(
    ("text", "reason", "column"),
    [
        ("tag:x scenari:checkout", "unknown-key", 7),
        ("http://host/", "unknown-key", 1),
        ("-p95:3", "compared", 2),
        ("verdict:ok", "choice", 9),
        ("state:x", "choice", 7),
        ("since:yesterday", "time", 7),
        ("until:9999-12-31 since:9999-99-99", "time", 24),
        ("pool>many", "not-a-number", 6),
        ("p95=fast", "not-a-number", 5),
        ("pool> 10", "no-value", 6),
        ("scenario:", "no-value", 10),
        (">10", "no-name", 1),
        ("a :b", "no-name", 3),
        ('tag:"x', "open-quote", 5),
        ('"a"b', "after-quote", 4),
        ("x " * (MOST_TERMS + 1), "too-many", 2 * MOST_TERMS + 1),
    ],
)
def test_an_error_says_what_and_where(text: str, reason: str, column: int) -> None:
    with pytest.raises(FilterProblem) as caught:
        parse_filter(text)
    assert (caught.value.reason, caught.value.column) == (reason, column)
    for language in Language:
        assert Texts(RUN_FILTER, language)(caught.value.reason, **caught.value.values)


def test_every_reason_has_its_words() -> None:
    assert not {name for name in FIGURES if name in KEYS}, "what is compared is no key"


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_at_one_of_its_characters(text: str) -> None:
    problem: FilterProblem | None = None
    try:
        parse_filter(text)
    except FilterProblem as raised:
        problem = raised
    assert problem is None or (1 <= problem.column <= len(text) + 1 and problem.reason in RUN_FILTER)


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["", "scenario:", "tag:", "limit:"]), st.text()), max_size=8))
def test_what_is_quoted_is_read_as_it_was(given_terms: list[tuple[bool, str, str]]) -> None:
    text = " ".join(f"{'-' * negated}{key}{quoted(value)}" for negated, key, value in given_terms)
    found = [(term.negated, term.condition) for term in parse_filter(text)]
    assert found == [
        (negated, Fact(key=key[:-1], value=value) if key else Word(text=value)) for negated, key, value in given_terms
    ]
