"""How much of a profile is taken.

Real ones are far below: that of Go's compiler has 8,600 samples and 142,000 frames. One at these limits is read and
folded within seconds and some hundred megabytes.
"""

import hashlib
import re
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from loadwatch_backend.evidence.profiles.model import ProfileLimitError


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLimits:
    """Bounds of one profile.

    Attributes:
        file_bytes: as it is sent.
        bytes: after decompression.
        samples: rows of values.
        frames: of all stacks together, inlined ones too.
        places: locations; functions; binaries; sets of labels.
        texts: of the table of texts.
        sample_bytes: of one encoded sample, location or function.
        types: of samples.
        name_characters: longer names are cut.
    """

    file_bytes: int = 64 << 20
    bytes: int = 128 << 20
    samples: int = 200_000
    frames: int = 4_000_000
    places: int = 500_000
    texts: int = 1_000_000
    sample_bytes: int = 1 << 20
    types: int = 16
    name_characters: int = 1_000


CPU_SECONDS = 2.0
"""What reading and folding for one answer may cost, in the thread that does it."""
_cpu = threading.local()


@contextmanager
def cpu_limit() -> Generator[None]:
    """Within it, `bound` and `check_cpu` refuse work that takes this thread longer than CPU_SECONDS."""
    _cpu.ends = time.thread_time() + CPU_SECONDS
    try:
        yield
    finally:
        del _cpu.ends


def check_cpu() -> None:
    """Called between the steps of a view.

    Raises:
        ProfileLimitError: it says what to narrow.
    """
    if time.thread_time() > getattr(_cpu, "ends", float("inf")):
        raise ProfileLimitError(
            f"Reading and comparing these profiles would take more than {CPU_SECONDS:g} s of CPU time. Choose fewer of"
            " them, or none to compare with; or take them over fewer seconds, or of one process alone."
        )


def bound(count: int, most: int, what: str) -> None:
    """Refuse more than `most`.

    Raises:
        ProfileLimitError: it says what there is too much of.
    """
    if not count & 1023:
        check_cpu()
    if count > most:
        raise ProfileLimitError(
            f"The profile has more than {most:,} {what}. Take it over fewer seconds, or of one process alone."
        )


def cut_notes(cut: int, most: int) -> Sequence[str]:
    return (f"{cut:,} names were longer than {most:,} characters and are cut.",) if cut else ()


_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters (a terminal obeys some), marks of direction, surrogates, which no encoding takes."""


class Names:
    """Makes names fit to be shown, and counts those that were cut."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.cut = 0

    def decode(self, raw: bytes) -> str:
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
