import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from loadwatch_backend.connect.schemas import ConnectIn
from loadwatch_backend.connect.service import (
    KEPT_MS,
    AgentElsewhereError,
    AgentFileError,
    ConnectFailedError,
    ConnectService,
    OtherListenerError,
)
from loadwatch_backend.kit.processes.agent_control import AgentControl, AgentKeeper, AgentState

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
