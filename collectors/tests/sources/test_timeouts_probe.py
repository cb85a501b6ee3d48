"""The probe at real servers: Go's net/http, and TCP servers that misbehave.

Nothing here asserts how long anything took: a server either ends the connection within a time that is far longer than
its timeout, or does not within one that is far shorter.
"""

import socket
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from loadwatch_collectors.errors import ConfigError
from loadwatch_collectors.sources.timeouts import (
    Measurement,
    TimeoutProbe,
    TimeoutProbeSettings,
    TimeoutsCollector,
    TimeoutsSettings,
)

from collectors.tests.servers import answer_always, read_request, response, tcp_server
from tests.ports import free_port

SOURCE = Path(__file__).parents[1] / "fixtures" / "timeouts" / "main.go"
PATIENT, IMPATIENT = 60.0, 0.3
RunGo = Callable[..., AbstractContextManager[str]]


@pytest.fixture(scope="module")
def go_server(tmp_path_factory: pytest.TempPathFactory) -> RunGo:
    program = tmp_path_factory.mktemp("timeouts") / "server"
    subprocess.run(["go", "build", "-trimpath", "-o", str(program), str(SOURCE)], check=True, timeout=600)

    @contextmanager
    def run(*flags: str) -> Generator[str]:
        with subprocess.Popen([str(program), *flags], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield f"http://127.0.0.1:{int(process.stdout.readline())}/"
            finally:
                process.kill()

    return run


def measure(url: str, *, idle_up_to: float = 0.0, header_up_to: float = 0.0) -> dict[str, Measurement]:
    probe = TimeoutProbe(TimeoutProbeSettings(url=url, idle_up_to=idle_up_to, header_up_to=header_up_to))
    probe.begin_if_due(time.monotonic())
    wanted = (idle_up_to > 0) + (header_up_to > 0)
    wait_until(lambda: len(probe.results()) == wanted)
    probe.close()
    return {found.kind: found for found in probe.results()}


def wait_until(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 2 * PATIENT
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def test_the_idle_timeout_of_a_go_server(go_server: RunGo) -> None:
    with go_server("-idle=400ms") as url:
        found = measure(url, idle_up_to=PATIENT, header_up_to=IMPATIENT)
    assert found["idle"].ended
    assert 0 < found["idle"].seconds < PATIENT
    assert found["read_header"] == Measurement(kind="read_header", seconds=IMPATIENT, ended=False)


def test_the_header_timeout_of_a_go_server(go_server: RunGo) -> None:
    with go_server("-read-header=400ms", "-idle=1h") as url:
        found = measure(url, idle_up_to=IMPATIENT, header_up_to=PATIENT)
    assert found["read_header"].ended
    assert found["idle"] == Measurement(kind="idle", seconds=IMPATIENT, ended=False)


def test_gos_read_timeout_stands_in_for_both_as_the_settings_say(go_server: RunGo) -> None:
    with go_server("-read=400ms") as url:
        found = measure(url, idle_up_to=PATIENT, header_up_to=PATIENT)
    assert found["idle"].ended
    assert found["read_header"].ended


def test_a_go_server_without_timeouts_waits_on(go_server: RunGo) -> None:
    with go_server() as url:
        found = measure(url, idle_up_to=IMPATIENT, header_up_to=IMPATIENT)
    assert not found["idle"].ended
    assert not found["read_header"].ended


def test_a_server_that_keeps_no_connections() -> None:
    with tcp_server(answer_always(response(b"ok", extra="Connection: close\r\n"))) as port:
        found = measure(f"http://127.0.0.1:{port}/", idle_up_to=PATIENT)
    assert found["idle"] == Measurement(kind="idle", seconds=0.0, ended=True)


def test_a_server_that_says_408_before_it_ends() -> None:
    def talk(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 408 Request Timeout\r\n\r\n")

    with tcp_server(talk) as port:
        assert measure(f"http://127.0.0.1:{port}/", header_up_to=PATIENT)["read_header"].ended


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (response(b"down", status="503 Service Unavailable"), "answered 503"),
        (response(b"x" * 2**20), "larger than 1 MiB"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "BadStatusLine"),
    ],
)
def test_a_page_that_is_no_use(answer: bytes, text: str) -> None:
    with tcp_server(answer_always(answer)) as port:
        assert text in measure(f"http://127.0.0.1:{port}/", idle_up_to=PATIENT)["idle"].error


def test_a_server_that_is_not_there() -> None:
    port = free_port()
    found = measure(f"http://user:secret@127.0.0.1:{port}/", idle_up_to=PATIENT, header_up_to=PATIENT)
    assert {one.error for one in found.values()} == {
        f"http://127.0.0.1:{port}/: connection refused; is the server running on this port?"
    }


def test_certificates_that_cannot_be_read() -> None:
    with pytest.raises(ConfigError, match="ca_file /nowhere cannot be read"):
        TimeoutProbe(TimeoutProbeSettings(url="https://127.0.0.1/", ca_file="/nowhere"))


def test_close_ends_a_measurement_that_waits() -> None:
    asked = threading.Event()

    def talk(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(response(b"ok"))
        asked.set()
        connection.recv(1)  # returns when the probe has gone

    with tcp_server(talk) as port:
        probe = TimeoutProbe(TimeoutProbeSettings(url=f"http://127.0.0.1:{port}/", idle_up_to=3600))
        probe.begin_if_due(time.monotonic())
        assert asked.wait(PATIENT)
        probe.close()
        wait_until(lambda: not any(one.name == "probe-timeouts" for one in threading.enumerate()))
        assert probe.results() == ()


def test_one_connection_until_the_next_is_due() -> None:
    asked: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        asked.append(read_request(connection))
        connection.sendall(response(b"ok", extra="Connection: close\r\n"))

    with tcp_server(talk) as port:
        url = f"http://127.0.0.1:{port}/healthz?deep=0"
        probe = TimeoutProbeSettings(url=url, header_up_to=0)
        collector = TimeoutsCollector(TimeoutsSettings(probes=(probe,)))
        collector.collect()
        wait_until(lambda: len(collector.collect()) == 2)
        for _ in range(20):
            collector.collect()
        collector.close()
    assert len(asked) == 1
    assert asked[0].startswith(b"GET /healthz?deep=0 HTTP/1.1\r\n")
