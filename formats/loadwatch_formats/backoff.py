"""Pauses between attempts."""

from datetime import UTC
from email.utils import parsedate_to_datetime


def backoff_seconds(attempt: int, first: float, most: float, jitter: float = 0.0) -> float:
    """The pause before retry `attempt` (from 0): doubles from `first` to `most`; `jitter` 0..1 takes up to half off."""
    return min(most, first * 2.0 ** min(attempt, 32)) * (1 - jitter / 2)


# The header `Retry-After` of an answer (RFC 9110, 10.2.3).


def parse_retry_after(text: str | None, now_ms: int, most_seconds: float) -> float | None:
    """Seconds that it asks to wait, as a number or a date, at most `most_seconds`; None without a usable one."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:12]), most_seconds)
    try:
        then = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    then = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
    return min(max(then.timestamp() - now_ms / 1_000, 0.0), most_seconds)
