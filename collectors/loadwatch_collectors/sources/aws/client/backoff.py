"""When the next request may go: doubling with jitter while AWS throttles, halving as it recovers. No I/O."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

FIRST_SECONDS = 0.5
MOST_SECONDS = 60.0
_RECOVERY_SPACING_SECONDS = 1.0
_NEGLIGIBLE_SECONDS = 0.1


@dataclass(slots=True, kw_only=True)
class Backoff:
    """The pace of requests to one service of one place. Times are of a monotonic clock.

    Each refusal doubles the delay, from `first` to `most` seconds, and half of each wait is random, so that many agents
    do not come back together. Each success halves it; until it is negligible, requests keep a little apart, so that
    what was just relieved is not hit by the whole backlog at once.
    """

    first_seconds: float = FIRST_SECONDS
    most_seconds: float = MOST_SECONDS
    draw: Callable[[], float] = random.random
    delay_seconds: float = 0.0
    not_before: float = field(default=float("-inf"))
    refusals: int = 0
    """Refusals since the last success."""

    def refused(self, now: float) -> None:
        """AWS throttled, or failed, at `now`."""
        self.refusals += 1
        self.delay_seconds = min(max(self.delay_seconds * 2, self.first_seconds), self.most_seconds)
        self.not_before = now + self.delay_seconds * (0.5 + 0.5 * self.draw())

    def succeeded(self, now: float) -> None:
        """AWS answered at `now`."""
        self.refusals = 0
        self.delay_seconds /= 2
        if self.delay_seconds < _NEGLIGIBLE_SECONDS:
            self.delay_seconds = 0.0
        self.not_before = now + min(self.delay_seconds, _RECOVERY_SPACING_SECONDS)

    def wait_seconds(self, now: float) -> float:
        """How long the next request has to wait; 0 when it may go."""
        return max(0.0, self.not_before - now)
