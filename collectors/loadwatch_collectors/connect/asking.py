"""Asks a port of the loopback interface what it is: two requests that only read, with bounds for time and bytes.

No credentials are ever sent, and nothing is sent to a program that speaks first. HTTP/1.0 without a Host line: Redis
takes one for an attack, and what is not HTTP at all sees one short line that it does not know.
"""

import socket
import time
from collections.abc import Sequence

from loadwatch_collectors.connect.seems import PATHS, Seeming, by_answer, by_greeting

_CONNECT_SECONDS = 0.5
_GREETING_SECONDS = 0.2
_ANSWER_SECONDS = 1.5
_MOST_BYTES = 1_000_000
_CHUNK = 65_536


def ask(addresses: Sequence[str], port: int) -> list[Seeming]:
    """What answers at the port, at the first of the addresses that takes the connection; empty when nothing is known.

    A page for each source comes alone; `http` only where there is none.
    """
    found: list[Seeming] = []
    for path in PATHS:
        seen = _ask_once(addresses, port, path)
        if seen is None:
            break
        found.append(seen)
        if seen.kind in ("mysql", "redis", "memcached", "ssh", "tls"):
            return [seen]
    pages = [seen for seen in found if seen.kind != "http"]
    return pages or found[:1]


def _ask_once(addresses: Sequence[str], port: int, path: str) -> Seeming | None:
    for address in addresses:
        try:
            connection = socket.create_connection((address, port), timeout=_CONNECT_SECONDS)
        except OSError:
            continue
        with connection:
            try:
                return _converse(connection, path)
            except OSError:
                return None
    return None


def _converse(connection: socket.socket, path: str) -> Seeming | None:
    greeting = _read(connection, _GREETING_SECONDS, enough=1)
    if greeting:
        return by_greeting(greeting)
    connection.sendall(f"GET {path} HTTP/1.0\r\nUser-Agent: loadwatch-connect\r\nConnection: close\r\n\r\n".encode())
    return by_answer(path, _read(connection, _ANSWER_SECONDS, enough=_MOST_BYTES))


def _read(connection: socket.socket, seconds: float, *, enough: int) -> bytes:
    """What comes until the other side ends, the time is over, or there are `enough` bytes."""
    deadline = time.monotonic() + seconds
    parts: list[bytes] = []
    size = 0
    while size < enough and (left := deadline - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            part = connection.recv(_CHUNK)
        except TimeoutError:
            break
        except ConnectionError:
            break
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)
