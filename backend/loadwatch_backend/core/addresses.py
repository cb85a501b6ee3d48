"""Addresses to listen on, and the names by which a request may call this server."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network

_HOST = re.compile(r"(?:\[(?P<literal>[0-9A-Fa-f:.%]+)\]|(?P<name>[^\s:/?#@\[\]\\]*))(?::[0-9]{0,5})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenAddress:
    """Where the server listens; port 0 lets the system choose one."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def url(self) -> str:
        """What to open in a browser on this machine."""
        anywhere = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "": "127.0.0.1"}
        host = anywhere.get(self.host) or (f"[{self.host}]" if ":" in self.host else self.host)
        return f"http://{host}:{self.port}"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_listen(text: str) -> ListenAddress:
    """Read `host:port`, `[v6]:port` or `:port` (every address).

    Raises:
        ValueError: the text is none of these.
    """
    host, separator, port = text.strip().rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    if (
        not separator
        or not port.isascii()
        or not port.isdigit()
        or int(port) > 65535
        or (":" in host and not bracketed)
    ):
        raise ValueError(
            f"{text!r} is not an address to listen on; write host:port, such as 127.0.0.1:8000 or [::1]:8000"
        )
    return ListenAddress(host=host.strip("[]") or "0.0.0.0", port=int(port))


def is_loopback(host: str) -> bool:
    """Whether a name or an address stands for this machine, without asking DNS."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def host_name(header: str) -> str:
    """The name in a `Host` header, without its port; empty where it is none, such as `127.0.0.1:1@evil.example`."""
    found = _HOST.fullmatch(header)
    return (found["literal"] or found["name"] or "").lower() if found else ""


def is_allowed_host(header: str, *, loopback_only: bool, allowed: Sequence[str]) -> bool:
    """Whether a request may call the server by this `Host` header.

    A page of another site can point its own name at 127.0.0.1 (DNS rebinding) and would then be served as if it were
    ours; it cannot change the name that it sends.
    """
    name = host_name(header)
    if any(name == entry.lower() or (entry.startswith("*.") and name.endswith(entry[1:].lower())) for entry in allowed):
        return True
    if loopback_only:
        return is_loopback(name)
    return not allowed or is_loopback(name)


def parse_cidrs(texts: Sequence[str], variable: str) -> "list[IPv4Network | IPv6Network]":
    """Networks in CIDR form; a single address is a network of one.

    Raises:
        ValueError: names the variable and the text that is none.
    """
    found: list[IPv4Network | IPv6Network] = []
    for text in texts:
        try:
            found.append(ipaddress.ip_network(text, strict=False))
        except ValueError as error:
            raise ValueError(f"{variable}: {text!r} is no network such as 10.0.0.0/8") from error
    return found


def is_within(address: str, networks: "Sequence[IPv4Network | IPv6Network]") -> bool:
    """Whether an address lies in one of the networks; an IPv4 address in IPv6 form counts as what it is."""
    if not networks:
        return False
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    plain = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped else parsed
    return any(plain in network for network in networks)


def client_address(peer: str, forwarded: str, proxies: "Sequence[IPv4Network | IPv6Network]") -> str:
    """Who asks, by `X-Forwarded-For`: the last address that is no trusted proxy, for only those added what follows it.

    What is no address is not believed; the one before it, nearer to us, is taken.
    """
    nearest = peer
    for entry in reversed([part.strip() for part in forwarded.split(",") if part.strip()]):
        name = entry.strip("[]") if entry.startswith("[") and entry.endswith("]") else entry
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return nearest
        nearest = name
        if not is_within(name, proxies):
            return nearest
    return nearest
