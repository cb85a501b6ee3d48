"""One parameter against two figures: the best value, and from where on more of it brings little."""

from collections.abc import Sequence

from loadwatch_backend.signals.model import Orientation

SMALL_GAIN = 0.05


def best_value(points: Sequence[tuple[float, float]], orientation: Orientation) -> float | None:
    """The parameter's value with the best figure; the smallest of equals. None without points or a direction.

    Args:
        points: (parameter, figure) by rising parameter.
        orientation: which way of the figure is good.
    """
    if not points or orientation is Orientation.NEUTRAL:
        return None
    sign = 1 if orientation is Orientation.MORE_IS_BETTER else -1
    return max(points, key=lambda point: (sign * point[1], -point[0]))[0]


def diminishing_value(points: Sequence[tuple[float, float]], orientation: Orientation) -> float | None:
    """The smallest parameter within `SMALL_GAIN` of the whole gain of the best one.

    The whole gain is what the best point has over the first. None where the first is the best, or with fewer than
    three points: two cannot bend.
    """
    if len(points) < 3 or orientation is Orientation.NEUTRAL:
        return None
    sign = 1 if orientation is Orientation.MORE_IS_BETTER else -1
    gains = [sign * (value - points[0][1]) for _, value in points]
    whole = max(gains)
    if whole <= 0:
        return None
    return next(
        parameter for (parameter, _), gain in zip(points, gains, strict=True) if gain >= (1 - SMALL_GAIN) * whole
    )


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
