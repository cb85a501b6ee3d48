import gzip
import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from loadwatch_collectors.errors import CollectorError, ConfigError, PrivilegeError
from loadwatch_collectors.transport.http_page import HttpPage, HttpSettings, redact_url

from collectors.tests.servers import (
    Conversation,
    answer_always,
    answer_once,
    drip,
    endless,
    make_certificate,
    read_request,
    response,
    silent,
    tcp_server,
)
from tests.ports import free_port


def page(port: int, deadline: float = 60.0, max_body: int = 1_000_000) -> HttpPage:
    return HttpPage(HttpSettings(url=f"http://127.0.0.1:{port}/x?a=1", deadline=deadline, max_body=max_body))


def test_the_connection_is_kept() -> None:
    connections: list[socket.socket] = []

    def talk(connection: socket.socket) -> None:
        connections.append(connection)
        answer_always(response(b"{}"))(connection)

    with tcp_server(talk) as port:
        reader = page(port)
        assert [reader.get(accept="*/*").body for _ in range(3)] == [b"{}"] * 3
        assert len(connections) == 1
        reader.close()


def test_a_broken_kept_connection_is_dialled_anew() -> None:
    with tcp_server(answer_once(response(b"{}"))) as port:
        reader = page(port)
        assert [reader.get(accept="*/*").body for _ in range(3)] == [b"{}"] * 3
        reader.close()


def test_compressed_bodies_and_headers() -> None:
    requests: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        requests.append(read_request(connection))
        connection.sendall(response(gzip.compress(b"text"), extra="Content-Encoding: gzip\r\n"))

    with tcp_server(talk) as port:
        reader = page(port)
        assert reader.get(accept="text/plain").body == b"text"
        reader.close()
    assert requests[0].startswith(b"GET /x?a=1 HTTP/1.1\r\n")
    assert b"Accept: text/plain\r\n" in requests[0]
    assert b"Accept-Encoding: gzip\r\n" in requests[0]


@pytest.mark.parametrize(
    "talk",
    [silent, drip(response(b"{}" * 500)), drip(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500)],
    ids=["silent", "body drips", "head drips"],
)
def test_a_slow_answer_ends_at_the_deadline(talk: Conversation) -> None:
    with tcp_server(talk) as port:
        reader = page(port, deadline=0.3)
        with pytest.raises(CollectorError, match=rf"127\.0\.0\.1:{port}/x: no complete answer within 0\.3 s"):
            reader.get(accept="*/*")
        reader.close()


def test_an_endless_body_is_refused() -> None:
    with tcp_server(endless) as port:
        reader = page(port, max_body=200_000)
        with pytest.raises(CollectorError, match="larger than 200000 bytes"):
            reader.get(accept="*/*")
        reader.close()


def test_a_compressed_body_is_bounded_after_decompression() -> None:
    bomb = gzip.compress(b"0" * 20_000_000)
    with tcp_server(answer_always(response(bomb, extra="Content-Encoding: gzip\r\n"))) as port:
        reader = page(port)
        with pytest.raises(CollectorError, match="larger than 1000000 bytes"):
            reader.get(accept="*/*")
        reader.close()


def test_after_an_error_the_next_answer_is_a_fresh_one() -> None:
    answers = [response(b"x" * 500), response(b"good")]

    def talk(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(answers.pop(0))
        connection.recv(1)

    with tcp_server(talk) as port:
        reader = page(port, max_body=100)
        with pytest.raises(CollectorError, match="larger than"):
            reader.get(accept="*/*")
        assert reader.get(accept="*/*").body == b"good"
        reader.close()


@pytest.mark.parametrize(
    ("status", "kind", "says"),
    [
        ("500 Oops", CollectorError, "answered 500 'sorry'"),
        ("302 Found", CollectorError, "redirects are not followed"),
        ("403 Forbidden", PrivilegeError, "bearer_token_file"),
    ],
)
def test_other_statuses_are_errors(status: str, kind: type[Exception], says: str) -> None:
    with tcp_server(answer_always(response(b"sorry", status=status))) as port:
        reader = page(port)
        with pytest.raises(kind, match=says):
            reader.get(accept="*/*")
        reader.close()


def test_nobody_listens() -> None:
    with pytest.raises(CollectorError, match="connection refused; is the server running"):
        page(free_port()).get(accept="*/*")


def test_what_is_no_http_is_named() -> None:
    with tcp_server(answer_always(b"SSH-2.0-x\r\n\r\n")) as port:
        reader = page(port)
        with pytest.raises(CollectorError, match="BadStatusLine"):
            reader.get(accept="*/*")
        reader.close()


def test_close_ends_a_get_under_way() -> None:
    reached = threading.Event()

    def talk(connection: socket.socket) -> None:
        read_request(connection)
        reached.set()
        connection.recv(1)

    errors: list[Exception] = []
    with tcp_server(talk) as port:
        reader = page(port, deadline=60)

        def get() -> None:
            try:
                reader.get(accept="*/*")
            except CollectorError as error:
                errors.append(error)

        thread = threading.Thread(target=get)
        thread.start()
        assert reached.wait(60)
        reader.close()
        thread.join(60)
        assert not thread.is_alive()
    assert len(errors) == 1


def test_tokens_come_from_a_file(tmp_path: Path) -> None:
    requests: list[bytes] = []

    def talk(connection: socket.socket) -> None:
        requests.append(read_request(connection))
        connection.sendall(response(b"{}"))

    token = tmp_path / "token"
    token.write_text("abc\n")
    with tcp_server(talk) as port:
        reader = HttpPage(HttpSettings(url=f"http://127.0.0.1:{port}/", bearer_token_file=str(token)))
        reader.get(accept="*/*")
        reader.close()
    assert b"Authorization: Bearer abc\r\n" in requests[0]
    with pytest.raises(ConfigError, match="bearer token"):
        HttpPage(HttpSettings(url="http://127.0.0.1/", bearer_token_file=str(tmp_path / "none")))


def test_tls_with_a_certificate_to_trust(tmp_path: Path) -> None:
    key, certificate = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def talk(connection: socket.socket) -> None:
        with suppress(ssl.SSLError), context.wrap_socket(connection, server_side=True) as secured:
            read_request(secured)
            secured.sendall(response(b"safe"))
            drip(response(b"{}" * 500))(secured)

    with tcp_server(talk) as port:
        url = f"https://127.0.0.1:{port}/"
        trusting = HttpPage(HttpSettings(url=url, ca_file=str(certificate), deadline=2.0))
        assert trusting.get(accept="*/*").body == b"safe"
        with pytest.raises(CollectorError, match="no complete answer within 2 s"):
            trusting.get(accept="*/*")
        trusting.close()
        careless = HttpPage(HttpSettings(url=url, insecure_tls=True))
        assert careless.get(accept="*/*").body == b"safe"
        careless.close()
        strict = HttpPage(HttpSettings(url=url))
        with pytest.raises(CollectorError, match=r"TLS failed.*ca_file"):
            strict.get(accept="*/*")
        strict.close()


def test_errors_do_not_show_secrets() -> None:
    assert redact_url("http://user:word@host:81/p?token=x") == "http://host:81/p"
    assert redact_url("http://[::1]:81/p") == "http://[::1]:81/p"


@pytest.mark.parametrize("url", ["", "localhost:80", "ftp://x/", "http://", "http://x:99999/"])
def test_addresses_are_checked(url: str) -> None:
    with pytest.raises(ValueError, match=r"not an address|Port"):
        HttpSettings(url=url)
