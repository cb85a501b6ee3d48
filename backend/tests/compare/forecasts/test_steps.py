"""Seconds of a run to steps."""

import numpy as np
import pytest
from loadwatch_backend.runs.compare.forecasts.model import Reason
from loadwatch_backend.runs.compare.forecasts.steps import (
    MOST_STEPS,
    answered_by_second,
    cut_steps,
    full_rate,
    merge_steps,
)

from backend.tests.compare.forecasts.made import made_load, made_step


def test_plateaus_become_steps_and_the_block_after_a_jump_is_left_out() -> None:
    good = np.repeat([100.0, 200.0, 400.0], 20)
    cut = cut_steps(made_load(good), good * 0.1, 1.0)
    assert [(step.rate, step.use) for step in cut.steps] == [(100, 10), (200, 20), (400, 40)]
    assert [step.seconds for step in cut.steps] == [20, 15, 15]
    assert cut.steps[1].from_ms == 1_000_000 + 25_000
    assert [(one.reason, one.seconds) for one in cut.left_out] == [(Reason.TRANSIENT, 10.0)]


def test_warm_up_failures_and_gaps_are_left_out_with_their_reasons() -> None:
    good, failed = np.full(60, 100.0), np.zeros(60)
    failed[20:25] = 50
    uses = np.full(60, 5.0)
    uses[40:50] = np.nan
    cut = cut_steps(made_load(good, failed, from_second=10), uses, 1.0)
    assert {one.reason: one.seconds for one in cut.left_out} == {
        Reason.WARM_UP: 10.0,
        Reason.FAILURES: 5.0,
        Reason.NO_DATA: 10.0,
    }
    assert sum(step.seconds for step in cut.steps) == 35


def test_a_few_failures_leave_a_block_in() -> None:
    good, failed = np.full(20, 100.0), np.zeros(20)
    failed[3] = 50
    failed[10:15] = 1
    cut = cut_steps(made_load(good, failed), np.full(20, 5.0), 1.0)
    assert not cut.left_out
    assert sum(step.seconds for step in cut.steps) == 20


def test_a_rate_over_time_is_held_against_the_load_of_that_time() -> None:
    good = np.linspace(100, 219, 120)
    covered = np.convolve(good, np.ones(5) / 5)[:120]
    cut = cut_steps(made_load(good), covered * 0.01, 1.0, covers_seconds=5)
    for step in cut.steps:
        assert step.use == pytest.approx(step.rate * 0.01)


def test_a_block_is_as_long_as_a_slow_value_covers() -> None:
    cut = cut_steps(made_load(np.full(300, 50.0)), np.full(300, 2.0), 60.0)
    assert [step.block_seconds for step in cut.steps] == [60.0]
    assert [len(step.rates) for step in cut.steps] == [5]


def test_a_long_run_has_few_blocks() -> None:
    cut = cut_steps(made_load(np.full(6_000, 50.0)), np.full(6_000, 2.0), 1.0)
    assert [len(step.rates) for step in cut.steps] == [120]


def test_nothing_gives_nothing() -> None:
    assert not cut_steps(made_load(np.empty(0)), np.empty(0), 1.0).steps
    short = cut_steps(made_load(np.full(4, 50.0)), np.full(4, 2.0), 1.0)
    assert not short.steps


def test_chance_makes_no_steps() -> None:
    draw = np.random.default_rng(1)
    good = draw.poisson(8, 120).astype(np.float64)
    cut = cut_steps(made_load(good), good * 0.1, 1.0)
    assert len(cut.steps) <= 2
    assert not cut.left_out


def test_answers_are_counted_when_they_end() -> None:
    good = np.full(20, 100.0)
    # Each second is answered half a second later than the one before: 100 take one and a half seconds.
    answered = answered_by_second(good, np.arange(20) / 2)
    assert answered[3:19] == pytest.approx(np.full(16, 100 / 1.5))
    assert answered_by_second(good, np.full(20, np.nan)) == pytest.approx(good)
    assert answered_by_second(good, None) is good


def test_the_rate_while_full_is_that_of_the_first_stretch() -> None:
    good = np.concatenate([np.full(30, 100.0), np.full(40, 180.0), np.full(40, 20.0)])
    uses = np.concatenate([np.full(30, 5.0), np.full(80, 10.0)])
    uses[[10, 12, 37]] = 10.0, 10.0, 9.0
    assert full_rate(made_load(good), uses, 10.0) == 180
    assert full_rate(made_load(good), uses, 11.0) is None
    assert full_rate(made_load(good[:5]), uses[:5], 5.0) is None


def test_many_steps_become_fewer_with_all_their_blocks() -> None:
    steps = [made_step(100 + place, 1.0) for place in range(100)]
    merged = merge_steps(steps)
    assert len(merged) == MOST_STEPS
    assert sum(len(step.rates) for step in merged) == sum(len(step.rates) for step in steps)
    assert merge_steps(steps[:5]) == steps[:5]


def test_seconds_in_which_others_used_it_are_left_out_and_told() -> None:
    good = np.full(60, 50.0)
    uses = np.where(np.arange(60) < 30, 0.5, 2.0)
    cut = cut_steps(made_load(good), uses, 1.0, disturbed=np.arange(60) >= 30)
    assert [step.use for step in cut.steps] == [pytest.approx(0.5)]
    assert [(one.reason, one.seconds) for one in cut.left_out] == [(Reason.OTHERS, 30)]
