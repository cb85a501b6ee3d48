"""Names of functions and files as they may be shown: no control characters, no changes of direction, no megabytes."""

import hashlib
import re

_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters (a terminal obeys some), marks of direction, surrogates, which no encoding takes."""


class Names:
    """Makes names fit to be shown, and counts those that were cut."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.cut = 0

    def decode(self, raw: bytes) -> str:
        """A name from bytes that should be UTF-8."""
        return self.clean(raw[: 4 * self._most + 4].decode("utf-8", "replace"), raw)

    def clean(self, text: str, whole: bytes | None = None) -> str:
        """A name that can be printed and compared; two long ones that differ at their ends stay two."""
        longer = len(text) > self._most or (whole is not None and len(whole) > 4 * self._most + 4)
        shown = _UNSHOWN.sub("\ufffd", text[: self._most])
        if not longer:
            return shown
        self.cut += 1
        mark = hashlib.sha256(whole if whole is not None else text.encode("utf-8", "replace")).hexdigest()[:8]
        return f"{shown}… ({mark})"
