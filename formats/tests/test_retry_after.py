import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_formats.backoff import parse_retry_after

NOW_MS = 1_800_000_000_000


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        ("7", 7),
        (" 0 ", 0),
        ("99999", 3_600),
        ("999999999999999999", 3_600),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60),
        ("Fri, 15 Jan 2027 08:00:10 GMT", 10),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0),
        ("Fri, 15 Jan 2100 07:00:00 GMT", 3_600),
        ("soon", None),
        ("nan", None),
        ("-5", None),
        ("-1", None),
        ("1.5", None),
        ("", None),
        (None, None),
        ("Fri, 99 Jan 2027 99:00:00 GMT", None),
    ],
)
def test_retry_after_is_a_number_or_a_date(text: str | None, seconds: float | None) -> None:
    assert parse_retry_after(text, NOW_MS, 3_600.0) == seconds


@given(st.text(max_size=40))
def test_no_retry_after_breaks_anything(text: str) -> None:
    found = parse_retry_after(text, NOW_MS, 300.0)
    assert found is None or 0 <= found <= 300
