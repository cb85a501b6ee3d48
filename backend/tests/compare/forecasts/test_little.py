"""Little's law as a check."""

import pytest
from loadwatch_backend.runs.compare.forecasts.model import Agreement, check_little


@pytest.mark.parametrize(
    ("at_work", "rate", "seconds", "agreement"),
    [
        (50.0, 1_000.0, 0.05, Agreement.CONSISTENT),
        (50.0, 900.0, 0.05, Agreement.CONSISTENT),
        (100.0, 1_000.0, 0.05, Agreement.THINK_TIME),
        (20.0, 1_000.0, 0.05, Agreement.INCONSISTENT),
    ],
)
def test_rate_times_time_is_those_at_work(at_work: float, rate: float, seconds: float, agreement: Agreement) -> None:
    found = check_little(at_work, rate, seconds)
    assert found is not None
    assert found.agreement is agreement
    assert found.ratio == pytest.approx(rate * seconds / at_work)


def test_nothing_to_check_without_one_of_them() -> None:
    assert check_little(0.0, 10.0, 1.0) is None
    assert check_little(10.0, float("nan"), 1.0) is None
