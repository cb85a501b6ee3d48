"""To whom a MySQL password may be given.

The server names the way in which a client logs in, so whoever stands in its place may ask for the password itself. Ways
that prove knowledge of it (mysql_native_password, client_ed25519, the first step of caching_sha2_password) go anywhere;
all others only to who has proved to be the server.
"""

import ipaddress
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pymysql
from pymysql.constants import CR

_VERIFIED = ("verify_ca", "verify_identity")
_PROOFS = frozenset({b"mysql_native_password", b"client_ed25519", b"caching_sha2_password", b"sha256_password"})
"""What never shows the password on its own; the SHA-2 two ask `_secure` before they do."""

_REMEDY = "set tls: verify_identity, and tls_ca_file unless a public authority signed the server's certificate"


def is_loopback(host: str) -> bool:
    """Whether an address or name means this host and no network."""
    with suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host.lower() in ("localhost", "localhost.")


def may_show_password(tls: str, local_socket: bool, *, peer: str, encrypted: bool) -> bool:
    """Whether a SHA-2 account's password may go out itself over a connection to the address `peer`.

    That is how MySQL 8's usual accounts log in for the first time. Encryption without proof is enough on this host, and
    where the user said so by `tls: required`; else whoever stands in between would read it.
    """
    if local_socket:
        return True
    return encrypted and (tls in (*_VERIFIED, "required") or is_loopback(peer))


if TYPE_CHECKING:
    _Base = pymysql.Connection[Any]
else:
    _Base = pymysql.Connection


class GuardedConnection(_Base):
    """A PyMySQL connection that gives its password to nobody who has not proved to be the server."""

    def __init__(self, *, tls: str, unix_socket_path: str, **settings: Any) -> None:
        """`tls` is the mode of the login, all further `settings` PyMySQL's own; nothing is dialled."""
        self._tls_mode = tls
        self._local = bool(unix_socket_path)
        super().__init__(defer_connect=True, **settings)

    @property
    def _secure(self) -> bool:
        """Whether the password may go out itself; PyMySQL looks at it where a SHA-2 account needs that.

        It raises in place of False, after which PyMySQL would encrypt the password with any key that is offered to it.
        """
        untyped: Any = self
        connected = untyped._sock
        encrypted = isinstance(connected, ssl.SSLSocket)
        peer = "" if self._local else str(connected.getpeername()[0])
        if not untyped.password or may_show_password(self._tls_mode, self._local, peer=peer, encrypted=encrypted):
            return True
        if not encrypted:
            raise _refusal(
                "the server asks for the password itself (caching_sha2_password) over a connection that is not "
                f"encrypted; enable TLS on the server, do not set tls: off, and {_REMEDY}"
            )
        raise _refusal(
            "the server asks for the password itself (caching_sha2_password), and nobody has checked its certificate; "
            f"{_REMEDY}; or tls: required, where nobody can stand between agent and server"
        )

    @_secure.setter
    def _secure(self, _value: bool) -> None:
        """PyMySQL's own idea of it, which counts any TLS, is not taken over."""

    def _request_authentication(self) -> None:
        untyped: Any = self
        if untyped._auth_plugin_name == "sha256_password":
            # PyMySQL would send the password with its first packet over any TLS; the server asks again if it needs it.
            untyped._auth_plugin_name = "mysql_native_password"
        base: Any = super()
        base._request_authentication()

    def _process_auth(self, plugin_name: bytes, auth_packet: Any, handler: Any = None) -> Any:
        untyped: Any = self
        proved = self._local or (isinstance(untyped._sock, ssl.SSLSocket) and self._tls_mode in _VERIFIED)
        if plugin_name not in _PROOFS and not proved:
            raise _refusal(
                f"the server asks to log in by the plugin {plugin_name.decode('ascii', 'replace')[:60]!r}, which shows "
                f"the password to whoever asks; {_REMEDY}, or give unix_socket"
            )
        base: Any = super()
        return base._process_auth(plugin_name, auth_packet, handler)


def _refusal(text: str) -> pymysql.OperationalError:
    return pymysql.OperationalError(CR.CR_AUTH_PLUGIN_CANNOT_LOAD, text)
