import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.sources.aws.model import DataPage, DataResult, MetricKey, WantedMetric, WantedStatistic
from loadwatch_collectors.sources.aws.reading.states import (
    COMPLETE,
    FORBIDDEN,
    INTERNAL,
    PARTIAL,
    DataQueries,
    MetricDataResult,
    Window,
    make_batches,
)


def make_batch(queries: int) -> DataQueries:
    wanted = [
        WantedMetric(
            metric=MetricKey(namespace="N", name=f"m{number}"), statistics=(WantedStatistic("Sum", "s"),), labels=()
        )
        for number in range(queries)
    ]
    return make_batches((metric, Window(0, 600_000, 60_000)) for metric in wanted)[0]


def result(index: int, status: str, points: dict[int, float] | None = None) -> DataResult:
    given = points or {}
    return DataResult(id=f"q{index}", status=status, times_ms=list(given), values=list(given.values()))


def test_pages_are_joined_in_whatever_order_they_come() -> None:
    pages = [
        DataPage(results=[result(0, PARTIAL, {0: 1.0}), result(1, COMPLETE, {0: 9.0})], next_token="a"),
        DataPage(results=[result(0, PARTIAL, {60_000: 2.0})], next_token="b"),
        DataPage(results=[result(0, COMPLETE, {120_000: 3.0})]),
    ]
    for order in itertools.permutations(pages):
        answer = MetricDataResult(make_batch(2))
        for page in order:
            answer.add(page)
        assert answer.values == [{0: 1.0, 60_000: 2.0, 120_000: 3.0}, {0: 9.0}]
        assert [answer.state(0), answer.state(1)] == [COMPLETE, COMPLETE]
        assert answer.open_queries() == []


@pytest.mark.parametrize(
    ("statuses", "state"),
    [
        ([PARTIAL], PARTIAL),
        ([PARTIAL, COMPLETE], COMPLETE),
        ([COMPLETE, INTERNAL], INTERNAL),
        ([PARTIAL, INTERNAL], INTERNAL),
        ([INTERNAL, FORBIDDEN], FORBIDDEN),
        (["SomethingNew"], PARTIAL),
        ([], PARTIAL),
    ],
)
def test_what_several_pages_say_of_one_query(statuses: list[str], state: str) -> None:
    answer = MetricDataResult(make_batch(1))
    for status in statuses:
        answer.add(DataPage(results=[result(0, status)]))
    assert answer.state(0) == state
    assert list(answer.open_queries()) == ([0] if state in (PARTIAL, INTERNAL) else [])


def test_results_of_foreign_queries_are_left_alone() -> None:
    answer = MetricDataResult(make_batch(1))
    answer.add(
        DataPage(results=[DataResult(id="e1", status=COMPLETE, times_ms=[0], values=[1.0]), result(7, COMPLETE)])
    )
    assert answer.values == [{}]
    assert answer.state(0) == PARTIAL


@given(st.permutations([(0, PARTIAL), (1, PARTIAL), (2, COMPLETE), (3, PARTIAL)]))
def test_the_order_of_pages_changes_nothing(order: list[tuple[int, str]]) -> None:
    answer = MetricDataResult(make_batch(1))
    for number, status in order:
        answer.add(DataPage(results=[result(0, status, {number * 60_000: float(number)})]))
    assert answer.state(0) == COMPLETE
    assert answer.values[0] == {number * 60_000: float(number) for number in range(4)}
