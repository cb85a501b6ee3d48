"""Numbers as people read them; the same rules as the page's `lib/units.ts`, so that terminal, report and page agree."""

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal

# Units as people write them, of thresholds and of figures of one's own, with their factor to the base unit.

_SIZES: Mapping[str, float] = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
UNITS: Mapping[str, Mapping[str, float]] = {
    "seconds": {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0},
    "ratio": {"%": 0.01},
    "count": {"k": 1e3, "M": 1e6},
    "per_second": {"/s": 1.0, "k/s": 1e3, "M/s": 1e6, "k": 1e3, "M": 1e6},
    "bytes": _SIZES,
    "bytes_per_second": {**_SIZES, **{f"{unit}/s": factor for unit, factor in _SIZES.items()}},
}
"""Factors to the base unit, by base unit and unit."""
FACTORS: Mapping[str, float] = {unit: factor for units in UNITS.values() for unit, factor in units.items()}
"""Factors by unit, of all base units: no unit has two."""


def to_base(number: float, factor: float) -> float:
    """A number in base units. 0.1 % is 0.1 / 100, which is rounded once, and not 0.1 * 0.01."""
    return number * factor if factor >= 1 else number / round(1 / factor)


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
    scaled = value / factor
    # What is not all of it is never rounded up to 100 %.
    return (f"{min(scaled, 99.99):.2f}" if unit == "ratio" and 99.95 <= scaled < 100 else _digits(scaled)) + suffix


def format_count(count: float | None) -> str:
    """How many, to the last one: totals are held against those of the tool's own report."""
    return NONE if count is None else _rounded(count, 0)


def format_score(value: float | None, unit: str) -> str:
    """A figure of the user's own: one without a unit is told to its last digit before the point."""
    to_the_last = value is not None and unit == "" and (value == int(value) or abs(value) >= 10_000)
    return format_count(value) if to_the_last else format_value(value, unit)


def format_duration(seconds: float) -> str:
    """`2 min 5 s`, `1 h 3 min`, `3 d 4 h`, `1 h`."""
    size, sign = abs(seconds), "-" if seconds < 0 else ""
    whole, minutes, hours = (math.floor(size / one + 0.5) for one in (1, 60, 3_600))
    if whole < 60:
        return f"{sign}{_digits(size)} s"
    if whole < 3_600:
        first, rest = f"{whole // 60} min", f" {whole % 60} s"
    elif minutes < 24 * 60:
        first, rest = f"{minutes // 60} h", f" {minutes % 60} min"
    else:
        first, rest = f"{hours // 24} d", f" {hours % 24} h"
    return f"{sign}{first}" + ("" if rest.startswith(" 0") else rest)


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
    other = f" {unit}" if unit not in ("", "count", "per_second") else ""
    if size >= 10_000:
        factor, name = next((factor, name) for factor, name in _DECIMAL if size >= factor)
        return factor, f"{name}{rate}{other}"
    return 1.0, f"{rate}{other}"


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
    return _rounded(rounded, decimals)


def _rounded(value: float, decimals: int) -> str:
    """A tie goes away from zero, as on the page: Python's own format says 1,234 of 1234.5."""
    whole = value == int(value)
    exact = value if whole else Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    text = f"{exact:,.{decimals}f}"
    return "0" if text == "-0" else text
