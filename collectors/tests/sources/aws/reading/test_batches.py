import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.sources.aws.model import MAX_POINTS, MAX_QUERIES, MetricKey, WantedMetric, WantedStatistic
from loadwatch_collectors.sources.aws.reading.states import Window, make_batches, query_index, split_questions

TEN_MINUTES = Window(0, 600_000, 60_000)
NAMES = ("Average", "Maximum", "Sum", "p95", "p99")


def make_metric(number: int, statistics: int = 1) -> WantedMetric:
    return WantedMetric(
        metric=MetricKey(namespace="N", name=f"m{number}", dimensions=(("d", "v"),)),
        statistics=tuple(WantedStatistic(name, f"n_{name}") for name in NAMES[:statistics]),
        labels=(),
    )


def test_statistics_of_one_metric_stay_in_one_request_and_count_once() -> None:
    batches = make_batches((make_metric(number, 5), TEN_MINUTES) for number in range(250))
    assert [len(batch.request.queries) for batch in batches] == [500, 500, 250]
    assert [batch.metrics_requested for batch in batches] == [100, 100, 50]


def test_three_statistics_leave_room_rather_than_being_split() -> None:
    first, second = make_batches((make_metric(number, 3), TEN_MINUTES) for number in range(167))
    assert len(first.request.queries) == 498
    assert len(second.request.queries) == 3


def test_long_windows_of_short_periods_make_smaller_requests() -> None:
    window = Window(0, 3_600_000, 1_000)
    batches = make_batches((make_metric(number), window) for number in range(60))
    assert [len(batch.request.queries) for batch in batches] == [28, 28, 4]


def test_windows_are_not_mixed() -> None:
    other = Window(0, 900_000, 300_000)
    batches = make_batches([(make_metric(1), TEN_MINUTES), (make_metric(2), other), (make_metric(3), TEN_MINUTES)])
    assert [(batch.request.end_ms, len(batch.owners)) for batch in batches] == [(600_000, 2), (900_000, 1)]
    assert [query.period_seconds for batch in batches for query in batch.request.queries] == [60, 60, 300]


def test_an_empty_window_asks_nothing() -> None:
    assert split_questions(Window(60_000, 60_000, 60_000), [(make_metric(1), [0])]) == []


@pytest.mark.parametrize(("query_id", "index"), [("q0", 0), ("q499", 499), ("q", -1), ("x1", -1), ("", -1)])
def test_ids(query_id: str, index: int) -> None:
    assert query_index(query_id) == index


@given(st.lists(st.integers(1, 5), max_size=400), st.integers(1, 4000))
def test_no_request_is_beyond_the_limits_and_none_is_lost(counts: list[int], points: int) -> None:
    window = Window(0, points * 1000, 1000)
    wanted = [(make_metric(number, count), window) for number, count in enumerate(counts)]
    batches = make_batches(wanted)
    asked = [(owner[0].metric.name, owner[1]) for batch in batches for owner in batch.owners]
    assert sorted(asked) == sorted(
        (f"m{number}", index) for number, count in enumerate(counts) for index in range(count)
    )
    for batch in batches:
        queries = batch.request.queries
        assert len(queries) <= MAX_QUERIES
        assert len(queries) * points <= MAX_POINTS
        assert [query_index(query.id) for query in queries] == list(range(len(queries)))
