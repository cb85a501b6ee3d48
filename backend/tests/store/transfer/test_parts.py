"""Parts hold each moment of each series once, stay small, and their selectors find their series."""

import itertools
import random
import re

import pytest
from loadwatch_backend.series.store.embedded.settings import HOUR_MS
from loadwatch_backend.series.store.port import Labels
from loadwatch_backend.series.store.transfer import parts_of

NAMES = ["a", "a|b", "b", "x.y", "(*)", 'q"\\', "ü ü", "", "line\nline", "metric:0"]


@pytest.mark.parametrize("seed", range(20))
def test_parts_hold_each_moment_of_each_series_once(seed: int) -> None:
    numbers = random.Random(seed)
    series: list[Labels] = [{"__name__": numbers.choice(NAMES), "i": str(place)} for place in range(200)]
    counts = [numbers.randint(1, 50) for _ in series]
    most = numbers.choice([1, 60, 500, 100_000])
    parts = parts_of(7 * HOUR_MS, range(len(series)), counts, lambda one: series[one], most)
    assert sum(part.samples for part in parts) == sum(counts)
    for place, labels in enumerate(series):
        of_it = [part for part in parts if place in part.ids]
        edges = [(part.start_ms, part.end_ms) for part in of_it]
        assert (edges[0][0], edges[-1][1]) == (7 * HOUR_MS, 8 * HOUR_MS - 1)
        assert all(first[1] + 1 == second[0] for first, second in itertools.pairwise(edges))
        for part in of_it:
            assert part.samples <= most
            (matcher,) = part.matchers
            assert matcher.label == "__name__"
            assert re.fullmatch(matcher.value, labels["__name__"])


def test_the_same_series_make_the_same_parts_whatever_their_order() -> None:
    series = [{"__name__": f"m{number % 7}", "i": str(number)} for number in range(500)]
    forward = parts_of(0, range(500), [10] * 500, lambda one: series[one], 100)
    backward = parts_of(0, range(499, -1, -1), [10] * 500, lambda one: series[one], 100)
    assert forward == backward
    assert len(forward) == 7 * 8


def test_an_hour_without_series_has_no_parts() -> None:
    assert parts_of(0, [], [], lambda _: {}) == []
