"""TCP sockets that listen on this host, from `/proc/net/tcp` and `tcp6`."""

import ipaddress
import sys
from collections.abc import Sequence
from typing import NamedTuple

_LISTEN = "0A"
_WORD_DIGITS = 8
_V4_LOOPBACK = "127.0.0.1"
_V6_LOOPBACK = "::1"


class ListeningSocket(NamedTuple):
    """One socket: its address as people write it, its port, the number of the user who made it, its inode."""

    address: str
    port: int
    uid: int
    inode: int


def parse_listening(table: str) -> list[ListeningSocket]:
    """The sockets that listen, of one table of the kernel; lines of another shape are passed over."""
    found: list[ListeningSocket] = []
    for line in table.splitlines()[1:]:
        fields = line.split()
        if len(fields) < 10 or fields[3] != _LISTEN:
            continue
        address, _, port = fields[1].partition(":")
        try:
            found.append(
                ListeningSocket(
                    address=_read_address(address), port=int(port, 16), uid=int(fields[7]), inode=int(fields[9])
                )
            )
        except ValueError:
            continue
    return found


def loopback_addresses(addresses: Sequence[str]) -> list[str]:
    """Where on the loopback interface such sockets answer, best first; none for those of other interfaces alone."""
    found: list[str] = []
    for text in addresses:
        address = ipaddress.ip_address(text)
        if address.is_loopback:
            found.append(text)
        elif address.is_unspecified:
            # A socket of `::` takes IPv4 as well, unless it was told not to: then the second answers.
            found += [_V4_LOOPBACK] if address.version == 4 else [_V4_LOOPBACK, _V6_LOOPBACK]
    return list(dict.fromkeys(found))


def _read_address(digits: str) -> str:
    """An address as the kernel prints it: words of four bytes, each in the host's own order."""
    if len(digits) not in (_WORD_DIGITS, 4 * _WORD_DIGITS):
        raise ValueError("no address")
    words = (int(digits[at : at + _WORD_DIGITS], 16) for at in range(0, len(digits), _WORD_DIGITS))
    address = ipaddress.ip_address(b"".join(word.to_bytes(4, sys.byteorder) for word in words))
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
