"""Connections that are checked, bounded in time and in bytes: all that notifications send goes through here.

A name is resolved once, and the connection goes to an address that was checked: a name whose answer changes between
the check and the connection (DNS rebinding) gains nothing.

Who may edit receivers must not reach, through the server, what only the server can reach: the cloud's metadata service,
databases without a password, the server itself.
"""

import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from loadwatch_formats.deadline import AnswerTooLongError, Deadline, DeadlineSocket, DeadlineTLSSocket
from pydantic import AfterValidator, Field, InstanceOf

from loadwatch_backend.alerting.notify.record import FilePath, Flag, Record, SecretFile, SecretText, Text, parsed
from loadwatch_backend.core.secret import Secret

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
IPNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network

REFUSED: Sequence[tuple[str, str]] = (
    ("0.0.0.0/8", "unspecified"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared (carrier-grade NAT)"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local (and the cloud's metadata service)"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "reserved (6to4 relays)"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("64:ff9b:1::/48", "private (local NAT64)"),
    ("100::/64", "discard"),
    ("2001::/23", "reserved"),
    ("2001:db8::/32", "documentation"),
    ("3fff::/20", "documentation"),
    ("5f00::/16", "reserved (segment routing)"),
    ("fc00::/7", "private (and a cloud's metadata service)"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "private (site-local)"),
    ("ff00::/8", "multicast"),
)
"""IANA's special-purpose registries; what `ipaddress.is_private` says of several of these changes with Python's
version, and is False for 100.64.0.1 and 64:ff9b::7f00:1."""

METADATA = frozenset({ipaddress.ip_address("168.63.129.16"), ipaddress.ip_address("100.100.100.200")})
"""Metadata services of Azure and Alibaba Cloud, which answer outside of the link-local ranges."""

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_TRANSLATED = ipaddress.IPv6Network("::ffff:0:0:0/96")
_REFUSED = tuple((ipaddress.ip_network(text), name) for text, name in REFUSED)


class NetworksError(ValueError):
    """A setting names something that is no network; the text says which."""


class ForbiddenAddressError(Exception):
    """The address may not be connected to; the text says why and how to allow it."""


def parse_allowed(texts: Sequence[str]) -> tuple[IPNetwork, ...]:
    """Read networks in CIDR form; a single address is a network of one.

    Raises:
        NetworksError: names the one that is none.
    """
    found: list[IPNetwork] = []
    for text in texts:
        try:
            found.append(ipaddress.ip_network(text.strip()))
        except ValueError as error:
            raise NetworksError(
                f"LOADWATCH_NOTIFY_NETWORKS: {text!r} is not a network ({error}); write 10.0.0.0/8 or fd00::/8"
            ) from error
    return tuple(found)


def embedded_addresses(address: IPAddress) -> tuple[IPAddress, ...]:
    """The IPv4 addresses that an IPv6 address leads to by mapping, NAT64, 6to4, Teredo or compatibility."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    low = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address.teredo is not None:
        return address.teredo
    if address in _NAT64 or address in _TRANSLATED:
        return (low,)
    if address in _COMPATIBLE and int(address) > 1:
        return (low,)
    return ()


def kind_of(address: IPAddress) -> str | None:
    """The reason why an address itself is not public; None for a public one. See `embedded_addresses`."""
    if address in METADATA:
        return "a cloud's metadata service"
    # The prefix of Teredo is reserved; what counts are the addresses inside.
    if embedded_addresses(address):
        return None
    return next((name for network, name in _REFUSED if address.version == network.version and address in network), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPolicy:
    allowed: tuple[IPNetwork, ...] = field(default_factory=tuple)

    def refusal(self, text: str) -> str | None:
        try:
            address = ipaddress.ip_address(text.partition("%")[0])
        except ValueError:
            return f"{text!r} is not an address"
        mapped = getattr(address, "ipv4_mapped", None)
        address = address if mapped is None else mapped
        # An embedded address is one more place to reach: allowing the outer one must not allow it.
        for one in (address, *embedded_addresses(address)):
            allowed = any(one.version == network.version and one in network for network in self.allowed)
            kind = None if allowed else kind_of(one)
            if kind is not None:
                return (
                    f"{address} is {kind}; notifications go to public addresses only. "
                    "Add its network to LOADWATCH_NOTIFY_NETWORKS to allow it"
                )
        return None

    def check(self, text: str) -> None:
        """Refuse what may not be connected to.

        Raises:
            ForbiddenAddressError: says why.
        """
        refusal = self.refusal(text)
        if refusal is not None:
            raise ForbiddenAddressError(refusal)


_PROXY = "notifications connect directly, so that each address can be checked"
_INLINE = "name a file instead: ca_file, cert_file, key_file"
_UNSUPPORTED = {
    "oauth2": "use authorization, basic_auth or http_headers",
    "proxy_url": _PROXY,
    "no_proxy": _PROXY,
    "proxy_from_environment": _PROXY,
    "proxy_connect_header": _PROXY,
}
_TLS_UNSUPPORTED = {
    **dict.fromkeys(("ca", "cert", "key"), _INLINE),
    **dict.fromkeys(("ca_ref", "cert_ref", "key_ref"), "there is no secret manager; use the key that ends in _file"),
    "min_version": "TLS 1.2 or newer is always asked for",
    "max_version": "the newest version that both sides know is used",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsConfig(Record):
    unsupported: ClassVar[Mapping[str, str]] = _TLS_UNSUPPORTED
    ca_file: FilePath | None = None
    cert_file: FilePath | None = None
    key_file: FilePath | None = None
    server_name: Text = ""
    insecure_skip_verify: Flag = False

    def __post_init__(self) -> None:
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file belong together")


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicAuth(Record):
    unsupported: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("username_ref", "password_ref"), "use the key that ends in _file instead"
    )
    username: SecretText = field(default_factory=lambda: Secret(""))
    password: SecretText | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Authorization(Record):
    """The header `Authorization: <type> <credentials>`."""

    unsupported: ClassVar[Mapping[str, str]] = {"credentials_ref": "use credentials_file"}
    missing: ClassVar[Mapping[str, str]] = {"credentials": "authorization needs credentials or credentials_file"}
    type: Text = "Bearer"
    credentials: SecretText


def _no_redirects(wanted: bool) -> bool:
    if wanted:
        raise ValueError("must be false: redirects are never followed; give the address that they lead to")
    return wanted


def _header_name(name: str) -> str:
    if not name or not name.isascii() or any(sign in name for sign in " :\r\n\t"):
        raise ValueError(f"{name!r} is no name of a header")
    return name


def _header_value(text: str) -> Secret:
    if "\n" in text or "\r" in text:
        raise ValueError("must not hold a line feed")
    return Secret(text)


_HeaderValue = Annotated[InstanceOf[Secret], parsed(_header_value)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(Record):
    values: tuple[_HeaderValue, ...] = ()
    secrets: tuple[_HeaderValue, ...] = ()
    files: tuple[SecretFile, ...] = ()

    @property
    def all(self) -> Sequence[Secret]:
        return (*self.values, *self.secrets, *self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpConfig(Record):
    """The supported part of Prometheus' `http_config`; `headers` are added as they are."""

    unsupported: ClassVar[Mapping[str, str]] = _UNSUPPORTED
    basic_auth: BasicAuth | None = None
    authorization: Authorization | None = None
    bearer_token: SecretText | None = None
    tls: Annotated[TlsConfig, Field(alias="tls_config")] = field(default_factory=TlsConfig)
    headers: Annotated[dict[Annotated[str, parsed(_header_name)], Header], Field(alias="http_headers")] = field(
        default_factory=dict[str, Header]
    )
    follow_redirects: Annotated[Flag, AfterValidator(_no_redirects)] = False
    enable_http2: Flag = False
    """Accepted and ignored: requests are always HTTP/1.1."""

    def __post_init__(self) -> None:
        if (self.basic_auth, self.authorization, self.bearer_token).count(None) < 2:
            raise ValueError("give only one of basic_auth, authorization and bearer_token")


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
    if isinstance(error, ssl.SSLError):
        return f"a file is no certificate or key in PEM form ({(error.reason or 'unreadable').lower()})"
    return f"{error.strerror or error}" + (f": {error.filename}" if error.filename else "")
