"""Numbers as people read them; the same rules as the page's `lib/units.ts`, so that a report and the page agree."""

import math
from collections.abc import Sequence

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
