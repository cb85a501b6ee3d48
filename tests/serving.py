"""Real servers for whole-system tests: started on free ports with their own data, stopped at the end."""

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.fork_server import ForkedLoadwatch
from tests.ports import free_port

LOADWATCH = Path(sys.executable).parent / "loadwatch"


def wait_until_answers(url: str, process: "subprocess.Popen[bytes]", seconds: float = 120) -> None:
    """Wait until a GET gives 200; fails when the process ends before."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(f"process ended with {process.returncode} before {url} answered")
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)
    raise AssertionError(f"{url} did not answer within {seconds} s")


@dataclass
class RealServer:
    """`loadwatch server` on one data directory; may be started again and again, always on the same port."""

    directory: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    port: int = field(default_factory=free_port)
    starts: int = 0
    process: "subprocess.Popen[bytes] | None" = None
    installed: bool = False
    """Whether each start runs the installed command, which imports for seconds, instead of a fork."""

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def data(self) -> Path:
        """Its data directory."""
        return self.directory / "data"

    def launch(self) -> Path:
        """Start without waiting; a copy of the data as it was stays in `before-start`. Returns the log's path."""
        self.starts += 1
        copy = self.directory / "before-start"
        shutil.rmtree(copy, ignore_errors=True)
        if self.data.exists():
            shutil.copytree(self.data, copy)
        environment = {
            **os.environ,
            "LOADWATCH_DATA": str(self.data),
            "LOADWATCH_LISTEN": f"127.0.0.1:{self.port}",
            # What tests count in the store is what they wrote.
            "LOADWATCH_OWN_METRICS_SECONDS": "0",
            **self.environment,
        }
        log = self.directory / f"server-{self.starts}.log"
        with log.open("wb") as output:
            start = subprocess.Popen if self.installed else ForkedLoadwatch
            self.process = start([str(LOADWATCH), "server"], env=environment, stdout=output, stderr=output)
        return log

    def start(self) -> None:
        """Start and wait until it is ready; when that fails, the data as it was before is kept in `failed-start`."""
        log = self.launch()
        assert self.process is not None
        try:
            wait_until_answers(f"{self.url}/-/ready", self.process)
        except AssertionError as error:
            copy = self.directory / "before-start"
            if copy.exists():
                copy.rename(self.directory / "failed-start")
            raise AssertionError(
                f"start {self.starts}: {error}; log {log}: {log.read_text(errors='replace')[-3000:]}"
            ) from error

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(120)
        self.process = None

    def stop(self) -> int:
        """SIGTERM; returns the exit status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(120)
        self.process = None
        return status
