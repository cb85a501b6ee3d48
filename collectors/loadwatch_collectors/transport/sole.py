"""Sees to it that one agent of this host sends to a server: two would write the same series.

The claim is a socket with an abstract name (unix(7)): all users of a network namespace see it, no file is left behind,
and it goes with its process, however that ends.
"""

import errno
import hashlib
import os
import socket
import struct
import threading
from typing import NamedTuple
from urllib.parse import urlsplit

_PREFIX = b"\0loadwatch-agent/"
_LOOPBACK = ("localhost", "::1")
_CREDENTIALS = struct.Struct("3i")
_ASK_SECONDS = 1.0


class Holder(NamedTuple):
    """The process that has a claim; both are None where the kernel does not tell."""

    pid: int | None = None
    user: int | None = None

    def is_trusted(self) -> bool:
        """Whether it runs as this user or as root: nobody else may keep this agent from its work."""
        return self.user in (0, os.geteuid())


class Claim:
    """What this process has claimed, until `close`."""

    def __init__(self, held: socket.socket) -> None:
        self._held = held
        # Whoever asks for the holder connects; without an answer the queue of a long life would be full one day.
        threading.Thread(target=self._answer, name="claim", daemon=True).start()

    def close(self) -> None:
        """Let another process have it."""
        self._held.shutdown(socket.SHUT_RDWR)
        self._held.close()

    def _answer(self) -> None:
        while True:
            try:
                self._held.accept()[0].close()
            except OSError as error:
                if error.errno != errno.ECONNABORTED:
                    return


def claim(url: str, labels: tuple[tuple[str, str], ...]) -> Claim | Holder | None:
    """Claim to be this host's agent that sends to `url` with `labels`; the holder where another process is.

    None where sockets of this kind do not work: then nothing is known.
    """
    address = _address(url, labels)
    held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        held.bind(address)
        held.listen()
    except OSError as error:
        held.close()
        return _ask(address) if error.errno == errno.EADDRINUSE else None
    return Claim(held)


def _address(url: str, labels: tuple[tuple[str, str], ...]) -> bytes:
    parts = urlsplit(url)
    host = parts.hostname or ""
    here = host in _LOOPBACK or host.startswith("127.")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    name = repr(("loopback" if here else host, port, parts.path.rstrip("/"), sorted(labels)))
    return _PREFIX + hashlib.sha256(name.encode()).hexdigest().encode()


def _ask(address: bytes) -> Holder:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(_ASK_SECONDS)
        try:
            asking.connect(address)
            pid, user, _ = _CREDENTIALS.unpack(
                asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
            )
        except OSError:
            return Holder()
    # 0 is a process that this one cannot see, in another container.
    return Holder(pid=pid or None, user=user)
