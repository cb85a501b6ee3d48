import pytest
from loadwatch_collectors.clock_skew import measure_skew

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
DATE_MS = 784_111_777_000


@pytest.mark.parametrize(
    ("sent", "received", "skew"),
    [(500, 600, 0.0), (1_900, 1_950, 0.0), (5_000, 5_100, 3.0), (-4_100, -4_000, -4.0)],
)
def test_a_date_proves_the_least_difference(sent: int, received: int, skew: float) -> None:
    assert measure_skew({"Date": DATE}, DATE_MS + sent, DATE_MS + received) == skew


def test_our_own_header_is_exact() -> None:
    headers = {"X-Loadwatch-Time": "100000", "Date": DATE}
    assert measure_skew(headers, 100_240, 100_260) == 0.25


@pytest.mark.parametrize("headers", [{}, {"Date": "yesterday"}, {"X-Loadwatch-Time": "noon"}])
def test_without_a_time_nothing_is_known(headers: dict[str, str]) -> None:
    assert measure_skew(headers, 0, 0) is None
