"""The commands as processes, the way people start them."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.fork_server import ForkedLoadwatch, run_forked

LOADWATCH = str(Path(sys.executable).with_name("loadwatch"))
SECONDS = 180.0


class Running:
    """A process whose standard error is read as it comes."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)

    def wait_for(self, pattern: str) -> str:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            found = re.search(pattern, "".join(self.lines))
            if found:
                return found[1]
            assert self.process.poll() is None, "".join(self.lines)
            time.sleep(0.05)
        raise AssertionError("".join(self.lines))

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        status = self.process.wait(SECONDS)
        self._reader.join()
        return status

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()


@contextmanager
def started(*arguments: str, **environment: str) -> Generator[Running]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("LOADWATCH_")}
    # Of `up` the start is tested too, and that of the server within.
    start: type[subprocess.Popen[str]] = subprocess.Popen if arguments[0] == "up" else ForkedLoadwatch
    process = start(
        [LOADWATCH, *arguments],
        env={**variables, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    running = Running(process)
    try:
        yield running
    finally:
        running.close()


def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    variables = {name: value for name, value in os.environ.items() if not name.startswith("LOADWATCH_")}
    return run_forked(*arguments, environment={**variables, **environment}, seconds=SECONDS)


LISTENING = r'"url": "(http://[^"]+)"'


def test_a_server_keeps_annotations_over_a_restart_and_stops_with_a_stream_open(tmp_path: Path):
    arguments = ("server", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "data"))
    note = {"author": "a", "text": "kept", "start_ms": 5}
    with started(*arguments) as running:
        with httpx.Client(base_url=running.wait_for(LISTENING), timeout=120, verify=False) as client:
            assert client.post("/api/annotations", json=note).status_code == 201
            with client.stream("GET", "/api/live") as stream:
                assert next(stream.iter_lines()).startswith(":")
                assert running.stop(signal.SIGTERM) == 0
        assert '"event": "stopped"' in "".join(running.lines)
        assert "Traceback" not in "".join(running.lines)
    with (
        started(*arguments) as running,
        httpx.Client(base_url=running.wait_for(LISTENING), timeout=120, verify=False) as client,
    ):
        assert [one["text"] for one in client.get("/api/annotations").json()["annotations"]] == ["kept"]
        assert running.stop(signal.SIGINT) == 0


@pytest.mark.parametrize("address", ["0.0.0.0:0", "[::]:0", ":8000"])
def test_an_address_that_others_reach_is_never_open(tmp_path: Path, address: str):
    refused = run("server", "--listen", address, "--data", str(tmp_path / "data"), LOADWATCH_ACCESS="open")
    assert refused.returncode == 1
    assert "refusing to listen" in refused.stderr
    assert not (tmp_path / "data").exists()


def test_a_token_is_shown_once_and_opens_the_server(tmp_path: Path):
    file = str(tmp_path / "tokens.json")
    made = run("token", "create", "--role", "admin", "--name", "me", "--token-file", file)
    token = made.stdout.strip()
    assert re.fullmatch(r"lw_admin_[\w-]{43}", token)
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
    listed = run("token", "list", LOADWATCH_TOKEN_FILE=file)
    assert listed.stdout.startswith("me\tadmin\t")
    assert token not in listed.stdout
    again = run("token", "create", "--role", "agent", "--name", "me", "--token-file", file)
    assert again.returncode == 1
    assert "already holds" in again.stderr

    environment = {"LOADWATCH_TOKEN_FILE": file, "LOADWATCH_DATA": str(tmp_path / "data")}
    with started("server", "--listen", "0.0.0.0:0", **environment) as running:
        with httpx.Client(
            base_url=running.wait_for(LISTENING).replace("0.0.0.0", "127.0.0.1"), timeout=120, verify=False
        ) as client:
            headers = {"authorization": f"Bearer {token}"}
            assert client.get("/api/status").status_code == 401
            assert client.get("/api/status", headers=headers).json()["principal"]["name"] == "me"
            assert run("token", "revoke", "--name", "me", "--token-file", file).returncode == 0
            assert client.get("/api/status", headers=headers).status_code == 401
        assert running.stop() == 0
        assert token not in "".join(running.lines)
    empty = run("server", "--listen", "0.0.0.0:0", **environment)
    assert empty.returncode == 1
    assert "holds no token" in empty.stderr


def test_a_port_in_use_is_named(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = run("server", "--listen", f"127.0.0.1:{port}", "--data", str(tmp_path))
    assert refused.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}: another process uses the port" in refused.stderr
    assert "LOADWATCH_LISTEN" in refused.stderr


def test_a_data_directory_in_use_is_named(tmp_path: Path):
    arguments = ("server", "--listen", "127.0.0.1:0", "--data", str(tmp_path))
    with started(*arguments) as running:
        running.wait_for(LISTENING)
        refused = run(*arguments)
        assert running.stop() == 0
    assert refused.returncode == 1
    assert str(tmp_path) in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("LOADWATCH_LISTEN", "8000", "LOADWATCH_LISTEN: "),
        ("LOADWATCH_DATABASE_URL", "nonsense", "LOADWATCH_DATABASE_URL"),
        ("LOADWATCH_TOKEN_FILE", "/nonexistent/tokens", "/nonexistent/tokens"),
    ],
)
def test_a_wrong_setting_ends_the_start_with_its_name(tmp_path: Path, variable: str, value: str, says: str):
    environment = {"LOADWATCH_LISTEN": "127.0.0.1:0", "LOADWATCH_DATA": str(tmp_path), variable: value}
    refused = run("server", **environment)
    assert refused.returncode == 1
    assert says in refused.stderr
    assert "Traceback" not in refused.stderr
    assert "leaked" not in refused.stderr


def test_an_unknown_setting_is_reported(tmp_path: Path):
    environment = {"LOADWATCH_RETENTION": "3", "LOADWATCH_DATA": str(tmp_path)}
    with started("server", "--listen", "127.0.0.1:0", **environment) as running:
        running.wait_for(LISTENING)
        assert "did you mean LOADWATCH_RETENTION_DAYS?" in "".join(running.lines)
        assert running.stop() == 0


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:  # It is gone, or goes while it is read.
        return False


def test_up_starts_server_and_agent_and_stops_both(tmp_path: Path):
    with started("up", "--listen", "127.0.0.1:0", "--data", str(tmp_path)) as running:
        with httpx.Client(base_url=running.wait_for(r"Open\s+(http://\S+)"), timeout=120, verify=False) as client:
            deadline = time.monotonic() + SECONDS
            while not client.get("/api/targets").json()["targets"]:
                assert time.monotonic() < deadline, "".join(running.lines)
                time.sleep(0.2)
        children = children_of(running.process.pid)
        assert len(children) == 2
        assert running.stop(signal.SIGINT) == 0
        assert [child for child in children if is_running(child)] == []
    assert "Loadwatch has stopped." in "".join(running.lines)


def test_up_ends_when_a_child_does_and_says_which(tmp_path: Path):
    with started("up", "--listen", "127.0.0.1:0", "--data", str(tmp_path)) as running:
        running.wait_for(r"(Stop\s+Ctrl-C)")
        # In the order in which they began; their numbers may have started again from below.
        server, agent = children_of(running.process.pid)
        os.kill(agent, signal.SIGKILL)
        assert running.process.wait(SECONDS) == 1
        assert not is_running(server)
    assert "the agent was ended by SIGKILL" in "".join(running.lines)


def test_up_takes_its_children_along_when_it_is_killed(tmp_path: Path):
    with started("up", "--listen", "127.0.0.1:0", "--data", str(tmp_path)) as running:
        running.wait_for(r"(Stop\s+Ctrl-C)")
        children = children_of(running.process.pid)
        running.process.kill()
        deadline = time.monotonic() + SECONDS
        while any(is_running(child) for child in children):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert len(children) == 2
