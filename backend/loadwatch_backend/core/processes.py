"""Processes that belong together: children that end with their parent, and how a server reaches its agent.

A pair of sockets that nobody else holds: no name, no address, no file that another user could reach. Only these two
things can be asked, and neither takes words of the one who asks.
"""

import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

CONTROL_VARIABLE = "LOADWATCH_UP_CONTROL"
"""In which `loadwatch up` tells its server the number of the open socket."""
_ANSWER_SECONDS = 30.0
"""Longer than an agent may take to stop."""
_LONGEST = 65_536

Question = Literal["state", "restart"]


class NoAgentControlError(Exception):
    """The parent does not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentState:
    """The agent beside the server: how Loadwatch's commands are started here, the agent's file, whether it runs.

    The file need not be there yet: an agent without one watches its host alone.
    """

    command: tuple[str, ...]
    config: Path
    running: bool


class AgentControl:
    """The server's end; safe to use from any thread."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        connection.settimeout(_ANSWER_SECONDS)

    def state(self) -> AgentState:
        """What there is now.

        Raises:
            NoAgentControlError: the parent does not answer.
        """
        return self._ask("state")

    def restart(self) -> AgentState:
        """Have the agent started anew, so that it reads its file; it returns when the new one has been started.

        Raises:
            NoAgentControlError: the parent does not answer.
        """
        return self._ask("restart")

    def close(self) -> None:
        self._connection.close()

    def _ask(self, question: Question) -> AgentState:
        with self._lock:
            try:
                self._connection.send(question.encode())
                answer = self._connection.recv(_LONGEST)
                document: dict[str, Any] = json.loads(answer)
            except (OSError, ValueError) as error:
                raise NoAgentControlError(str(error)) from error
        return AgentState(
            command=tuple(document["command"]), config=Path(document["config"]), running=document["running"]
        )


def take_agent_control(environment: MutableMapping[str, str]) -> AgentControl | None:
    """The control that the parent left in the environment, and takes it out; None where there is none."""
    number = environment.pop(CONTROL_VARIABLE, "")
    if not number.isdecimal():
        return None
    try:
        connection = socket.socket(fileno=int(number))
        if connection.family != socket.AF_UNIX:
            connection.detach()  # whoever opened it goes on with it
            return None
    except OSError:
        return None
    os.set_inheritable(connection.fileno(), False)
    return AgentControl(connection)


class AgentKeeper:
    """The parent's end: answers while the parent waits for something else."""

    def __init__(self, state: Callable[[], AgentState], restart: Callable[[], None]) -> None:
        """`restart` starts the agent anew and returns when that is done."""
        self._state = state
        self._restart = restart
        self._own, self.given = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._open = True

    def pause(self, seconds: float) -> None:
        """Wait, and answer what is asked meanwhile."""
        if not self._open:
            time.sleep(seconds)
            return
        if not select.select([self._own], [], [], seconds)[0]:
            return
        question = self._own.recv(_LONGEST)
        if not question:
            self._open = False  # the server has ended
            return
        if question == b"restart":
            self._restart()
        document = asdict(self._state())
        self._own.send(json.dumps(document, default=str).encode())

    def close(self) -> None:
        self._own.close()
        self.given.close()


STOP_SECONDS = 15.0
PAUSE_SECONDS = 0.2
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _end_with_parent() -> None:
    """Ask the kernel to end the child when its parent dies, even by SIGKILL."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    name: str
    process: "subprocess.Popen[bytes]"

    def ending(self) -> str | None:
        status = self.process.poll()
        if status is None:
            return None
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with exit status {status}"
        return f"{self.name} {how}"


def start_child(
    name: str, command: Sequence[str], environment: Mapping[str, str], pass_fds: Sequence[int] = ()
) -> Child:
    """Start a child in a session of its own: Ctrl-C reaches the parent only, which stops its children in order."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_end_with_parent,
        pass_fds=pass_fds,
    )
    return Child(name=name, process=process)


def stop_child(child: Child) -> str | None:
    """Ask the child to stop, and make it after a while; says so when that was needed."""
    if child.process.poll() is not None:
        return None
    child.process.terminate()
    try:
        child.process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.process.kill()
        child.process.wait()
        return f"{child.name} did not stop within {STOP_SECONDS:g} s and was killed"
    return None


def first_ending(children: Sequence[Child]) -> str | None:
    return next((ending for child in children if (ending := child.ending()) is not None), None)


def wait_for_ending(
    children: Sequence[Child], is_stopping: "StopRequest", pause: Callable[[float], None] = time.sleep
) -> str | None:
    """Wait until a child ends (how it did is returned) or a stop is asked for (None).

    `pause` waits for so many seconds; it may put another child in the place of one.
    """
    while not is_stopping.asked:
        ending = first_ending(children)
        if ending is not None:
            return ending
        pause(PAUSE_SECONDS)
    return None


class StopRequest:
    """Set by SIGINT and SIGTERM."""

    def __init__(self) -> None:
        self.asked = False

    def install(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        del number, frame
        self.asked = True
