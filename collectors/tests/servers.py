"""Small TCP servers that misbehave in one way each, for tests of deadlines and limits."""

import socket
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

Conversation = Callable[[socket.socket], object]


@contextmanager
def tcp_server(talk: Conversation) -> Generator[int]:
    """Serve each connection by `talk` in a thread of its own; yields the port."""
    listener = socket.create_server(("127.0.0.1", 0))
    accepted: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def converse(connection: socket.socket) -> None:
        with suppress(OSError):
            talk(connection)
        connection.close()

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            accepted.append(connection)
            threads.append(threading.Thread(target=converse, args=(connection,), daemon=True))
            threads[-1].start()

    acceptor = threading.Thread(target=serve, daemon=True)
    acceptor.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        acceptor.join(60)
        for connection in accepted:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(60)


def read_request(connection: socket.socket) -> bytes:
    """One HTTP request without a body; empty when the client has gone."""
    data = b""
    while not data.endswith(b"\r\n\r\n"):
        chunk = connection.recv(4096)
        if not chunk:
            return b""
        data += chunk
    return data


def response(body: bytes, content_type: str = "application/json", status: str = "200 OK", extra: str = "") -> bytes:
    """A whole HTTP response."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


def answer_always(answer: bytes) -> Conversation:
    """Answer every request of a connection in the same way."""

    def talk(connection: socket.socket) -> None:
        while read_request(connection):
            connection.sendall(answer)

    return talk


def answer_once(answer: bytes) -> Conversation:
    """Answer one request, then end the connection though the answer did not say so."""

    def talk(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(answer)

    return talk


def drip(answer: bytes, pause: float = 0.05) -> Conversation:
    """Answer with one byte at a time."""

    def talk(connection: socket.socket) -> None:
        read_request(connection)
        for position in range(len(answer)):
            connection.sendall(answer[position : position + 1])
            time.sleep(pause)

    return talk


def endless(connection: socket.socket) -> None:
    """Answer with a body that never ends."""
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        connection.sendall(b" " * 65536)


def silent(connection: socket.socket) -> None:
    """Take the request and never answer."""
    while connection.recv(4096):
        pass


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A key and a self-signed certificate for 127.0.0.1."""
    key, certificate = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return key, certificate
