"""What forecasts say."""

from dataclasses import replace

import pytest
from loadwatch_backend.runs.compare.forecasts.model import (
    Forecast,
    Interval,
    Law,
    Peak,
    Refusal,
    Refused,
    ResourceForecast,
)
from loadwatch_backend.runs.compare.forecasts.service import format_interval, say_forecast, say_peak, say_refused
from loadwatch_backend.runs.compare.forecasts.utilisation import forecast_capacity

from backend.tests.compare.forecasts.made import made_resource, made_sweep

NO_PEAK = Refused(refusal=Refusal.NO_USERS)
LAW = Law(
    full=Interval(value=9_412, low=8_730, high=10_260),
    demand=0.01,
    idle=0.0,
    curved=False,
    points=6,
    top_rate=6_000,
    top_use=60,
    reached=None,
)


def said(*laws: Law) -> Forecast:
    """A forecast of these laws, in their order."""
    return Forecast(
        resources=[
            ResourceForecast(resource=made_resource(name, 100.0, [], place), outcome=law)
            for name, place, law in zip(("pool", "cpu"), ("app-1", ""), laws, strict=False)
        ],
        peak=NO_PEAK,
    )


def test_the_first_and_the_next() -> None:
    later = replace(LAW, full=Interval(value=12_040, low=11_100, high=13_300))
    words = say_forecast(said(LAW, later))
    assert words.en == (
        "At about 9,400 requests/s (8,700 to 10,300) the first limit is reached: The pool (app-1). "
        "Next: The cpu at 12,000."
    )
    assert "約 9,400 リクエスト/秒(8,700〜10,300)" in words.ja
    assert words.ja.endswith("次は cpuの数(12,000)。")


def test_overlapping_intervals_leave_the_order_open() -> None:
    near = replace(LAW, full=Interval(value=9_900, low=9_100, high=11_100))
    assert "the intervals overlap: The cpu at 9,900" in say_forecast(said(LAW, near)).en


def test_a_limit_that_was_reached_is_no_forecast() -> None:
    words = say_forecast(said(replace(LAW, reached=9_333.0)))
    assert words.en == "The first limit has been reached in a run, at 9,330 requests/s: The pool (app-1)."


def test_nothing_and_no_number_are_told_apart() -> None:
    assert "none of these runs has" in say_forecast(forecast_capacity([], NO_PEAK)).en
    flat = made_resource("pool", 40.0, made_sweep((100.0, 100.0), 0.05))
    assert "no resource has a number" in say_forecast(forecast_capacity([flat], NO_PEAK)).en


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (Interval(value=9_412, low=8_730, high=10_260), ("8,700", "9,400", "10,300")),
        (Interval(value=0.1234, low=0.1201, high=0.1299), ("0.120", "0.123", "0.130")),
        (Interval(value=282.885, low=282.88, high=282.89), ("283", "283", "283")),
        (Interval(value=123.4, low=123.4, high=123.4), ("123", "123", "123")),
    ],
)
def test_no_finer_than_the_interval_allows(interval: Interval, expected: tuple[str, str, str]) -> None:
    assert format_interval(interval) == expected


@pytest.mark.parametrize("refusal", Refusal)
def test_every_refusal_has_its_words(refusal: Refusal) -> None:
    names = ("steps", "least", "low", "high", "used", "share")
    words = say_refused(Refused(refusal=refusal, figures=dict.fromkeys(names, 0.5)))
    assert "{" not in words.en + words.ja


def test_shares_are_per_cent_and_counts_are_not() -> None:
    under = Refused(refusal=Refusal.UNDERLOADED, figures={"used": 0.04, "least": 0.15})
    assert "4% of the limit was in use. Below 15%" in say_refused(under).en
    few = Refused(refusal=Refusal.FEW_STEPS, figures={"steps": 3, "least": 4})
    assert "3 of the 4" in say_refused(few).en


def test_the_peak() -> None:
    peak = Peak(rate=Interval(value=1_000, low=950, high=1_040), users=31.6, contention=0.02, coherency=0.001, points=8)
    assert say_peak(peak).en == "Throughput peaks at about 1,000 requests/s (950 to 1,040), with about 31.6 users."
    assert "同時ユーザー数" in say_peak(NO_PEAK).ja
