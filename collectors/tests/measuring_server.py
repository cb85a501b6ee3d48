"""The real measuring server of examples/, built once and run against a test's own database."""

import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import urllib3

from collectors.tests.mariadb import MariaDB
from tests.ports import free_port

SOURCE = Path(__file__).parents[2] / "examples" / "measuring-server"
_START_SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class MeasuringServer:
    url: str
    process: "subprocess.Popen[bytes]"

    def hit(self, name: str, value: str = "1") -> int:
        """Send one hit; the status of the answer."""
        return urllib3.request("GET", f"{self.url}/?name={name}&value={value}", retries=False, timeout=60).status


def build(folder: Path) -> Path:
    """Build the server into a folder, with the flags of the Makefile: of what it has built there is a cache."""
    program = folder / "measuring-server"
    command = ["go", "build", "-buildvcs=false", "-trimpath", "-o", str(program), "."]
    subprocess.run(command, cwd=SOURCE, check=True, timeout=600)
    return program


@contextmanager
def running(program: Path, database: MariaDB, log: Path, *flags: str, port: int = 0) -> Generator[MeasuringServer]:
    """Run the server as `application` on the database `shop`; it is ready when this returns."""
    port = port or free_port()
    with log.open("ab") as output:
        dsn = f"application@tcp(127.0.0.1:{database.port})/shop"
        process = subprocess.Popen(
            [str(program), f"-listen=127.0.0.1:{port}", f"-dsn={dsn}", *flags],
            stdout=output,
            stderr=output,
        )
    server = MeasuringServer(url=f"http://127.0.0.1:{port}", process=process)
    try:
        _wait(server, log)
        yield server
    finally:
        process.terminate()
        process.wait(60)


def _wait(server: MeasuringServer, log: Path) -> None:
    give_up = time.monotonic() + _START_SECONDS
    while time.monotonic() < give_up and server.process.poll() is None:
        with suppress(urllib3.exceptions.HTTPError):
            if urllib3.request("GET", f"{server.url}/healthz", retries=False, timeout=5).status == 200:
                return
        time.sleep(0.02)
    raise AssertionError("the measuring server did not start:\n" + log.read_text(errors="replace")[-3000:])
