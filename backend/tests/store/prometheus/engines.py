"""Real engines of Debian's packages, each on a free port with its own data."""

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ports import free_port
from tests.serving import wait_until_answers


@dataclass
class RealEngine:
    """May be killed and started again, on the same port and data."""

    directory: Path
    port: int
    command: Sequence[str]
    ready: str
    flush: str = ""
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start, and wait until it answers."""
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / "log").open("ab") as output:
            self.process = subprocess.Popen([*self.command], cwd=self.directory, stdout=output, stderr=output)
        wait_until_answers(f"{self.url}{self.ready}", self.process)

    def stop(self) -> None:
        """SIGTERM."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(120)
            self.process = None

    def show_all(self) -> None:
        """Make it show what it has taken in."""
        if self.flush:
            with urllib.request.urlopen(f"{self.url}{self.flush}", timeout=60):
                pass


@contextmanager
def victoria_metrics(directory: Path, *options: str) -> Generator[RealEngine]:
    """A single VictoriaMetrics."""
    port = free_port()
    command = (
        "victoria-metrics",
        f"-storageDataPath={directory / 'data'}",
        f"-httpListenAddr=127.0.0.1:{port}",
        # Tests write samples of a fixed time.
        "-retentionPeriod=100y",
        "-search.latencyOffset=0s",
        *options,
    )
    engine = RealEngine(directory, port, command, "/health", "/internal/force_flush")
    engine.start()
    try:
        yield engine
    finally:
        engine.stop()


PROMETHEUS_FILE = "storage: {tsdb: {out_of_order_time_window: 1d}}\n"


@contextmanager
def prometheus(directory: Path) -> Generator[RealEngine]:
    """A Prometheus that takes remote write."""
    port = free_port()
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "prometheus.yml").write_text(PROMETHEUS_FILE)
    command = (
        "prometheus",
        f"--config.file={directory / 'prometheus.yml'}",
        f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--web.enable-remote-write-receiver",
        "--storage.tsdb.retention.time=100y",
    )
    engine = RealEngine(directory, port, command, "/-/ready")
    engine.start()
    try:
        yield engine
    finally:
        engine.stop()


def wait_for(what: str, condition: object, seconds: float = 120) -> None:
    """Wait until a function gives something true; fails with `what` after the time."""
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")
