"""Which addresses notifications may be sent to: public ones, and networks that the operator named.

Who may edit receivers must not reach, through the server, what only the server can reach: the cloud's metadata service,
databases without a password, the server itself.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field

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
"""Services of clouds (Azure, Alibaba) that answer on addresses outside of link-local ranges."""

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
    """Why an address is not public, in a word, whatever is inside of it; None for a public one."""
    if address in METADATA:
        return "a cloud's metadata service"
    # The prefix of Teredo is reserved; what counts are the addresses inside.
    if embedded_addresses(address):
        return None
    return next((name for network, name in _REFUSED if address.version == network.version and address in network), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPolicy:
    """What may be connected to besides public addresses."""

    allowed: tuple[IPNetwork, ...] = field(default_factory=tuple)

    def refusal(self, text: str) -> str | None:
        """Why an address may not be connected to; None when it may."""
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
