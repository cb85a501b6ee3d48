import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loadwatch_backend.evidence.records.model import Seconds
from loadwatch_backend.runs.analysis.phases import Level, describe_ramp, hinge, offered_load, rising_rows
from loadwatch_backend.runs.analysis.schemas import RampOut
from loadwatch_formats.outcomes import Outcome

from backend.tests.runs.analysis.building import Bench, per_second, result_of, subject

CAPACITY = 600.0


def describe(seconds: Seconds) -> RampOut:
    offered = offered_load(seconds.requests.astype(np.float64), None, seconds.users)
    rising = rising_rows(offered)
    assert rising is not None
    return describe_ramp(seconds, offered, rising, 0.0)


def saturating(rates: np.ndarray, seed: int = 1) -> Seconds:
    """A server that answers `CAPACITY` a second: beyond it latency climbs to the client's timeout, which then fails."""
    random = np.random.default_rng(seed)
    sent = random.poisson(rates).astype(np.float64)
    behind = np.maximum.accumulate(np.maximum(np.cumsum(np.maximum(rates - CAPACITY, 0)), 0))
    p95 = np.minimum(0.02 + behind / CAPACITY, 3.0) * random.uniform(0.9, 1.1, len(rates))
    late = np.where(p95 > 2.5, np.maximum(sent - CAPACITY, 0), 0)
    return per_second(sent - late, p95, {Outcome.TIMEOUT: late})


@pytest.mark.parametrize("seed", range(4))
def test_a_staircase_tells_the_highest_level_that_was_held(seed: int):
    found = describe(saturating(np.repeat(np.arange(1, 11) * 100.0, 30), seed))
    assert len(found.steps) == 10
    assert [step.held for step in found.steps] == [True] * 6 + [False] * 4
    assert found.sustained_rate == pytest.approx(600, rel=0.03)
    assert found.knee_rate == pytest.approx(600, rel=0.1)
    assert found.knee_seconds == pytest.approx(180, abs=16)
    assert found.steps[-1].failure_ratio > 0.3


@pytest.mark.parametrize("seed", range(4))
def test_an_even_ramp_tells_its_knee(seed: int):
    found = describe(saturating(np.linspace(10, 1_000, 300), seed))
    assert found.knee_rate == pytest.approx(600, rel=0.12)
    assert found.knee_seconds == pytest.approx(180, rel=0.12)
    assert found.sustained_rate is not None
    assert 500 <= found.sustained_rate <= 640


def test_a_ramp_that_is_held_to_the_top_has_no_knee():
    random = np.random.default_rng(5)
    found = describe(per_second(random.poisson(np.linspace(10, 500, 200)), random.gamma(8, 0.005, 200)))
    assert found.knee_rate is None
    assert found.knee_seconds is None
    assert all(step.held for step in found.steps)
    assert found.sustained_rate == pytest.approx(484, rel=0.05)


def test_with_users_that_wait_for_answers_latency_tells():
    """A closed system: 10 to 400 users, each 0.1 s a turn, against 600 answers a second."""
    users = np.linspace(10, 400, 200)
    rate = np.minimum(users / 0.1, CAPACITY)
    found = describe(per_second(rate, users / rate, users=users))
    assert found.sustained_rate == pytest.approx(CAPACITY, rel=0.02)
    assert found.knee_seconds == pytest.approx(26, abs=12)


def test_the_analysis_of_a_ramp_has_no_steady_window(bench: Bench):
    run = subject(result_of(saturating(np.repeat(np.arange(1, 11) * 100.0, 30))), thresholds=("p95<300ms",))
    found = bench.analyst().analyse(run)
    assert found.ramp is not None
    assert found.ramp.sustained_rate == pytest.approx(600, rel=0.03)
    assert found.steady_window is not None
    assert (found.steady_window.source, found.steady_window.reason) == ("whole", "ramp")
    assert found.generator.state == "unknown"


@settings(deadline=None, max_examples=50)
@given(
    counts=st.lists(st.integers(0, 2_000), min_size=4, max_size=120),
    seed=st.integers(0, 1_000),
    told=st.booleans(),
)
def test_no_rate_is_sustained_that_was_never_reached(counts: list[int], seed: int, told: bool):
    random = np.random.default_rng(seed)
    failed = random.binomial(counts, random.choice([0.0, 0.005, 0.3]))
    p95 = random.gamma(2, 0.1, len(counts)) if told else None
    seconds = per_second(np.array(counts) - failed, p95, {Outcome.RESET: failed})
    offered = offered_load(seconds.requests.astype(np.float64), None, None)
    found = describe_ramp(seconds, offered, Level(0, len(counts)), 0.0)
    assert (found.sustained_rate or 0) <= max(counts)
    assert found.knee_rate is None or found.knee_rate <= max(counts)
    for step in found.steps:
        assert 0 <= step.from_seconds < step.to_seconds <= len(counts)


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ([1.0] * 20, None),
        ([1.0 + 0.1 * i for i in range(20)], None),
        ([1.0] * 10 + [1.0 + 2.0 * i for i in range(1, 11)], 9),
        ([1.0] * 14 + [50.0] * 6, 13),
        ([5.0, 4.0, 3.0, 2.0, 1.0, 1.0, 1.0], None),
        ([1.0, 9.0], None),
        ([1.0, float("nan"), 1.0, 1.0, 1.0, 1.0, 9.0], None),
    ],
)
def test_the_hinge_is_where_a_series_turns_upward(values: list[float], place: int | None):
    assert hinge(values) == place
