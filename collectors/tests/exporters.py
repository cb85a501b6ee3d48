"""Real exporters of Prometheus, run for a test."""

import os
import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress

import urllib3

from collectors.tests.mariadb import MariaDB
from tests.ports import free_port

_START_SECONDS = 120.0


@contextmanager
def running_exporter(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Generator[str]:
    """Run an exporter on a free port; yields the address of its metrics once it answers."""
    port = free_port()
    process = subprocess.Popen(
        [*command, f"--web.listen-address=127.0.0.1:{port}"],
        env={**os.environ, **(environment or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(port, process)
        yield f"http://127.0.0.1:{port}/metrics"
    finally:
        process.terminate()
        process.wait(60)


def mysqld_exporter(mariadb: MariaDB) -> tuple[list[str], dict[str, str]]:
    """Command and environment of mysqld_exporter with what our own collector reads."""
    flags = ("", ".processes_by_user", ".processes_by_host")
    command = ["prometheus-mysqld-exporter", *(f"--collect.info_schema.processlist{flag}" for flag in flags)]
    return command, {"DATA_SOURCE_NAME": f"root@unix({mariadb.socket_path})/"}


def read_page(url: str) -> str:
    """The text of a page."""
    return urllib3.request("GET", url, retries=False, timeout=60).data.decode()


def _wait(port: int, process: "subprocess.Popen[bytes]") -> None:
    give_up = time.monotonic() + _START_SECONDS
    while time.monotonic() < give_up and process.poll() is None:
        with suppress(urllib3.exceptions.HTTPError):
            urllib3.request("GET", f"http://127.0.0.1:{port}/", retries=False, timeout=5)
            return
        time.sleep(0.05)
    raise AssertionError("the exporter did not start")
