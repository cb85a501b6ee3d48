"""Connections that are checked, bounded in time and in bytes: all that notifications send goes through here.

A name is resolved once, and the connection goes to an address that was checked: a name whose answer changes between
the check and the connection (DNS rebinding) gains nothing.
"""

import socket
import ssl
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from loadwatch_formats.deadline import AnswerTooLongError, Deadline, DeadlineSocket, DeadlineTLSSocket

from loadwatch_backend.alerting.notify.senders.http_config import TlsConfig
from loadwatch_backend.alerting.notify.senders.networks import ForbiddenAddressError, NetworkPolicy

Resolver = Callable[[str, int], Sequence[str]]
"""Addresses of a host name, as text, in the order in which to try them; raises OSError."""

MOST_ADDRESSES = 8


def tls_context(tls: TlsConfig) -> ssl.SSLContext:
    """A client's context whose sockets obey a deadline.

    Raises:
        OSError: a file of the configuration cannot be read or is not what it should be.
    """
    context = ssl.create_default_context(cafile=None if tls.ca_file is None else str(tls.ca_file))
    if tls.cert_file is not None:
        context.load_cert_chain(str(tls.cert_file), None if tls.key_file is None else str(tls.key_file))
    if tls.insecure_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.sslsocket_class = DeadlineTLSSocket
    return context


def system_resolver(host: str, port: int) -> Sequence[str]:
    """Ask the system."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise OSError("the host's name has a part that is empty or too long") from error
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

    def dial(self, host: str, port: int, deadline: Deadline) -> tuple[DeadlineSocket, str]:
        """A connected socket and the address that it is connected to.

        Raises:
            ForbiddenAddressError: the host has only addresses that may not be connected to.
            OSError: no connection; TimeoutError when the time was over.
        """
        addresses = resolve(self.resolver, host, port, deadline.remaining())[:MOST_ADDRESSES]
        allowed = [address for address in addresses if self.policy.refusal(address) is None]
        if addresses and not allowed:
            self.policy.check(addresses[0])
        problem: OSError = OSError(f"{host} has no address")
        for place, address in enumerate(allowed):
            seconds = deadline.remaining() / (len(allowed) - place)
            try:
                connection = socket.create_connection((address, port), seconds)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return DeadlineSocket.adopt(connection, deadline), address
            except OSError as error:
                problem = error
        raise problem


def wrap_tls(context: ssl.SSLContext, connection: DeadlineSocket, host: str, deadline: Deadline) -> DeadlineTLSSocket:
    """The connection over TLS with the host's name, not its address, to be proved by the certificate.

    Raises:
        ssl.SSLError: no TLS, or a certificate that is not to be trusted.
        OSError: the connection broke, or the time was over.
    """
    try:
        connection.settimeout(deadline.remaining())
        wrapped = context.wrap_socket(connection, server_hostname=host)
    except BaseException:
        connection.close()
        raise
    assert isinstance(wrapped, DeadlineTLSSocket)
    wrapped.deadline = deadline
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
