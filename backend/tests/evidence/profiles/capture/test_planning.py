import pytest
from loadwatch_backend.evidence.profiles.capture.planning import (
    SILENT_MS,
    UNTAKEN_MS,
    FiringAlert,
    OpenOrder,
    OrderState,
    Process,
    RunNow,
    begins_ms,
    given_up,
    kinds_asked,
    wanted_by_alert,
    wanted_by_run,
)

ALL = ("cpu", "mutex", "block", "heap", "goroutine", "allocs")
WEB_1 = Process(job="shop", instance="web-1", kinds=ALL, seconds=10)
WEB_2 = Process(job="shop", instance="web-2", kinds=("heap", "cpu"), seconds=10)
DB = Process(job="db", instance="db-1", kinds=("heap",), seconds=10)


def run(planned: float | None = None) -> RunNow:
    return RunNow(id="run-1", started_ms=1_000_000, planned_seconds=planned)


@pytest.mark.parametrize(("planned", "after_ms"), [(None, 20_000), (30.0, 12_000), (600.0, 20_000), (0.0, 0)])
def test_a_run_is_profiled_when_its_load_has_lasted(planned: float | None, after_ms: int) -> None:
    assert begins_ms(run(planned)) == 1_000_000 + after_ms
    assert not list(wanted_by_run(run(planned), [DB], set(), 1_000_000 + after_ms - 1))


def test_each_kind_is_ordered_once_of_each_process_what_matters_most_first() -> None:
    wanted = list(wanted_by_run(run(), [WEB_1, WEB_2], set(), 1_020_000))
    assert [(one.instance, one.kind) for one in wanted] == [
        *(("web-1", kind) for kind in ALL),
        ("web-2", "cpu"),
        ("web-2", "heap"),
    ]
    assert {one.seconds for one in wanted} == {10}
    had = {(one.run_id, one.cause, one.cause_id, one.job, one.instance) for one in wanted}
    assert not list(wanted_by_run(run(), [WEB_1, WEB_2], had, 1_030_000))
    later = list(wanted_by_run(run(), [WEB_1, WEB_2, DB], had, 1_030_000))
    assert [one.instance for one in later] == ["db-1"], "a process that came later"


@pytest.mark.parametrize(("planned", "seconds"), [(30.0, 3), (60.0, 9), (600.0, 10), (12.0, 1)])
def test_a_short_run_takes_shorter_profiles(planned: float, seconds: int) -> None:
    wanted = list(wanted_by_run(run(planned), [WEB_1], set(), begins_ms(run(planned))))
    assert {one.seconds for one in wanted} == {seconds}


def test_a_run_that_is_nearly_over_is_not_profiled() -> None:
    assert not list(wanted_by_run(run(10.0), [WEB_1], set(), 1_008_500))


@pytest.mark.parametrize(
    ("job", "instance", "whose"),
    [
        ("shop", "web-2", ["web-2"]),
        ("shop", "", ["web-1", "web-2"]),
        ("", "", ["db-1", "web-1", "web-2"]),
        ("other", "x", ["db-1", "web-1", "web-2"]),
    ],
)
def test_an_alert_asks_for_what_it_is_about(job: str, instance: str, whose: list[str]) -> None:
    alert = FiringAlert(id="a1", rule="PoolWaits", kinds=("heap",), job=job, instance=instance)
    wanted = list(wanted_by_alert(run(), alert, [DB, WEB_1, WEB_2], set()))
    assert [one.instance for one in wanted] == whose
    assert {(one.cause, one.cause_id, one.asked_by) for one in wanted} == {("alert", "a1", "PoolWaits")}
    had = {("run-1", "alert", "a1", one.job, one.instance) for one in wanted}
    assert not list(wanted_by_alert(run(), alert, [DB, WEB_1, WEB_2], had)), "once while it fires"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [("cpu", ("cpu",)), ("Heap, CPU", ("cpu", "heap")), ("all", ALL), ("", ()), ("yes", ()), ("cpu;rm", ())],
)
def test_an_alert_names_kinds(text: str, kinds: tuple[str, ...]) -> None:
    assert kinds_asked(text) == kinds


def test_what_nothing_will_come_of_is_given_up() -> None:
    waiting = OpenOrder(id=1, run_id="run-1", seconds=10, created_ms=0, taken_ms=None, free_ms=0)
    taken = OpenOrder(id=1, run_id="run-1", seconds=10, created_ms=0, taken_ms=5_000, free_ms=0)
    behind = OpenOrder(id=1, run_id="run-1", seconds=10, created_ms=0, taken_ms=None, free_ms=UNTAKEN_MS)
    here, gone = {"run-1"}, set[str]()
    assert given_up(waiting, here, UNTAKEN_MS) is None
    assert given_up(waiting, here, UNTAKEN_MS + 1) is OrderState.UNTAKEN
    assert given_up(behind, here, 2 * UNTAKEN_MS) is None, "its process was at work on another"
    assert given_up(waiting, gone, 1) is OrderState.OVER
    assert given_up(taken, gone, 15_000) is None, "what is being taken is finished"
    assert given_up(taken, gone, 15_001 + SILENT_MS) is OrderState.SILENT
