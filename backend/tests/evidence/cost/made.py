"""A load that is made up, request by request, and what it leaves in counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Made:
    """Ends of requests by route, and of calls by statement, in seconds since the start of the recording."""

    ends: Sequence[Array]
    calls: Sequence[Array]
    seconds: int

    def counts(self, times: Sequence[Array], late: float = 0.0) -> Array:
        """[second, thing]."""
        edges = np.arange(self.seconds + 1)
        return np.column_stack([np.histogram(one + late, edges)[0] for one in times]).astype(np.float64)


def make_load(
    asks: Mapping[int, Mapping[int, int]],
    *,
    routes: int,
    statements: int,
    rate: float | list[float] = 20.0,
    takes: float | list[float] = 0.02,
    seconds: int = 60,
    margin: int = 10,
    background: float = 0.0,
    seed: int = 1,
) -> Made:
    """Poisson arrivals of each route; `asks[route][statement]` calls, spread over the time that a request takes."""
    draw = np.random.default_rng(seed)
    rates = rate if isinstance(rate, list) else [rate] * routes
    durations = takes if isinstance(takes, list) else [takes] * routes
    calls: list[list[Array]] = [[] for _ in range(statements)]
    ends: list[Array] = []
    for route in range(routes):
        begun = np.sort(draw.uniform(0, seconds, draw.poisson(rates[route] * seconds))) + margin
        took = draw.gamma(2, durations[route] / 2, len(begun))
        ends.append(begun + took)
        for statement, times in asks.get(route, {}).items():
            when = np.repeat(begun, times) + draw.uniform(size=len(begun) * times) * np.repeat(took, times)
            calls[statement].append(when)
    whole = seconds + 2 * margin
    for one in calls:
        one.append(draw.uniform(0, whole, draw.poisson(background * whole)))
    return Made(ends=ends, calls=[np.concatenate(one) for one in calls], seconds=whole)


def counter(
    times: Array, start_ms: int, seconds: int, *, factor: float = 1.0, at_ms: int = 0
) -> list[tuple[int, float]]:
    """A counter of these moments, sampled each second `at_ms` after it begins, from its first event on."""
    edges = np.arange(seconds + 1) + at_ms / 1_000
    running = np.searchsorted(np.sort(times), edges) * factor
    samples = [(start_ms + second * 1_000 + at_ms, float(running[second])) for second in range(seconds + 1)]
    return [one for one in samples if one[1] > 0]
