from typing import Any

import numpy as np
import pytest
from loadwatch_backend.catalogue.signals.interval import (
    IntervalDetector,
    lookback_of,
    measure_finest,
    measure_interval,
    selectors_of,
    slowest,
    window_of,
)
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.store.port import Selection


def selection(*series: list[int]) -> Selection:
    times = np.array([time for one in series for time in one], np.int64)
    return Selection(
        labels=[{"i": str(i)} for i in range(len(series))],
        offsets=np.cumsum([0, *(len(one) for one in series)]),
        timestamps=times,
        values=np.zeros(len(times)),
    )


def every(step: int, count: int) -> list[int]:
    return [index * step for index in range(count)]


@pytest.mark.parametrize(
    ("series", "interval"),
    [
        ([], None),
        ([[5]], None),
        ([every(1_000, 90)], 1_000),
        ([every(1_000, 90), every(15_000, 6)], 15_000),
        ([every(1_000, 90), [0, 80_000]], 1_000),
        ([[0, 60_000]], 60_000),
        ([[0, 1_000, 2_000, 9_000, 10_000, 11_000]], 1_000),
    ],
)
def test_the_slowest_usual_distance_counts(series: list[list[int]], interval: int | None):
    assert measure_interval(selection(*series)) == interval


def test_of_late_values_the_fastest_counts():
    assert measure_finest(selection(every(10_000, 60), every(60_000, 10), [0, 1_000])) == 10_000
    assert measure_finest(selection([0, 1_000, 2_000])) is None


def test_windows_span_four_intervals_and_no_less_than_a_step():
    assert [window_of(interval, 1_000) for interval in (200, 1_000, 1_300, 15_000, None)] == [
        5_000,
        5_000,
        6_000,
        60_000,
        60_000,
    ]
    assert window_of(1_000, 120_000) == 120_000
    assert [lookback_of(interval) for interval in (200, 15_000, 3_600_000, None)] == [5_000, 60_000, 300_000, 300_000]


def test_all_selectors_are_found():
    tree = parse_expression("sum(rate(a[5s])) / on() (b offset 1m) or topk(3, max_over_time(c[1m])) * 2")
    assert [selector.matchers[0].value for selector in selectors_of(tree)] == ["a", "b", "c"]


def test_the_present_is_remembered_for_a_while(server: Any):
    now = server.clock.now_ms
    tree = parse_expression("a")
    detector = IntervalDetector(server.store, server.clock)
    server.write(({"__name__": "a"}, [(now - 2_000 * i, 1.0) for i in range(20)]))
    assert slowest(detector.detect(tree, now - 300_000, now)) == 2_000
    server.write(({"__name__": "a", "i": "slow"}, [(now - 10_000 * i, 1.0) for i in range(8)]))
    assert slowest(detector.detect(tree, now - 300_000, now)) == 2_000
    server.clock.now_ms += 30_000
    assert slowest(detector.detect(tree, now - 300_000, now)) == 10_000


def test_samples_within_the_span_tell_however_long_ago_they_ended(server: Any):
    now = server.clock.now_ms
    tree = parse_expression("rate(b[1m])")
    server.write(
        ({"__name__": "b"}, [(now - 30_000_000 - 2_000 * i, 1.0) for i in range(20)]),
        ({"__name__": "b"}, [(now - 60_000_000 - 60_000 * i, 1.0) for i in range(20)]),
    )
    detector = IntervalDetector(server.store, server.clock)
    assert slowest(detector.detect(tree, now - 20_000_000, now)) is None
    assert slowest(detector.detect(tree, now - 86_400_000, now)) == 2_000
    assert slowest(detector.detect(tree, now - 86_400_000, now - 40_000_000)) == 60_000
    server.clock.now_ms += 60_000
    assert slowest(detector.detect(tree, now - 5_000, now)) == 60_000, "nothing tells, so what was seen last holds"
