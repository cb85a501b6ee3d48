from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.sources.aws.reading.states import CATCH_UP_MS, Window, align_down, is_due, make_window

MINUTE = 60_000
PERIODS = st.sampled_from([1_000, 5_000, 30_000, MINUTE, 5 * MINUTE, 3600_000])
TIMES = st.integers(1_600_000_000_000, 1_900_000_000_000)


def test_the_window_ends_before_the_delay_and_reaches_back_to_reread() -> None:
    now = 100 * MINUTE + 17_345
    window = make_window(now, period_ms=MINUTE, delay_ms=2 * MINUTE, reread_ms=10 * MINUTE, known_to_ms=None)
    assert window == Window(88 * MINUTE, 98 * MINUTE, MINUTE)
    assert window.points == 10


def test_after_an_outage_the_window_reaches_back_to_where_reading_stopped() -> None:
    window = make_window(
        100 * MINUTE, period_ms=MINUTE, delay_ms=2 * MINUTE, reread_ms=10 * MINUTE, known_to_ms=80 * MINUTE
    )
    assert window == Window(70 * MINUTE, 98 * MINUTE, MINUTE)


def test_an_outage_of_a_day_is_filled_for_three_hours_only() -> None:
    day = 24 * 60 * MINUTE
    window = make_window(2 * day, period_ms=MINUTE, delay_ms=2 * MINUTE, reread_ms=10 * MINUTE, known_to_ms=day // 2)
    assert window.end_ms - window.start_ms == CATCH_UP_MS


def test_a_clock_that_was_set_back_gives_no_window_from_the_future() -> None:
    window = make_window(
        100 * MINUTE, period_ms=MINUTE, delay_ms=2 * MINUTE, reread_ms=10 * MINUTE, known_to_ms=200 * MINUTE
    )
    assert window == Window(88 * MINUTE, 98 * MINUTE, MINUTE)


@given(TIMES, PERIODS, st.integers(0, 3600_000), st.integers(MINUTE, 24 * 3600_000), st.none() | TIMES)
def test_every_window_is_aligned_ended_and_bounded(
    now: int, period: int, delay: int, reread: int, read_to: int | None
) -> None:
    window = make_window(now, period_ms=period, delay_ms=delay, reread_ms=reread, known_to_ms=read_to)
    assert window.start_ms % period == window.end_ms % period == 0
    assert window.start_ms < window.end_ms <= now - delay
    assert now - delay - window.end_ms < period, "the newest period that has ended long enough is asked for"
    assert window.end_ms - window.start_ms <= max(CATCH_UP_MS, reread, period) + period


@given(TIMES, PERIODS, st.integers(0, 3600_000))
def test_a_metric_is_due_once_for_each_period(now: int, period: int, delay: int) -> None:
    read_to = align_down(now - delay, period)
    assert is_due(now, period_ms=period, delay_ms=delay, read_to_ms=None)
    assert not is_due(now, period_ms=period, delay_ms=delay, read_to_ms=read_to)
    assert is_due(now + period, period_ms=period, delay_ms=delay, read_to_ms=read_to)


def test_a_factor_of_three_makes_a_metric_due_at_every_third_period_with_all_others() -> None:
    due: list[int] = []
    read_to: int | None = None
    for minute in range(100, 112):
        if is_due(minute * MINUTE, period_ms=MINUTE, delay_ms=0, read_to_ms=read_to, every=3):
            read_to = minute * MINUTE
            due.append(minute)
    assert due == [100, 102, 105, 108, 111]
