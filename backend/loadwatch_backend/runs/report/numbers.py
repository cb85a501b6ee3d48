"""Numbers as people read them; the same rules as the page's `lib/units.ts`, so that a report and the page agree."""

import math
from collections.abc import Sequence

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


_DECIMAL: Sequence[tuple[float, str]] = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_BINARY: Sequence[tuple[float, str]] = (
    (2.0**40, "TiB"),
    (2.0**30, "GiB"),
    (2.0**20, "MiB"),
    (2.0**10, "KiB"),
    (1, "B"),
)
_DURATION: Sequence[tuple[float, str]] = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
NONE = "–"


def format_value(value: float | None, unit: str) -> str:
    """`1,204/s`, `12.4 ms`, `3.1 GiB`, `85.2%`; a dash for none."""
    if value is None or math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if unit == "seconds" and abs(value) >= 120:
        return format_duration(value)
    factor, suffix = _scale(abs(value), unit)
    return _digits(value / factor) + suffix


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


def format_duration(seconds: float) -> str:
    """`2 min 05 s`, `1 h 03 min`, `3 d 4 h`."""
    whole = round(abs(seconds))
    sign = "-" if seconds < 0 else ""
    if whole < 60:
        return f"{sign}{_digits(abs(seconds))} s"
    if whole < 3_600:
        return f"{sign}{whole // 60} min {whole % 60:02d} s"
    if whole < 86_400:
        return f"{sign}{whole // 3_600} h {whole % 3_600 // 60:02d} min"
    return f"{sign}{whole // 86_400} d {whole % 86_400 // 3_600} h"


def format_change(ratio: float | None) -> str:
    """`+12.4%`, `−3%`; a dash for none."""
    if ratio is None or not math.isfinite(ratio):
        return NONE
    return f"{'+' if ratio > 0 else '−' if ratio < 0 else '±'}{_digits(abs(ratio) * 100)}%"


def _scale(size: float, unit: str) -> tuple[float, str]:
    rate = "/s" if unit in ("per_second", "bytes_per_second") else ""
    if unit == "ratio":
        return 0.01, "%"
    if unit in ("bytes", "bytes_per_second"):
        factor, name = next(((factor, name) for factor, name in _BINARY if size >= factor), (1, "B"))
        return factor, f" {name}{rate}"
    if unit == "seconds":
        factor, name = next(((factor, name) for factor, name in _DURATION if size >= factor), _DURATION[-1])
        return (1.0, " s") if size == 0 else (factor, f" {name}")
    if size >= 10_000:
        factor, name = next((factor, name) for factor, name in _DECIMAL if size >= factor)
        return factor, f"{name}{rate}"
    return 1.0, rate


def _digits(value: float) -> str:
    """About three significant digits, thousands grouped, none after the point for whole numbers."""
    rounded = float(f"{value:.12g}")
    size = abs(rounded)
    if rounded == int(rounded) or size >= 100:
        decimals = 0
    elif size >= 1:
        decimals = 1 if size >= 10 else 2
    else:
        decimals = min(6, 2 - math.floor(math.log10(size)))
    text = f"{rounded:,.{decimals}f}"
    return "0" if text in ("-0", "0") else text
