"""Two agents of one host and one server, real processes: the second says so, and does not write the same series."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import urllib3

from tests.fork_server import ForkedLoadwatch
from tests.ports import free_port
from tests.serving import RealServer

LOADWATCH = Path(sys.executable).with_name("loadwatch")
CONFIG = "labels: {{{labels}}}\ntargets: [{{job: host, host: {{}}}}]\nspool: {{directory: {spool}}}\n"


class Agents:
    """Starts agents, and ends them with the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *, server: str, labels: str = "") -> tuple["subprocess.Popen[bytes]", Path]:
        """An agent with a spool of its own, and its log."""
        number = len(self.started)
        config = self.folder / f"agent-{number}.yml"
        config.write_text(CONFIG.format(labels=labels, spool=self.folder / f"spool-{number}"), "utf-8")
        log = self.folder / f"agent-{number}.log"
        return self.run(["agent", "--config", str(config), "--server", server], log), log

    def run(self, arguments: list[str], log: Path) -> "subprocess.Popen[bytes]":
        with log.open("wb") as file:
            process = ForkedLoadwatch([LOADWATCH, *arguments], stdout=file, stderr=file, cwd=self.folder)
        self.started.append(process)
        return process


@pytest.fixture
def agents(tmp_path: Path) -> Iterator[Agents]:
    found = Agents(tmp_path)
    yield found
    for process in found.started:
        process.terminate()
        process.wait(60)


def wait_until(ready: Callable[[], object], log: Path) -> None:
    deadline = time.monotonic() + 120
    while not ready():
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)


def says(log: Path, words: str) -> Callable[[], bool]:
    return lambda: words in log.read_text()


def test_the_second_agent_names_the_first_and_ends(agents: Agents) -> None:
    port = free_port()
    first, log = agents.start(server=f"http://127.0.0.1:{port}/write")
    wait_until(says(log, "the agent runs"), log)
    second, log = agents.start(server=f"http://localhost:{port}/write")
    assert second.wait(120) == 4
    assert f"the process {first.pid} is this host's agent for http://localhost:{port}/write already" in log.read_text()
    assert first.poll() is None
    # Another server, or labels of its own, and the series are others.
    for path, labels in (("other", ""), ("write", "from: vm-2")):
        process, log = agents.start(server=f"http://127.0.0.1:{port}/{path}", labels=labels)
        wait_until(says(log, "the agent runs"), log)
        assert process.poll() is None
    # Whatever way it ends, its place is free.
    first.kill()
    first.wait()
    _, log = agents.start(server=f"http://127.0.0.1:{port}/write")
    wait_until(says(log, "the agent runs"), log)


def test_up_goes_on_without_an_agent_of_its_own_where_there_is_one(agents: Agents) -> None:
    port = free_port()
    first, log = agents.start(server=f"http://127.0.0.1:{port}/prometheus/api/v1/write")
    wait_until(says(log, "the agent runs"), log)
    log = agents.folder / "up.log"
    up = agents.run(["up", "--listen", f"127.0.0.1:{port}", "--data", str(agents.folder / "data")], log)
    wait_until(says(log, "goes on without an agent of its own"), log)
    assert f"the process {first.pid} is this host's agent" in log.read_text()
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: hosts(url) == 1, log)
    assert up.poll() is None
    assert writers(url) == {str(first.pid)}


def test_up_with_a_file_ends_where_another_agent_would_keep_it_unread(agents: Agents) -> None:
    port = free_port()
    _, log = agents.start(server=f"http://127.0.0.1:{port}/prometheus/api/v1/write")
    wait_until(says(log, "the agent runs"), log)
    data, config = str(agents.folder / "data"), str(agents.folder / "agent-0.yml")
    log = agents.folder / "up.log"
    up = agents.run(["up", "--listen", f"127.0.0.1:{port}", "--data", data, "--config", config], log)
    assert up.wait(120) == 1
    assert "the agent ended with exit status 4; its own message stands above" in log.read_text()


def test_an_agent_beside_up_is_told_to_give_it_the_file(agents: Agents) -> None:
    port = free_port()
    log = agents.folder / "up.log"
    up = agents.run(["up", "--listen", f"127.0.0.1:{port}", "--data", str(agents.folder / "data")], log)
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: hosts(url) == 1, log)
    second, told = agents.start(server=f"{url}/prometheus/api/v1/write")
    assert second.wait(120) == 4
    assert "`loadwatch up --config FILE` in place of `make up`" in told.read_text()
    assert up.poll() is None
    assert len(writers(url)) == 1


def test_up_watches_its_own_server_beside_another_one_of_the_host(agents: Agents, tmp_path: Path) -> None:
    other = RealServer(tmp_path / "other")
    other.directory.mkdir()
    other.start()
    try:
        url = f"http://127.0.0.1:{free_port()}"
        log = agents.folder / "up.log"
        agents.run(["up", "--listen", url.removeprefix("http://"), "--data", str(agents.folder / "data")], log)
        wait_until(lambda: query(url, 'process_open_fds{job="loadwatch-server"}'), log)
        [found] = query(url, 'process_open_fds{job="loadwatch-server"}')
        # No name and no number to tell it from others: it is the only one.
        assert found.keys() == {"__name__", "job", "instance"}
        assert query(url, 'collector_error_info{job="loadwatch-server"}') == []
    finally:
        other.stop()


def query(url: str, expression: str) -> list[dict[str, str]]:
    try:
        answer = urllib3.request(
            "GET", f"{url}/prometheus/api/v1/query", fields={"query": expression}, retries=False, timeout=30
        )
    except urllib3.exceptions.HTTPError:
        return []
    return [row["metric"] for row in answer.json()["data"]["result"]] if answer.status == 200 else []


def hosts(url: str) -> int:
    return len(query(url, "node_memory_MemTotal_bytes"))


def writers(url: str) -> set[str]:
    return {row["agent_pid"] for row in query(url, 'collector_agent_info{job="host"}')}
