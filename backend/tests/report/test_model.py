"""The order of a run's limits, the same on its page and in reports."""

from loadwatch_backend.findings.schemas import FindingOut
from loadwatch_backend.runs.analysis.schemas import ResourceReached
from loadwatch_backend.runs.registry.documents import limits_in_order

from backend.tests.findings.said import finding
from backend.tests.report.making import make_run

(POOL,) = make_run().resources


def reached(name: str, ratio: float, full_ms: int | None, interval_ms: int | None = None) -> ResourceReached:
    changes = {"labels": {"instance": name}, "ratio_max": ratio, "first_full_ms": full_ms, "interval_ms": interval_ms}
    return POOL.model_copy(update=changes)


def accused(*names: str, **more: str) -> list[FindingOut]:
    return [finding(name, labels={"job": "app", "instance": name, **more}) for name in names]


def places(findings: list[FindingOut], *limits: ResourceReached) -> list[tuple[int | None, str]]:
    return [(one.place, one.labels["instance"]) for one in limits_in_order(limits, findings)]


def test_what_did_harm_stands_first_in_the_order_in_which_it_was_full() -> None:
    never = (reached("fds", 0.3, None), reached("spike", 1, None))
    limits = (*never, reached("late", 1.2, 1_900), reached("cpu", 1, 0), reached("pool", 1, 100))
    found = places(accused("pool", "late"), *limits)
    assert found == [(1, "pool"), (2, "late"), (None, "cpu"), (None, "spike"), (None, "fds")]
    muted = [one.model_copy(update={"muted": True}) for one in accused("pool", "late")]
    assert {place for place, _ in places(muted, *limits)} == {None}


def test_times_that_are_closer_than_samples_come_share_a_place() -> None:
    names = accused("a", "b", "c")
    found = places(names, reached("a", 1, 0), reached("b", 1, 999), reached("c", 1, 2_000))
    assert [place for place, _ in found] == [1, 1, 3]
    assert [place for place, _ in places(names, reached("a", 1, 0), reached("b", 1, 50_000, 60_000))] == [1, 1]


def test_things_of_one_host_are_told_apart() -> None:
    assert places(accused("h", port="80"), reached("h", 1, 0)) == [(None, "h")]
    assert places(accused("h"), reached("h", 1, 0)) == [(1, "h")]


def test_a_finding_about_a_resource_accuses_no_other_limit_of_the_same_place() -> None:
    (found,) = accused("pool")
    about = found.model_copy(update={"resource": POOL.resource})
    other = found.model_copy(update={"resource": "process_fds"})
    assert places([about], reached("pool", 1, 0)) == [(1, "pool")]
    assert places([other], reached("pool", 1, 0)) == [(None, "pool")]
    cloud = reached("pool", 1, 0).model_copy(update={"resource": "aws_db_connections"})
    assert places([other], cloud) == [(1, "pool")], "the same thing has another name at AWS"


def test_all_instances_of_a_fleet_are_accused() -> None:
    fleet = finding("pool", labels={"job": "app"}, instances=["web-7", "web-1"])
    limits = [reached(name, 1, 3_000) for name in ("web-1", "web-7", "web-2")]
    assert places([fleet], *limits) == [(1, "web-1"), (1, "web-7"), (None, "web-2")]
