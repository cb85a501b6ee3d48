import numpy as np
from loadwatch_backend.evidence.records.model import Seconds
from loadwatch_backend.runs.compare.metrics import (
    Lane,
    common_axis,
    lane_rates,
    max_on_axis,
    mean_on_axis,
    without_partial,
)
from loadwatch_formats.outcomes import OUTCOMES


def seconds(count: int, ok: int = 10, failed: int = 0) -> Seconds:
    outcomes = np.zeros((count, len(OUTCOMES)), np.int64)
    outcomes[:, 0] = ok
    outcomes[:, 1] = failed
    return Seconds(start_ms=0, outcomes=outcomes, latency=None, bytes_in=None, bytes_out=None, users=None, exact=True)


def test_the_axis_spans_all_runs() -> None:
    axis = common_axis([Lane(seconds=seconds(60), zero=10), Lane(seconds=seconds(100), zero=0)])
    assert (axis.start, axis.step, axis.count) == (-10, 1, 110)


def test_a_long_run_is_put_into_at_most_600_buckets() -> None:
    axis = common_axis([Lane(seconds=seconds(86_400), zero=0)])
    assert (axis.step, axis.count) == (144, 600)


def test_no_runs_make_an_empty_axis() -> None:
    assert common_axis([]).count == 0


def test_values_stand_at_their_elapsed_time_and_are_missing_outside() -> None:
    early, late = Lane(seconds=seconds(4), zero=2), Lane(seconds=seconds(6), zero=0)
    axis = common_axis([early, late])
    laid = mean_on_axis(np.array([1.0, 2.0, 3.0, 4.0]), early, axis)
    assert laid[:4].tolist() == [1.0, 2.0, 3.0, 4.0]
    assert np.isnan(laid[4:]).all()
    assert np.isnan(mean_on_axis(np.ones(6), late, axis)[:2]).all()


def test_a_bucket_keeps_its_slowest_second_and_the_mean_of_its_rates() -> None:
    lane = Lane(seconds=seconds(1_200), zero=0)
    axis = common_axis([lane])
    values = np.ones(1_200)
    values[7] = 99.0
    values[8] = np.nan
    assert max_on_axis(values, lane, axis)[3] == 99.0
    assert mean_on_axis(values, lane, axis)[3] == 50.0
    assert mean_on_axis(values, lane, axis)[4] == 1.0


def test_failures_are_all_that_is_not_good() -> None:
    requests, good, failures = lane_rates(seconds(3, ok=8, failed=2))
    assert (requests.tolist(), good.tolist(), failures.tolist()) == ([10.0] * 3, [8.0] * 3, [2.0] * 3)


def test_cut_seconds_at_both_ends_are_no_dips() -> None:
    given = seconds(4)
    rates = lane_rates(given)[0]
    assert np.isnan(without_partial(rates, given, 700)).tolist() == [True, False, False, True]
    assert np.isnan(without_partial(rates, given, 0)).tolist() == [False, False, False, True]
    assert np.isnan(without_partial(rates[:1], seconds(1), 0)).tolist() == [False]
