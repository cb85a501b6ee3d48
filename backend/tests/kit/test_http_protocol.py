"""What a client sends before it is a request is bounded."""

import socket
from urllib.parse import urlsplit

import pytest
from loadwatch_backend.kit.http_protocol import HEAD_BYTES

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
