import pytest
from loadwatch_backend.compare.sweep import best_value, diminishing_value, parse_number
from loadwatch_backend.signals.model import Orientation

BETTER, WORSE = Orientation.MORE_IS_BETTER, Orientation.MORE_IS_WORSE


def test_the_best_of_a_pool_sweep_is_its_peak() -> None:
    rates = [(10.0, 300.0), (30.0, 900.0), (60.0, 1_000.0), (100.0, 1_010.0), (200.0, 800.0)]
    assert best_value(rates, BETTER) == 100.0
    assert diminishing_value(rates, BETTER) == 60.0


def test_latency_is_best_where_it_is_least() -> None:
    p95 = [(10.0, 3.0), (30.0, 0.4), (60.0, 0.3), (100.0, 0.29)]
    assert best_value(p95, WORSE) == 100.0
    assert diminishing_value(p95, WORSE) == 30.0


def test_of_equals_the_smaller_parameter_is_best() -> None:
    assert best_value([(1.0, 5.0), (2.0, 5.0)], BETTER) == 1.0


def test_two_points_cannot_bend_and_a_falling_curve_has_no_gain() -> None:
    assert diminishing_value([(1.0, 1.0), (2.0, 2.0)], BETTER) is None
    assert diminishing_value([(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], BETTER) is None


def test_without_a_direction_nothing_is_best() -> None:
    assert best_value([(1.0, 1.0)], Orientation.NEUTRAL) is None
    assert best_value([], BETTER) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("30", 30.0),
        (" 1_000 ", 1_000.0),
        ("1,000", 1_000.0),
        ("250ms", 0.25),
        ("2s", 2.0),
        ("1m", 60.0),
        ("4k", 4_000.0),
        *[("16MiB", 16_777_216.0), ("50%", 0.5), ("1e3", 1_000.0), ("-1", -1.0)],
    ],
)
def test_parameters_are_read_as_numbers(text: str, value: float) -> None:
    assert parse_number(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "on", "s", "innodb", "1e999", "nan-ish", "inf"])
def test_words_are_no_numbers(text: str) -> None:
    assert parse_number(text) is None
