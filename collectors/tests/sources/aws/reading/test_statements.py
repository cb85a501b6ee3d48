import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.sources.aws.reading.insights import MOST_SIGNS, mask_statement


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("SELECT * FROM t1 WHERE a = ? AND b IN (...)", "SELECT * FROM t1 WHERE a = ? AND b IN (...)"),
        ("select *\n  from t -- user=bob\n where x=0xFF and y = 12.5e3", "select * from t where x=? and y = ?"),
        ("/* traceparent=00-ab */ select $1, `a b`.c # bob", "select $1, `a b`.c"),
        ("ALTER ROLE bob PASSWORD 'hunter2'", "ALTER ROLE bob PASSWORD ?"),
        ("select 'it''s', E'a\\'b', x'0f', $$text$$, $q$ text $q$", "select ?, ?, ?, ?, ?"),
        ("insert into t values ('cut of", "insert into t values (?"),
        ("select a /* cut of", "select a"),
    ],
)
def test_values_and_comments_go_and_the_statement_stays(text: str, masked: str) -> None:
    assert mask_statement(text) == masked


def test_what_stands_in_double_quotes_is_a_name_or_a_text() -> None:
    assert mask_statement('select "name" from t') == "select ? from t"
    assert mask_statement('select "name" from t', quotes_are_names=True) == 'select "name" from t'


def test_a_statement_is_bounded() -> None:
    masked = mask_statement("select " + "column, " * 100_000)
    assert len(masked) == MOST_SIGNS
    assert masked.endswith("…")


QUOTES = [("'", "'"), ('"', '"'), ("/*", "*/"), ("$$", "$$"), ("N'", "'"), ("--", "\n")]


@given(
    st.sampled_from(QUOTES), st.integers(min_value=0, max_value=40), st.sampled_from(["''", "\\\\", " ", "\\'", ";"])
)
def test_no_value_is_left_wherever_the_text_was_cut(quotes: tuple[str, str], cut: int, inside: str) -> None:
    begin, end = quotes
    inside = inside if begin.endswith("'") else " "
    text = f"select a from t where b = {begin}hunter2{inside}hunter2{end}"
    masked = mask_statement(text[: len(text) - cut])
    assert "hunter" not in masked
    assert masked.startswith("select a from t where b"[: len(masked)])


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    masked = mask_statement(text)
    assert len(masked) <= MOST_SIGNS
    assert "\n" not in masked
