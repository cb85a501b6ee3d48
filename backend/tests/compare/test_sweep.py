import numpy as np
from loadwatch_backend.catalogue.signals.model import Orientation
from loadwatch_backend.runs.compare.metrics import RATES, SLOW
from loadwatch_backend.runs.compare.schemas import NextReason
from loadwatch_backend.runs.compare.statistics import Scale, Side, between_runs
from loadwatch_backend.runs.compare.sweep import Peak, SweptValue, find_peak, next_value

BETTER, WORSE = Orientation.MORE_IS_BETTER, Orientation.MORE_IS_WORSE


def swept(figures: dict[float, float], orientation: Orientation, scale: Scale = RATES, noise: float = 0.01) -> Peak:
    """Three repeats of each value, `noise` apart."""
    values = [
        SweptValue(
            parameter=parameter,
            side=Side(logs=np.log(figure) + np.array([-noise, 0.0, noise]), within=np.zeros(3)),
        )
        for parameter, figure in figures.items()
    ]
    return find_peak(values, orientation, scale, between_runs([one.side.logs for one in values], scale.scatter))


def test_the_best_of_a_pool_sweep_is_its_peak() -> None:
    peak = swept({10: 300.0, 30: 900.0, 60: 1_100.0, 100: 1_300.0, 200: 800.0}, BETTER)
    assert (peak.best, list(peak.tied), peak.edge) == (100, [100], "")


def test_of_values_within_the_noise_the_lowest_is_best() -> None:
    """The last gain is one of 0.04 %."""
    peak = swept({10: 300.0, 30: 900.0, 60: 1_000.0, 100: 1_000.4}, BETTER)
    assert (peak.best, list(peak.tied), peak.edge) == (60, [60, 100], "")
    assert peak.diminishing == 60


def test_where_more_brings_little() -> None:
    peak = swept({10: 300.0, 20: 960.0, 30: 990.0, 60: 1_100.0, 100: 1_250.0, 150: 1_295.0, 300: 1_300.0}, BETTER)
    assert peak.best == 100 or peak.best == 150
    assert peak.diminishing == 100


def test_the_last_value_measured_may_not_be_the_best_there_is() -> None:
    peak = swept({10: 300.0, 30: 900.0, 60: 1_500.0}, BETTER)
    assert (peak.best, peak.edge, peak.diminishing) == (60, "last", None)
    assert swept({10: 900.0, 30: 600.0, 60: 300.0}, BETTER).edge == "first"


def test_latency_is_best_where_it_is_least() -> None:
    peak = swept({10: 3.0, 30: 0.4, 60: 0.3, 100: 0.2, 200: 0.5}, WORSE, SLOW)
    assert peak.best == 100


def test_two_points_cannot_bend_and_a_falling_curve_has_no_gain() -> None:
    assert swept({1: 1.0, 2: 2.0}, BETTER).diminishing is None
    assert swept({1: 3.0, 2: 2.0, 3: 1.0}, BETTER).diminishing is None


def test_when_nothing_differs_the_lowest_is_best_and_nothing_is_gained() -> None:
    peak = swept({1: 5.0, 2: 5.0, 3: 5.01}, BETTER)
    assert (peak.best, list(peak.tied), peak.diminishing, peak.edge) == (1, [1, 2, 3], None, "")


def test_without_a_direction_nothing_is_best() -> None:
    assert swept({1: 1.0}, Orientation.NEUTRAL).best is None
    assert swept({}, BETTER).best is None


def test_more_that_costs_throughput_for_good_is_told_where_it_begins() -> None:
    assert swept({5: 6_000.0, 10: 9_000.0, 15: 7_000.0, 20: 5_000.0}, BETTER).falls_from == 15
    assert swept({5: 6_000.0, 10: 9_000.0, 15: 7_000.0, 20: 9_010.0}, BETTER).falls_from is None


def test_a_level_curve_two_values_and_latency_tell_no_fall() -> None:
    assert swept({5: 6_000.0, 10: 9_000.0, 15: 9_000.0, 20: 8_990.0}, BETTER).falls_from is None
    assert swept({5: 9_000.0, 10: 6_000.0}, BETTER).falls_from is None
    assert swept({5: 0.3, 10: 0.2, 15: 0.6}, WORSE, SLOW).falls_from is None


def tried_next(figures: dict[float, float], orientation: Orientation = BETTER) -> tuple[float | None, NextReason]:
    peak = swept(figures, orientation)
    values = [SweptValue(parameter=one, side=Side(logs=np.zeros(1), within=np.zeros(1))) for one in figures]
    found = next_value(values, peak, orientation)
    return found.value, found.reason


def test_the_next_value_lies_beyond_an_end_that_is_best() -> None:
    assert tried_next({4: 300.0, 8: 600.0, 16: 1_200.0}) == (32, NextReason.BEYOND)
    assert tried_next({10: 300.0, 20: 600.0, 100: 1_200.0}) == (200, NextReason.BEYOND)
    assert tried_next({16: 1_200.0, 32: 600.0, 64: 300.0}) == (8, NextReason.BELOW)
    assert tried_next({0.5: 0.1, 1.0: 0.2, 2.0: 0.4}, WORSE) == (0.25, NextReason.BELOW)
    assert tried_next({1: 1_200.0, 2: 600.0, 3: 300.0}) == (None, NextReason.FINE)


def test_the_next_value_lies_in_the_wider_gap_beside_the_best() -> None:
    assert tried_next({4: 300.0, 16: 1_200.0, 20: 600.0}) == (8, NextReason.BETWEEN)
    assert tried_next({0: 300.0, 16: 1_200.0, 20: 600.0}) == (8, NextReason.BETWEEN)
    assert tried_next({15: 300.0, 16: 1_200.0, 17: 600.0}) == (None, NextReason.FINE)


def test_where_nothing_tells_none_is_named() -> None:
    assert tried_next({4: 300.0, 8: 600.0}) == (None, NextReason.FEW_VALUES)
    assert tried_next({4: 600.0, 8: 601.0, 16: 600.0}) == (None, NextReason.FLAT)
    assert tried_next({4: 300.0, 8: 601.0, 16: 600.0}) == (None, NextReason.PLATEAU)
    assert tried_next({4: 300.0, 8: 601.0, 16: 700.0}, Orientation.NEUTRAL) == (None, NextReason.NO_DIRECTION)
