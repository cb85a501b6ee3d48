"""moto in server mode: AWS's APIs on loopback, as a process of its own; ended by its pid."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import botocore.session
from botocore.config import Config

from tests.ports import free_port

ACCOUNT = "123456789012"
REGION = "ap-northeast-1"
ACCESS_KEY = "AKIATESTING00000000A"
SECRET_KEY = "made-up-for-tests-only"
_START_SECONDS = 240.0

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    "AWS_DEFAULT_REGION": REGION,
    # No file of the developer's own may take part in a test, and no instance's metadata is asked for.
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""What a program needs to talk to moto or to the proxy before it; for `subprocess` and `monkeypatch.setenv`."""


def make_client(service: str, url: str, region: str = REGION, access_key: str = ACCESS_KEY) -> Any:
    """botocore's own client of one service, to set data up; it does not try again."""
    session: Any = botocore.session.Session()
    return session.create_client(
        service,
        region_name=region,
        endpoint_url=url,
        aws_access_key_id=access_key,
        aws_secret_access_key=SECRET_KEY,
        config=Config(retries={"total_max_attempts": 1}, disable_request_compression=True),
    )


@dataclass
class MotoServer:
    """A moto that answers on `port`."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reset(self) -> None:
        """Forget all data."""
        request = urllib.request.Request(f"{self.url}/moto-api/reset", method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()

    def client(self, service: str, region: str = REGION) -> Any:
        """botocore's own client, straight to moto."""
        return make_client(service, self.url, region)


@contextmanager
def running_moto(folder: Path) -> Generator[MotoServer]:
    """Run moto until the block ends; its log stays in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "moto.log"
    port = free_port()
    program = str(Path(sys.executable).parent / "moto_server")
    environment = {**os.environ, **ENVIRONMENT, "MOTO_ACCOUNT_ID": ACCOUNT, "PYTHONWARNINGS": "ignore"}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [program, "-H", "127.0.0.1", "-p", str(port)], stdout=out, stderr=out, env=environment
        )
    server = MotoServer(port=port, process=process)
    try:
        _wait_until_it_answers(server, log)
        yield server
    finally:
        process.kill()
        process.wait(120)


def _wait_until_it_answers(server: MotoServer, log: Path) -> None:
    give_up = time.monotonic() + _START_SECONDS
    while time.monotonic() < give_up and server.process.poll() is None:
        try:
            server.reset()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"moto did not start: {log.read_text(errors='replace')[-3000:]}")
