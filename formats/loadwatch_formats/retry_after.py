"""The header `Retry-After` of an answer (RFC 9110, 10.2.3)."""

from datetime import UTC
from email.utils import parsedate_to_datetime


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
