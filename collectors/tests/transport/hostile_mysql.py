"""A server that speaks MySQL's connection phase and is after the password; it keeps every byte that it is given."""

import socket
import ssl
import struct
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from collectors.tests.servers import tcp_server

Certificate = tuple[Path, Path]
"""Files of a key and of its certificate."""

_SSL = 0x0800
_SALT = b"abcdefghijklmnopqrst"
OK = b"\0\0\0\x02\0\0\0"
FULL_LOGIN = b"\x01\x04"
"""caching_sha2_password: the server has not cached this account and wants the password itself."""


@dataclass(kw_only=True)
class Hostile:
    """How it asks, and what it was given.

    `greets_with` is the plugin of its greeting, `switches_to` what it asks for afterwards (with `challenge` behind the
    plugin's name), `then` what it sends after each further answer. After that it lets everyone in, and answers every
    SELECT with `to_commands`.
    """

    greets_with: bytes = b"mysql_native_password"
    switches_to: bytes = b""
    challenge: bytes = _SALT + b"\0"
    then: tuple[bytes, ...] = ()
    to_commands: bytes = OK
    greeting: bytes | None = None
    port: int = 0
    certificate: Path | None = None
    seen: list[bytes] = field(default_factory=list[bytes])


@contextmanager
def running_hostile(server: Hostile, own: Certificate | None = None) -> Generator[Hostile]:
    """Serve until the block ends, with TLS by a certificate of its own if it has one."""
    context: ssl.SSLContext | None = None
    if own is not None:
        key, server.certificate = own
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(server.certificate, key)
    with tcp_server(lambda connection: _talk(server, context, connection)) as port:
        server.port = port
        yield server


def _talk(server: Hostile, context: ssl.SSLContext | None, plain: socket.socket) -> None:
    _send(plain, 0, server.greeting or _greeting(server.greets_with, tls=context is not None))
    client = plain
    if context is not None:
        _read(server, plain)
        with suppress(ssl.SSLError):
            client = context.wrap_socket(plain, server_side=True)
        if client is plain:
            return
    try:
        number = _read(server, client)
        if server.switches_to:
            _send(client, number + 1, b"\xfe" + server.switches_to + b"\0" + server.challenge)
            number = _read(server, client)
        for packet in server.then:
            _send(client, number + 1, packet)
            number = _read(server, client)
        _send(client, number + 1, OK)
        while True:
            number = _read(server, client)
            # Settings of the session are accepted; what is asked gets the answer of this server.
            _send(client, number + 1, server.to_commands if b"SELECT" in server.seen[-1] else OK)
    finally:
        client.close()


def _greeting(plugin: bytes, *, tls: bool) -> bytes:
    low = 0xF7FF if not tls else 0xF7FF | _SSL
    return (
        b"\x0a8.0.36\0" + struct.pack("<I", 1) + _SALT[:8] + b"\0" + struct.pack("<H", low) + b"\x21"
        + struct.pack("<HH", 2, 0x000F) + bytes([21]) + b"\0" * 10 + _SALT[8:] + b"\0" + plugin + b"\0"
    )  # fmt: skip


def _send(connection: socket.socket, number: int, payload: bytes) -> None:
    connection.sendall(len(payload).to_bytes(3, "little") + bytes([number & 0xFF]) + payload)


def _read(server: Hostile, connection: socket.socket) -> int:
    head = _exactly(connection, 4)
    server.seen.append(_exactly(connection, int.from_bytes(head[:3], "little")))
    return head[3]


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = connection.recv(count - len(data))
        if not chunk:
            raise ConnectionResetError("the other end has gone")
        data += chunk
    return data
