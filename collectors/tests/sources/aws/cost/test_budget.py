import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_collectors.sources.aws.cloudwatch import CLOUDWATCH
from loadwatch_collectors.sources.aws.cost import (
    LEVELS,
    BudgetKeeper,
    Load,
    estimate_cost,
    merge_loads,
    read_prices,
    slow_down,
)
from loadwatch_collectors.sources.aws.model import WantedMetric

from collectors.tests.sources.aws.cost.test_cost import make_wanted

PRICES = read_prices()

LOADS = st.lists(
    st.builds(
        Load,
        st.sampled_from(["rds", "alb", "sqs", "lambda"]),
        st.integers(0, 2),
        st.just("metrics"),
        st.sampled_from([10, 60, 300]),
        st.integers(1, 5000),
    ),
    max_size=12,
)


def plan(loads: list[Load], usd: float) -> dict[tuple[str, int], int]:
    return dict(slow_down(loads, PRICES, interval_seconds=60, usd_per_month=usd))


def test_a_budget_that_is_enough_changes_nothing() -> None:
    assert plan([Load("rds", 1, "metrics", 60, 20)], 8.64) == {}


def test_the_least_urgent_and_dearest_are_slowed_down_first() -> None:
    loads = [
        Load("alb", 0, "metrics", 60, 10),
        Load("alb", 2, "metrics", 60, 10),
        Load("rds", 2, "metrics", 60, 30),
    ]
    assert plan(loads, 20) == {("rds", 2): 2}
    assert plan(loads, 12) == {("rds", 2): 5}
    assert plan(loads, 10) == {("rds", 2): 5, ("alb", 2): 2}


def test_urgent_metrics_are_touched_last() -> None:
    loads = [Load("rds", 0, "metrics", 60, 100), Load("rds", 1, "metrics", 60, 100), Load("rds", 2, "metrics", 60, 100)]
    factors = plan(loads, 60)
    assert factors[("rds", 2)] > factors[("rds", 1)] > 1
    assert ("rds", 0) not in factors


@given(LOADS, st.floats(0.01, 5000))
def test_a_budget_is_never_overspent(loads: list[Load], usd: float) -> None:
    factors = plan(loads, usd)
    spent = estimate_cost(loads, PRICES, interval_seconds=60, factors=factors).total
    assert spent <= usd
    assert all(factor in (*LEVELS[1:], 0) for factor in factors.values())
    if estimate_cost(loads, PRICES, interval_seconds=60).total <= usd:
        assert factors == {}


@given(LOADS)
def test_nothing_is_left_out_while_reading_seldom_is_enough(loads: list[Load]) -> None:
    slowest = {(load.preset, load.priority): LEVELS[-1] for load in loads}
    least = estimate_cost(loads, PRICES, interval_seconds=60, factors=slowest).total
    assert 0 not in plan(loads, least * 1.0001 + 1e-6).values()


def factors_of(keeper: BudgetKeeper) -> dict[tuple[str, str], float]:
    return {
        (dict(sample.labels)["preset"], dict(sample.labels)["priority"]): sample.value
        for sample in keeper.samples()
        if sample.name == "aws_budget_slowdown_factor"
    }


def test_metrics_get_their_factor_and_the_budget_says_so_by_series() -> None:
    keeper = BudgetKeeper(10.0, PRICES, interval_seconds=60)
    wanted = [make_wanted("rds", priority=0) for _ in range(10)] + [make_wanted("rds", priority=2) for _ in range(30)]
    given_ = keeper.give("a", wanted)
    assert {(metric.priority, metric.every) for metric in given_} == {(0, 1), (2, 3)}
    assert factors_of(keeper) == {("rds", "0"): 1.0, ("rds", "2"): 3.0}
    values = {(sample.name, sample.labels): sample.value for sample in keeper.samples()}
    assert values["aws_budget_usd_per_month", ()] == 10.0
    assert values["aws_cost_usd_per_month_estimate", (("kind", "metrics"),)] == pytest.approx(4.32 + 4.32)
    assert keeper.wish().total == pytest.approx(17.28)
    assert keeper.describe() == [
        "the budget of 10.00 USD a month is less than the 17.28 USD that reading everything as often as it comes "
        "would cost; read less often:",
        "  rds, least urgent metrics: once in 3 periods",
    ]
    assert {sample.name for sample in keeper.samples()} <= {info.name for info in CLOUDWATCH.metrics}


def test_a_budget_that_is_far_too_small_leaves_metrics_out_and_says_so() -> None:
    keeper = BudgetKeeper(0.01, PRICES, interval_seconds=60)
    wanted = [make_wanted("rds", priority=0)] + [make_wanted("sqs", priority=2) for _ in range(1000)]
    given_ = keeper.give("a", wanted)
    assert {metric.preset for metric in given_} == {"rds"}
    assert factors_of(keeper)[("sqs", "2")] == math.inf
    assert keeper.factor("sqs", 2) == 0
    assert keeper.estimate().total <= 0.01
    assert any("not at all" in line for line in keeper.describe())


def test_without_a_budget_nothing_is_changed() -> None:
    keeper = BudgetKeeper(None, PRICES, interval_seconds=60)
    wanted = [make_wanted() for _ in range(5000)]
    assert keeper.give("a", wanted) is wanted
    assert keeper.describe() == []
    assert keeper.estimate().total == pytest.approx(2160)


def test_the_estimate_is_told_at_first_and_when_it_changes_by_much() -> None:
    keeper = BudgetKeeper(None, PRICES, interval_seconds=60)
    assert keeper.news() == []
    keeper.give("a", [make_wanted() for _ in range(100)])
    [line] = keeper.news()
    assert line.startswith("about 43.20 USD in 30 days, by AWS's list prices of")
    assert keeper.news() == []
    keeper.give("a", [make_wanted() for _ in range(105)])
    assert keeper.news() == []
    keeper.give("a", [make_wanted() for _ in range(120)])
    assert keeper.news()[0].startswith("about 51.84 USD")


def test_all_places_share_one_budget() -> None:
    keeper = BudgetKeeper(8.64, PRICES, interval_seconds=60)
    one = [make_wanted() for _ in range(20)]
    assert keeper.give("tokyo", one) is one
    two = [make_wanted() for _ in range(20)]
    assert {metric.every for metric in keeper.give("osaka", two)} == {2}
    assert {metric.every for metric in keeper.give("tokyo", one)} == {2}
    assert keeper.estimate().total <= 8.64
    assert keeper.give("tokyo", one) is keeper.give("tokyo", one)


def test_other_readers_take_part_in_the_budget() -> None:
    keeper = BudgetKeeper(10.0, PRICES, interval_seconds=60)
    extra = [Load("rds_insights", 2, "insights", 60, 100)]
    keeper.give("a", [], extra)
    assert keeper.factor("rds_insights", 2) > 1
    assert keeper.estimate().total <= 10


def test_ten_thousand_instances_are_one_load() -> None:
    keeper = BudgetKeeper(10.0, PRICES, interval_seconds=60)
    for place in range(10):
        keeper.give(place, [make_wanted() for _ in range(100)], [Load("rds_insights", 1, "insights", 60, 1)] * 1000)
    assert merge_loads([Load("a", 1, "metrics", 60, 2), Load("a", 1, "metrics", 60, 3)]) == [
        Load("a", 1, "metrics", 60, 5)
    ]
    assert keeper.estimate().total <= 10


def test_questions_that_are_repeated_are_in_the_plan() -> None:
    keeper = BudgetKeeper(10.0, PRICES, interval_seconds=60)
    wanted = [make_wanted() for _ in range(20)]
    keeper.give("a", wanted)
    keeper.note_requested(1200, 0)
    assert keeper.factor("rds", 1) == 1
    # Less than an hour's worth says nothing yet.
    keeper.note_requested(1300, 90)
    assert keeper.factor("rds", 1) == 1
    keeper.note_requested(3600, 1200)
    assert keeper.factor("rds", 1) == 2
    assert keeper.estimate().total <= 10
    for hour in range(1, 8):
        keeper.note_requested(3600 + 1200 * hour, 1200)
    assert keeper.factor("rds", 1) == 1


def test_threads_may_ask_at_the_same_time() -> None:
    keeper = BudgetKeeper(20.0, PRICES, interval_seconds=60)
    errors: list[BaseException] = []

    def ask(place: int) -> None:
        try:
            for size in range(1, 30):
                given_: list[WantedMetric] = list(keeper.give(place, [make_wanted() for _ in range(size)]))
                assert len(given_) <= size
                keeper.samples()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert keeper.estimate().total <= 20
