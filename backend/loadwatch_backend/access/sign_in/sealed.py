"""Small documents that a browser keeps for us and cannot change: JSON, an end, and an HMAC-SHA256."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any, cast


def seal(key: bytes, purpose: str, document: Mapping[str, Any], end_ms: int) -> str:
    """The document as a cookie's value; one of another purpose is not taken for it."""
    text = json.dumps({**document, "end": end_ms}, separators=(",", ":"))
    body = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return f"{body}.{_signature(key, purpose, body)}"


def unseal(key: bytes, purpose: str, value: str, now_ms: int) -> dict[str, Any] | None:
    """The document; None when it is forged, of another purpose, or over."""
    body, _, signature = value.rpartition(".")
    if not body.isascii() or not signature.isascii():
        return None
    if not hmac.compare_digest(_signature(key, purpose, body), signature):
        return None
    document = cast("dict[str, Any]", json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))))
    return document if document.pop("end") > now_ms else None


def _signature(key: bytes, purpose: str, body: str) -> str:
    return hmac.new(key, f"{purpose}\n{body}".encode(), hashlib.sha256).hexdigest()
