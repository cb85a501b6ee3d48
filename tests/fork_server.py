"""`loadwatch` as a real process that need not import the server first, which takes seconds of CPU each time.

One process of each test worker has imported all commands, and forks for each start. What it forks becomes a child of
the test's process, so it has a process id, an environment, a directory, standard streams, signals and an exit status of
its own, as after an exec. Tests about the start itself, or about the installed command, use `subprocess.Popen`.
"""

import atexit
import ctypes
import functools
import importlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from loadwatch_backend.alerting.rules.files import RuleFiles
from loadwatch_backend.core import faults
from loadwatch_collectors.commands.cli import main

LARGEST_REQUEST = 1 << 17
PR_SET_CHILD_SUBREAPER = 36
NETWORK = "/proc/thread-self/ns/net"
"""A thread of a test may enter another, in which all that it starts is, too."""
_libc = ctypes.CDLL(None, use_errno=True)
_lock = threading.Lock()
_usual_network = os.stat(NETWORK).st_ino


class ForkedLoadwatch(subprocess.Popen[Any]):
    """`Popen` of the command `loadwatch`, of which arguments, directory, environment and streams are given."""

    def _execute_child(self, args: Any, executable: Any, *rest: Any) -> None:
        # `Popen` calls it with these, in this order, from Python 3.11 to 3.14.
        _preexec, _close, _pass, directory, environment, _info, _flags, _shell, *pipes = rest[:14]
        stdin, _, _, stdout, _, stderr = pipes
        popen: Any = super()
        if os.stat(NETWORK).st_ino != _usual_network:
            popen._execute_child(args, executable, *rest)
            return
        request = {
            "arguments": [str(one) for one in args],
            "directory": str(directory or Path.cwd()),
            "environment": dict(os.environ if environment is None else environment),
        }
        streams = [inherited if given == -1 else given for inherited, given in enumerate((stdin, stdout, stderr))]
        with _lock:
            server = _fork_server()
            _libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
            try:
                socket.send_fds(server, [json.dumps(request).encode()], streams)
                self.pid = int(server.recv(64))
            finally:
                _libc.prctl(PR_SET_CHILD_SUBREAPER, 0)
        self._child_created = True
        popen._close_pipe_fds(*pipes)


def run_forked(
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
    stdin: bytes = b"",
    seconds: float = 300,
) -> "subprocess.CompletedProcess[str]":
    """As `subprocess.run` of `loadwatch` with these arguments, of which the output is kept."""
    pipe = subprocess.PIPE
    command = [str(Path(sys.executable).with_name("loadwatch")), *map(str, arguments)]
    with ForkedLoadwatch(command, env=environment, cwd=directory, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            output, errors = (text.decode("utf-8", "replace") for text in process.communicate(stdin, seconds))
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


@functools.cache
def _fork_server() -> socket.socket:
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        command = [sys.executable, "-m", "tests.fork_server", str(its.fileno())]
        # A fork takes one thread along, so there are no others.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        root = Path(__file__).parents[1]
        process = subprocess.Popen(
            command,
            pass_fds=[its.fileno()],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def serve(requests: socket.socket) -> bool:
    """Fork for each request until the other end closes; True in each child, which goes on as the command asked for."""
    for command in entry_points(group="loadwatch.commands"):
        command.load()
    RuleFiles((), int)  # The shipped packs and rules, which the process keeps once they are read.
    while True:
        request, streams, _, _ = socket.recv_fds(requests, LARGEST_REQUEST, 3)
        if not request:
            return False
        if between := os.fork():
            os.waitpid(between, 0)
            for stream in streams:
                os.close(stream)
            continue
        between = os.getpid()
        if os.fork():
            os._exit(0)
        # The kernel gives an orphan to its nearest ancestor that takes them: the test's process.
        while os.getppid() == between:
            time.sleep(0.001)
        requests.send(str(os.getpid()).encode())
        _become(**json.loads(request), streams=streams)
        return True


def _become(arguments: list[str], directory: str, environment: dict[str, str], streams: list[int]) -> None:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv = arguments
    importlib.reload(faults)  # reads the environment


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as own_requests:
        forked = serve(own_requests)
    if forked:
        sys.exit(main(prog_name="loadwatch"))
