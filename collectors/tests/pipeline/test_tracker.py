import struct
from collections.abc import Callable

import pytest
from loadwatch_collectors.collector import KEPT, Labels, Sample, TargetIdentity
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.pipeline.sender import encode_rows
from loadwatch_collectors.pipeline.worker import SeriesTracker
from loadwatch_collectors.series import SampleRow

from collectors.tests.receiver import Received, decode_write_request

A = (("x", "a"),)
B = (("x", "b"),)


@pytest.fixture
def tracker() -> SeriesTracker:
    return SeriesTracker(TargetIdentity(job="j", instance="i"))


def read(rows: list[SampleRow]) -> list[tuple[str, int, float | str]]:
    def value(sample: Received) -> float | str:
        return "stale" if sample.is_stale else sample.value

    samples = decode_write_request(encode_rows(sorted(rows, key=lambda row: row.timestamp_ms)))[0]
    return [(sample.labels.get("x", ""), sample.timestamp_ms, value(sample)) for sample in samples]


def test_samples_get_the_time_of_the_tick(tracker: SeriesTracker) -> None:
    assert read(tracker.update(1000, [Sample("m", 1.0, A), Sample("m", 2.0, B)])) == [
        ("a", 1000, 1.0),
        ("b", 1000, 2.0),
    ]


def test_what_vanishes_is_marked_once(tracker: SeriesTracker) -> None:
    tracker.update(1000, [Sample("m", 1.0, A), Sample("m", 2.0, B)])
    assert read(tracker.update(2000, [Sample("m", 1.0, A)])) == [("a", 2000, 1.0), ("b", 2000, "stale")]
    assert read(tracker.update(3000, [Sample("m", 1.0, A)])) == [("a", 3000, 1.0)]


def test_the_end_marks_all_once(tracker: SeriesTracker) -> None:
    tracker.update(1000, [Sample("m", 1.0, A), Sample("m", 2.0, B)])
    assert read(tracker.end(2000)) == [("a", 2000, "stale"), ("b", 2000, "stale")]
    assert tracker.end(3000) == []


def test_kept_values_are_neither_sent_nor_stale(tracker: SeriesTracker) -> None:
    kept = Sample("m", 1.0, A, KEPT)
    tracker.update(1000, [Sample("m", 1.0, A)])
    assert tracker.update(2000, [kept]) == []
    assert read(tracker.update(3000, [])) == [("a", 3000, "stale")]
    assert read(tracker.update(4000, [kept])) == [("a", 4000, 1.0)], "after a marker it has to be sent again"


def test_own_times_are_sent_once(tracker: SeriesTracker) -> None:
    sample = Sample("m", 1.0, A, 500)
    assert read(tracker.update(1000, [sample])) == [("a", 500, 1.0)]
    assert tracker.update(2000, [sample]) == []
    assert read(tracker.update(3000, [])) == [("a", 3000, "stale")]


def test_the_first_of_equal_series_counts(tracker: SeriesTracker) -> None:
    assert read(tracker.update(1000, [Sample("m", 1.0, A), Sample("m", 2.0, A)])) == [("a", 1000, 1.0)]


def send_none(tracker: SeriesTracker, tick_ms: int) -> list[SampleRow]:
    return tracker.update(tick_ms, [])


@pytest.mark.parametrize("leave", [send_none, SeriesTracker.end])
def test_a_series_that_has_gone_is_free_for_another_block(leave: Callable[[SeriesTracker, int], object]) -> None:
    claims: dict[tuple[str, Labels], SeriesTracker] = {}
    one, other = (SeriesTracker(TargetIdentity(job="j", instance="i"), claims=claims) for _ in range(2))
    one.update(1000, [Sample("m", 1.0, A)])
    assert other.update(1000, [Sample("m", 2.0, A)]) == []
    assert other.refused
    leave(one, 2000)
    assert read(other.update(3000, [Sample("m", 3.0, A)])) == [("a", 3000, 3.0)]
    assert not other.refused


def test_a_broken_name_leaves_it_as_it_was(tracker: SeriesTracker) -> None:
    tracker.update(1000, [Sample("m", 1.0, A)])
    with pytest.raises(CollectorError, match="a metric has no name"):
        tracker.update(2000, [Sample("", 1.0, A)])
    assert read(tracker.end(2000)) == [("a", 2000, "stale")]


def test_nan_is_not_the_stale_marker(tracker: SeriesTracker) -> None:
    [row] = tracker.update(1000, [Sample("m", float("nan"), A)])
    assert struct.pack("<d", row.values[0]) != struct.pack("<Q", 0x7FF0000000000002)


@pytest.fixture
def own_times() -> SeriesTracker:
    return SeriesTracker(TargetIdentity(job="j", instance="i"), own_times=True)


def test_several_points_of_one_series_in_one_tick(own_times: SeriesTracker) -> None:
    points = [Sample("m", 1.0, A, 100), Sample("m", 2.0, A, 200), Sample("m", 9.0, A, 200)]
    assert read(own_times.update(1000, points)) == [("a", 100, 1.0), ("a", 200, 2.0)]


def test_a_revised_point_is_sent_again(own_times: SeriesTracker) -> None:
    own_times.update(1000, [Sample("m", 1.0, A, 100)])
    assert own_times.update(2000, [Sample("m", 1.0, A, 100)]) == []
    assert read(own_times.update(3000, [Sample("m", 1.5, A, 100)])) == [("a", 100, 1.5)]


def test_points_that_come_now_and_then_are_never_stale(own_times: SeriesTracker) -> None:
    own_times.update(1000, [Sample("m", 1.0, A, 100), Sample("fact", 1.0, B)])
    assert read(own_times.update(2000, [])) == [("b", 2000, "stale")], "a series of the tick is"
    assert read(own_times.update(3000, [Sample("m", 2.0, A, 200)])) == [("a", 200, 2.0)]
    assert own_times.end(4000) == []
    assert read(own_times.update(5000, [Sample("m", 3.0, A, 300)])) == [("a", 300, 3.0)]


def test_series_of_own_times_are_forgotten_after_hours(own_times: SeriesTracker) -> None:
    hour = 3_600_000
    own_times.update(hour, [Sample("m", 1.0, A, 100), Sample("m", 1.0, B, 100)])
    for tick in range(2, 9):
        own_times.update(tick * hour, [Sample("m", 1.0, B, tick * hour)])
    assert read(own_times.update(9 * hour, [Sample("m", 1.0, A, 100)])) == [("a", 100, 1.0)], "known as new"
    assert read(own_times.update(9 * hour + 1, [Sample("m", 4.0, B, 9 * hour)])) == [("b", 9 * hour, 4.0)]
