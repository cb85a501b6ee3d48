"""What configured connections show to whoever stands between the agent and the other end."""

import re
from dataclasses import fields, is_dataclass
from typing import Any
from urllib.parse import urlsplit

from loadwatch_collectors.transport.http_page import HttpSettings, redact_url
from loadwatch_collectors.transport.mysql_session import MySQLLogin, is_loopback

_SECRET_HEADER = re.compile(r"auth|cookie|token|key|secret|password", re.IGNORECASE)


def find_exposures(settings: Any) -> list[str]:
    """What a source's settings show to others, each with what to do; those of its nested settings too.

    Connections to this host are left out: nobody stands in between.
    """
    found: list[str] = []
    if isinstance(settings, MySQLLogin):
        found += _of_login(settings)
    if isinstance(settings, HttpSettings):
        found += _of_page(settings)
    if is_dataclass(settings) and not isinstance(settings, type):
        for field in fields(settings):
            found += find_exposures(getattr(settings, field.name))
    return found


def find_server_exposure(url: str, has_token: bool) -> list[str]:
    parts = urlsplit(url)
    if not has_token or parts.scheme == "https" or is_loopback(parts.hostname or ""):
        return []
    return [f"the agent's token goes to {redact_url(url)} in the clear; give the server an https:// address"]


def _of_login(login: MySQLLogin) -> list[str]:
    if login.unix_socket or is_loopback(login.host) or login.tls_mode == "verify_identity":
        return []
    where = f"MySQL at {login.host}:{login.port}"
    remedy = "recommended: tls: verify_identity, with tls_ca_file unless a public authority signed the certificate"
    if login.tls_mode == "verify_ca":
        return [f"{where}: with tls: verify_ca any host with a certificate of that authority can stand in; {remedy}"]
    if login.tls_mode == "required":
        return [
            f"{where}: with tls: required nobody proves to be the server, and one in between can read all; {remedy}"
        ]
    return [f"{where}: with tls: {login.tls} one in between can read and change all that is said; {remedy}"]


def _of_page(settings: HttpSettings) -> list[str]:
    parts = urlsplit(settings.url)
    secret = (
        settings.bearer_token_file
        or settings.bearer_token_env
        or parts.username
        or any(_SECRET_HEADER.search(name) for name in settings.headers)
    )
    if not secret or is_loopback(parts.hostname or ""):
        return []
    if parts.scheme == "http":
        return [f"GET {redact_url(settings.url)}: its token or password goes out in the clear; use https://"]
    if settings.insecure_tls:
        return [
            f"GET {redact_url(settings.url)}: with insecure_tls its token or password goes to whoever answers; "
            "give ca_file in its place"
        ]
    return []
