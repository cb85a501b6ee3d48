"""Figures as a person says them; all but durations are the same in both languages."""

import math
from collections.abc import Mapping

from loadwatch_formats.numbers import format_count


def count(value: float) -> str:
    """A whole number with separators and all its digits: 2,246; ? for one that is not finite."""
    return format_count(value) if math.isfinite(value) else "?"


def counted(value: float, one: str, many: str) -> str:
    return f"{count(value)} {one if count(value) == '1' else many}"


def figure(value: float) -> str:
    """A number with as many digits as matter: 0.034, 1.2, 31, 2,246."""
    if not math.isfinite(value):
        return "?"
    size = abs(value)
    if size >= 100 or value == round(value):
        return format_count(value)
    if size >= 10:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:.2g}"


def duration(seconds: float) -> str:
    """3.0 s, 120 ms, 4 min 10 s."""
    if not math.isfinite(seconds):
        return "?"
    if seconds < 0.001:
        return f"{seconds * 1_000_000:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1_000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def duration_ja(seconds: float) -> str:
    """The same in Japanese: 3.0秒, 120ミリ秒, 4分10秒."""
    return "".join(_UNITS_JA.get(part, part) for part in duration(seconds).split(" "))


_UNITS_JA = {"µs": "マイクロ秒", "ms": "ミリ秒", "s": "秒", "min": "分", "h": "時間"}


def share(ratio: float) -> str:
    """A share in percent: 98 %, 0.4 %; 100 % is all of it."""
    if not math.isfinite(ratio):
        return "? %"
    percent = ratio * 100
    if 99.5 <= percent < 100:
        return f"{math.floor(percent * 10) / 10:.1f} %"
    return f"{percent:.0f} %" if percent >= 9.95 or percent == round(percent) else f"{percent:.1f} %"


def size(amount: float) -> str:
    """Bytes in binary units: 512 MiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(amount) < 1024:
            return f"{figure(amount)} {unit}"
        amount /= 1024
    return f"{figure(amount)} TiB"


def selector(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}"
