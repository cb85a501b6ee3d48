"""Debian's Prometheus beside our server, and the same questions to both."""

import shutil
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import urllib3

from backend.tests.ingest.writing import HEADERS, body, series
from tests.serving import free_port, wait_until_answers

HTTP = urllib3.PoolManager(retries=False, timeout=120)
Rows = Sequence[tuple[Mapping[str, str], Sequence[tuple[int, float]]]]


@contextmanager
def run_prometheus(folder: Path, config: str = "global: {}\n") -> Generator[str]:
    """One with data of its own, until the block ends; gives its address."""
    folder.mkdir(exist_ok=True)
    (folder / "prometheus.yml").write_text(config)
    binary = shutil.which("prometheus")
    assert binary, "prometheus is missing; scripts/apt-install.sh prometheus installs it"
    port = free_port()
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(
            [
                binary,
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
                "--web.enable-remote-write-receiver",
                "--log.level=warn",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        wait_until_answers(f"http://127.0.0.1:{port}/-/ready", process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(60)


def write_to(url: str, rows: Rows) -> None:
    """By remote write, series by series in rising time, as Prometheus wants them."""
    answer = HTTP.request(
        "POST",
        f"{url}/api/v1/write",
        body=body(*(series(labels, *samples) for labels, samples in rows)),
        headers=HEADERS,
    )
    assert answer.status == 204, answer.data


def ask(url: str, path: str, **fields: Any) -> Any:
    """What the API says at a path, asked by a form."""
    answer = HTTP.request("POST", f"{url}/api/v1/{path}", fields=fields, encode_multipart=False)
    assert answer.status == 200, answer.data
    return answer.json()


def get(url: str, path: str, **fields: Any) -> urllib3.BaseHTTPResponse:
    """The answer to a GET, whatever its status."""
    return HTTP.request("GET", f"{url}{path}", fields=fields)
