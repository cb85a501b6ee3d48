"""Sockets whose whole exchange ends by one deadline.

A socket's own timeout starts anew with each byte, so a peer that drips one byte a second would hold its client for
ever. These sockets shrink their timeout to what is left of the deadline before each read and write.
"""

import math
import socket
import ssl
import time
from contextlib import suppress
from typing import Any


class AnswerTooLongError(OSError):
    """The peer sent more bytes than the exchange may have."""


class Deadline:
    """The moment by which the exchange under way must have ended, and the bytes that it may still receive."""

    __slots__ = ("_at", "_bytes", "_cancelled", "seconds")

    def __init__(self, seconds: float = 0.0, most_bytes: float = math.inf) -> None:
        self._cancelled = False
        self.start(seconds, most_bytes)

    def start(self, seconds: float, most_bytes: float = math.inf) -> None:
        self.extend(seconds)
        self._bytes = most_bytes

    def extend(self, seconds: float) -> None:
        """Let the exchange under way take `seconds` from now; its bytes go on being counted."""
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

    def count(self, received: int) -> None:
        """Count bytes that were received.

        Raises:
            AnswerTooLongError: they are too many.
        """
        self._bytes -= received
        if self._bytes < 0:
            raise AnswerTooLongError("the answer has no end")


class DeadlineSocket(socket.socket):
    """A plain socket that obeys a `Deadline`, once it has one."""

    deadline: Deadline | None = None

    @classmethod
    def adopt(cls, other: socket.socket, deadline: Deadline) -> "DeadlineSocket":
        """Take over a connected socket; `other` is empty afterwards."""
        adopted = cls(other.family, other.type, other.proto, fileno=other.detach())
        adopted.deadline = deadline
        return adopted

    def _begin(self) -> None:
        if self.deadline is not None:
            self.settimeout(self.deadline.remaining())

    def recv_into(self, *args: Any, **options: Any) -> int:
        self._begin()
        count = super().recv_into(*args, **options)
        if self.deadline is not None:
            self.deadline.count(count)
        return count

    def recv(self, *args: Any, **options: Any) -> bytes:
        self._begin()
        received = super().recv(*args, **options)
        if self.deadline is not None:
            self.deadline.count(len(received))
        return received

    def send(self, *args: Any, **options: Any) -> int:
        self._begin()
        return super().send(*args, **options)

    def sendall(self, *args: Any, **options: Any) -> None:
        self._begin()
        super().sendall(*args, **options)


class DeadlineTLSSocket(DeadlineSocket, ssl.SSLSocket):
    """The same over TLS; made by a context that has it as its `sslsocket_class`."""


def tls_socket_class(bound_to: Deadline) -> type[ssl.SSLSocket]:
    """The class to put into `SSLContext.sslsocket_class`: TLS sockets that obey this deadline from the start.

    A class and not an attribute of the socket, because libraries create the socket and use it before they hand it out.
    """

    class BoundTLSSocket(DeadlineTLSSocket):
        deadline = bound_to

    return BoundTLSSocket


def shut_down(connected: socket.socket | None) -> None:
    """End a connection in a way that wakes another thread that is waiting for it."""
    if connected is not None:
        with suppress(OSError):
            connected.shutdown(socket.SHUT_RDWR)
