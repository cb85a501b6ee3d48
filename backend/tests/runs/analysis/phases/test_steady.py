import csv
import gzip
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loadwatch_backend.evidence.records.model import FloatArray, Seconds
from loadwatch_backend.runs.analysis.phases import (
    P95,
    SteadyRows,
    cut_edges,
    drifts,
    find_steady,
    mser,
    offered_load,
    rising_rows,
)

from backend.tests.runs.analysis.building import Requests

NAN = math.nan


def find(requests: FloatArray, p95: FloatArray | None = None, failed: FloatArray | None = None) -> SteadyRows:
    return find_steady(requests, p95, np.zeros(len(requests)) if failed is None else failed, ramps=False)


def noisy(length: int, level: float, seed: int = 1) -> FloatArray:
    return np.random.default_rng(seed).poisson(level, length).astype(np.float64)


def latencies(length: int, seed: int = 2) -> FloatArray:
    """p95 of a second: gamma, as heavy as measured ones."""
    return np.random.default_rng(seed).gamma(8, 0.005, length)


@pytest.mark.parametrize("seed", range(8))
def test_a_constant_run_is_steady_but_for_its_partial_seconds(seed: int):
    found = find(noisy(120, 100, seed), latencies(120, seed + 50))
    assert found.steady
    assert found.first <= 12
    assert found.last == 119


@pytest.mark.parametrize("seed", range(5))
def test_a_warm_up_in_latency_is_cut_off(seed: int):
    decay = 1 + 9 * np.exp(-np.arange(200) / 8)
    found = find(noisy(200, 100), latencies(200, seed) * decay)
    assert found.steady
    assert 15 <= found.first <= 50


def test_a_warm_up_in_rate_is_cut_off_however_long_it_climbs():
    """C4: throughput climbs while splits form; figures from that time must not count."""
    climbing = np.minimum(200 + 800 * np.arange(300) / 180, 1_000)
    found = find(climbing + noisy(300, 100) - 100, latencies(300))
    assert found.steady
    assert 160 <= found.first <= 190


def test_a_throughput_that_never_stops_climbing_has_no_steady_part():
    found = find(np.linspace(200, 1_000, 300) + noisy(300, 50))
    assert (found.steady, found.reason) == (False, "trend")


def test_a_step_leaves_the_level_that_stays():
    found = find(np.concatenate([noisy(60, 100), noisy(60, 200)]), latencies(120))
    assert found.steady
    assert 57 <= found.first <= 63


@pytest.mark.parametrize("place", [25, 45, 60, 90])
def test_a_spike_in_the_middle_counts(place: int):
    rate, p95 = noisy(120, 100), latencies(120)
    rate[place : place + 4] *= 5
    p95[place : place + 8] *= 30
    found = find(rate, p95)
    assert found.steady
    assert found.first <= 10
    assert found.last == 119


def test_a_sawtooth_is_steady():
    saw = 0.02 + 0.2 * (np.arange(180) % 15) / 15
    found = find(noisy(180, 100), saw)
    assert found.steady
    assert found.last - found.first > 120


def test_the_ramp_down_is_cut_off():
    rate = np.concatenate([noisy(100, 200), np.linspace(200, 0, 15)])
    found = find(rate, latencies(115))
    assert found.steady
    assert 98 <= found.last <= 105


def test_a_collapse_with_failures_is_no_ramp_down():
    rate = np.concatenate([noisy(100, 200), np.full(15, 20.0)])
    failed = np.concatenate([np.zeros(100), np.ones(15)])
    found = find(rate, None, failed)
    assert found.last >= 114


def test_a_latency_that_keeps_growing_is_no_steady_state():
    found = find(noisy(200, 100), np.linspace(0.05, 3, 200) * np.random.default_rng(1).uniform(0.9, 1.1, 200))
    assert (found.steady, found.reason) == (False, "trend")
    assert (found.first, found.last) == (0, 200)


def test_short_empty_and_ramping_runs_are_whole():
    assert find(noisy(5, 100), latencies(5)) == SteadyRows(0, 5, False, "too-short")
    assert find(np.zeros(60)) == SteadyRows(0, 60, False, "no-requests")
    assert find(np.zeros(0)) == SteadyRows(0, 0, False, "no-requests")
    assert find_steady(noisy(60, 9), None, np.zeros(60), ramps=True) == SteadyRows(0, 60, False, "ramp")


def test_seconds_without_requests_and_without_latency_are_no_obstacle():
    rate, p95 = noisy(120, 50), latencies(120)
    rate[40:43], p95[40:43] = 0, NAN
    found = find(rate, p95)
    assert found.steady
    assert found.last == 119
    assert find(rate, np.full(120, NAN)).steady


def test_half_an_hour_without_requests_is_no_steady_window():
    busy = noisy(600, 50)
    for rate in (np.concatenate([busy, np.zeros(1_800)]), np.concatenate([busy, np.zeros(1_800), busy])):
        found = find(rate)
        assert (found.first, found.last, found.steady) == (0, len(rate), False)
    assert find(np.concatenate([busy[:100], np.zeros(3), busy[:100]])).steady


def test_a_run_slower_than_a_request_a_second_is_whole():
    rate = np.zeros(6_000)
    rate[::30] = 1
    assert find(rate) == SteadyRows(0, 6_000, False, "too-few")


@settings(deadline=None, max_examples=60)
@given(
    rates=st.lists(st.integers(0, 10_000), max_size=80),
    scale=st.floats(1e-6, 100),
    seed=st.integers(0, 1_000),
    gaps=st.booleans(),
)
def test_the_window_lies_inside_the_run(rates: list[int], scale: float, seed: int, gaps: bool):
    random = np.random.default_rng(seed)
    p95 = random.gamma(2, scale, len(rates))
    if gaps:
        p95[random.random(len(rates)) < 0.3] = NAN
    found = find(np.array(rates, np.float64), p95, random.random(len(rates)))
    assert 0 <= found.first <= found.last <= len(rates)
    if not found.steady:
        assert (found.first, found.last) == (0, len(rates))
    else:
        assert found.last - found.first >= 5


@pytest.mark.parametrize("seed", range(20))
def test_chance_is_no_drift(seed: int):
    short = find(noisy(12, 20, seed), latencies(12, seed + 100))
    assert short.reason == "stable"
    random, wandering = np.random.default_rng(seed), np.zeros(120)
    for second in range(1, 120):
        wandering[second] = 0.8 * wandering[second - 1] + random.normal(0, 0.3)
    assert find(noisy(120, 200, seed), 0.05 * np.exp(wandering)).steady


def test_mser_finds_the_shift_in_whole_batches():
    values = np.concatenate([np.full(30, 9.0), np.tile([1.0, 1.2], 50)])
    assert mser(values, 0.5) == 30
    assert mser(np.ones(100), 0.5) == 0
    assert mser(np.ones(7), 0.5) == 0


def test_edges_and_drift():
    assert cut_edges(np.array([1.0, 10, 10, 10, 10, 10, 10, 10, 10, 2]), np.zeros(10)) == (1, 9)
    assert drifts(np.linspace(1, 2, 100), 0.5)
    assert not drifts(np.linspace(1, 1.2, 100), 0.5)
    assert not drifts(np.array([1.0, 2.0]), 0.1)


FIXTURES = Path(__file__).parents[1] / "fixtures"


def read_fixture(name: str) -> tuple[Seconds, FloatArray]:
    """Start in ms of the run, latency in microseconds and code of each request, of a real vegeta attack."""
    with gzip.open(FIXTURES / f"vegeta-{name}.csv.gz", "rt", encoding="ascii") as text:
        rows = [(int(start), int(latency), int(code)) for start, latency, code in csv.reader(text)]
    columns = np.array(rows, np.int64)
    order = np.argsort(columns[:, 0], kind="stable")
    seconds = Requests(columns[order, 0] * 10**6, columns[order, 1] / 1e6).seconds()
    first = int(columns[:, 0].min()) // 1_000
    placed = columns[:, 0] // 1_000 - first
    failed = np.bincount(placed, columns[:, 2] != 200) / np.maximum(np.bincount(placed), 1)
    return seconds, failed


@pytest.mark.parametrize(("name", "first"), [("control", 1), ("pool-waits", 2)])
def test_real_attacks_of_vegeta_are_steady_after_a_second_or_two(name: str, first: int):
    seconds, failed = read_fixture(name)
    assert seconds.latency is not None
    requests = seconds.requests.astype(np.float64)
    assert rising_rows(offered_load(requests, None, None)) is None
    found = find_steady(requests, seconds.latency[:, P95], failed, ramps=False)
    assert found == SteadyRows(first, 20, True, "stable")
