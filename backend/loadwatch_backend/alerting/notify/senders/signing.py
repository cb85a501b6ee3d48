"""Signatures of webhooks, after Standard Webhooks 1.0."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence

PREFIX = "whsec_"
LEAST_BYTES = 24
MOST_BYTES = 64


class SigningSecretError(ValueError):
    """A secret is not one; the text never holds it."""


def parse_secret(text: str) -> bytes:
    """The key in `whsec_` and base64 of 24 to 64 bytes.

    Raises:
        SigningSecretError: it is not one.
    """
    text = text.strip()
    if not text.startswith(PREFIX):
        raise SigningSecretError(f"a signing secret begins with {PREFIX}, followed by base64 of 24 to 64 bytes")
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise SigningSecretError(f"what follows {PREFIX} in a signing secret is not base64") from error
    if not LEAST_BYTES <= len(key) <= MOST_BYTES:
        raise SigningSecretError(f"a signing secret holds {LEAST_BYTES} to {MOST_BYTES} bytes; this one {len(key)}")
    return key


def parse_secrets(text: str) -> tuple[bytes, ...]:
    """One secret or, while they are rotated, several, separated by spaces or lines.

    Raises:
        SigningSecretError: one of them is not a secret.
    """
    return tuple(parse_secret(part) for part in text.split())


def signature(keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes) -> str:
    """The value of `webhook-signature`: `v1,` and base64 of HMAC-SHA256 over `id.timestamp.body`, for each key."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return " ".join(f"v1,{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}" for key in keys)


def headers(keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers of a message; unsigned ones have an id and a time too, so that receivers can tell repeats."""
    found = {"webhook-id": message_id, "webhook-timestamp": str(timestamp)}
    if keys:
        found["webhook-signature"] = signature(keys, message_id, timestamp, body)
    return found
