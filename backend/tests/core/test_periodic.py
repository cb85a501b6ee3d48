"""Tasks in the background: repeated, woken, and one log line for a series of failures."""

import threading
from collections.abc import Callable

from loadwatch_backend.core.periodic import Periodic
from structlog.testing import capture_logs


class Steps:
    """A tick that does the given steps in turn, and the last one again and again."""

    def __init__(self, *steps: Callable[[], float | None]) -> None:
        self._steps = steps
        self.count = 0
        self._changed = threading.Condition()

    def __call__(self) -> float | None:
        with self._changed:
            step = self._steps[min(self.count, len(self._steps) - 1)]
            self.count += 1
            self._changed.notify_all()
        return step()

    def wait(self, count: int) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.count >= count, 60)


def fail() -> None:
    raise OSError("the disk is away\nand more")


def mistake() -> None:
    raise ValueError("of the code")


def test_repeats_until_it_is_closed_and_can_be_started_again() -> None:
    steps = Steps(lambda: None)
    loop = Periodic("steps", steps, 0.001)
    for _ in range(2):
        loop.start()
        loop.start()
        assert steps.wait(steps.count + 3)
        assert [thread.name for thread in threading.enumerate()].count("steps") == 1
        loop.close()
        loop.close()
        assert "steps" not in [thread.name for thread in threading.enumerate()]


def test_a_tick_may_say_its_pause() -> None:
    steps = Steps(lambda: 0.0, lambda: 0.0, lambda: 3_600.0)
    with Periodic("steps", steps, 3_600):
        assert steps.wait(3)


def test_without_a_period_it_waits_to_be_woken() -> None:
    steps = Steps(lambda: None)
    loop = Periodic("steps", steps, None, settle_seconds=0.001)
    loop.start(None)
    for count in (1, 2):
        loop.wake()
        assert steps.wait(count)
    loop.close()
    assert steps.count == 2


def test_closing_ends_a_pause_before_its_time() -> None:
    loop = Periodic("steps", Steps(lambda: None), None, settle_seconds=3_600)
    loop.start()
    loop.close(60)
    assert "steps" not in [thread.name for thread in threading.enumerate()]


def test_a_series_of_failures_and_its_end_are_logged_once() -> None:
    steps = Steps(fail, fail, lambda: None, lambda: None, mistake, lambda: None)
    with capture_logs() as logs, Periodic("steps", steps, 0.001, retry_seconds=0.0):
        assert steps.wait(7)
    found = [(one["log_level"], one.get("error"), one.get("detail"), one.get("exc_info")) for one in logs]
    works = ("info", None, None, None)
    assert found == [
        ("warning", "OSError", "the disk is away", False),
        works,
        ("warning", "ValueError", "of the code", True),
        works,
    ]
    assert {one["task"] for one in logs} == {"steps"}
