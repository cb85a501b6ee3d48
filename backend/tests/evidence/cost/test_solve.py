import numpy as np
import pytest
from loadwatch_backend.evidence.cost.model import Basis
from loadwatch_backend.evidence.cost.solve import MANY, Ground, Part, Solution, solve

from backend.tests.evidence.cost.made import Made, make_load


def solved(made: Made, statement: int) -> Solution:
    requests, calls = made.counts(made.ends), made.counts(made.calls)
    return solve(Ground(requests, np.ones(made.seconds)), calls[:, statement])


def by_column(solution: Solution) -> dict[tuple[int, ...], Part]:
    return {part.columns: part for part in solution.parts}


@pytest.mark.parametrize("seed", range(5))
def test_planted_factors_are_found_within_five_percent(seed: int) -> None:
    made = make_load(
        {0: {0: 1}, 1: {1: 5}, 2: {2: 101}},
        routes=3,
        statements=3,
        rate=[40.0, 20.0, 5.0],
        takes=[0.005, 0.02, 0.2],
        background=2.0,
        seed=seed,
    )
    for statement, planted in enumerate((1, 5, 101)):
        (part,) = solved(made, statement).parts
        assert part.columns == (statement,)
        assert part.basis is Basis.FITTED
        assert part.calls.value == pytest.approx(planted, rel=0.05)
        assert part.calls.low <= part.calls.value <= part.calls.high


def test_what_other_clients_ask_is_nobodys() -> None:
    made = make_load({0: {0: 3}}, routes=2, statements=1, background=50.0)
    solution = solved(made, 0)
    assert by_column(solution)[(0,)].calls.value == pytest.approx(3, rel=0.1)
    assert solution.background == pytest.approx(50, rel=0.1)
    quiet = solve(Ground(made.counts(made.ends), np.ones(made.seconds)), np.full(made.seconds, 7.0))
    assert quiet.parts == []
    assert quiet.background == pytest.approx(7)


def test_a_burst_of_another_client_changes_nothing() -> None:
    made = make_load({2: {0: 101}}, routes=3, statements=1, takes=0.01)
    calls = made.counts(made.calls)[:, 0]
    calls[40] += 20_000
    solution = solve(Ground(made.counts(made.ends), np.ones(made.seconds)), calls)
    assert solution.bursts == (40,)
    (part,) = solution.parts
    assert (part.columns, part.calls.value) == ((2,), pytest.approx(101, rel=0.05))


def test_routes_that_always_run_together_are_not_told_apart() -> None:
    made = make_load({0: {0: 101}}, routes=2, statements=1)
    requests = made.counts(made.ends)
    requests[:, 1] = requests[:, 0]
    (part,) = solve(Ground(requests, np.ones(made.seconds)), made.counts(made.calls)[:, 0]).parts
    assert part.basis is Basis.TOGETHER
    assert part.columns == (0, 1)
    assert part.calls.value == pytest.approx(50.5, rel=0.05)


def test_a_route_that_ran_alone_is_counted() -> None:
    made = make_load({0: {0: 7}, 1: {0: 7}}, routes=2, statements=1, seconds=60)
    requests, calls = made.counts(made.ends), made.counts(made.calls)[:, 0]
    first = [time[(time > 10) & (time < 40)] for time in made.ends]
    # The second route is silent in the first half: what it asked there is taken away again.
    gone = made.ends[1] < 40
    requests[:, 1] -= np.histogram(made.ends[1][gone], np.arange(made.seconds + 1))[0]
    calls = calls - 7 * np.histogram(made.ends[1][gone], np.arange(made.seconds + 1))[0]
    found = by_column(solve(Ground(requests, np.ones(made.seconds)), calls))
    assert len(first[0]) > 100
    assert found[(0,)].basis is Basis.ALONE
    assert found[(0,)].calls.value == pytest.approx(7, rel=0.05)
    assert found[(1,)].calls.value == pytest.approx(7, rel=0.1)


def test_too_few_intervals_tell_nothing() -> None:
    made = make_load({0: {0: 5}, 1: {0: 5}}, routes=2, statements=1, seconds=6, margin=2)
    assert solved(made, 0).parts == []


def test_ten_that_repeat_are_found_and_ten_clean_ones_are_not_accused() -> None:
    """Each repeating route has a lookup of its own; all twenty share the session's lookup, once a request."""
    repeats = (8, 12, 20, 30, 50, 101, 15, 25, 10, 70)
    asks = {route: {route: times, 20: 1} for route, times in enumerate(repeats)}
    asks |= {route: {route: 1, 20: 1} for route in range(10, 20)}
    made = make_load(asks, routes=20, statements=21, rate=10.0, takes=0.05, background=3.0, seed=4)
    accused = {part.columns for statement in range(21) for part in solved(made, statement).parts if part.least >= MANY}
    assert accused == {(route,) for route in range(10)}


@pytest.mark.parametrize("seed", range(4))
def test_one_lookup_that_all_share_accuses_no_clean_route(seed: int) -> None:
    """The hardest mix: what cannot be told is not told."""
    repeats = (8, 12, 20, 30, 50, 101, 15, 25, 10, 70)
    asks = {route: {0: times} for route, times in enumerate(repeats)} | {route: {0: 1} for route in range(10, 20)}
    made = make_load(
        asks, routes=20, statements=1, takes=[0.2] * 10 + [0.04] * 10, background=3.0, seconds=90, seed=seed
    )
    accused = {part.columns for part in solved(made, 0).parts if len(part.columns) == 1 and part.least >= MANY}
    assert (5,) in accused
    assert all(columns < (10,) for columns in accused)


def test_the_same_seconds_say_the_same_twice() -> None:
    made = make_load({0: {0: 5}, 1: {0: 2}}, routes=3, statements=1)
    assert solved(made, 0) == solved(made, 0)
