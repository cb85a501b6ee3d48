"""One thing that may run out: how much of it was used, and where that was all of it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.measures.facts import largest, longest_episode
from loadwatch_backend.findings.window import BoolArray, Episode, Window


@dataclass(frozen=True, kw_only=True)
class Limit:
    """One thing of which there is so much and no more, on the grid.

    Attributes:
        used: [instant], how much of it is in use; NaN where unknown.
        full: [instant], where that is all of it, as `used >= 0.98 * limit`.
        limit: [instant], how much there is; None where that is no figure.
        settings, interval_ms, samples, seconds, gap: as in `longest_episode`, beside the limit.
    """

    window: Window
    used: FloatArray
    full: BoolArray
    limit: FloatArray | None = None
    settings: Sequence[FloatArray] = ()
    interval_ms: int = 0
    samples: int = 3
    seconds: float = 3.0
    gap: int = 5

    @cached_property
    def most(self) -> float:
        """Highest use in the focus; NaN where unknown."""
        return largest(self.used, self.window.focus)

    @cached_property
    def bound(self) -> float:
        """How much there is, in the episode or else in the focus; NaN where unknown."""
        if self.limit is None:
            return float("nan")
        return largest(self.limit, self.window.focus if self.episode is None else self.episode.span)

    @cached_property
    def episode(self) -> Episode | None:
        """The episode to tell of in which it was full; None where it never was for long."""
        return longest_episode(
            self.window,
            self.full,
            self.interval_ms,
            *(() if self.limit is None else (self.limit,)),
            *self.settings,
            samples=self.samples,
            seconds=self.seconds,
            gap=self.gap,
        )
