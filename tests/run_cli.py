"""What the tests of `loadwatch run` and its neighbours share: the command with its own state, a target, a stand-in."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.fork_server import ForkedLoadwatch, run_forked
from tests.serving import LOADWATCH

ROOT = Path(__file__).parents[1]
VEGETA = ROOT / "collectors" / "tests" / "fixtures" / "vegeta"
STARTED: "list[subprocess.Popen[bytes]]" = []
"""Commands that a test has begun; `conftest.py` ends those that are left."""
_REPLAY = ROOT / "tests" / "replay_vegeta.py"


@dataclass(kw_only=True)
class Cli:
    """`loadwatch` with a server, a state folder and a working directory of its own."""

    server: str
    directory: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def state(self) -> Path:
        return self.directory / "state"

    @property
    def waiting(self) -> list[str]:
        """Ids of the runs on disk."""
        return sorted(path.parent.name for path in self.state.glob("*/run.json"))

    def environ(self) -> dict[str, str]:
        own = {
            "LOADWATCH_SERVER": self.server,
            "LOADWATCH_RUNS": str(self.state),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CEILING_DIRECTORIES": str(self.directory.parent),
            "COLUMNS": "200",
        }
        return {**os.environ, **own, **self.environment}

    def __call__(self, *arguments: str, stdin: bytes = b"", seconds: float = 300) -> "subprocess.CompletedProcess[str]":
        return run_forked(
            *arguments, environment=self.environ(), directory=self.directory, stdin=stdin, seconds=seconds
        )

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """Begin a command and come back at once."""
        with (self.directory / "stderr").open("ab") as errors:
            process = ForkedLoadwatch(
                [str(LOADWATCH), *arguments],
                env=self.environ(),
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        STARTED.append(process)
        return process

    def errors(self) -> str:
        """What commands that were started have said."""
        return (self.directory / "stderr").read_text(errors="replace")

    def json(self, *arguments: str) -> Any:
        """The document that a command prints."""
        done = self(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def list(self) -> list[dict[str, Any]]:
        """All runs that the server has, the newest first."""
        return self.json("runs", "list")["runs"]

    def add_vegeta(self, recording: str, seconds: float) -> None:
        """Put a `vegeta` on the path that replays a recording for so many seconds."""
        folder = self.directory / "bin"
        folder.mkdir(exist_ok=True)
        script = folder / "vegeta"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{_REPLAY}" "{VEGETA / recording}" {seconds} "$@"\n')
        script.chmod(0o755)
        self.environment = {**self.environment, "PATH": f"{folder}:{os.environ['PATH']}"}


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended may wait for ever for a parent that asks how."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 180) -> None:
    """Wait for something that other processes bring about."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


class _Target(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        status = 503 if self.path.startswith("/fail") else 200
        self.send_response(status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: Any) -> None:
        pass


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Load generators break their connections at the end."""


@contextmanager
def target() -> Generator[str]:
    """An HTTP server to put under load: 200, and 503 below /fail."""
    server = _Quiet(("127.0.0.1", 0), _Target)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def query_range(server: str, expression: str, start_s: float, end_s: float) -> list[dict[str, Any]]:
    """Series of a PromQL question, one point a second."""
    import urllib.parse
    import urllib.request

    parameters = urllib.parse.urlencode({"query": expression, "start": start_s, "end": end_s, "step": 1})
    with urllib.request.urlopen(f"{server}/prometheus/api/v1/query_range?{parameters}", timeout=120) as answer:
        return json.load(answer)["data"]["result"]
