import json
import socket
from collections.abc import Callable
from pathlib import Path

from loadwatch_collectors.connect.find import ask

from collectors.tests.connect.test_seems import METRICS, POOL
from collectors.tests.nginx_server import running_nginx
from collectors.tests.servers import read_request, tcp_server

HOME = ["127.0.0.1"]


def pages(**bodies: bytes) -> tuple[Callable[[socket.socket], object], list[bytes]]:
    """A server of pages by path without its slashes; and the requests that it got."""
    seen: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        request = read_request(connection)
        seen.append(request)
        path = request.split()[1].decode().replace("/", "") if request else ""
        connection.sendall(bodies.get(path, b"HTTP/1.1 404 Not Found\r\n\r\n"))

    return talk, seen


def kinds(port: int) -> list[str]:
    return [seen.kind for seen in ask(HOME, port)]


def test_both_pages_are_found_by_two_requests_without_host_or_credentials() -> None:
    pool = b"HTTP/1.1 200 OK\r\n\r\n" + json.dumps(POOL).encode()
    talk, seen = pages(debugdbstats=pool, metrics=METRICS)
    with tcp_server(talk) as port:
        assert kinds(port) == ["dbstats", "metrics"]
    assert [request.split(b"\r\n")[0] for request in seen] == [
        b"GET /debug/dbstats HTTP/1.0",
        b"GET /metrics HTTP/1.0",
    ]
    assert all(b"host:" not in one.lower() and b"auth" not in one.lower() for one in seen)


def test_a_real_nginx_is_found_by_its_page(tmp_path: Path) -> None:
    with running_nginx(tmp_path / "nginx") as nginx:
        assert [(seen.kind, seen.path) for seen in ask(HOME, nginx.port)] == [("nginx", "/stub_status")]


def test_a_server_without_either_page_is_an_http_server() -> None:
    talk, _ = pages()
    with tcp_server(talk) as port:
        assert kinds(port) == ["http"]


def test_nothing_is_sent_to_who_speaks_first() -> None:
    got: list[bytes] = []

    def greet(connection: socket.socket) -> None:
        connection.sendall(b"\x5a\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB\x00")
        got.append(connection.recv(100))

    with tcp_server(greet) as port:
        assert kinds(port) == ["mysql"]
    assert got == [b""]


def test_who_says_nothing_or_has_gone_stays_unknown() -> None:
    with tcp_server(lambda connection: connection.recv(1)) as port:
        assert kinds(port) == []
    assert kinds(port) == []


def test_an_answer_without_end_is_cut() -> None:
    def pour(connection: socket.socket) -> None:
        read_request(connection)
        while True:
            connection.sendall(b"x" * 65_536)

    with tcp_server(pour) as port:
        assert kinds(port) == []
