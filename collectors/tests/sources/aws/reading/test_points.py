import math

from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.sources.aws.reading.insights import History, Point, Span, join_spans
from loadwatch_collectors.sources.aws.reading.states import Window

M = 60_000


def window(first: int, last: int) -> Window:
    return Window(first * M, last * M, M)


def test_a_sample_lies_at_the_end_of_its_period() -> None:
    assert History().merge(window(0, 3), {0: 5.0, 2 * M: 7.0}) == [Point(M, 5.0), Point(3 * M, 7.0)]


def test_only_new_and_revised_points_come_out() -> None:
    history = History()
    history.merge(window(0, 3), {0: 1.0, M: 2.0, 2 * M: 3.0})
    assert history.merge(window(1, 4), {M: 2.0, 2 * M: 3.5, 3 * M: 4.0}) == [Point(3 * M, 3.5), Point(4 * M, 4.0)]
    assert history.merge(window(1, 4), {M: 2.0, 2 * M: 3.5, 3 * M: 4.0}) == []


def test_a_late_point_comes_out_when_it_comes() -> None:
    history = History()
    history.merge(window(0, 3), {0: 1.0, 2 * M: 3.0})
    assert history.merge(window(1, 4), {M: 2.0, 2 * M: 3.0}) == [Point(2 * M, 2.0)]


def test_a_point_that_is_not_given_again_stands() -> None:
    history = History()
    history.merge(window(0, 3), {M: 2.0})
    assert history.merge(window(1, 4), {}) == []
    assert history.merge(window(1, 4), {M: 2.0}) == [], "it was known all the time"


def test_what_is_no_number_or_outside_is_left_out() -> None:
    assert History().merge(window(1, 3), {0: 1.0, M: math.nan, 3 * M: 2.0, 2 * M: 4.0}) == [Point(3 * M, 4.0)]


def test_holes_are_zero_between_what_was_delivered_only() -> None:
    history = History()
    assert history.holes(window(0, 10), {4 * M: 3.0}, first_ms=2 * M, last_ms=6 * M) == {
        2 * M: 0.0,
        3 * M: 0.0,
        5 * M: 0.0,
    }


def test_a_known_point_is_no_hole() -> None:
    history = History()
    history.merge(window(0, 4), {2 * M: 9.0})
    assert history.holes(window(1, 5), {}, first_ms=M, last_ms=4 * M) == {M: 0.0, 3 * M: 0.0}


def test_a_zero_is_revised_by_the_value_that_was_late() -> None:
    history = History()
    zeros = history.holes(window(0, 2), {}, first_ms=0, last_ms=2 * M)
    assert history.merge(window(0, 2), zeros) == [Point(M, 0.0), Point(2 * M, 0.0)]
    assert history.merge(window(0, 2), {M: 4.0}) == [Point(2 * M, 4.0)]


def test_a_period_is_filled_only_when_the_other_was_delivered_to_its_end() -> None:
    longer = Window(0, 10 * M, 5 * M)
    assert History().holes(longer, {}, first_ms=M, last_ms=9 * M) == {}, "neither [0, 5) nor [5, 10) is whole"
    assert History().holes(longer, {}, first_ms=0, last_ms=9 * M) == {0: 0.0}


def test_the_span_of_a_history_is_from_its_first_to_its_last_point() -> None:
    history = History()
    assert history.span(M) is None
    history.merge(window(0, 10), {2 * M: 1.0, 5 * M: 0.0})
    assert history.span(M) == Span(2 * M, 6 * M)
    history.merge(window(20, 30), {})
    assert history.span(M) is None, "it remembers one window"


def test_spans_are_joined() -> None:
    assert join_spans([]) is None
    assert join_spans([None]) is None
    assert join_spans([Span(2 * M, 3 * M), None, Span(0, M)]) == Span(0, 3 * M)


SEEN = st.dictionaries(st.integers(0, 19).map(lambda slot: slot * M), st.floats(allow_nan=False), max_size=20)


@given(st.lists(st.tuples(st.integers(0, 10), SEEN), max_size=6))
def test_what_came_out_is_what_was_given_last(reads: list[tuple[int, dict[int, float]]]) -> None:
    history = History()
    shown: dict[int, float] = {}
    wanted: dict[int, float] = {}
    start = 0
    for step, seen in reads:
        start = max(start, step)  # windows only move on
        inside = {time: value for time, value in seen.items() if start * M <= time < (start + 10) * M}
        for point in history.merge(window(start, start + 10), inside):
            assert shown.get(point.time_ms) != point.value, "nothing is sent twice"
            shown[point.time_ms] = point.value
        wanted |= {time + M: value for time, value in inside.items()}
    assert shown == wanted
