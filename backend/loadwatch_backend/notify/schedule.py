"""When a delivery is tried again: the schedule of Standard Webhooks 1.0, and what receivers ask for."""

from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

SECOND_MS = 1_000
DELAYS_SECONDS = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Pauses after each attempt that failed; the first attempt is made at once. Source: Standard Webhooks 1.0,
"Deliverability and reliability"."""
LIFETIME_MS = sum(DELAYS_SECONDS) * SECOND_MS
"""About 75 hours; what could not even be tried for so long is given up too."""
JITTER = 0.1
LONGEST_RETRY_AFTER_SECONDS = 3_600.0
"""A receiver may not silence its alerts for longer by one answer."""
CLOCK_SLACK_MS = 1_000

Random = Callable[[], float]
"""Returns a number from 0 up to 1."""


def delay_ms(step: int, random: Random) -> int | None:
    """The pause after the attempt number `step` + 1 of the schedule failed; None when it was the last one."""
    if step >= len(DELAYS_SECONDS):
        return None
    return round(DELAYS_SECONDS[step] * SECOND_MS * (1 + JITTER * random()))


def parse_retry_after(text: str | None, now_ms: int) -> float | None:
    """Seconds that a `Retry-After` asks for, as a number or a date (RFC 9110, 10.2.3), bounded; None without one."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:12]), LONGEST_RETRY_AFTER_SECONDS)
    try:
        then = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    then = then if then.tzinfo is not None else then.replace(tzinfo=UTC)
    seconds = (then - datetime.fromtimestamp(now_ms / SECOND_MS, UTC)).total_seconds()
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER_SECONDS)


def is_due(next_ms: int, delay_ms: int, now_ms: int) -> bool:
    """Whether it is time. `delay_ms` is the pause that was set together with `next_ms`.

    Earlier than the instant at which the pause began it cannot be: then the wall clock was set back, and waiting for it
    to come again would hold the message for as long.
    """
    return next_ms <= now_ms or now_ms < next_ms - delay_ms - CLOCK_SLACK_MS
