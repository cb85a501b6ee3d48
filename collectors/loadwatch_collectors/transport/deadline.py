"""Sockets whose whole exchange ends by one deadline.

A socket's own timeout starts anew with each byte, so a peer that drips one byte a second would hold a collector for
ever. These sockets shrink their timeout to what is left of the deadline before each read and write.
"""

import socket
import ssl
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


class Deadline:
    """The moment by which the exchange under way must have ended; started anew for each exchange."""

    __slots__ = ("_at", "_cancelled", "seconds")

    def __init__(self) -> None:
        self.seconds = 0.0
        self._at = 0.0
        self._cancelled = False

    def start(self, seconds: float) -> None:
        """Let the exchange that begins now take `seconds`."""
        self.seconds = seconds
        self._at = time.monotonic() + seconds

    def cancel(self) -> None:
        """Let nothing be left from now on, also for exchanges that begin later."""
        self._cancelled = True

    def remaining(self) -> float:
        """Seconds that are left, always above zero.

        Raises:
            TimeoutError: nothing is left.
        """
        left = self._at - time.monotonic()
        if left <= 0 or self._cancelled:
            raise TimeoutError(f"not finished after {self.seconds:g} s")
        return left


class DeadlineSocket(socket.socket):
    """A plain socket that obeys a `Deadline`."""

    deadline: Deadline

    @classmethod
    def adopt(cls, other: socket.socket, deadline: Deadline) -> "DeadlineSocket":
        """Take over a connected socket; `other` is empty afterwards."""
        adopted = cls(other.family, other.type, other.proto, fileno=other.detach())
        adopted.deadline = deadline
        return adopted

    def recv_into(self, buffer: "WriteableBuffer", nbytes: int = 0, flags: int = 0) -> int:
        """As `socket.recv_into`, within the deadline."""
        self.settimeout(self.deadline.remaining())
        return super().recv_into(buffer, nbytes, flags)

    def sendall(self, data: "ReadableBuffer", flags: int = 0) -> None:
        """As `socket.sendall`, within the deadline."""
        self.settimeout(self.deadline.remaining())
        super().sendall(data, flags)


def tls_socket_class(bound_to: Deadline) -> type[ssl.SSLSocket]:
    """The class to put into `SSLContext.sslsocket_class`: TLS sockets that obey this deadline.

    A class and not an attribute of the socket, because libraries create the socket and use it before they hand it out.
    """

    class DeadlineTLSSocket(ssl.SSLSocket):
        def recv_into(self, buffer: "WriteableBuffer", nbytes: int | None = None, flags: int = 0) -> int:
            self.settimeout(bound_to.remaining())
            return super().recv_into(buffer, nbytes, flags)

        def sendall(self, data: "ReadableBuffer", flags: int = 0) -> None:
            self.settimeout(bound_to.remaining())
            super().sendall(data, flags)

    return DeadlineTLSSocket


def shut_down(connected: socket.socket | None) -> None:
    """End a connection in a way that wakes another thread that is waiting for it."""
    if connected is not None:
        with suppress(OSError):
            connected.shutdown(socket.SHUT_RDWR)
