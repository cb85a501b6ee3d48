import json
import math
import random
import statistics
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_formats.access_logs.sketch import RELATIVE_ERROR, Sketch

SHARES = (0.0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0)
DISTRIBUTIONS: dict[str, Callable[[random.Random], float]] = {
    "lognormal": lambda dice: dice.lognormvariate(-4, 1.5),
    "exponential": lambda dice: dice.expovariate(30),
    "uniform": lambda dice: dice.uniform(0, 3),
    "pareto": lambda dice: dice.paretovariate(1.1) / 1000,
    "two modes": lambda dice: dice.gauss(0.005, 0.0005) if dice.random() < 0.97 else dice.gauss(5, 0.1),
    "milliseconds": lambda dice: round(dice.expovariate(100), 3),
}


def exact(values: list[float], share: float) -> float:
    return sorted(values)[max(0, math.ceil(round(share * len(values), 6)) - 1)]


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_quantiles_are_within_half_a_percent(name: str) -> None:
    dice = random.Random(7)
    values = [abs(DISTRIBUTIONS[name](dice)) for _ in range(20_000)]
    sketch = Sketch()
    sketch.add_all(values)
    for share, found in zip(SHARES, sketch.quantiles(SHARES), strict=True):
        assert found == pytest.approx(exact(values, share), rel=RELATIVE_ERROR * 1.0001, abs=1e-12)
    assert (sketch.least, sketch.greatest) == (min(values), max(values))
    assert sketch.sum == pytest.approx(math.fsum(values))
    assert sketch.mean == pytest.approx(statistics.fmean(values))
    assert sketch.deviation == pytest.approx(statistics.pstdev(values), rel=1e-6)


durations = st.floats(min_value=0, max_value=1e6) | st.sampled_from([0.0, 1e-12, 1e-9, 0.001, 1.0])


@given(st.lists(durations), st.lists(durations))
def test_merged_is_counted_together(one: list[float], two: list[float]) -> None:
    first, second, both = Sketch(), Sketch(), Sketch()
    first.add_all(one)
    second.add_all(two)
    both.add_all(one + two)
    first.merge(Sketch.from_json(json.loads(json.dumps(second.to_json()))))
    assert (first.buckets, first.zeros, first.count) == (both.buckets, both.zeros, both.count)
    assert (first.least, first.greatest) == (both.least, both.greatest)
    assert first.sum == pytest.approx(both.sum)


def test_a_least_of_zero_stays_zero() -> None:
    sketch = Sketch()
    sketch.add(0.25)
    sketch.add(0.0, 3)
    assert (sketch.least, sketch.zeros, sketch.count, sketch.sum) == (0.0, 3, 4, 0.25)
    assert sketch.quantiles((0.5, 0.75, 0.76)) == [0.0, 0.0, 0.25]


def test_nothing_has_no_figures() -> None:
    empty = Sketch()
    assert empty.quantiles((0.5, 1)) == [None, None]
    assert (empty.mean, empty.deviation, empty.least, empty.greatest) == (None, None, None, None)
    assert empty.cumulative((1.0,)) == [0]
    assert Sketch.from_json(empty.to_json()).count == 0


@pytest.mark.parametrize("value", [-0.001, math.nan, math.inf, 1e9])
def test_what_is_no_duration_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        Sketch().add(value)


def test_counts_for_fixed_bounds_rise_and_agree_with_the_values() -> None:
    bounds = [0.0005 * 2 ** (step / 4) for step in range(69)]
    dice = random.Random(3)
    sketch, values, before = Sketch(), list[float](), [0] * len(bounds)
    for _ in range(50):
        more = [dice.lognormvariate(-4, 1.5) for _ in range(100)] + [0.0, 1e4]
        sketch.add_all(more)
        values += more
        counts = sketch.cumulative(bounds)
        assert counts == sorted(counts)
        assert all(now >= then for now, then in zip(counts, before, strict=True))
        before = counts
    for bound, count in zip(bounds, before, strict=True):
        below = sum(value <= bound * (1 - 2 * RELATIVE_ERROR) for value in values)
        above = sum(value <= bound * (1 + 2 * RELATIVE_ERROR) for value in values)
        assert below <= count <= above
    assert before[-1] == len(values) - 50


@pytest.mark.parametrize(
    "damage",
    [
        {"count": 3},
        {"error": 0.01},
        {"buckets": [[1, -1]]},
        {"buckets": [[10**9, 1]]},
        {"least": None},
        {"buckets": 3},
        {"sum": "much"},
    ],
)
def test_what_is_no_sketch_is_said(damage: dict[str, object]) -> None:
    sketch = Sketch()
    sketch.add(1.5)
    with pytest.raises(ValueError, match="no sketch of durations"):
        Sketch.from_json(sketch.to_json() | damage)
    with pytest.raises(ValueError, match="no sketch of durations"):
        Sketch.from_json({})
