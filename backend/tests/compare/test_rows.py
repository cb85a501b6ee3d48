import numpy as np
import numpy.typing as npt
import pytest
from loadwatch_backend.runs.compare.metrics import RATES, SHARES, SLOW
from loadwatch_backend.runs.compare.rows import Measured, Nearness, make_row
from loadwatch_backend.runs.compare.schemas import CompareCell, ComparisonOpinion, Grade, MetricInfo

RATE = MetricInfo(id="rate", title="Rate", unit="per_second", orientation="more_is_better", help="")
P95 = MetricInfo(id="p95", title="p95", unit="seconds", orientation="more_is_worse", help="")
FAILED = MetricInfo(id="error_rate", title="Failed", unit="ratio", orientation="more_is_worse", help="")
EMPTY = np.empty(0)


def values(seed: int, mean: float, count: int = 120) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).normal(mean, mean / 50, count)


def run(seed: int, mean: float) -> Measured:
    seconds = values(seed, mean)
    return Measured(figure=float(seconds.mean()), seconds=seconds)


def plain(*figures: float) -> list[Measured]:
    return [Measured(figure=figure, seconds=EMPTY) for figure in figures]


def against(base: list[Measured], other: list[Measured]) -> CompareCell:
    return make_row(P95, SLOW, [base, other]).cells[1]


def test_two_single_runs_that_differ_by_half_cannot_be_told_apart() -> None:
    base, other = make_row(P95, SLOW, [[run(1, 0.3)], [run(2, 0.2)]]).cells
    assert base.delta is None
    assert base.opinion is ComparisonOpinion.NEUTRAL
    assert other.delta == pytest.approx(-1 / 3, abs=0.02)
    assert (other.opinion, other.remark) == (ComparisonOpinion.UNCLEAR, "single-run")
    assert other.low is not None
    assert other.high is not None
    assert other.value is not None
    assert other.low < other.value < other.high


def test_two_single_runs_that_are_worlds_apart_differ() -> None:
    assert against([run(1, 0.3)], [run(2, 0.03)]).opinion is ComparisonOpinion.BETTER


def test_earlier_repeats_tell_how_far_equal_runs_differ() -> None:
    past = [[0.30, 0.303, 0.299], [0.2, 0.201, 0.198]]
    row = make_row(P95, SLOW, [[run(1, 0.3)], [run(2, 0.2)]], past)
    assert row.cells[1].opinion is ComparisonOpinion.BETTER


def test_an_interval_that_reaches_over_the_margin_is_no_sameness() -> None:
    """Three figures that scatter by a third: the difference may be anything, and is not called none."""
    cell = against(plain(0.20, 0.31, 0.26), plain(0.28, 0.22, 0.33))
    assert cell.opinion is ComparisonOpinion.UNCLEAR
    assert cell.delta_low is not None
    assert cell.delta_high is not None
    assert cell.delta_low < -0.3
    assert cell.delta_high > 0.5


def test_an_interval_within_the_margin_is_sameness() -> None:
    cell = against(plain(0.300, 0.301, 0.299), plain(0.301, 0.302, 0.300))
    assert (cell.opinion, cell.remark) == (ComparisonOpinion.SAME, "")


def test_no_difference_is_told_below_minus_100_percent() -> None:
    cell = against(plain(0.5, 1.5, 4.0), plain(0.1, 2.0, 0.4))
    assert cell.delta_low is not None
    assert cell.delta_low > -1
    assert cell.opinion is ComparisonOpinion.UNCLEAR


def test_the_delta_is_that_of_the_exact_figures() -> None:
    base = Measured(figure=0.5, seconds=values(1, 0.3))
    other = Measured(figure=0.4, seconds=values(2, 0.2))
    assert against([base], [other]).delta == pytest.approx(-0.2)


def test_three_repeats_a_side_decide_by_their_scatter() -> None:
    base, other = [run(seed, 1_000) for seed in (1, 2, 3)], [run(seed, 1_200) for seed in (4, 5, 6)]
    row = make_row(RATE, RATES, [base, other])
    cell = row.cells[1]
    assert (cell.opinion, cell.remark) == (ComparisonOpinion.BETTER, "")
    assert row.margin == RATES.margin
    assert cell.spread is not None
    assert cell.p_value is not None
    assert cell.p_value < 0.01


def test_two_repeats_are_said_to_be_few() -> None:
    cell = make_row(RATE, RATES, [[run(1, 100), run(2, 101)], [run(3, 150), run(4, 151)]]).cells[1]
    assert cell.remark == "few-repeats"


def test_a_few_seconds_cannot_tell() -> None:
    cell = against([Measured(figure=1.0, seconds=np.ones(3))], [Measured(figure=2.0, seconds=np.full(3, 2.0))])
    assert (cell.opinion, cell.remark) == (ComparisonOpinion.UNCLEAR, "short")
    assert (cell.delta, cell.delta_low, cell.p_value) == (1.0, None, None)


def test_repeats_need_no_seconds() -> None:
    cell = against(plain(0.100, 0.101, 0.099), plain(0.130, 0.131, 0.129))
    assert cell.opinion is ComparisonOpinion.WORSE


def test_a_group_without_the_figure_has_no_opinion() -> None:
    cell = against([run(1, 100)], [Measured(figure=None, seconds=EMPTY)])
    assert (cell.value, cell.delta, cell.opinion, cell.remark) == (None, None, ComparisonOpinion.UNCLEAR, "no-data")


def test_seconds_without_requests_do_not_count() -> None:
    seconds = values(2, 100)
    seconds[::2] = np.nan
    cell = against([run(1, 100)], [Measured(figure=100.0, seconds=seconds)])
    assert cell.delta_low is not None


def test_failures_where_there_were_none_are_worse_although_no_percentage_can_say_by_how_much() -> None:
    none, some = Measured(figure=0.0, seconds=np.zeros(100)), Measured(figure=0.05, seconds=values(1, 0.05, 100))
    cell = make_row(FAILED, SHARES, [[none], [some]]).cells[1]
    assert (cell.delta, cell.opinion, cell.remark) == (None, ComparisonOpinion.WORSE, "single-run")
    back = make_row(FAILED, SHARES, [[some], [none]]).cells[1]
    assert back.delta == pytest.approx(-1.0)
    assert back.opinion is ComparisonOpinion.BETTER


def test_a_failure_in_ten_thousand_is_as_good_as_none() -> None:
    rows = make_row(FAILED, SHARES, [plain(0.0, 0.0, 0.0), plain(0.000_01, 0.0, 0.000_02)])
    assert rows.cells[1].opinion is ComparisonOpinion.SAME


def test_no_interval_reaches_below_zero() -> None:
    cell = make_row(P95, SLOW, [plain(0.001, 0.03, 0.5), plain(0.001, 0.03)]).cells[0]
    assert cell.low is not None
    assert cell.low > 0


def test_no_interval_reaches_beyond_what_can_be() -> None:
    hits = make_row(FAILED, SHARES, [[run(1, 0.9)], [run(2, 0.98)]]).cells[1]
    assert (hits.value is not None, hits.low, hits.high, hits.delta_high) == (True, None, None, None), "it is assumed"
    used = [one._replace(limit=8.0) for one in (run(1, 6.0), run(2, 7.5))]
    assert make_row(RATE, SLOW, [[used[0]], [used[1]]]).cells[1].high is None
    repeats = make_row(FAILED, SHARES, [plain(0.5, 0.7, 0.9), plain(0.6, 0.8, 0.99)]).cells[1]
    assert (repeats.low is not None, repeats.high) == (True, 1.0), "repeats tell it, and it ends there"


def test_more_in_use_of_a_pool_that_was_raised_is_not_worse() -> None:
    in_use = MetricInfo(id="signal:pool_in_use", title="In use", unit="count", orientation="more_is_worse", help="")

    def pool(used: float, limit: float | None) -> list[Measured]:
        return [Measured(figure=used + extra, seconds=EMPTY, limit=limit) for extra in (-0.1, 0.0, 0.1)]

    raised = make_row(in_use, SLOW, [pool(30, 30), pool(55, 60)]).cells[1]
    assert (raised.opinion, raised.remark) == (ComparisonOpinion.NEUTRAL, "limit-differs")
    assert make_row(in_use, SLOW, [pool(30, 60), pool(55, 60)]).cells[1].opinion is ComparisonOpinion.WORSE
    assert make_row(in_use, SLOW, [pool(30, None), pool(55, 60)]).cells[1].opinion is ComparisonOpinion.WORSE


def test_what_did_not_come_near_its_limit_is_not_judged() -> None:
    in_use = MetricInfo(id="signal:pool_in_use", title="In use", unit="count", orientation="more_is_worse", help="")

    def pool(used: float, near: Nearness) -> list[Measured]:
        return [Measured(figure=used + extra, seconds=EMPTY, near=near) for extra in (-0.1, 0.0, 0.1)]

    def opinion_between(before: Nearness, after: Nearness) -> tuple[ComparisonOpinion, str, Grade | None]:
        cell = make_row(in_use, SLOW, [pool(3, before), pool(9, after)]).cells[1]
        return cell.opinion, cell.remark, cell.grade

    far, unknown = (
        (ComparisonOpinion.NEUTRAL, "far-from-limit", None),
        (ComparisonOpinion.NEUTRAL, "limit-unknown", None),
    )
    assert opinion_between(Nearness.FAR, Nearness.FAR) == opinion_between(Nearness.UNKNOWN, Nearness.FAR) == far
    assert opinion_between(Nearness.UNKNOWN, Nearness.UNKNOWN) == unknown
    assert opinion_between(Nearness.FAR, Nearness.NEAR) == (ComparisonOpinion.WORSE, "", Grade.REPEATS)
    missing = make_row(in_use, SLOW, [pool(3, Nearness.FAR), [Measured(figure=None, seconds=EMPTY)]]).cells[1]
    assert missing.remark == "no-data"


def test_a_grade_says_whether_repeats_tell_it() -> None:
    assert against([run(1, 0.3)], [run(2, 0.03)]).grade is Grade.CLEAR
    assert against([run(1, 0.3)], [run(2, 0.2)]).grade is Grade.CANNOT_TELL
    assert against(plain(0.3, 0.31, 0.3), plain(0.2, 0.2, 0.21)).grade is Grade.REPEATS
    assert against(plain(0.3, 0.301, 0.3), plain(0.3, 0.3, 0.301)).grade is Grade.REPEATS, "that they are the same, too"
    assert make_row(P95, SLOW, [plain(0.3), plain(0.2)]).cells[0].grade is None


def test_without_a_direction_a_difference_is_told_and_not_judged() -> None:
    info = P95.model_copy(update={"orientation": "neutral"})
    cell = make_row(info, SLOW, [plain(1, 1.01, 0.99), plain(9, 9.01, 8.99)]).cells[1]
    assert (cell.opinion, cell.grade, cell.remark) == (ComparisonOpinion.NEUTRAL, None, "no-direction")
    assert cell.delta == pytest.approx(8, rel=0.01)


@pytest.mark.parametrize(("base", "other"), [([-5.0, -6.0], [3.0, 4.0]), ([3.0], [-2.0]), ([-3.0], [-9.0])])
def test_figures_below_zero_are_shown_and_not_compared(base: list[float], other: list[float]) -> None:
    cell = make_row(P95, SLOW, [plain(*base), plain(*other)]).cells[1]
    assert (cell.opinion, cell.delta, cell.p_value, cell.remark) == (
        ComparisonOpinion.NEUTRAL,
        None,
        None,
        "below-zero",
    )
    assert cell.per_run == other
