"""Names of metrics, labels and units as Prometheus makes them of OpenTelemetry's. Pure.

Follows github.com/prometheus/otlptranslator v1.0.0 to the letter, oddities included; golden files hold it to that. But
names of which it leaves nothing, as of Japanese ones, stay as they are: names are UTF-8.
"""

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple


class Strategy(StrEnum):
    """How names are translated; the words are those of Prometheus' `translation_strategy`."""

    UNDERSCORES = "UnderscoreEscapingWithSuffixes"
    UNDERSCORES_ALONE = "UnderscoreEscapingWithoutSuffixes"
    UTF8 = "NoUTF8EscapingWithSuffixes"
    NOTHING = "NoTranslation"

    @property
    def escapes(self) -> bool:
        """Characters that names could not have before UTF-8 become underscores."""
        return self in (Strategy.UNDERSCORES, Strategy.UNDERSCORES_ALONE)

    @property
    def suffixes(self) -> bool:
        """Unit and type are added to names."""
        return self in (Strategy.UNDERSCORES, Strategy.UTF8)


class UnnameableError(ValueError):
    """Nothing is left of a name; says which."""


_UNITS = {
    "d": "days", "h": "hours", "min": "minutes", "s": "seconds", "ms": "milliseconds", "us": "microseconds",
    "ns": "nanoseconds", "By": "bytes", "KiBy": "kibibytes", "MiBy": "mebibytes", "GiBy": "gibibytes",
    "TiBy": "tibibytes", "KBy": "kilobytes", "MBy": "megabytes", "GBy": "gigabytes", "TBy": "terabytes", "m": "meters",
    "V": "volts", "A": "amperes", "J": "joules", "W": "watts", "g": "grams", "Cel": "celsius", "Hz": "hertz", "1": "",
    "%": "percent",
}  # fmt: skip
_PER_UNITS = {"s": "second", "m": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year"}
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_DIGITS = frozenset("0123456789")


class Kind(NamedTuple):
    counter: bool = False
    gauge: bool = False


@lru_cache(maxsize=8192)
def metric_name(name: str, unit: str, kind: Kind, strategy: Strategy) -> str:
    """The name of a metric.

    Raises:
        UnnameableError: nothing but underscores is left.
    """
    if not strategy.escapes:
        return _utf8_name(name, unit, kind) if strategy.suffixes else name
    if strategy.suffixes:
        made = "_".join(_with_suffixes(name, unit, kind))
    else:
        made = "_".join(_fields(name, keep="_:"))
    if made[:1] in _DIGITS:
        made = f"_{made}"
    if not made or (made != name and not made.strip("_")):
        if not name.isascii():
            return _utf8_name(name, unit, kind) if strategy.suffixes else name
        raise UnnameableError(f"nothing is left of the metric name {name[:100]!r}")
    return made


@lru_cache(maxsize=8192)
def label_name(name: str, strategy: Strategy) -> str:
    """The name of a label.

    Raises:
        UnnameableError: nothing but underscores is left.
    """
    made = name if not strategy.escapes else _escaped_label(name)
    if not made.strip("_"):
        if not name.isascii():
            return name
        raise UnnameableError(f"nothing is left of the attribute name {name[:100]!r}")
    return made


@lru_cache(maxsize=1024)
def unit_name(unit: str) -> str:
    made = "_".join(part for part in map(_clean, _unit_suffixes(unit)) if part)
    return made.removeprefix("_").removesuffix("_")


def _escaped_label(name: str) -> str:
    reserved = len(name) >= 4 and name.startswith("__") and name.endswith("__")
    made = _underscored(name[2:-2] if reserved else name, _LETTERS)
    if reserved:
        return f"__{made}__"
    return f"key_{made}" if made[:1] in _DIGITS else made


def _underscored(text: str, allowed: frozenset[str]) -> str:
    """Replaces each run of characters that are not allowed by one underscore."""
    parts: list[str] = []
    for character in text:
        if character in allowed:
            parts.append(character)
        elif not parts or parts[-1] != "_":
            parts.append("_")
    return "".join(parts)


def _fields(text: str, keep: str) -> Sequence[str]:
    return "".join(c if c in _LETTERS or c in keep else " " for c in text).split()


def _unit_suffixes(unit: str) -> tuple[str, str]:
    """Names of a unit and of what it is per, such as ("bytes", "per_second")."""
    main, _, per = unit.partition("/")
    main, per = main.strip(), per.strip()
    main_name = "" if not main or "{" in main or "}" in main else _UNITS.get(main, main)
    per_name = "" if not per or "{" in per or "}" in per else _PER_UNITS.get(per, per)
    return main_name, f"per_{per_name}" if per_name else ""


def _clean(unit: str) -> str:
    return _underscored(unit, _LETTERS | {":"}).removeprefix("_")


def _with_suffixes(name: str, unit: str, kind: Kind) -> Sequence[str]:
    tokens = list(_fields(name, keep=":"))
    main, per = map(_clean, _unit_suffixes(unit))
    if main in tokens:
        main = ""
    per = "" if per == "per_" else per.removesuffix("_")
    if per in tokens:
        per = ""
    if per:
        main = main.removesuffix("_")
    tokens += [part for part in (main, per) if part]
    if kind.counter:
        tokens = [*(token for token in tokens if token != "total"), "total"]
    if unit == "1" and kind.gauge:
        tokens = [*(token for token in tokens if token != "ratio"), "ratio"]
    return tokens


def _utf8_name(name: str, unit: str, kind: Kind) -> str:
    ends: list[str] = []
    main, per = _unit_suffixes(unit)
    for end, wanted in (("ratio", unit == "1" and kind.gauge), ("total", kind.counter), (per, bool(per))):
        if wanted:
            # The delimiter goes with it, whatever it is.
            encoded = name.encode()
            if name.endswith(end) and len(encoded) > len(end.encode()) + 1:
                name = encoded[: -len(end.encode()) - 1].decode(errors="replace")
            ends.insert(0, end)
    if main and not name.endswith(main):
        name = f"{name}_{main}"
    return "_".join((name, *ends))
