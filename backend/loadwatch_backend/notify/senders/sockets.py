"""Connections that are checked, bounded in time and in bytes: all that notifications send goes through here.

A name is resolved once, and the connection goes to an address that was checked: a name whose answer changes between
the check and the connection (DNS rebinding) gains nothing.
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from loadwatch_backend.notify.senders.http_config import TlsConfig
from loadwatch_backend.notify.senders.networks import ForbiddenAddressError, NetworkPolicy

Resolver = Callable[[str, int], Sequence[str]]
"""Addresses of a host name, as text, in the order in which to try them; raises OSError."""

MOST_BYTES = 256 * 1024
"""What one answer may hold with its headers, on the wire: far more than is read, far less than fills the memory."""
MOST_ADDRESSES = 8


class AnswerTooLongError(OSError):
    """More came than any answer needs."""


@dataclass(slots=True, kw_only=True)
class Budget:
    """Time and bytes that one attempt may take; `ends` is on the monotonic clock."""

    ends: float
    bytes: int = MOST_BYTES

    @classmethod
    def of(cls, seconds: float) -> "Budget":
        """From now on."""
        return cls(ends=time.monotonic() + seconds)

    def left(self) -> float:
        """Seconds that are left.

        Raises:
            TimeoutError: none are.
        """
        left = self.ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for one attempt is over")
        return left

    def take(self, count: int) -> None:
        """Count bytes that came.

        Raises:
            AnswerTooLongError: they are too many.
        """
        self.bytes -= count
        if self.bytes < 0:
            raise AnswerTooLongError("the answer has no end")


class BoundedSocket(socket.socket):
    """A TCP socket whose every operation ends when the attempt's time does, however slowly the bytes come."""

    budget: Budget | None = None

    def _begin(self) -> None:
        if self.budget is not None:
            self.settimeout(self.budget.left())

    def recv_into(self, *args: Any, **options: Any) -> int:
        """As of a socket."""
        self._begin()
        count = super().recv_into(*args, **options)
        if self.budget is not None:
            self.budget.take(count)
        return count

    def recv(self, *args: Any, **options: Any) -> bytes:
        """As of a socket."""
        self._begin()
        found = super().recv(*args, **options)
        if self.budget is not None:
            self.budget.take(len(found))
        return found

    def sendall(self, *args: Any, **options: Any) -> None:
        """As of a socket."""
        self._begin()
        super().sendall(*args, **options)


class BoundedTlsSocket(BoundedSocket, ssl.SSLSocket):
    """The same over TLS; made by `SSLContext.wrap_socket` of a context of `tls_context`."""

    def send(self, *args: Any, **options: Any) -> int:
        """As of a TLS socket."""
        self._begin()
        return super().send(*args, **options)


def tls_context(tls: TlsConfig) -> ssl.SSLContext:
    """A client's context whose sockets are bounded.

    Raises:
        OSError: a file of the configuration cannot be read or is not what it should be.
    """
    context = ssl.create_default_context(cafile=None if tls.ca_file is None else str(tls.ca_file))
    if tls.cert_file is not None:
        context.load_cert_chain(str(tls.cert_file), None if tls.key_file is None else str(tls.key_file))
    if tls.insecure_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.sslsocket_class = BoundedTlsSocket
    return context


def system_resolver(host: str, port: int) -> Sequence[str]:
    """Ask the system."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for _, _, _, _, address in found))


def resolve(resolver: Resolver, host: str, port: int, seconds: float) -> Sequence[str]:
    """Addresses of a host, within a time: the system's resolver has none that one could set.

    Raises:
        OSError: there are none.
        TimeoutError: no answer in time.
    """
    answer: Future[Sequence[str]] = Future()

    def ask() -> None:
        try:
            answer.set_result(resolver(host, port))
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=ask, name="notify-dns", daemon=True).start()
    return answer.result(timeout=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialer:
    """Opens connections to where notifications may go."""

    policy: NetworkPolicy
    resolver: Resolver = field(default=system_resolver)

    def dial(self, host: str, port: int, budget: Budget) -> tuple[BoundedSocket, str]:
        """A connected socket and the address that it is connected to.

        Raises:
            ForbiddenAddressError: the host has only addresses that may not be connected to.
            OSError: no connection; TimeoutError when the time was over.
        """
        addresses = resolve(self.resolver, host, port, budget.left())[:MOST_ADDRESSES]
        allowed = [address for address in addresses if self.policy.refusal(address) is None]
        if addresses and not allowed:
            self.policy.check(addresses[0])
        problem: OSError = OSError(f"{host} has no address")
        for place, address in enumerate(allowed):
            try:
                return _connect(address, port, budget, budget.left() / (len(allowed) - place)), address
            except OSError as error:
                problem = error
        raise problem


def _connect(address: str, port: int, budget: Budget, seconds: float) -> BoundedSocket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    connection = BoundedSocket(family, socket.SOCK_STREAM)
    try:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(seconds)
        host, _, scope = address.partition("%")
        there = (host, port, 0, socket.if_nametoindex(scope)) if scope else (host, port)
        connection.connect(there)
        connection.budget = budget
    except BaseException:
        connection.close()
        raise
    return connection


def wrap_tls(context: ssl.SSLContext, connection: BoundedSocket, host: str, budget: Budget) -> BoundedTlsSocket:
    """The connection over TLS with the host's name, not its address, to be proved by the certificate.

    Raises:
        ssl.SSLError: no TLS, or a certificate that is not to be trusted.
        OSError: the connection broke, or the time was over.
    """
    connection.settimeout(budget.left())
    try:
        wrapped = context.wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise
    assert isinstance(wrapped, BoundedTlsSocket)
    wrapped.budget = budget
    return wrapped


def describe_error(error: BaseException) -> str:
    """What went wrong with a connection, in words, without addresses or secrets of ours."""
    if isinstance(error, ForbiddenAddressError | AnswerTooLongError):
        return str(error)
    if isinstance(error, TimeoutError):
        return "no whole answer within the time for one attempt"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not to be trusted: {error.verify_message or error.reason}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {(error.reason or str(error)).replace('_', ' ').lower()}"
    if isinstance(error, socket.gaierror):
        return f"the name has no address: {error.strerror or error}"
    if isinstance(error, ConnectionRefusedError):
        return "connection refused: nothing listens there"
    if isinstance(error, ConnectionError):
        return "the connection was closed before the answer was whole"
    if isinstance(error, OSError):
        return error.strerror or str(error) or type(error).__name__
    return type(error).__name__


def describe_file_error(error: OSError) -> str:
    """What is wrong with a file of a TLS configuration."""
    if isinstance(error, ssl.SSLError):
        return f"a file is no certificate or key in PEM form ({(error.reason or 'unreadable').lower()})"
    return f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
