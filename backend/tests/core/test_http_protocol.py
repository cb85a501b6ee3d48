"""What a client sends before it is a request is bounded."""

import socket
import threading
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from loadwatch_backend.core import http_protocol
from loadwatch_backend.core.addresses import parse_cidrs
from loadwatch_backend.core.http_protocol import CONNECTIONS, HEAD_BYTES, BoundedHttpProtocol, Connections

from backend.tests.conftest import RunningServer

MOST_SENT = 64 << 20
ENDLESS = {
    "a header's value": (b"GET /api/status HTTP/1.1\r\nhost: localhost\r\nx: ", b"x" * 65_536),
    "headers": (b"GET /api/status HTTP/1.1\r\nhost: localhost\r\n", b"a:b\r\n" * 13_000),
    "an address": (b"GET /", b"x" * 65_536),
    "trailers": (
        b"POST /api/annotations HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\n",
        b"a:b\r\n" * 13_000,
    ),
}


def send_endlessly(server: RunningServer, begin: bytes, more: bytes) -> tuple[int, bytes]:
    """Send until the server ends the connection; what it took, and its answer."""
    address = urlsplit(server.url)
    taken = 0
    with socket.create_connection((address.hostname, address.port or 0), timeout=60) as connection:
        try:
            connection.sendall(begin)
            while taken < MOST_SENT:
                connection.sendall(more)
                taken += len(more)
        except ConnectionError:
            pass
        try:
            return taken, connection.recv(4096)
        except ConnectionError:
            return taken, b""


@pytest.mark.parametrize("what", ENDLESS)
def test_a_head_without_end_ends_the_connection(shared_server: RunningServer, what: str) -> None:
    taken, answer = send_endlessly(shared_server, *ENDLESS[what])
    assert taken < MOST_SENT
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4")
    assert shared_server.client.get("/api/status").status_code == 200


def test_headers_of_ordinary_size_are_read(shared_server: RunningServer) -> None:
    headers = {f"x-{n}": "v" * 1_000 for n in range(HEAD_BYTES // 1_100)}
    assert shared_server.client.get("/api/status", headers=headers).status_code == 200


HALF = {
    "nothing": b"",
    "half a head": b"GET /api/status HTTP/1.1\r\nhost: loc",
    "half a body": b"POST /api/annotations HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{",
}


@pytest.mark.parametrize("what", HALF)
def test_half_a_request_ends_the_connection(
    shared_server: RunningServer, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "CHECK_SECONDS", 0.05)
    reason = "body" if what == "half a body" else "head"
    before = CONNECTIONS.refused[reason]
    address = urlsplit(shared_server.url)
    with socket.create_connection((address.hostname, address.port or 0), timeout=60) as connection:
        connection.sendall(b"GET /-/healthy HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert connection.recv(65_536)
        connection.sendall(HALF[what] or b"\r\n")
        while connection.recv(65_536):
            pass
    # Connections that other tests of this process left open may end meanwhile, too.
    assert CONNECTIONS.refused[reason] > before
    assert shared_server.client.get("/-/healthy").status_code == 200


def test_a_slow_body_that_comes_further_is_taken(shared_server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(http_protocol, "BODY_BYTES", 1)
    body = b'{"author": "a", "text": "t", "start_ms": 5}'
    checks = 0
    check = BoundedHttpProtocol._check  # pyright: ignore[reportPrivateUsage] - its calls are counted

    def count(self: BoundedHttpProtocol) -> None:
        nonlocal checks
        checks += 1
        check(self)

    monkeypatch.setattr(BoundedHttpProtocol, "_check", count)
    address = urlsplit(shared_server.url)
    with socket.create_connection((address.hostname, address.port or 0), timeout=60) as connection:
        connection.sendall(b"POST /api/annotations HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n")
        connection.sendall(b"content-length: %d\r\n\r\n" % len(body))
        for place in range(len(body)):
            seen = checks
            connection.sendall(body[place : place + 1])
            while place < 5 and checks == seen:
                threading.Event().wait(0.005)
        assert connection.recv(4_096).startswith(b"HTTP/1.1 201")


def ask(server: RunningServer) -> bytes:
    """The answer to a request over a connection of its own."""
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port or 0), timeout=60) as connection:
        try:
            connection.sendall(b"GET /-/healthy HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            return connection.recv(65_536)
        except ConnectionError:
            return b""


def test_a_request_takes_the_place_of_half_a_head(
    shared_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = urlsplit(shared_server.url)
    before = CONNECTIONS.refused["head"]
    with ExitStack() as stack:
        halves = [
            stack.enter_context(socket.create_connection((address.hostname, address.port or 0), timeout=60))
            for _ in range(2)
        ]
        for half in halves:
            half.sendall(HALF["half a head"])
        assert ask(shared_server).startswith(b"HTTP/1.1 200")  # the server knows of both
        monkeypatch.setattr(CONNECTIONS, "most", 0)
        assert ask(shared_server).startswith(b"HTTP/1.1 200")
        assert halves[0].recv(1) == b""
        assert ask(shared_server).startswith(b"HTTP/1.1 200")
        assert halves[1].recv(1) == b""
        assert ask(shared_server).startswith(b"HTTP/1.1 503")
        assert CONNECTIONS.refused["head"] >= before + 2


def test_connections_are_bounded_in_all_and_by_address() -> None:
    connections = Connections()
    connections.bound(640, parse_cidrs(["10.1.0.0/16"], "X"))
    most = connections.most
    assert most == 440
    assert sum(connections.begin("192.0.2.1") for _ in range(200)) == most // 4
    assert all(connections.begin("10.1.0.9") for _ in range(150))
    connections.note_sender("192.0.2.7")
    left = most - most // 10 - connections.open
    assert sum(connections.begin(f"198.51.100.{n}") for n in range(left + 5)) == left
    assert connections.begin("192.0.2.7")
    assert connections.begin("127.0.0.1")
    assert connections.refused == {"address": 200 - most // 4, "all": 5}
    for _ in range(200):
        connections.end("192.0.2.1")
    assert connections.begin("192.0.2.1")
