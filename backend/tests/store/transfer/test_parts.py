"""Parts hold each series once, stay small where labels allow it, and their selectors find their series and no other."""

import random

import pytest
from loadwatch_backend.store.port import Labels
from loadwatch_backend.store.prometheus import selectors
from loadwatch_backend.store.transfer.parts import parts_of


@pytest.mark.parametrize("seed", range(20))
def test_selectors_of_parts_find_exactly_their_series(seed: int) -> None:
    numbers = random.Random(seed)
    distinct: dict[frozenset[tuple[str, str]], Labels] = {}
    for _ in range(numbers.randint(1, 300)):
        labels = {"__name__": f"metric.{numbers.randint(0, 5)}"}
        for name in ("instance", "path", "code"):
            if numbers.random() < 0.8:
                labels[name] = numbers.choice(["a", "a|b", "", "x.y", "(*)", 'q"\\', "ü ü", "5", "line\nline"])
        labels = {name: value for name, value in labels.items() if value}
        distinct[frozenset(labels.items())] = labels
    series = list(distinct.values())
    counts = [numbers.randint(1, 50) for _ in series]
    most = numbers.choice([1, 60, 500, 100_000])
    parts = parts_of(range(len(series)), counts, lambda one: series[one], most)
    assert sorted(one for part in parts for one in part.ids) == list(range(len(series)))
    for part in parts:
        matches = selectors.tests_of(part.matchers)
        assert [place for place, labels in enumerate(series) if matches(labels)] == list(part.ids)
        assert part.samples == sum(counts[one] for one in part.ids)
        assert part.samples <= most or len(part.ids) == 1


def test_the_same_series_make_the_same_parts_whatever_their_order() -> None:
    series = [{"__name__": f"m{number % 7}", "i": str(number)} for number in range(500)]
    forward = parts_of(range(500), [10] * 500, lambda one: series[one], 100)
    backward = parts_of(range(499, -1, -1), [10] * 500, lambda one: series[one], 100)
    assert forward == backward
    assert len(forward) == 7 * 8


def test_an_hour_without_series_has_no_parts() -> None:
    assert parts_of([], [], lambda _: {}) == []
