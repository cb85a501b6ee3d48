"""A real HTTP receiver that notes what it gets and answers as badly as a test asks."""

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Behaviour = Callable[[socket.socket], None]
"""Answers one request on its connection."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as it came; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def answer(status: int = 200, headers: Mapping[str, str] | None = None, body: bytes = b"") -> Behaviour:
    """A plain answer."""

    def respond(connection: socket.socket) -> None:
        lines = [f"HTTP/1.1 {status} Text", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    return respond


def hang_up(sent: bytes = b"") -> Behaviour:
    """Close the connection after some bytes of an answer."""

    def respond(connection: socket.socket) -> None:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_RDWR)

    return respond


def endless(head: bytes, piece: bytes, pause_seconds: float = 0.0) -> Behaviour:
    """Never stop answering."""

    def respond(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(piece)
            time.sleep(pause_seconds)

    return respond


def silent(released: threading.Event) -> Behaviour:
    """Say nothing until released."""

    def respond(connection: socket.socket) -> None:
        released.wait(300)
        answer()(connection)

    return respond


@dataclass
class Receiver:
    """Behaviours are used up one by one; then it answers `usually`."""

    usually: Behaviour = field(default_factory=answer)
    behaviours: list[Behaviour] = field(default_factory=list[Behaviour])
    requests: list[Request] = field(default_factory=list[Request])
    on_request: Callable[[Request], None] | None = None
    on_connect: Callable[[], None] | None = None
    port: int = 0
    scheme: str = "http"
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _connections: int = 0
    _open: set[socket.socket] = field(default_factory=set[socket.socket])

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/hook"

    def wait(self, count: int, seconds: float = 120.0) -> list[Request]:
        """The first requests, once there are as many."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= count, seconds), (
                f"{len(self.requests)} of {count} requests came"
            )
            return self.requests[:count]

    def serve(self, connection: socket.socket) -> None:
        with self._changed:
            self._connections += 1
            number = self._connections
            self._open.add(connection)
        if self.on_connect is not None:
            self.on_connect()
        try:
            with connection, connection.makefile("rb") as stream:
                while self._one(connection, stream, number):
                    pass
        except (OSError, ssl.SSLError, ValueError):
            pass
        finally:
            with self._changed:
                self._open.discard(connection)

    def _one(self, connection: socket.socket, stream: Any, number: int) -> bool:
        first = stream.readline()
        if not first:
            return False
        headers: dict[str, str] = {}
        while (line := stream.readline().strip()) != b"":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", "0")))
        if not first.startswith(b"POST "):
            # Not a message: a test beside this one asks whatever listens on this host what it is.
            connection.sendall(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
            return True
        request = Request(path=first.split()[1].decode(), headers=headers, body=body, connection=number)
        with self._changed:
            behaviour = self.behaviours.pop(0) if self.behaviours else self.usually
            self.requests.append(request)
            self._changed.notify_all()
        if self.on_request is not None:
            self.on_request(request)
        behaviour(connection)
        return True

    def close(self) -> None:
        with self._changed:
            for connection in list(self._open):
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue


@contextmanager
def run_receiver(context: ssl.SSLContext | None = None, port: int = 0, **options: Any) -> Generator[Receiver]:
    """Listen on a free port of the loopback until the block ends."""
    receiver = Receiver(scheme="http" if context is None else "https", **options)
    listener = socket.create_server(("127.0.0.1", port))
    receiver.port = listener.getsockname()[1]

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    def serve(connection: socket.socket) -> None:
        if context is not None:
            try:
                connection = context.wrap_socket(connection, server_side=True)
            except (OSError, ssl.SSLError):
                connection.close()
                return
        receiver.serve(connection)

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield receiver
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        receiver.close()
