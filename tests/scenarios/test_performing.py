"""Actions on real processes."""

import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from examples.rig.database import Database
from examples.rig.processes import ManagedProcess, RigError
from scenarios import performing
from scenarios.actions import BurnCpu, Freeze, Kill, Restart
from scenarios.case import App
from scenarios.performing import Instance, Performance, Scene

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
STARTED: list[ManagedProcess] = []


@contextmanager
def sleeping(folder: Path, *, name: str, **_: Any) -> Generator[ManagedProcess]:
    with ManagedProcess(name, SLEEP, log=folder / f"{name}.log") as process:
        STARTED.append(process)
        yield process


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Scene]:
    """One instance, which is a process that sleeps."""
    STARTED.clear()
    monkeypatch.setattr(performing, "running_application", sleeping)
    database = cast(Database, None)
    with (
        Instance(App(flags=("-x",)), number=0, folder=tmp_path, port=1, database=database) as instance,
        ManagedProcess("agent", SLEEP, log=tmp_path / "agent.log") as agent,
    ):
        yield Scene(folder=tmp_path, database=database, instances=[instance], agent=agent)


def perform(scene: Scene, actions: Sequence[Any], until: Any) -> Performance:
    performance = Performance(actions, scene, load_at=time.monotonic())
    with performance:
        deadline = time.monotonic() + 120
        while not until() and time.monotonic() < deadline:
            time.sleep(0.01)
    return performance


def state(process: ManagedProcess) -> str:
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_an_instance_is_killed_and_one_that_is_started_again_stays(scene: Scene) -> None:
    perform(scene, [Kill(at=0), Restart(at=0.1)], lambda: len(STARTED) == 2).check()
    first, second = STARTED
    assert first.status() == -9
    # The thread that performed the restart has ended.
    assert not [thread for thread in threading.enumerate() if thread.name == "Restart"]
    time.sleep(0.3)
    assert not second.ended()


def test_an_instance_stands_still_and_goes_on(scene: Scene) -> None:
    (process,) = STARTED
    seen: list[str] = []

    def stood_and_went_on() -> bool:
        seen.append(state(process))
        return "T" in seen and seen[-1] != "T"

    perform(scene, [Freeze(at=0, seconds=0.3)], stood_and_went_on).check()
    assert "T" in seen
    assert state(process) != "T"


def test_what_burns_ends_with_the_performance(scene: Scene) -> None:
    started = time.monotonic()
    perform(scene, [BurnCpu(at=0, seconds=600, processes=1)], lambda: time.monotonic() - started > 0.3).check()
    assert not [thread for thread in threading.enumerate() if thread.name == "BurnCpu"]


def test_an_action_that_fails_is_told(scene: Scene) -> None:
    done: list[int] = []
    performance = perform(scene, [Kill(at=0, app=7), Kill(at=0.1)], lambda: done.append(1) or len(done) > 50)
    with pytest.raises(RigError, match="an action failed: IndexError"):
        performance.check()
