"""Times as documents have them: RFC 3339 in UTC with milliseconds."""

from datetime import UTC, datetime

NEVER = "0001-01-01T00:00:00Z"
"""Go's zero time: the end of an alert that fires."""


def rfc3339(at_ms: int) -> str:
    """`2026-07-27T10:00:00.123Z`; exact, unlike a way through a float."""
    moment = datetime.fromtimestamp(at_ms // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03d}Z"
