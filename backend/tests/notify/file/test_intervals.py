"""Which instants intervals contain is compared with Alertmanager in test_reference.py; here, what errors say."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from loadwatch_backend.alerting.notify.file.intervals import (
    IntervalError,
    TimeInterval,
    TimeRange,
    parse_days_of_month,
    parse_location,
    parse_months,
    parse_time,
    parse_weekdays,
    parse_years,
)


@pytest.mark.parametrize(
    ("parse", "text", "words"),
    [
        (parse_time, "8:30", "write it as 08:30"),
        (parse_weekdays, "friday:monday", "weeks begin on Sunday"),
        (parse_weekdays, "funday", "is no weekday: sunday, monday"),
        (parse_months, "march:january", "ends before it starts"),
        (parse_years, "soon", "is no year"),
        (parse_days_of_month, "32", "-31 to -1 from its end"),
        (parse_days_of_month, "-5:5", "the end must be negative"),
        (parse_days_of_month, "1:2:3", "write it as first:last"),
        (parse_location, "Mars/Base", "such as Asia/Tokyo"),
        (parse_location, "../etc/passwd", "is no time zone"),
    ],
)
def test_an_error_says_what_to_write(parse: Callable[[str], object], text: str, words: str) -> None:
    with pytest.raises(IntervalError) as caught:
        parse(text)
    assert words in str(caught.value)


def test_a_span_over_midnight_is_two() -> None:
    with pytest.raises(IntervalError, match="22:00 to 24:00, and 00:00 to 06:00"):
        TimeRange(start_minute=parse_time("22:00"), end_minute=parse_time("06:00"))


def test_local_is_the_servers_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Alertmanager, which leaves it to Go."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert parse_location("Local").key == "Asia/Tokyo"
    early = TimeRange(start_minute=0, end_minute=parse_time("06:00"))
    night = TimeInterval(times=(early,), location=parse_location("Local"))
    assert night.contains(1_790_000_000_000 // 86_400_000 * 86_400_000 + 18 * 3_600_000)
    assert not night.contains(1_790_000_000_000 // 86_400_000 * 86_400_000 + 3 * 3_600_000)
    monkeypatch.delenv("TZ")
    zone = parse_location("Local")
    now = datetime.now(UTC)
    assert now.astimezone(zone).utcoffset() == now.astimezone().utcoffset()
    assert parse_location(zone.key).utcoffset(now) == zone.utcoffset(now)
