import sys
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from loadwatch_backend.app.connect import (
    KEPT_MS,
    AgentElsewhereError,
    AgentFileError,
    ConnectFailedError,
    ConnectIn,
    ConnectService,
    OtherListenerError,
)
from loadwatch_backend.core.processes import AgentControl, AgentKeeper, AgentState

from backend.tests.conftest import SetClock
from collectors.tests.servers import read_request, tcp_server

COMMAND = (sys.executable, "-c", "from loadwatch_collectors.commands.cli import main; main()")
NOBODY = ConnectIn(port=1, digest="0" * 16)


@contextmanager
def serving(
    config: Path, *, running: bool = True, command: Sequence[str] = COMMAND, clock: SetClock | None = None
) -> Generator[ConnectService]:
    """The service of a server whose parent says so of its agent."""
    state = AgentState(command=tuple(command), config=config, running=running)
    keeper = AgentKeeper(lambda: state, lambda: None)
    control = AgentControl(keeper.given)
    ended = threading.Event()

    def wait() -> None:
        while not ended.is_set():
            keeper.pause(0.01)

    parent = threading.Thread(target=wait)
    parent.start()
    try:
        yield ConnectService(control, clock or SetClock())
    finally:
        ended.set()
        parent.join()
        keeper.close()


def test_without_a_parent_the_agent_is_elsewhere():
    service = ConnectService(None, SetClock())
    assert service.look().agent == "elsewhere"
    for change in (service.check, service.watch):
        with pytest.raises(AgentElsewhereError, match="loadwatch connect PORT --write"):
            change(NOBODY)


def test_beside_another_agent_it_is_told_what_listens_and_nothing_is_written(tmp_path: Path):
    config = tmp_path / "loadwatch.yml"
    with serving(config, running=False) as service, tcp_server(read_request) as port:
        seen = service.look()
        one = next(item for item in seen.listeners if item.port == port)
        with pytest.raises(AgentElsewhereError):
            service.watch(ConnectIn(port=port, digest=one.digest))
    assert (seen.agent, seen.config) == ("displaced", None)
    assert not config.exists()


def test_an_answer_is_kept_for_seconds_unless_a_fresh_one_is_wanted(tmp_path: Path):
    clock = SetClock()
    with serving(tmp_path / "loadwatch.yml", clock=clock) as service:
        first = service.look()
        assert service.look() is first
        second = service.look(fresh=True)
        assert second is not first
        clock.now_ms += KEPT_MS
        assert service.look() is not second


def test_those_who_wait_for_a_look_share_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    clock, calls = SetClock(), list[int]()

    class Counted(SetClock):
        def __call__(self) -> int:
            calls.append(1)
            return clock.now_ms

    with serving(tmp_path / "loadwatch.yml", clock=Counted()) as service:
        run = service._run  # pyright: ignore[reportPrivateUsage] - the test holds it up
        entered, leave, looks = threading.Event(), threading.Event(), list[object]()

        def slow(*arguments: Any) -> Any:
            looks.append(arguments)
            entered.set()
            leave.wait(120)
            clock.now_ms += 1_000
            return run(*arguments)

        monkeypatch.setattr(service, "_run", slow)
        with ThreadPoolExecutor(8) as pool:
            first = pool.submit(service.look, fresh=True)
            assert entered.wait(120)
            others = [pool.submit(service.look, fresh=True) for _ in range(7)]
            # All eight have asked for the time, and the first one once more.
            while len(calls) < 9:
                threading.Event().wait(0.01)
            leave.set()
            seen = first.result()
            # Who asked while it went on was told what it found.
            assert all(one.result() is seen for one in others)
        assert len(looks) == 1


def test_what_the_command_refuses_is_said_in_its_words(tmp_path: Path):
    config = tmp_path / "loadwatch.yml"
    with serving(config) as service, tcp_server(read_request) as port:
        with pytest.raises(OtherListenerError, match="look again"):
            service.watch(ConnectIn(port=port, digest="0" * 16))
        config.write_text("targets: 7\n")
        with pytest.raises(AgentFileError, match=f"{config}:1: targets must be a list"):
            service.look()


def test_a_command_that_does_not_answer_is_said(tmp_path: Path):
    with (
        serving(tmp_path / "loadwatch.yml", command=["/nowhere/loadwatch"]) as service,
        pytest.raises(ConnectFailedError, match="did not answer"),
    ):
        service.look()
