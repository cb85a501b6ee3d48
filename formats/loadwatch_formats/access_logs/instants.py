"""Moments as access logs write them, in milliseconds since the epoch."""

import re
from collections.abc import Collection
from functools import lru_cache

from loadwatch_formats.times import parse_rfc3339

_NUMBER = re.compile(r"[0-9]{1,19}(?:\.[0-9]{1,9})?")
_MONTHS = {
    name: number for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)
}
_CLF_TIME = re.compile(
    r"([0-9]{2})/([A-Z][a-z]{2})/([0-9]{4}):([0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?) ([+-][0-9]{4})"
)


def instant_of(text: str) -> int | None:
    """Of `10/Oct/2026:13:55:36 +0900`, of RFC 3339, or of a number of seconds, milli-, micro- or nanoseconds.

    A number's unit is told by its size; brackets around it all do not matter. None for anything else, and for a time
    without its zone.
    """
    return _instant(text.strip("[] "))


@lru_cache(maxsize=4096)
def _instant(text: str) -> int | None:
    if _NUMBER.fullmatch(text):
        return _of_number(text)
    if (found := _CLF_TIME.fullmatch(text)) is not None:
        day, month, year, clock, zone = found.groups()
        if month not in _MONTHS:
            return None
        text = f"{year}-{_MONTHS[month]:02d}-{day}T{clock}{zone}"
    try:
        return parse_rfc3339(text) // 1_000_000
    except ValueError:
        return None


def _of_number(text: str) -> int:
    whole, _, fraction = text.partition(".")
    value = int(whole)
    for unit, most in ((1_000, 10**11), (1, 10**14)):
        if value < most:
            return value * unit + (int(fraction[:3].ljust(3, "0")) if unit == 1_000 else 0)
    return value // (1_000 if value < 10**17 else 1_000_000)


def span_of(texts: Collection[str]) -> tuple[int, int] | None:
    """The first and the last of several; None if none can be read."""
    found = [at for at in map(instant_of, texts) if at is not None]
    return (min(found), max(found)) if found else None
