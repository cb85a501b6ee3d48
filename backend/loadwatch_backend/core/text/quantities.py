"""Numbers as people write them, with a unit or without. Pure."""

from collections.abc import Sequence


def parse_number(text: str) -> float | None:
    """A parameter's value as a number, with a unit of a time or a size after it or not; None for words."""
    cleaned = text.strip().replace("_", "").replace(",", "")
    for suffix, factor in _FACTORS:
        if cleaned.endswith(suffix) and cleaned != suffix:
            return _scaled(cleaned[: -len(suffix)], factor)
    return _scaled(cleaned, 1.0)


_FACTORS: Sequence[tuple[str, float]] = (
    ("KiB", 1_024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("ms", 0.001),
    ("us", 0.000_001),
    ("%", 0.01),
    ("s", 1.0),
    ("m", 60.0),
    ("k", 1_000.0),
    ("M", 1_000_000.0),
)


def _scaled(text: str, factor: float) -> float | None:
    try:
        value = float(text) * factor
    except ValueError:
        return None
    return value if abs(value) < 1e300 else None
