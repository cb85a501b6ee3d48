"""The order of limits in a report."""

from loadwatch_backend.report.model import limits_in_order
from loadwatch_backend.runs.analysis.schemas import ResourceReached

from backend.tests.report.making import make_run

(POOL,) = make_run().resources


def reached(name: str, ratio: float, full_ms: int | None, interval_ms: int | None = None) -> ResourceReached:
    changes = {"name": name, "ratio_max": ratio, "first_full_ms": full_ms, "interval_ms": interval_ms}
    return POOL.model_copy(update=changes)


def places(*limits: ResourceReached) -> list[tuple[int | None, str]]:
    return [(place, one.name) for place, one in limits_in_order(make_run(resources=list(limits)))]


def test_limits_stand_in_the_order_in_which_they_were_full_then_by_their_highest_use() -> None:
    found = places(
        reached("fds", 0.3, None), reached("late", 1.2, 1_900), reached("spike", 1, None), reached("p", 1, 0)
    )
    assert found == [(1, "p"), (2, "late"), (None, "spike"), (None, "fds")]


def test_times_that_are_closer_than_samples_come_share_a_place() -> None:
    assert [place for place, _ in places(reached("a", 1, 0), reached("b", 1, 999), reached("c", 1, 2_000))] == [1, 1, 3]
    assert [place for place, _ in places(reached("a", 1, 0), reached("b", 1, 50_000, 60_000))] == [1, 1]
