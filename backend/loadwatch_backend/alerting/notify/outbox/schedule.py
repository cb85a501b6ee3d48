"""When a delivery is tried again: pauses made for paging, and what receivers ask for."""

from collections.abc import Callable

SECOND_MS = 1_000
FIRST_SECONDS = (2.0, 4.0, 8.0)
"""Pauses after the first attempts that failed; the first attempt is made at once."""
OFTEN_SECONDS = 10.0
OFTEN_STEPS = 30
"""About five minutes of attempts each `OFTEN_SECONDS`; a person who is on call is to hear of it now."""
LATER_SECONDS = (20.0, 40.0)
LONGEST_SECONDS = 60.0
REFUSED_SECONDS = 5.0
REFUSED_GROWTH = 1.1
"""What looks permanent is tried ever more seldom: each pause is about a tenth of the time that it has lasted."""
LONGEST_REFUSED_SECONDS = 120.0
"""A person who repairs an address is not to wait long. Alertmanager's next try is its next flush, after 5 minutes."""
JITTER = 0.2
LEAST_PAUSE_MS = 1_000
CARE_MS = 24 * 3_600 * SECOND_MS
"""How long a message is tried of which nothing fires any more."""
RETRY_SLACK_MS = LEAST_PAUSE_MS
"""How far the clock may lie back before an attempt is made ahead of its time: that costs one request, and what waits is
a page."""

Random = Callable[[], float]
"""Returns a number from 0 up to 1."""


def delay_ms(step: int, random: Random, *, refused: bool) -> int:
    """The pause from one attempt to the next after `step` + 1 attempts failed alike: it grows, and never ends.

    `refused`: the answer looks permanent. Jitter only shortens, so that the longest pause is the one that is stated.
    """
    seconds = _passing_seconds(step)
    if refused:
        seconds = min(REFUSED_SECONDS * REFUSED_GROWTH ** min(step, 100), LONGEST_REFUSED_SECONDS)
    return round(seconds * SECOND_MS * (1 - JITTER * random()))


def _passing_seconds(step: int) -> float:
    if step < len(FIRST_SECONDS):
        return FIRST_SECONDS[step]
    later = step - len(FIRST_SECONDS) - OFTEN_STEPS
    if later < 0:
        return OFTEN_SECONDS
    return LATER_SECONDS[later] if later < len(LATER_SECONDS) else LONGEST_SECONDS


def is_due(next_ms: int, delay_ms: int, now_ms: int) -> bool:
    """Whether it is time. `delay_ms` is the pause that was set together with `next_ms`.

    Earlier than the instant at which the pause began it cannot be: then the wall clock was set back, and waiting for it
    to come again would hold the message for as long.
    """
    return next_ms <= now_ms or now_ms < next_ms - delay_ms - RETRY_SLACK_MS
