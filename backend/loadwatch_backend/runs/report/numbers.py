"""Ticks of a report's charts, elapsed times, and values of settings."""

import math
from collections.abc import Sequence

from loadwatch_formats.numbers import NONE, format_value

_TIME_STEPS: Sequence[int] = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200)
DAY_SECONDS = 86_400


def value_ticks(largest: float, count: int = 4) -> list[float]:
    """From zero to the first round number at or above the largest, in about `count` steps of 1, 2, 2.5 or 5."""
    if not math.isfinite(largest) or largest <= 0:
        return [0.0, 1.0]
    rough = largest / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * (1 - 1e-9)), 10 * power)
    steps = max(math.ceil(largest / step - 1e-9), 1)
    return [place * step for place in range(steps + 1)]


def elapsed_ticks(seconds: float, count: int = 8) -> list[float]:
    """Elapsed times from zero up to the end, in steps that a clock has."""
    rough = max(seconds, 1) / count
    step = next((step for step in _TIME_STEPS if step >= rough), math.ceil(rough / DAY_SECONDS) * DAY_SECONDS)
    return [float(place * step) for place in range(math.floor(seconds / step) + 1)]


def elapsed_text(seconds: float) -> str:
    """`0:30`, `12:00`, `1:05:00`."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3_600, whole % 3_600 // 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def format_setting(text: str | None, unit: str) -> str:
    """A setting's value with its unit where it is a size, a time or a share; as it stands otherwise."""
    if text is None:
        return NONE
    try:
        number = float(text)
    except ValueError:
        return text
    if unit == "milliseconds":
        return format_value(number / 1_000, "seconds")
    return format_value(number, unit) if unit in ("bytes", "seconds", "ratio") else text
