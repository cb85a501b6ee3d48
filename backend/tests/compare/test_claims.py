"""What a comparison claims of runs whose truth is known: made ones, with noise as bench/compare measured it."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from loadwatch_backend.runs.compare.metrics import MEAN, MIDDLE, PACED, RATES, SLOW, SLOWER, SLOWEST
from loadwatch_backend.runs.compare.rows import Measured, make_row
from loadwatch_backend.runs.compare.schemas import ComparisonOpinion, MetricInfo
from loadwatch_backend.runs.compare.statistics import Scale

CLAIMS = frozenset({ComparisonOpinion.BETTER, ComparisonOpinion.WORSE})
SECONDS = 30
MEMORY = 0.8
"""Of a second for the one before."""
FIGURES: Sequence[tuple[str, Scale, float, float]] = (
    ("rate", Scale(margin=RATES.margin, scatter=PACED, floor=RATES.floor), 0.001, 0.004),
    ("mean", MEAN, 0.03, 0.05),
    ("p50", MIDDLE, 0.03, 0.05),
    ("p90", SLOW, 0.04, 0.10),
    ("p95", SLOW, 0.05, 0.15),
    ("p99", SLOWER, 0.10, 0.30),
    ("max", SLOWEST, 0.30, 0.50),
)
"""Figures with their scales, the standard deviation between equal runs, and that of the seconds within one."""


def made_run(random: np.random.Generator, slower: float, disturbed: float = 0.0) -> list[Measured]:
    """A run's figures: the system's state of the day moves all of its response times together.

    `disturbed` is how often other work of the machine makes some seconds of a run slower, and by chance.
    """
    shared = random.normal()
    others = np.zeros(SECONDS)
    if disturbed and random.random() < disturbed:
        others[random.choice(SECONDS, random.integers(3, 10), replace=False)] = random.uniform(0.5, 1.0)
    found: list[Measured] = []
    for name, _, between, within in FIGURES:
        state = between * (0.7 * shared + 0.7 * random.normal())
        shocks = random.normal(size=SECONDS + 20)
        noise = np.zeros(SECONDS + 20)
        for place in range(1, len(noise)):
            noise[place] = MEMORY * noise[place - 1] + shocks[place] * np.sqrt(1 - MEMORY**2)
        level = 450.0 if name == "rate" else 0.02 * slower
        seconds = level * np.exp(state + within * noise[20:] + (0 if name == "rate" else others))
        found.append(Measured(figure=float(seconds.mean()), seconds=seconds))
    return found


def opinions(random: np.random.Generator, runs: int, slower: float, disturbed: float = 0.0) -> list[ComparisonOpinion]:
    """What is said of each figure of `runs` runs against as many others."""
    base, other = ([made_run(random, factor, disturbed) for _ in range(runs)] for factor in (1.0, slower))
    told: list[ComparisonOpinion] = []
    for place, (name, scale, _, _) in enumerate(FIGURES):
        direction = "more_is_better" if name == "rate" else "more_is_worse"
        info = MetricInfo(id=name, title=name, unit="seconds", orientation=direction, help="")
        row = make_row(info, scale, [[run[place] for run in side] for side in (base, other)])
        told.append(row.cells[1].opinion)
    return told


def share(holds: Callable[[list[ComparisonOpinion]], bool], told: Sequence[list[ComparisonOpinion]]) -> float:
    return sum(holds(one) for one in told) / len(told)


@pytest.mark.parametrize(("runs", "times"), [(1, 100), (2, 40), (3, 40), (4, 40)])
def test_of_equal_runs_no_figure_is_said_to_differ_in_95_of_100(runs: int, times: int) -> None:
    random = np.random.default_rng(runs)
    told = [opinions(random, runs, 1.0) for _ in range(times)]
    assert share(lambda one: not CLAIMS & set(one), told) >= 0.95


def test_a_variant_a_fifth_slower_is_found_by_four_runs_a_side_and_never_called_the_same() -> None:
    random = np.random.default_rng(20)
    told = [opinions(random, 4, 1.2) for _ in range(40)]
    assert share(lambda one: ComparisonOpinion.WORSE in one, told) >= 0.95
    latencies = [one[1:] for one in told]
    assert (
        share(lambda one: ComparisonOpinion.SAME not in one and ComparisonOpinion.BETTER not in one, latencies) == 1.0
    )


def test_of_equal_runs_nothing_is_claimed_where_other_work_disturbs_every_third() -> None:
    random = np.random.default_rng(40)
    told = [opinions(random, 4, 1.0, 0.3) for _ in range(100)]
    assert share(lambda one: not CLAIMS & set(one), told) >= 0.95


def test_a_disturbed_run_counts_less_so_that_a_slower_variant_is_found_more_often() -> None:
    random = np.random.default_rng(50)
    told = [opinions(random, 4, 1.2, 0.3) for _ in range(100)]
    # Where all runs count the same it is 0.22.
    assert share(lambda one: ComparisonOpinion.WORSE in one, told) >= 0.3
    assert share(lambda one: ComparisonOpinion.SAME not in one[1:] and ComparisonOpinion.BETTER not in one, told) == 1.0


def test_four_runs_a_side_say_that_a_rate_a_clock_holds_is_the_same() -> None:
    random = np.random.default_rng(30)
    told = [opinions(random, 4, 1.0)[0] for _ in range(20)]
    assert set(told) == {ComparisonOpinion.SAME}
