"""Durations as Prometheus writes them: `1h30m`, `15s`, `0`."""

import re

MILLISECONDS = {
    "y": 365 * 86_400_000,
    "w": 7 * 86_400_000,
    "d": 86_400_000,
    "h": 3_600_000,
    "m": 60_000,
    "s": 1_000,
    "ms": 1,
}
"""Of each unit, the longest first; a day has 24 hours, a year 365 days."""
_DURATION = re.compile("".join(rf"(?:([0-9]+){unit})?" for unit in MILLISECONDS))
_LONGEST_MS = (2**63 - 1) // 1_000_000
"""What Go's nanoseconds can hold: 292 years."""


def parse_duration(text: str) -> int:
    """Milliseconds of a duration (common/model/time.go, ParseDuration).

    Raises:
        ValueError: says what is expected.
    """
    if text == "0":
        return 0
    found = _DURATION.fullmatch(text)
    if not text or found is None:
        raise ValueError(f"{text!r} is not a duration; write it as 30s, 5m or 1h30m, units from large to small")
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
