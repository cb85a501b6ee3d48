"""Durations as people and tools write them: Prometheus' `1h30m` in milliseconds, Go's `1m30.5s` in seconds."""

import math
import re
from collections.abc import Mapping

MILLISECONDS: Mapping[str, int] = {
    "y": 365 * 86_400_000,
    "w": 7 * 86_400_000,
    "d": 86_400_000,
    "h": 3_600_000,
    "m": 60_000,
    "s": 1_000,
    "ms": 1,
}
"""Of each unit of Prometheus', the longest first; a day has 24 hours, a year 365 days."""
GO_NANOSECONDS: Mapping[str, int] = {
    "ns": 1,
    **dict.fromkeys(("us", "µs", "μs"), 1_000),
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60 * 1_000_000_000,
    "h": 3_600 * 1_000_000_000,
}
"""Of each unit of Go's; the sign of a microsecond is U+00B5 or U+03BC."""

# 19 digits hold all that int64 does, and int() refuses thousands of them with words of its own.
_DURATION = re.compile("".join(rf"(?:([0-9]{{1,19}}){unit})?" for unit in MILLISECONDS))
_LONGEST_MS = (2**63 - 1) // 1_000_000
"""What Go's nanoseconds can hold: 292 years."""
_GO_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([a-zµμ]+)")
_GO_DURATION = re.compile(rf"([+-]?)(0|(?:{_GO_PART.pattern})+)")
_SHOWN = 100
"""Characters of a text in an error about it."""


def parse_duration(text: str) -> int:
    """Milliseconds of a duration as Prometheus reads it (common/model/time.go, ParseDuration).

    Raises:
        ValueError: says what is expected.
    """
    if text == "0":
        return 0
    found = _DURATION.fullmatch(text)
    if not text or found is None:
        raise ValueError(
            f"{text[:_SHOWN]!r} is not a duration; write it as 30s, 5m or 1h30m, units from large to small"
        )
    total = sum(
        int(number) * size for number, size in zip(found.groups(), MILLISECONDS.values(), strict=True) if number
    )
    if total > _LONGEST_MS:
        raise ValueError(f"the duration {text!r} is out of range: at most 292 years")
    return total


def format_duration(milliseconds: int) -> str:
    """The shortest text that `parse_duration` reads as this, such as `1h30m`."""
    if milliseconds == 0:
        return "0s"
    parts: list[str] = []
    rest = milliseconds
    for unit, size in MILLISECONDS.items():
        # Years and weeks only where nothing remains, as Prometheus does: 1w1d reads worse than 8d.
        if unit in ("y", "w") and rest % size:
            continue
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)


def parse_go_duration(text: str, units: Mapping[str, int] = GO_NANOSECONDS) -> float:
    """Seconds of a duration as Go reads it (time.ParseDuration), such as `124h35m46.97s`, `1.5µs` or `-2s`.

    `units` are nanoseconds by name, for those who know more of them than Go.

    Raises:
        ValueError: the text is none.
    """
    found = _GO_DURATION.fullmatch(text)
    parts = _GO_PART.findall(text) if found else []
    if found is None or any(unit not in units for _, unit in parts):
        raise ValueError(f"{text[:_SHOWN]!r} is not a duration as Go writes it")
    nanoseconds = math.fsum(float(f"{found[1]}{number}") * units[unit] for number, unit in parts)
    if abs(nanoseconds) >= 2**63:
        raise ValueError(f"the duration {text[:_SHOWN]!r} is out of range: at most 292 years")
    return nanoseconds / 1e9
