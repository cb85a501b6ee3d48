"""Child processes that live and end together."""

import ctypes
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

STOP_SECONDS = 15.0
PAUSE_SECONDS = 0.2
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _end_with_parent() -> None:
    """Ask the kernel to end the child when its parent dies, even by SIGKILL."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A running child and how to speak of it."""

    name: str
    process: "subprocess.Popen[bytes]"

    def ending(self) -> str | None:
        """How it ended, in words; None while it runs."""
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


def stop_child(child: Child, seconds: float = STOP_SECONDS) -> str | None:
    """Ask the child to stop, and make it after a while; says so when that was needed."""
    if child.process.poll() is not None:
        return None
    child.process.terminate()
    try:
        child.process.wait(seconds)
    except subprocess.TimeoutExpired:
        child.process.kill()
        child.process.wait()
        return f"{child.name} did not stop within {seconds:g} s and was killed"
    return None


def first_ending(children: Sequence[Child]) -> str | None:
    """How the first child that ended did so; None while all run."""
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
        """Take over both signals."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        del number, frame
        self.asked = True
