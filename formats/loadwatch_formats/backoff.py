"""Pauses between attempts."""


def backoff_seconds(attempt: int, first: float, most: float, jitter: float = 0.0) -> float:
    """The pause before retry `attempt` (from 0): doubles from `first` to `most`; `jitter` 0..1 takes up to half off."""
    return min(most, first * 2.0 ** min(attempt, 32)) * (1 - jitter / 2)
