"""What a request brings along to say who it is from, and the cookies that answers give; plain data."""

import hashlib
import secrets
from dataclasses import dataclass
from enum import StrEnum

HOST_PREFIX = "__Host-"
"""Browsers take a cookie of such a name only over https, for this host alone and for the whole of it."""


class CookieKind(StrEnum):
    """A cookie's name, without the prefix that it has over https."""

    SESSION = "loadwatch_session"
    DEVICE = "loadwatch_device"
    """Says that somebody has signed in from this browser before; opens nothing."""
    OIDC = "loadwatch_oidc"
    """Holds a sign-in at the provider that is under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """A cookie to be set; `value` None deletes it."""

    kind: CookieKind
    value: str | None
    seconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    address: str
    browser: str
    secure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyClaim:
    user: str
    full_name: str = ""
    role: str = ""
    groups: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a request brings along to say who it is from. `claim` is None unless a trusted proxy sent it."""

    authorization: str | None
    session: str | None
    claim: ProxyClaim | None = None
    address: str = ""


def cookie_name(kind: CookieKind, *, secure: bool) -> str:
    return HOST_PREFIX + kind.value if secure else kind.value


def bearer_of(authorization: str | None) -> str | None:
    """The token of an `Authorization: Bearer …` header."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


def new_secret() -> str:
    """256 random bits as text."""
    return secrets.token_urlsafe(32)


def new_id() -> str:
    return secrets.token_hex(8)


def hash_secret(secret: str) -> str:
    """What is kept of a random secret; there is nothing to guess, so a plain SHA-256 is enough."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def setup_link(base: str, secret: str) -> str:
    return f"{base.rstrip('/')}/setup#{secret}"
