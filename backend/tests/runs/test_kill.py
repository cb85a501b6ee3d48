"""A server that is killed while it imports, for real."""

import os
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx

from backend.tests.runs.sending import vegeta_csv
from tests.fork_server import ForkedLoadwatch
from tests.ports import free_port

START_MS = 1_760_000_000_000


@contextmanager
def running(data: Path) -> Generator[tuple[httpx.Client, ForkedLoadwatch]]:
    """A server in a process of its own."""
    address = f"127.0.0.1:{free_port()}"
    environment = {**os.environ, "LOADWATCH_DATA": str(data), "LOADWATCH_LISTEN": address}
    process = ForkedLoadwatch(
        ["loadwatch", "server"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        with httpx.Client(base_url=f"http://{address}", timeout=180, verify=False) as client:
            deadline = time.monotonic() + 180
            while not is_ready(client):
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.1)
            yield client, process
    finally:
        process.kill()
        process.wait(120)


def is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/-/ready").status_code == 200
    except httpx.TransportError:
        return False


def test_an_import_that_is_killed_leaves_nothing_and_can_be_sent_again(tmp_path: Path):
    content = vegeta_csv(START_MS, seconds=300, rate=500)
    with running(tmp_path) as (client, process):
        run = client.post("/api/runs", json={"id": "going-on", "started_ms": START_MS}).json()["id"]
        assert client.post("/api/imports", content=content).json()["state"] == "reading"
        # It may be received, read, or given its run at this moment; all are fine.
        process.send_signal(signal.SIGKILL)
        process.wait(120)
    with running(tmp_path) as (client, _):
        found = client.get("/api/runs").json()["runs"]
        assert "going-on" in [one["id"] for one in found]
        imported = [one["id"] for one in found if one["state"] == "imported"]
        assert list((tmp_path / "imports").iterdir()) == []
        kept = [path.name for path in (tmp_path / "runs").iterdir()] if (tmp_path / "runs").exists() else []
        assert sorted(kept) == sorted(imported)
        job = client.post("/api/imports", content=content, params={"run": run}).json()
        deadline = time.monotonic() + 300
        while (job := client.get(f"/api/imports/{job['id']}").json())["state"] == "reading":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert job["state"] == "done", job
        assert client.get(f"/api/runs/{run}").json()["requests"] == 150_000
