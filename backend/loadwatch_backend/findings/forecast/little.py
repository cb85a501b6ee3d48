"""Little's law as a check of the data: requests at work at once = rate * time of a request.

Little, "A Proof for the Queuing Formula L = lambda W", 1961; it holds for any system that
neither fills nor empties.
"""

from dataclasses import dataclass
from enum import StrEnum

MARGIN = 0.15


class Agreement(StrEnum):
    """How the three figures fit."""

    CONSISTENT = "consistent"
    THINK_TIME = "think-time"
    """More users than requests at work: users wait between requests, or the tool does."""
    INCONSISTENT = "inconsistent"
    """More requests at work than there can be: one of the three figures is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency:
    """Rate times seconds over those at work; 1 where the figures agree."""

    ratio: float
    agreement: Agreement


def check_little(at_work: float, rate: float, seconds: float) -> Consistency | None:
    """Users or requests at work at once against rate (per second) and mean time (seconds); None without any."""
    if not (at_work > 0 and rate > 0 and seconds > 0):
        return None
    ratio = rate * seconds / at_work
    if ratio > 1 + MARGIN:
        return Consistency(ratio=ratio, agreement=Agreement.INCONSISTENT)
    agrees = ratio >= 1 - MARGIN
    return Consistency(ratio=ratio, agreement=Agreement.CONSISTENT if agrees else Agreement.THINK_TIME)
