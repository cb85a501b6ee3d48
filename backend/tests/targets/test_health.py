import numpy as np
import pytest
from loadwatch_backend.series.store.port import STALE_NAN_BITS
from loadwatch_backend.series.targets.service import (
    NOTHING,
    ErrorText,
    Health,
    Samples,
    cpu_ratio,
    judge_collector,
    silence_ms,
    without_stale,
)

STALE = float(np.array([STALE_NAN_BITS], np.uint64).view(np.float64)[0])


def samples(*pairs: tuple[int, float]) -> Samples:
    return without_stale(np.array([t for t, _ in pairs], np.int64), np.array([v for _, v in pairs], np.float64))


def judge(up: Samples, now_ms: int, *errors: ErrorText, **more: Samples) -> Health:
    known = {"duration": NOTHING, "count": NOTHING, "cpu": NOTHING, **more}
    return judge_collector(up=up, errors=errors, now_ms=now_ms, **known)


def test_the_newest_word_counts():
    health = judge(samples((0, 1), (1_000, 1)), 1_500, count=samples((1_000, 42)), duration=samples((1_000, 0.5)))
    assert (health.up, health.last_sample_ms, health.samples, health.duration_seconds) == (True, 1_000, 42, 0.5)
    assert judge(samples((0, 1), (1_000, 0)), 1_500).up is False


def test_silence_is_never_ok():
    up = samples((0, 1), (1_000, 1))
    assert judge(up, 11_000).up is True
    late = judge(up, 11_001)
    assert (late.up, late.last_sample_ms) == (None, 1_000)
    assert judge(samples((0, 1), (15_000, 1)), 75_000).up is True, "a 15 s scrape may be silent for a minute"
    assert judge(NOTHING, 0) == Health(
        up=None, last_sample_ms=None, duration_seconds=None, cpu_ratio=None, samples=None, error=None
    )


def test_a_stale_marker_says_that_nothing_is_known():
    assert judge(samples((0, 1), (1_000, STALE)), 1_100).up is None


def test_the_error_belongs_to_a_failure_under_way():
    failing = samples((0, 0), (1_000, 0))
    old, new = ErrorText(text="old", last_ms=0), ErrorText(text="new", last_ms=1_000)
    assert judge(failing, 1_100, old, new).error == "new"
    assert judge(samples((0, 0), (1_000, 1)), 1_100, old).error is None
    assert judge(samples((90_000, 0), (91_000, 0)), 91_000, old).error is None, "long over"


def test_trouble_of_a_collector_that_goes_on_is_shown_too():
    up = samples((0, 1), (1_000, 1))
    part = ErrorText(text="one of five", last_ms=1_000)
    assert (judge(up, 1_100, part).up, judge(up, 1_100, part).error) == (True, "one of five")
    over = ErrorText(text="over", last_ms=0)
    assert judge(up, 1_100, over).error is None


def test_cpu_is_counted_from_the_last_restart_on():
    assert cpu_ratio(samples((0, 1.0), (10_000, 3.0))) == pytest.approx(0.2)
    assert cpu_ratio(samples((0, 9.0), (10_000, 0.0), (20_000, 1.0))) == pytest.approx(0.1)
    assert cpu_ratio(samples((0, 9.0), (10_000, 0.0))) is None
    assert cpu_ratio(NOTHING) is None


def test_silence_is_four_usual_pauses():
    assert [silence_ms(np.array(times)) for times in ([], [5], [0, 1_000], [0, 30_000, 60_000, 61_000])] == [
        10_000,
        10_000,
        10_000,
        120_000,
    ]
