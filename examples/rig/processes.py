"""Processes that are started: each stops with who started it, by its own id, whatever happens."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self


class RigError(Exception):
    """It cannot go on; the text says what failed, where, and what to do."""


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def port_is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def wait_until(
    what: str, ready: Callable[[], bool], *, seconds: float, process: "ManagedProcess | None" = None
) -> None:
    """Return when `ready()` is true.

    Raises:
        RigError: it was not within `seconds`, or `process` ended before.
    """
    deadline = time.monotonic() + seconds
    while not ready():
        if process is not None and process.ended():
            raise RigError(f"{what}: the process ended with status {process.status()}\n{process.last_lines()}")
        if time.monotonic() > deadline:
            detail = f"\n{process.last_lines()}" if process is not None else ""
            raise RigError(f"{what}: not within {seconds:g} s{detail}")
        time.sleep(0.05)


class ManagedProcess:
    """A process with its log in a file; `with` stops it."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
        drop_prefix: str | None = None,
        stop_seconds: float = 30.0,
    ) -> None:
        """Start `command`. Its output is added to `log`.

        `environment` is added to this process's own, of which variables that begin with `drop_prefix` are left out.
        """
        self.name = name
        self.log = log
        self._stop_seconds = stop_seconds
        words = [str(word) for word in command]
        # Who is killed outright cannot stop anything: the kernel then does.
        # setpriv is part of every Debian; elsewhere this last safety net is missing.
        setpriv = shutil.which("setpriv")
        if setpriv:
            words = [setpriv, "--pdeathsig", "TERM", "--", *words]
        own = {key: value for key, value in os.environ.items() if not drop_prefix or not key.startswith(drop_prefix)}
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            try:
                # A session of its own: Ctrl-C reaches who started it only, who then stops everything in order.
                self._process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env={**own, **(environment or {})},
                )
            except OSError as error:
                raise RigError(f"cannot start {name} ({command[0]}): {error.strerror}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._process.poll()

    def last_lines(self, count: int = 15) -> str:
        """The end of the process's log, for an error."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-count:]
        return "\n".join([f"the end of {self.log}:", *(f"  {line}" for line in lines)])

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, if the process is there still."""
        if not self.ended():
            self._process.send_signal(number)

    def interrupt(self, seconds: float = 10.0) -> None:
        """Send SIGINT, as Ctrl-C does, and wait up to `seconds` for the end."""
        if not self.ended():
            self._process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)

    def stop(self) -> None:
        """Ask the process to end (SIGTERM), wait, and kill it when it does not."""
        if not self.ended():
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(self._stop_seconds)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
