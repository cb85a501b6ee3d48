"""Headers and certificates with which the engine knows us. Secrets are never part of an error or a log line."""

import base64
import importlib
import ssl
from collections.abc import Callable, Mapping
from typing import Any

from loadwatch_backend.core.secret import Secret, SecretError
from loadwatch_backend.series.store.errors import EngineSettingsError
from loadwatch_backend.series.store.prometheus.settings import Login

Signer = Callable[[str, str, Mapping[str, str], bytes], dict[str, str]]
"""All headers of a request of this method, URL, headers and body, signed."""


def make_signer(region: str) -> Signer:
    """Of requests to Amazon Managed Prometheus; imported only here, because boto3 is an extra.

    Raises:
        EngineSettingsError: boto3 is not installed, or finds no credentials.
    """
    try:
        module: Any = importlib.import_module("loadwatch_backend.series.store.prometheus.sigv4")
    except ModuleNotFoundError as error:
        raise EngineSettingsError(
            "LOADWATCH_STORE_AWS_REGION needs boto3, which is not installed: pip install 'loadwatch[aws]'"
        ) from error
    signer: Signer = module.aws_signer(region)
    return signer


def headers_of(
    login: Login, signer: Signer | None, method: str, url: str, given: Mapping[str, str], body: bytes
) -> dict[str, str]:
    """All headers of one request.

    Raises:
        EngineSettingsError: a secret cannot be read, or AWS knows no credentials.
    """
    headers = {"User-Agent": "loadwatch", **given}
    if login.tenant:
        headers[login.tenant_header] = login.tenant
    if login.user:
        pair = f"{login.user}:{_secret(login.password)}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    elif login.token is not None:
        headers["Authorization"] = f"Bearer {_secret(login.token)}"
    return headers if signer is None else signer(method, url, headers, body)


def _secret(secret: Secret | None) -> str:
    """Read each time: tokens are renewed while servers run."""
    try:
        text = secret.reveal() if secret else ""
    except SecretError as error:
        raise EngineSettingsError(f"our secret at the engine: {error}") from error
    if not text.isprintable():
        raise EngineSettingsError("our secret at the engine must be a text in one line")
    return text


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
