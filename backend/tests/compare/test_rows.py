import numpy as np
import numpy.typing as npt
import pytest
from loadwatch_backend.compare.rows import Measured, make_row
from loadwatch_backend.compare.schemas import MetricInfo, Opinion

RATE = MetricInfo(id="rate", title="Rate", unit="per_second", orientation="more_is_better", help="")
P95 = MetricInfo(id="p95", title="p95", unit="seconds", orientation="more_is_worse", help="")


def values(seed: int, mean: float, count: int = 120) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).normal(mean, mean / 50, count)


def run(seed: int, mean: float) -> Measured:
    seconds = values(seed, mean)
    return Measured(figure=float(seconds.mean()), seconds=seconds)


def test_two_single_runs_are_compared_by_their_seconds_and_the_page_is_told() -> None:
    row = make_row(P95, [[run(1, 0.3)], [run(2, 0.2)]])
    base, other = row.cells
    assert base.delta is None
    assert base.opinion is Opinion.NEUTRAL
    assert other.delta == pytest.approx(-1 / 3, abs=0.02)
    assert other.opinion is Opinion.BETTER
    assert other.remark == "single-run"
    assert other.low is not None
    assert other.high is not None
    assert other.value is not None
    assert other.low < other.value < other.high


def test_the_delta_is_that_of_the_exact_figures() -> None:
    base = Measured(figure=0.5, seconds=values(1, 0.3))
    other = Measured(figure=0.4, seconds=values(2, 0.2))
    assert make_row(P95, [[base], [other]]).cells[1].delta == pytest.approx(-0.2)


def test_three_repeats_a_side_decide_by_their_spread() -> None:
    base, other = [run(seed, 1_000) for seed in (1, 2, 3)], [run(seed, 1_200) for seed in (4, 5, 6)]
    cell = make_row(RATE, [base, other]).cells[1]
    assert (cell.opinion, cell.remark) == (Opinion.BETTER, "")
    assert cell.spread is not None
    assert cell.p_value is not None
    assert cell.p_value < 0.05


def test_repeats_that_scatter_hide_a_difference_that_single_runs_seem_to_show() -> None:
    base, other = [run(1, 900), run(2, 1_100), run(3, 1_000)], [run(4, 1_050), run(5, 930), run(6, 1_120)]
    assert make_row(RATE, [base, other]).cells[1].opinion is Opinion.SAME


def test_two_repeats_are_said_to_be_few() -> None:
    cell = make_row(RATE, [[run(1, 100), run(2, 101)], [run(3, 150), run(4, 151)]]).cells[1]
    assert cell.remark == "few-repeats"


def test_a_few_seconds_cannot_tell() -> None:
    short = [Measured(figure=1.0, seconds=np.ones(3))], [Measured(figure=2.0, seconds=np.full(3, 2.0))]
    cell = make_row(RATE, list(short)).cells[1]
    assert (cell.opinion, cell.remark) == (Opinion.UNCLEAR, "short")
    assert cell.delta_low is None


def test_a_group_without_the_figure_has_no_opinion() -> None:
    cell = make_row(RATE, [[run(1, 100)], [Measured(figure=None, seconds=np.empty(0))]]).cells[1]
    assert (cell.value, cell.delta, cell.opinion, cell.remark) == (None, None, Opinion.UNCLEAR, "no-data")


def test_seconds_without_requests_do_not_count() -> None:
    seconds = values(2, 100)
    seconds[::2] = np.nan
    cell = make_row(RATE, [[run(1, 100)], [Measured(figure=100.0, seconds=seconds)]]).cells[1]
    assert cell.opinion is Opinion.SAME


def test_changes_below_one_percent_are_the_same() -> None:
    base = Measured(figure=100.0, seconds=np.full(100, 100.0) + values(1, 0.1, 100))
    other = Measured(figure=100.5, seconds=np.full(100, 100.5) + values(2, 0.1, 100))
    assert make_row(RATE, [[base], [other]]).cells[1].opinion is Opinion.SAME


def test_figures_without_seconds_differ_by_an_amount_of_unknown_certainty() -> None:
    alone = [Measured(figure=2.0, seconds=np.empty(0))], [Measured(figure=3.0, seconds=np.empty(0))]
    cell = make_row(P95, list(alone)).cells[1]
    assert (cell.delta, cell.opinion, cell.remark) == (0.5, Opinion.UNCLEAR, "short")
    assert (cell.delta_low, cell.delta_high, cell.p_value) == (None, None, None)


def test_failures_where_there_were_none_are_worse_although_no_percentage_can_say_by_how_much() -> None:
    none, some = Measured(figure=0.0, seconds=np.zeros(100)), Measured(figure=0.05, seconds=values(1, 0.05, 100))
    cell = make_row(P95, [[none], [some]]).cells[1]
    assert (cell.delta, cell.opinion, cell.remark) == (None, Opinion.WORSE, "single-run")
    assert cell.p_value is not None
    back = make_row(P95, [[some], [none]]).cells[1]
    assert (back.delta, back.opinion) == (-1.0, Opinion.BETTER)


def test_no_interval_reaches_below_zero() -> None:
    base = [Measured(figure=0.001, seconds=values(1, 0.001)), Measured(figure=0.03, seconds=values(2, 0.03))]
    cell = make_row(P95, [base, base]).cells[0]
    assert cell.low == 0.0
