"""The key that seals what browsers keep for us: that they were here before, and a sign-in under way."""

import os
import secrets
from pathlib import Path

KEY_BYTES = 32


def load_sealing_key(path: Path) -> bytes:
    """The key, made at the first start; without it browsers that were here before are strangers again."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        key = b""
    if len(key) != KEY_BYTES:
        key = secrets.token_bytes(KEY_BYTES)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
            file.write(key)
    return key
