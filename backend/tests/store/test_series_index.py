"""What the index does beyond the contract: removal, revival, pending series."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from loadwatch_backend.series.store import patterns
from loadwatch_backend.series.store.embedded import series_index
from loadwatch_backend.series.store.embedded.series_index import SeriesIndex
from loadwatch_backend.series.store.errors import PatternError
from loadwatch_backend.series.store.port import Labels, Matcher, MatchOperator

EVERY = (-(2**62), 2**62)


def labels(number: int) -> Labels:
    return {"__name__": "m", "i": str(number), "parity": str(number % 2)}


def index_of(count: int) -> SeriesIndex:
    index = SeriesIndex(1000)
    ids = index.resolve([labels(number) for number in range(count)])
    index.touch(ids, np.zeros(count, np.int64), np.arange(count, dtype=np.int64))
    return index


def numbers(index: SeriesIndex, *matchers: Matcher) -> list[str]:
    return [one["i"] for one in index.labels(index.match(matchers, *EVERY).tolist())]


def test_removed_series_are_found_no_more_and_their_ids_not_given_again() -> None:
    index = index_of(4)
    odd = index.match([Matcher("parity", MatchOperator.EQUAL, "1")], *EVERY)
    index.remove(odd.tolist())
    assert numbers(index) == ["0", "2"]
    assert numbers(index, Matcher("parity", MatchOperator.NOT_EQUAL, "0")) == []
    assert index.label_values("parity", index.match([], *EVERY)) == ["0"]
    assert len(index) == 2
    again = index.resolve([labels(1)])
    assert again[0] > odd.max()
    assert index.generation == 1


def test_ids_of_removed_series_are_renewed() -> None:
    index = index_of(3)
    old = index.resolve([labels(0), labels(1), labels(0)])
    assert index.revive(old).tolist() == old.tolist()
    index.remove([int(old[0])])
    renewed = index.revive(old)
    assert renewed[0] == renewed[2] != old[0]
    assert renewed[1] == old[1]
    assert index.labels(renewed.tolist()) == [labels(0), labels(1), labels(0)]


def test_series_wait_for_a_commit_that_succeeds() -> None:
    index = index_of(2)
    taken = index.take_pending()
    assert len(taken) == 2
    assert index.take_pending() == []
    index.give_back(taken)
    index.resolve([labels(5)])
    assert [flat[3] for _, flat in index.take_pending()] == ["0", "1", "5"]


def test_only_series_with_samples_in_the_span_match() -> None:
    index = index_of(5)
    assert [one["i"] for one in index.labels(index.match([], 3, 100).tolist())] == ["3", "4"]
    assert len(index.match([], -100, -1)) == 0
    assert index.silent_since(3) == index.match([], -100, 100)[:3].tolist()
    # Every series begins at 0 and ends at its number.
    assert index.silent_since(5, [(3, 4), (100, 200)]) == index.match([], -100, 100)[:3].tolist()
    assert index.silent_since(5, [(-5, 0)]) == []


def test_values_of_one_label_over_many_series() -> None:
    index = index_of(50)
    chosen = index.match([Matcher("i", MatchOperator.NOT_REGEX, "1|3")], *EVERY)
    assert index.label_values("parity", chosen) == ["0", "1"]
    assert index.label_values("i", chosen[:2]) == ["0", "2"]
    assert index.label_names(chosen) == ["__name__", "i", "parity"]


def test_metrics_of_series_also_after_holes_and_removals() -> None:
    index = SeriesIndex(100)
    index.load([(3, ("__name__", "up", "job", "a")), (7, ("__name__", "load"))])
    ids = index.resolve([{"__name__": "up", "job": "b"}, {"job": "nameless"}])
    assert index.metrics(np.array([3, *ids[:1]], np.uint32)) == {"up"}
    assert index.metrics(np.array([7, 3, 7, ids[1]], np.uint32)) == {"up", "load", ""}
    index.remove([3])
    (again,) = index.resolve([{"__name__": "up", "job": "a"}])
    assert index.metrics(np.array([again, 999], np.uint32)) == {"up"}
    assert index.metrics(np.array([], np.uint32)) == frozenset()


def test_a_regular_expression_that_takes_long_ends_and_holds_up_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    index = SeriesIndex(1_000)
    index.resolve([{"__name__": "up", "n": str(number)} for number in range(100)])
    began, go_on = threading.Event(), threading.Event()

    def slow(value: str) -> bool:
        began.set()
        assert go_on.wait(60)
        return value == "7"

    def matcher(pattern: str) -> Callable[[str], bool]:
        assert pattern == "slow"
        return slow

    monkeypatch.setattr(patterns, "full_matcher", matcher)
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(index.match, [Matcher("n", MatchOperator.REGEX, "slow")], 0, 1)
        assert began.wait(60)
        # What comes in meanwhile does not wait for it, and is no part of its answer.
        assert len(index.resolve([{"__name__": "up", "n": "new"}])) == 1
        index.remove([3])
        go_on.set()
        found.result(60)
    monkeypatch.setattr(series_index, "MATCHING_SECONDS", -1.0)
    with pytest.raises(PatternError, match=r"takes more than -1 s for the 100 values of the label 'n'"):
        index.match([Matcher("n", MatchOperator.NOT_REGEX, "slow")], 0, 1)
