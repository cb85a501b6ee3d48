"""Units as people write them, of thresholds and of figures of one's own, with their factor to the base unit."""

from collections.abc import Mapping

_SIZES: Mapping[str, float] = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
UNITS: Mapping[str, Mapping[str, float]] = {
    "seconds": {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0},
    "ratio": {"%": 0.01},
    "count": {"k": 1e3, "M": 1e6},
    "per_second": {"/s": 1.0, "k/s": 1e3, "M/s": 1e6, "k": 1e3, "M": 1e6},
    "bytes": _SIZES,
    "bytes_per_second": {**_SIZES, **{f"{unit}/s": factor for unit, factor in _SIZES.items()}},
}
"""By base unit."""
FACTORS: Mapping[str, float] = {unit: factor for units in UNITS.values() for unit, factor in units.items()}
"""Of all of them: none has two."""


def to_base(number: float, factor: float) -> float:
    """A number in base units. 0.1 % is 0.1 / 100, which is rounded once, and not 0.1 * 0.01."""
    return number * factor if factor >= 1 else number / round(1 / factor)
