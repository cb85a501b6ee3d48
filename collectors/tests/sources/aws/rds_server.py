"""A stand-in for RDS with IAM database authentication: TLS and the login of RDS, before a real MariaDB.

It speaks MySQL's connection phase ("Connection Phase" of the MySQL internals manual): greeting, TLS, a switch to
mysql_clear_password, and then checks the token's signature (AWS Signature Version 4) with the key that it knows. After
that it logs in to the MariaDB by the account's name and passes bytes.
"""

import hashlib
import hmac
import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qsl, quote

from collectors.tests.servers import make_certificate, tcp_server
from collectors.tests.sources.aws.moto_server import SECRET_KEY

_SSL = 0x0800
_NATIVE = b"mysql_native_password\0"
_SWITCH = b"\xfemysql_clear_password\0"


@dataclass
class RdsServer:
    """What it has seen, and how it behaves."""

    database_port: int
    certificate: Path
    port: int = 0
    offers_tls: bool = True
    refuses: bool = False
    tokens: list[str] = field(default_factory=list[str])
    faults: list[str] = field(default_factory=list[str])
    clear: list[bytes] = field(default_factory=list[bytes])
    """What came before TLS, except for the request for it."""
    connections: list[socket.socket] = field(default_factory=list[socket.socket])

    def drop(self) -> None:
        """End all sessions."""
        while self.connections:
            with suppress(OSError):
                self.connections.pop().shutdown(socket.SHUT_RDWR)


@contextmanager
def running_rds(database_port: int, folder: Path) -> Generator[RdsServer]:
    """Serve until the block ends."""
    key, certificate = make_certificate(folder)
    server = RdsServer(database_port=database_port, certificate=certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with tcp_server(lambda connection: _talk(server, context, connection)) as port:
        server.port = port
        yield server
        server.drop()


def find_fault(token: str, user: str, port: int, now: datetime) -> str:
    """Why a token is refused; empty when it is in order."""
    host, _, query = token.partition("/?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    signature = given.pop("X-Amz-Signature", "")
    if host != f"127.0.0.1:{port}" or given.get("Action") != "connect" or given.get("DBUser") != user:
        return f"the token is for {host} and {given.get('DBUser')}"
    made = datetime.strptime(given["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    if not made - timedelta(minutes=5) <= now <= made + timedelta(seconds=int(given["X-Amz-Expires"])):
        return "the token is too old"
    _, day, region, service, _ = given["X-Amz-Credential"].split("/")
    sorted_query = "&".join(f"{quote(name, safe='-_.~')}={quote(given[name], safe='-_.~')}" for name in sorted(given))
    request = f"GET\n/\n{sorted_query}\nhost:{host}\n\nhost\n{hashlib.sha256(b'').hexdigest()}"
    scope = f"{day}/{region}/{service}/aws4_request"
    digest = hashlib.sha256(request.encode()).hexdigest()
    key = f"AWS4{SECRET_KEY}".encode()
    for part in (day, region, service, "aws4_request", f"AWS4-HMAC-SHA256\n{given['X-Amz-Date']}\n{scope}\n{digest}"):
        key = hmac.digest(key, part.encode(), "sha256")
    return "" if service == "rds-db" and hmac.compare_digest(key.hex(), signature) else "the signature is wrong"


def _talk(server: RdsServer, context: ssl.SSLContext, plain: socket.socket) -> None:
    with ExitStack() as stack:
        database = stack.enter_context(socket.create_connection(("127.0.0.1", server.database_port)))
        server.connections += [plain, database]
        client = _encrypt(server, context, plain, database)
        if client is not None:
            stack.enter_context(client)
            server.connections.append(client)
            if _log_in(server, client, database):
                back = threading.Thread(target=_pass_on, args=(database, client), daemon=True)
                back.start()
                _pass_on(client, database)
                back.join(10)


def _encrypt(
    server: RdsServer, context: ssl.SSLContext, plain: socket.socket, database: socket.socket
) -> ssl.SSLSocket | None:
    _, greeting = _read(database)
    _send(plain, 0, _with_tls(greeting, offered=server.offers_tls))
    _, request = _read(plain)
    if len(request) != 32:
        server.clear.append(request)
        return None
    with suppress(ssl.SSLError):
        return context.wrap_socket(plain, server_side=True)
    return None


def _log_in(server: RdsServer, client: socket.socket, database: socket.socket) -> bool:
    number, login = _read(client)
    user = login[32 : login.index(b"\0", 32)].decode()
    _send(client, number + 1, _SWITCH)
    number, answer = _read(client)
    token = answer.rstrip(b"\0").decode()
    server.tokens.append(token)
    fault = "told to refuse" if server.refuses else find_fault(token, user, server.port, datetime.now(UTC))
    if fault:
        server.faults.append(fault)
        text = f"Access denied for user '{user}'@'10.0.0.9' (using password: YES)".encode()
        _send(client, number + 1, b"\xff" + (1045).to_bytes(2, "little") + b"#28000" + text)
        return False
    capabilities = int.from_bytes(login[:4], "little") & ~_SSL
    _send(database, 1, capabilities.to_bytes(4, "little") + login[4:32] + user.encode() + b"\0\0" + _rest(login))
    _, result = _read(database)
    _send(client, number + 1, result)
    return True


def _rest(login: bytes) -> bytes:
    """The database's name, where the client gives one, and the plugin; no attributes of the connection."""
    capabilities = int.from_bytes(login[:4], "little")
    rest = login[login.index(b"\0", 32) + 1 :]
    after = rest[1 + rest[0] :]
    name = after[: after.index(b"\0") + 1] if capabilities & 0x8 else b""
    return name + _NATIVE + (b"\0" if capabilities & 0x100000 else b"")


def _with_tls(greeting: bytes, *, offered: bool) -> bytes:
    place = greeting.index(b"\0", 1) + 1 + 4 + 8 + 1
    low = int.from_bytes(greeting[place : place + 2], "little")
    low = low | _SSL if offered else low & ~_SSL
    return greeting[:place] + low.to_bytes(2, "little") + greeting[place + 2 :]


def _read(connection: socket.socket) -> tuple[int, bytes]:
    head = _exactly(connection, 4)
    return head[3], _exactly(connection, int.from_bytes(head[:3], "little"))


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        chunk = connection.recv(count - len(data))
        if not chunk:
            raise ConnectionResetError("the other end has gone")
        data += chunk
    return data


def _send(connection: socket.socket, number: int, payload: bytes) -> None:
    connection.sendall(len(payload).to_bytes(3, "little") + bytes([number & 0xFF]) + payload)


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for connection in (source, target):
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
