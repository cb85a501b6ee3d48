from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.pipeline.worker import Schedule, next_tick


def test_ticks_are_whole_multiples_of_the_interval() -> None:
    schedule = Schedule(1000, next_tick(10_400, 1000))
    assert schedule.due(10_999) is None
    assert schedule.due(11_003) == 11_000
    assert schedule.due(11_500) is None
    assert schedule.due(12_000) == 12_000


def test_a_late_wake_up_runs_the_newest_tick_only() -> None:
    schedule = Schedule(1000, 11_000)
    assert schedule.due(14_200) == 14_000
    assert schedule.due(14_900) is None
    assert schedule.due(15_000) == 15_000


def test_a_jump_back_of_the_clock_goes_on_at_the_new_time() -> None:
    schedule = Schedule(1000, 11_000)
    assert schedule.due(5_300) is None
    assert schedule.due(6_001) == 6_000


def test_a_small_step_back_does_not_run_a_tick_again() -> None:
    schedule = Schedule(1000, 11_000)
    assert schedule.due(11_000) == 11_000
    assert schedule.due(10_999) is None
    assert schedule.due(11_001) is None
    assert schedule.due(12_000) == 12_000


@given(st.lists(st.integers(-5_000, 5_000), max_size=200), st.sampled_from([100, 1000, 7000]))
def test_no_jump_of_the_clock_stops_it_or_makes_it_spin(steps: list[int], interval: int) -> None:
    now = 1_000_000
    schedule = Schedule(interval, next_tick(now, interval))
    for step in steps:
        now += step
        tick = schedule.due(now)
        if tick is not None:
            assert tick % interval == 0
            assert now - interval < tick <= now
        assert schedule.due(now) is None
        assert 0 < schedule.next_ms - now <= 2 * interval
