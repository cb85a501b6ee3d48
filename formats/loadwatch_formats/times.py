"""Times as documents and tools write them: RFC 3339, read to the nanosecond and written with milliseconds.

All arithmetic is of integers: seconds since 1970 with nanoseconds are beyond what a float tells apart.
"""

import re
from datetime import UTC, datetime, tzinfo
from functools import lru_cache

NEVER = "0001-01-01T00:00:00Z"
"""Go's zero time: the end of an alert that fires."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# `datetime` knows six digits only.
_FRACTION = re.compile(r"[.,]([0-9]+)")


def parse_rfc3339(text: str, zone: tzinfo | None = None) -> int:
    """Nanoseconds since the epoch of a time with its zone, such as `2026-11-21T09:18:34.967080042Z`.

    Further forms of ISO 8601 are read, too, as `datetime.fromisoformat` does. A time that says no zone is in `zone`.

    Raises:
        ValueError: it is no such time, or says no zone and `zone` is not given.
    """
    fraction = _FRACTION.search(text)
    whole = text if fraction is None else text[: fraction.start()] + text[fraction.end() :]
    try:
        seconds = _seconds(whole, zone)
    except ValueError as error:
        raise ValueError(f"{text[:100]!r} {error}") from None
    return seconds * 1_000_000_000 + (int(fraction[1][:9].ljust(9, "0")) if fraction else 0)


@lru_cache(maxsize=4096)  # Files have thousands of requests in each second, with fractions of their own.
def _seconds(text: str, zone: tzinfo | None) -> int:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("is not a time such as 2026-11-21T14:20:53Z") from None
    if moment.tzinfo is None and zone is None:
        raise ValueError("does not say its zone, its offset from UTC; write 2026-11-21T14:20:53Z or …+09:00")
    since = (moment if moment.tzinfo else moment.replace(tzinfo=zone)) - _EPOCH
    return since.days * 86_400 + since.seconds


def format_rfc3339(at_ms: int) -> str:
    """`2026-07-27T10:00:00.123Z`."""
    moment = datetime.fromtimestamp(at_ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03d}Z"
