"""Session cookies: signed, with an end, and tied to the token that they were made from.

A cookie is `<name>.<fingerprint>.<end>.<signature>`: the token's name, the head of its hash, the end in seconds since
the epoch, and an HMAC-SHA256 of these. Nothing is kept for it, so sessions survive a restart, and a revoked token ends
its sessions at once. The token itself never becomes a cookie.
"""

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from loadwatch_backend.access.tokens import TokenRecord

KEY_BYTES = 32


def load_session_key(path: Path) -> bytes:
    """The key that signs sessions, made at the first start; deleting the file signs everyone out."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        key = b""
    if len(key) != KEY_BYTES:
        key = secrets.token_bytes(KEY_BYTES)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
            file.write(key)
    return key


def sign_session(key: bytes, record: TokenRecord, end_seconds: int) -> str:
    """A cookie's value for the bearer of a token."""
    name = base64.urlsafe_b64encode(record.name.encode()).decode().rstrip("=")
    claim = f"{name}.{record.sha256[:16]}.{end_seconds}"
    return f"{claim}.{_signature(key, claim)}"


def verify_session(key: bytes, value: str, records: Sequence[TokenRecord], now_seconds: int) -> TokenRecord | None:
    """The token that a cookie was made from; None when it is forged, over, or its token was revoked."""
    claim, _, signature = value.rpartition(".")
    if not claim.isascii() or not signature.isascii() or not hmac.compare_digest(_signature(key, claim), signature):
        return None
    name, fingerprint, end = claim.split(".")
    if int(end) <= now_seconds:
        return None
    decoded = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()
    for record in records:
        if record.name == decoded and record.sha256[:16] == fingerprint:
            return record
    return None


def _signature(key: bytes, claim: str) -> str:
    return hmac.new(key, claim.encode(), hashlib.sha256).hexdigest()
