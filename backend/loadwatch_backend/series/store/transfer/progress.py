"""What a transfer says of itself while it runs. Pure."""

from datetime import UTC, datetime


def progress_line(*, hour_ms: int, done: int, total: int, seconds: float, begun_with: int) -> str:
    """How far it is, how fast, and for how long still; `begun_with` of the `done` samples were done before."""
    rate = (done - begun_with) / seconds if seconds > 0 else 0.0
    share = 100 * done / total if total else 100.0
    left = f"about {duration((total - done) / rate)} left" if rate > 0 else "time left unknown"
    return f"{hour_text(hour_ms)}: {done:,} of {total:,} samples ({share:.1f} %), {rate:,.0f} a second, {left}"


def duration(seconds: float) -> str:
    """In its two largest units."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3_600} h {whole % 3_600 // 60} min"


def hour_text(hour_ms: int) -> str:
    """The beginning of an hour."""
    return f"{datetime.fromtimestamp(hour_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"
