"""From samples of one collector to its health. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loadwatch_backend.series.store.port import STALE_NAN_BITS

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

SILENT_INTERVALS = 4
SILENT_LEAST_MS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Samples of one series in rising time, stale markers left out; `ended` tells that the newest one is a marker."""

    times: IntArray
    values: FloatArray
    ended: bool = False

    @property
    def last(self) -> float | None:
        """The newest value."""
        return float(self.values[-1]) if len(self.values) else None


NOTHING = Samples(times=np.empty(0, np.int64), values=np.empty(0, np.float64))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorText:
    """One text of `collector_error_info` and when it was last said to hold."""

    text: str
    last_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What is known of a collector; `up` is None where nothing fresh is.

    `error` beside `up` is the trouble of one that goes on: a part that cannot be read, or a search that is ambiguous.
    """

    up: bool | None
    last_sample_ms: int | None
    duration_seconds: float | None
    cpu_ratio: float | None
    samples: int | None
    error: str | None


def without_stale(times: IntArray, values: FloatArray) -> Samples:
    """Samples without stale markers."""
    stale = values.view(np.uint64) == STALE_NAN_BITS
    return Samples(times=times[~stale], values=values[~stale], ended=bool(len(stale) and stale[-1]))


def silence_ms(times: IntArray) -> int:
    """How long a collector may say nothing before that means something: four of its usual pauses, at least 10 s."""
    pause = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return max(round(SILENT_INTERVALS * pause), SILENT_LEAST_MS)


def cpu_ratio(samples: Samples) -> float | None:
    """CPU seconds a second over the samples, from the last reset on."""
    if len(samples.times) < 2:
        return None
    resets = np.flatnonzero(np.diff(samples.values) < 0)
    first = int(resets[-1]) + 1 if len(resets) else 0
    seconds = float(samples.times[-1] - samples.times[first]) / 1_000
    return float(samples.values[-1] - samples.values[first]) / seconds if seconds > 0 else None


def judge_collector(
    *, up: Samples, duration: Samples, count: Samples, cpu: Samples, errors: Sequence[ErrorText], now_ms: int
) -> Health:
    """The health of a collector from its newest samples."""
    last_ms = int(up.times[-1]) if len(up.times) else None
    is_fresh = last_ms is not None and not up.ended and now_ms - last_ms <= silence_ms(up.times)
    is_up = bool(up.last) if is_fresh else None
    newest = max(errors, key=lambda error: error.last_ms, default=None)
    # One that fails may have failed for another reason at the tick before; one that goes on says its trouble each tick.
    since_ms = None if last_ms is None else last_ms if is_up else last_ms - silence_ms(up.times)
    held = newest is not None and (since_ms is None or newest.last_ms >= since_ms)
    return Health(
        up=is_up,
        last_sample_ms=last_ms,
        duration_seconds=duration.last,
        cpu_ratio=cpu_ratio(cpu),
        samples=None if count.last is None else int(count.last),
        error=newest.text if newest is not None and held else None,
    )
