import numpy as np
import pytest
from loadwatch_backend.evidence.series import Grown, edges_of, grown_of

APP = {"job": "app", "instance": "one"}


def grown(*series: tuple[list[int], list[float]], step: int = 1_000) -> Grown:
    edges = edges_of(10_000, 20_000, step, 0)
    labels = [APP | {"route": str(number)} for number in range(len(series))]
    samples = [(np.array(times), np.array(values, np.float64)) for times, values in series]
    return grown_of(labels, samples, edges)


def every(first: int, last: int, step: int = 1_000) -> list[int]:
    return list(range(first, last + 1, step))


def test_edges_stand_where_samples_are_taken() -> None:
    edges = edges_of(10_400, 13_000, 1_000, 300)
    assert edges.times.tolist() == [10_300, 11_300, 12_300, 13_300]
    assert edges.count == 3


def test_growth_is_that_between_edges_whoever_sampled_when() -> None:
    late = grown((every(9_250, 21_250), [float(10 * place) for place in range(13)]))
    assert late.values.tolist() == [[10.0] * 10]
    assert late.seen.all()


def test_a_restart_begins_again_at_zero() -> None:
    values = [100.0, 110.0, 120.0, 5.0, 15.0, 25.0, 35.0, 45.0, 55.0, 65.0, 75.0, 85.0, 95.0]
    assert grown((every(9_000, 21_000), values)).values[0].tolist() == [10.0, 5.0, *[10.0] * 8]


def test_a_series_that_begins_later_had_zero_before() -> None:
    first = (every(9_000, 21_000), [1.0] * 13)
    second = (every(14_000, 21_000), [7.0, 9.0, 11.0, 13.0, 15.0, 17.0, 19.0, 21.0])
    assert grown(first, second).values[1].tolist() == [0.0, 0.0, 0.0, 7.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]


def test_a_series_that_had_begun_before_it_was_seen_grows_by_what_was_seen() -> None:
    first = (every(9_000, 21_000), [1.0] * 13)
    second = (every(14_000, 21_000), [70_000.0 + 2 * place for place in range(8)])
    assert grown(first, second).values[1].sum() == 12.0


def test_what_was_not_sent_again_had_not_changed() -> None:
    first = (every(9_000, 21_000), [float(place) for place in range(13)])
    second = ([9_000, 10_000, 14_000, 15_000, 21_000], [5.0, 5.0, 9.0, 9.0, 9.0])
    assert grown(first, second).values[1].tolist() == [0.0, 0.0, 0.0, 4.0, *[0.0] * 6]


def test_a_gap_is_not_known() -> None:
    times = [*every(9_000, 12_000), *every(40_000, 42_000)]
    found = grown((times, [float(place) for place in range(len(times))]))
    assert found.seen.tolist() == [True, True, *[False] * 8]
    assert found.values[0][~found.seen].tolist() == [0.0] * 8


def test_a_sender_that_was_never_there_is_not_seen() -> None:
    assert not grown(([30_000], [1.0])).seen.any()
    assert grown().values.shape == (0, 10)


def test_an_agent_that_was_there_before_the_first_event_saw_none() -> None:
    edges = edges_of(10_000, 20_000, 1_000, 0)
    first = (np.array(every(14_000, 21_000)), np.array([7.0, 9.0, 11.0, 13.0, 15.0, 17.0, 19.0, 21.0]))
    there = {("app", "one"): np.array(every(9_000, 21_000))}
    assert grown_of([APP], [first], edges, there).values[0].tolist() == [0.0, 0.0, 0.0, 7.0, *[2.0] * 6]
    assert grown_of([APP], [first], edges).values[0].tolist() == [0.0] * 4 + [2.0] * 6


def test_series_are_summed_by_key() -> None:
    found = grown(
        (every(9_000, 21_000), [float(p) for p in range(13)]), (every(9_000, 21_000), [2.0 * p for p in range(13)])
    )
    assert found.by(lambda labels: labels["job"])["app"].tolist() == pytest.approx([3.0] * 10)
    assert found.by(lambda labels: labels.get("none")) == {}
