import numpy as np
import pytest
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.runs.analysis.phases import (
    Level,
    Offered,
    OfferedBy,
    cut_levels,
    offered_load,
    rising_rows,
)


def by_requests(values: FloatArray) -> Offered:
    return offered_load(values, None, None)


def stairs(levels: int, length: int, step: float = 100.0) -> FloatArray:
    return np.repeat(step * np.arange(1.0, levels + 1, dtype=np.float64), length)


def noisy(values: FloatArray, seed: int = 1) -> FloatArray:
    return np.random.default_rng(seed).poisson(values).astype(np.float64)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "shape",
    [
        np.linspace(1, 1_000, 300),
        np.linspace(100, 1_000, 60),
        stairs(3, 20),
        stairs(10, 30),
        np.concatenate([np.linspace(1, 1_000, 200), np.linspace(1_000, 0, 100)]),
        np.linspace(1, 1_000, 12),
    ],
)
def test_ramps_are_recognised(shape: FloatArray, seed: int):
    found = rising_rows(by_requests(noisy(shape, seed)))
    assert found is not None
    assert found.first <= len(shape) * 0.1
    assert shape[found.last - 1] >= 0.8 * shape.max()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "shape",
    [
        np.full(300, 100.0),
        np.concatenate([np.linspace(1, 1_000, 30), np.full(270, 1_000.0)]),
        np.concatenate([np.linspace(200, 1_000, 180), np.full(120, 1_000.0)]),
        np.concatenate([np.full(60, 100.0), np.full(60, 200.0)]),
        np.concatenate([np.full(100, 100.0), np.full(5, 900.0), np.full(100, 100.0)]),
        100 + 50.0 * (np.arange(300) % 30) / 30,
        np.linspace(1_000, 100, 200),
        np.zeros(100),
        np.zeros(0),
        np.array([1.0, 2, 3, 4, 5]),
    ],
)
def test_other_shapes_are_no_ramps(shape: FloatArray, seed: int):
    assert rising_rows(by_requests(noisy(shape, seed))) is None


def test_the_target_tells_more_than_the_users_and_these_more_than_the_requests():
    climbing, level = np.linspace(10, 1_000, 100), np.full(100, 500.0)
    assert offered_load(climbing, level, climbing).by is OfferedBy.TARGET
    assert rising_rows(offered_load(climbing, level, climbing)) is None
    assert offered_load(climbing, np.full(100, np.nan), level).by is OfferedBy.USERS
    assert rising_rows(offered_load(climbing, None, level)) is None, "throughput climbs by itself"
    found = rising_rows(offered_load(level, None, climbing))
    assert found == Level(0, 100), "throughput is capped while users come"
    assert offered_load(climbing, None, np.zeros(100)).by is OfferedBy.REQUESTS


@pytest.mark.parametrize("seed", range(3))
def test_the_levels_of_a_staircase_are_found(seed: int):
    offered = by_requests(noisy(stairs(6, 30), seed))
    found = cut_levels(offered, Level(0, 180))
    assert len(found) == 6
    for level, expected in zip(found, range(0, 180, 30), strict=True):
        assert abs(level.first - expected) <= 2


def test_an_even_ramp_is_cut_into_equal_parts():
    found = cut_levels(by_requests(noisy(np.linspace(1, 1_000, 300))), Level(0, 300))
    assert len(found) == 15
    assert {level.last - level.first for level in found} == {20}
