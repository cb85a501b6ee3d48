"""What a damaged disk took of the samples, and how it is told."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from loadwatch_backend.series.store.levels import joined_spans

HOUR_MS = 3_600_000
CONTENTS = "contents"
"""The part of a file that says where all others are: what is lost with it is not known."""
_MOST_SPANS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Rows of a table that cannot be read; None stands for what is not known."""

    part: str
    """The table (`segments` and `hot` hold samples, `rollups` one-minute values), or `CONTENTS`."""
    first_ms: int | None = None
    last_ms: int | None = None
    ids: tuple[int, ...] | None = None
    samples: int | None = None
    """Number of samples, or of minutes of `rollups`."""


def lost_hours(losses: Iterable[Loss]) -> list[int]:
    """The first millisecond of each hour that has a loss, rising."""
    found: set[int] = set()
    for one in losses:
        if one.first_ms is not None and one.last_ms is not None:
            found.update(range(one.first_ms // HOUR_MS, one.last_ms // HOUR_MS + 1))
    return [hour * HOUR_MS for hour in sorted(found)]


def hours_text(hours: Sequence[int]) -> str:
    """Rising hours as spans of UTC: `2026-11-24 05:00 to 07:00 UTC`; the end is the first hour that is whole again."""
    spans = joined_spans((hour, hour + HOUR_MS - 1) for hour in hours)
    texts = [_span_text(first, last + 1) for first, last in spans[:_MOST_SPANS]]
    more = len(spans) - len(texts)
    return ", ".join(texts) + (f" and {more} spans more" if more else "")


def loss_text(losses: Sequence[Loss]) -> str:
    texts: list[str] = []
    for part in dict.fromkeys(one.part for one in losses):
        those = [one for one in losses if one.part == part]
        counts = [one.samples for one in those]
        what = "minutes" if part == "rollups" else "samples" if part in ("segments", "hot") else "rows"
        known = [count for count in counts if count is not None]
        number = f"{sum(known):,} {what}"
        if len(known) < len(counts):
            number = f"an unknown number of {what}" if not known else f"{number} and an unknown number more"
        hours = lost_hours(those)
        texts.append(
            ("the file's own contents" if part == CONTENTS else f"table {part}: {number}")
            + (f" of {hours_text(hours)}" if hours else "")
        )
    return "; ".join(texts)


def _span_text(first_ms: int, end_ms: int) -> str:
    first, end = (datetime.fromtimestamp(at / 1000, UTC) for at in (first_ms, end_ms))
    return f"{first:%Y-%m-%d %H:%M} to " + (
        f"{end:%H:%M} UTC" if first.date() == end.date() else f"{end:%Y-%m-%d %H:%M} UTC"
    )
