from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_formats.times import format_rfc3339, parse_rfc3339


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("2026-11-21T09:18:34.967080042Z", 1795252714967080042),
        ("2026-11-21T18:18:34.9+09:00", 1795252714900000000),
        ("2026-11-21T09:18:34Z", 1795252714000000000),
        ("1970-01-01T00:00:01.002999999Z", 1_002_999_999),
        ("1970-01-01T00:00:01.0029999999Z", 1_002_999_999),
        ("1970-01-01T09:00:01+09:00", 1_000_000_000),
        ("1969-12-31T23:59:59.75Z", -250_000_000),
        ("2026-11-21T00:00:00.5Z", int(datetime(2026, 11, 21, tzinfo=UTC).timestamp()) * 10**9 + 500_000_000),
        ("20261121T091834.967Z", 1795252714967000000),
        ("9999-12-31T23:59:59.999999999Z", 253402300799999999999),
    ],
)
def test_times_are_exact(text: str, nanoseconds: int) -> None:
    assert parse_rfc3339(text) == nanoseconds


def test_a_time_without_a_zone_is_in_the_one_that_the_reader_knows() -> None:
    assert parse_rfc3339("1970-01-01T00:00:01.5", UTC) == parse_rfc3339("1970-01-01 00:00:01.5Z") == 1_500_000_000
    assert parse_rfc3339("1970-01-01", UTC) == 0
    assert parse_rfc3339("1970-01-01T09:00:00+09:00", UTC) == 0


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("2026-11-21T09:18:34", "offset"),
        ("yesterday", "'yesterday' is not a time"),
        ("soon.5", "'soon.5' is not a time"),
        ("", "not a time"),
        ("2026-02-30T00:00:00Z", "not"),
    ],
)
def test_what_is_no_time(text: str, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        parse_rfc3339(text)


@given(st.integers(min_value=0, max_value=253_402_300_799_999))
def test_what_is_written_is_read(at_ms: int) -> None:
    assert parse_rfc3339(format_rfc3339(at_ms)) == at_ms * 1_000_000
