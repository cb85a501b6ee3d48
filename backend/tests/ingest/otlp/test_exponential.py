"""Exponential histograms as classic buckets: every observation is counted at each bound above it, within the bound."""

import math
from bisect import bisect_right

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loadwatch_backend.series.ingest.otlp.otlp_pb2 import ExponentialHistogramDataPoint
from loadwatch_backend.series.ingest.otlp.translate import MOST_BUCKETS, CoarseError, classic_buckets

Buckets = ExponentialHistogramDataPoint.Buckets


def place_of(value: float, scale: int) -> int:
    """The bucket (base**place, base**(place + 1)] of a value, as OpenTelemetry's data model defines it."""
    return math.ceil(math.log2(value) * 2.0**scale) - 1


def histogram(values: list[float], scale: int) -> ExponentialHistogramDataPoint:
    point = ExponentialHistogramDataPoint(scale=scale, count=len(values), zero_count=values.count(0.0))
    for sign, buckets in ((1, point.positive), (-1, point.negative)):
        places = [place_of(abs(value), scale) for value in values if value * sign > 0]
        if places:
            buckets.offset = min(places)
            counts = [0] * (max(places) - min(places) + 1)
            for place in places:
                counts[place - min(places)] += 1
            buckets.bucket_counts.extend(counts)
    return point


values = st.floats(0.01, 100.0).map(lambda value: round(value, 3) + 0.0001)


@given(st.lists(values | values.map(lambda value: -value) | st.just(0.0), min_size=1, max_size=60), st.integers(-2, 6))
@settings(max_examples=200, deadline=None)
def test_every_observation_is_between_two_bounds_that_are_near_it(observed: list[float], scale: int) -> None:
    found = classic_buckets(histogram(observed, scale))
    bounds = [bound for bound, _ in found]
    counts = [count for _, count in found]
    assert bounds == sorted(set(bounds))
    assert counts == sorted(counts)
    assert counts[-1] == len(observed)
    width = 2.0 ** (2.0 ** -min(scale, 2))
    ordered = sorted(observed)
    for bound, count in found:
        exact = bisect_right(ordered, bound)
        near = [value for value in ordered if math.isclose(value, bound, rel_tol=1e-9)]
        assert abs(exact - count) <= len(near)
    for value in observed:
        above = next(bound for bound in bounds if bound >= value or math.isclose(bound, value, rel_tol=1e-9))
        if value > 0:
            assert above / value <= width * (1 + 1e-9)
        elif value < 0:
            assert value / above <= width * (1 + 1e-9) or above == 0.0


def test_a_wide_histogram_becomes_coarser_until_it_fits() -> None:
    point = ExponentialHistogramDataPoint(scale=2, count=2000, positive=Buckets(offset=-1000, bucket_counts=[1] * 2000))
    found = classic_buckets(point)
    assert len(found) <= MOST_BUCKETS + 1
    assert found[-1][1] == 2000


def test_bounds_of_a_coarser_scale_are_among_those_of_a_finer_one() -> None:
    fine = {bound for bound, _ in classic_buckets(histogram([1.5 * 1.3**n for n in range(20)], 2))}
    coarse = {bound for bound, _ in classic_buckets(histogram([1.5 * 1.3**n for n in range(20)], 0))}
    assert len(coarse & fine) >= len(coarse) - 2


@pytest.mark.parametrize("scale", [-11, -(2**31)])
def test_a_scale_that_nobody_makes_is_refused(scale: int) -> None:
    with pytest.raises(CoarseError):
        classic_buckets(ExponentialHistogramDataPoint(scale=scale))


@pytest.mark.parametrize("offset", [2**31 - 1, -(2**31), 0])
@pytest.mark.parametrize("scale", [-10, 20, 2**31 - 1])
def test_bounds_at_the_edges_are_numbers_or_left_out(offset: int, scale: int) -> None:
    buckets = Buckets(offset=offset, bucket_counts=[1, 0, 1])
    found = classic_buckets(ExponentialHistogramDataPoint(scale=scale, positive=buckets, negative=buckets))
    assert all(math.isfinite(bound) for bound, _ in found)
