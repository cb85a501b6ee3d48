"""Headers and certificates with which the engine knows us. Secrets are never part of an error or a log line."""

import base64
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from loadwatch_backend.store.errors import EngineSettingsError
from loadwatch_backend.store.prometheus.settings import Login

_MOST_SECRET_BYTES = 64 * 1024


class Signer(Protocol):
    """Signs each request."""

    def headers(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
        """All headers of the request, the given ones among them."""
        ...


class SecretFile:
    """A file with a secret, read again when it has changed: tokens are renewed while servers run."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[int, int] | None = None
        self._secret = ""

    def read(self) -> str:
        """The secret.

        Raises:
            EngineSettingsError: the file cannot be read, or holds nothing.
        """
        try:
            status = self._path.stat()
            seen = (status.st_mtime_ns, status.st_size)
            if seen != self._known:
                with self._path.open("rb") as file:
                    self._secret = file.read(_MOST_SECRET_BYTES).decode().strip()
                self._known = seen
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not a text"
            raise EngineSettingsError(
                f"cannot read {self._path}, which holds our secret at the engine: {reason}"
            ) from error
        if not self._secret or not self._secret.isprintable():
            raise EngineSettingsError(f"{self._path} must hold our secret at the engine, in one line")
        return self._secret


class Headers:
    """The headers of each request; safe to use from any thread."""

    def __init__(self, login: Login, signer: Signer | None) -> None:
        self._login = login
        self._signer = signer
        self._password = _secret(login.password, login.password_file)
        self._token = _secret(login.token, login.token_file)

    def of(self, method: str, url: str, given: Mapping[str, str], body: bytes) -> dict[str, str]:
        """All headers of one request.

        Raises:
            EngineSettingsError: a secret cannot be read, or AWS knows no credentials.
        """
        headers = {"User-Agent": "loadwatch", **given}
        login = self._login
        if login.tenant:
            headers[login.tenant_header] = login.tenant
        if login.user:
            pair = f"{login.user}:{_read(self._password)}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        elif self._token is not None:
            headers["Authorization"] = f"Bearer {_read(self._token)}"
        return headers if self._signer is None else self._signer.headers(method, url, headers, body)


def _secret(value: str | None, path: Path | None) -> "SecretFile | str | None":
    return value if path is None else SecretFile(path)


def _read(secret: "SecretFile | str | None") -> str:
    return secret.read() if isinstance(secret, SecretFile) else (secret or "")


def tls_context(login: Login) -> ssl.SSLContext:
    """Of all connections.

    Raises:
        EngineSettingsError: a certificate or key cannot be used.
    """
    try:
        context = ssl.create_default_context(cafile=None if login.ca_file is None else str(login.ca_file))
    except (OSError, ssl.SSLError) as error:
        raise EngineSettingsError(
            f"cannot use {login.ca_file} (LOADWATCH_STORE_CA_FILE) as certificates: {_reason(error)}"
        ) from error
    if login.certificate_file is not None:
        try:
            context.load_cert_chain(login.certificate_file, login.key_file, password="")
        except (OSError, ssl.SSLError) as error:
            raise EngineSettingsError(
                f"cannot use {login.certificate_file} (LOADWATCH_STORE_CERT_FILE) with its key: {_reason(error)}"
            ) from error
    return context


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
