from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_backend.alerting.notify.file.matchers import LabelMatcher, MatchOperatorName
from loadwatch_backend.alerting.notify.schemas import SilenceState
from loadwatch_backend.alerting.notify.silences.silences import Recurrence, Silence, holding, match_silences

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
TOKYO = ZoneInfo("Asia/Tokyo")
EVERY_DAY = frozenset(range(7))


def at(text: str, zone: ZoneInfo = BERLIN, fold: int = 0) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold).timestamp() * 1000)


def silence(starts: int, ends: int, recurrence: Recurrence | None = None) -> Silence:
    return Silence(
        id="s",
        matchers=(LabelMatcher("alertname", MatchOperatorName.EQUAL, "Lag"),),
        starts_ms=starts,
        ends_ms=ends,
        comment="",
        author="ada",
        recurrence=recurrence,
        created_ms=0,
        updated_ms=0,
    )


def hours(start: int, end: int, weekdays: frozenset[int] = EVERY_DAY, zone: ZoneInfo = BERLIN) -> Recurrence:
    return Recurrence(weekdays=weekdays, from_minute=start, to_minute=end, zone=zone)


def test_a_silence_holds_from_its_start_to_before_its_end() -> None:
    one = silence(1_000, 2_000)
    assert [one.holds(instant) for instant in (999, 1_000, 1_999, 2_000)] == [False, True, True, False]
    assert [one.state(instant) for instant in (999, 1_000, 2_000)] == [
        SilenceState.PENDING,
        SilenceState.ACTIVE,
        SilenceState.EXPIRED,
    ]
    assert [one.next_ms(instant) for instant in (0, 1_000, 2_000)] == [1_000, None, None]
    assert holding([one], 1_500) == [one]
    assert holding([one], 2_500) == []


def test_only_alerts_that_all_matchers_match() -> None:
    one = silence(0, 1)
    assert match_silences([one], {"alertname": "Lag", "db": "x"}) == [one]
    assert match_silences([one], {"alertname": "Slow"}) == []


def test_hours_of_some_weekdays() -> None:
    one = silence(at("2026-07-01"), at("2026-12-01"), hours(9 * 60, 17 * 60, frozenset({0, 1})))
    assert not one.holds(at("2026-07-27T08:59:59"))  # A Monday.
    assert one.holds(at("2026-07-27T09:00:00"))
    assert one.holds(at("2026-07-28T16:59:59"))
    assert not one.holds(at("2026-07-28T17:00:00"))
    assert not one.holds(at("2026-07-29T12:00:00"))
    assert one.next_ms(at("2026-07-28T17:00:00")) == at("2026-08-03T09:00:00")
    assert one.until_ms(at("2026-07-27T10:00:00")) == at("2026-07-27T17:00:00")
    assert one.note(at("2026-07-27T10:00:00")).ends_ms == at("2026-07-27T17:00:00")


def test_over_midnight_the_weekday_is_that_of_the_start() -> None:
    night = silence(at("2026-07-01"), at("2026-12-01"), hours(22 * 60, 6 * 60, frozenset({4}), TOKYO))
    assert night.holds(at("2026-07-31T22:00", TOKYO))  # A Friday.
    assert night.holds(at("2026-08-01T05:59", TOKYO))
    assert not night.holds(at("2026-08-01T06:00", TOKYO))
    assert not night.holds(at("2026-08-01T23:00", TOKYO))
    assert not night.holds(at("2026-07-31T05:00", TOKYO))
    assert night.until_ms(at("2026-07-31T23:00", TOKYO)) == at("2026-08-01T06:00", TOKYO)
    assert night.until_ms(at("2026-08-01T03:00", TOKYO)) == at("2026-08-01T06:00", TOKYO)


def test_the_end_of_the_day_and_whole_days() -> None:
    evening = hours(20 * 60, 24 * 60, frozenset({0}))
    assert evening.contains(at("2026-07-27T23:59:59"))
    assert not evening.contains(at("2026-07-28T00:00"))
    assert evening.end_of(at("2026-07-27T21:00")) == at("2026-07-28T00:00")
    whole = hours(0, 0, frozenset({0}))
    assert whole.contains(at("2026-07-27T00:00"))
    assert whole.contains(at("2026-07-27T23:59"))
    assert not whole.contains(at("2026-07-28T00:00"))


def test_clocks_set_forward_leave_out_hours_that_do_not_exist() -> None:
    # 2026-03-29: 02:00 in Berlin is 03:00 at once.
    gap = hours(2 * 60 + 30, 4 * 60)
    assert not gap.contains(at("2026-03-29T01:59:59"))
    assert gap.contains(at("2026-03-29T03:00:00"))
    assert gap.next_start(at("2026-03-28T12:00")) == at("2026-03-29T03:00:00")
    inside = hours(2 * 60, 3 * 60)
    assert inside.next_start(at("2026-03-28T12:00")) == at("2026-03-30T02:00")


def test_clocks_set_back_hold_twice_what_comes_twice() -> None:
    # 2026-11-01: 01:00 to 02:00 in New York comes twice.
    twice = hours(60, 90, zone=NEW_YORK)
    first, second = (at("2026-11-01T01:00", NEW_YORK, fold) for fold in (0, 1))
    assert second - first == 3_600_000
    assert twice.next_start(at("2026-10-31T12:00", NEW_YORK)) == first
    assert twice.end_of(first) == first + 1_800_000
    assert twice.next_start(first + 1_800_000) == second
    assert twice.contains(second)


def test_what_begins_after_the_end_never_holds() -> None:
    one = silence(at("2026-07-27T10:00"), at("2026-07-27T11:00"), hours(12 * 60, 13 * 60))
    assert one.next_ms(at("2026-07-27T10:00")) is None


@given(
    start=st.integers(0, 24 * 60 - 1),
    end=st.integers(0, 24 * 60),
    weekdays=st.frozensets(st.integers(0, 6), min_size=1),
    zone=st.sampled_from([BERLIN, NEW_YORK, TOKYO, ZoneInfo("Australia/Lord_Howe"), ZoneInfo("UTC")]),
    days=st.integers(0, 800),
    minute=st.integers(0, 24 * 60 - 1),
)
def test_the_next_start_is_the_first_minute_that_it_contains(
    start: int, end: int, weekdays: frozenset[int], zone: ZoneInfo, days: int, minute: int
) -> None:
    recurrence = hours(start, end, weekdays, zone)
    begin = at("2026-01-01T00:00", ZoneInfo("UTC")) + (days * 1_440 + minute) * 60_000
    found = recurrence.next_start(begin)
    assert recurrence.contains(found)
    assert not any(recurrence.contains(instant) for instant in range(begin, found, 60_000))


@pytest.mark.parametrize("days", range(7))
def test_a_recurrence_of_one_day_comes_each_week(days: int) -> None:
    recurrence = hours(600, 660, frozenset({days}))
    first = recurrence.next_start(at("2026-07-27T00:00"))
    assert recurrence.next_start(first + 3_600_000) - first == timedelta(days=7) / timedelta(milliseconds=1)
