import os
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from loadwatch_backend.core.processes import (
    CONTROL_VARIABLE,
    AgentControl,
    AgentKeeper,
    AgentState,
    NoAgentControlError,
    take_agent_control,
)


@contextmanager
def kept(state: AgentState, restarts: list[int]) -> Generator[AgentControl]:
    """A parent that answers in a thread of its own, and the control that its child would have."""
    keeper = AgentKeeper(lambda: state, lambda: restarts.append(len(restarts)))
    number = os.dup(keeper.given.fileno())
    environment = {CONTROL_VARIABLE: str(number)}
    control = take_agent_control(environment)
    assert control is not None
    assert environment == {}
    assert not os.get_inheritable(number)
    ended = threading.Event()

    def wait() -> None:
        while not ended.is_set():
            keeper.pause(0.01)

    parent = threading.Thread(target=wait)
    parent.start()
    try:
        yield control
    finally:
        ended.set()
        parent.join()
        keeper.close()


def test_the_child_learns_of_the_agent_and_has_it_started_anew(tmp_path: Path):
    state = AgentState(command=("python", "loadwatch"), config=tmp_path / "loadwatch.yml", running=True)
    restarts: list[int] = []
    with kept(state, restarts) as control:
        assert control.state() == state
        assert restarts == []
        assert control.restart() == state
        assert restarts == [0]
    with pytest.raises(NoAgentControlError):
        control.state()
    control.close()


def test_without_a_parent_there_is_no_control(tmp_path: Path):
    assert take_agent_control({}) is None
    assert take_agent_control({CONTROL_VARIABLE: "x"}) is None
    with (tmp_path / "file").open("w") as file:
        assert take_agent_control({CONTROL_VARIABLE: str(file.fileno())}) is None
        file.write("still open")
    with socket.socket() as other:
        assert take_agent_control({CONTROL_VARIABLE: str(other.fileno())}) is None
        other.bind(("127.0.0.1", 0))


def test_a_parent_goes_on_when_its_child_has_ended(tmp_path: Path):
    state = AgentState(command=(), config=tmp_path, running=False)
    keeper = AgentKeeper(lambda: state, lambda: None)
    keeper.given.close()
    for _ in range(3):
        keeper.pause(0.01)
    keeper.close()
