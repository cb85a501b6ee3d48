"""Addresses to listen on, and the names by which a request may call this server."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenAddress:
    """Where the server listens; port 0 lets the system choose one."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
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
    """The name in a `Host` header, without its port."""
    if header.startswith("["):
        return header.partition("]")[0].lstrip("[").lower()
    return header.partition(":")[0].lower()


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
