"""The wheel is the whole product: `loadwatch up` in an environment of its own serves page, API and samples."""

import os
import re
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3

from tests.ports import free_port
from tests.serving import wait_until_answers

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}


@pytest.fixture(scope="module")
def loadwatch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command in a new environment with the wheel; libraries come from the environment that runs the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    offline = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-index")
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", *offline, "--no-build-isolation", "--wheel-dir", folder, ROOT], check=True)
    (wheel,) = folder.glob("loadwatch-*.whl")
    environment = folder / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    python = environment / "bin" / "python"
    subprocess.run([*pip, "--python", python, "install", *offline, wheel], check=True, env=ENVIRONMENT)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment / "bin" / "loadwatch"


@pytest.fixture
def url(loadwatch: Path, tmp_path: Path) -> Iterator[str]:
    """Of a running `loadwatch up`, which leaves no process behind when it ends."""
    listen = f"127.0.0.1:{free_port()}"
    command = [loadwatch, "up", "--listen", listen, "--data", tmp_path / "data"]
    with (tmp_path / "up.log").open("wb") as log:
        up = subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path, env=ENVIRONMENT, start_new_session=True)
    try:
        wait_until_answers(f"http://{listen}/-/ready", up)
        yield f"http://{listen}"
    finally:
        up.send_signal(signal.SIGTERM)
        status = up.wait(120)
    assert status == 0, (tmp_path / "up.log").read_text()
    with pytest.raises(ProcessLookupError):
        os.killpg(up.pid, 0)


def test_up_from_the_wheel_serves_the_page_and_takes_the_agents_samples(loadwatch: Path, url: str) -> None:
    code = "import loadwatch_backend, loadwatch_collectors, loadwatch_formats as f; print(f.__path__[0])"
    found = subprocess.run(
        [loadwatch.with_name("python"), "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    assert Path(found.stdout.strip()).is_relative_to(loadwatch.parents[1])

    page = urllib3.request("GET", url)
    assert page.status == 200
    (script, *_) = re.findall(r'<script[^>]* src="(/assets/[^"]+\.js)"', page.data.decode())
    loaded = urllib3.request("GET", url + script)
    assert (loaded.status, loaded.headers["content-type"].partition(";")[0]) == (200, "text/javascript")
    assert loaded.data
    assert urllib3.request("GET", f"{url}/runbooks/accept-queue-full").status == 200

    version = subprocess.run([loadwatch, "--version"], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert urllib3.request("GET", f"{url}/api/status").json()["version"] in version.stdout

    deadline = time.monotonic() + 120
    query = f"{url}/prometheus/api/v1/query?query=up"
    while not urllib3.request("GET", query).json()["data"]["result"]:
        assert time.monotonic() < deadline, "no sample of the agent arrived"
        time.sleep(0.1)
