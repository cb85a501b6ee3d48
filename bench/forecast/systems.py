"""Synthetic systems under a sweep of loads, with the rate at which each is full. Seeded; pure.

Each is simulated request by request, and measured as a real one is: by the second, by samples of an instant (a pool)
or by time that was busy (a CPU). They have what real ones have: something in use without load, steps that differ by a
few per cent for no reason, and in one of ten sweeps a step that other work of the host disturbed.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
WARM_UP_SECONDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """A sweep over rates: [second] of each step, good answers and what was in use; full at `truth` per second."""

    kind: str
    steps: Sequence[tuple[FloatArray, FloatArray]]
    limit: float
    truth: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """A sweep over users, with the highest rate there is."""

    users: FloatArray
    rates: FloatArray
    truth: float


def swept_system(seed: int, kind: str) -> Swept:
    """A system of kind `M/M/c` or `M/G/1` that is loaded up to a third, or nearly all, of what it can do."""
    draw = np.random.default_rng([20_261_123, seed])
    count, seconds = int(draw.integers(4, 11)), int(draw.integers(20, 61))
    capacity = math.exp(draw.uniform(math.log(20), math.log(300)))
    top = draw.uniform(0.35, 0.95)
    loads = np.linspace(top / draw.uniform(2, 6), top, count)
    idle = draw.uniform(0, 0.1) if draw.random() < 0.5 else 0.0
    scatter = draw.uniform(0, 0.03)
    servers = int(draw.integers(2, 51)) if kind == "M/M/c" else 1
    variation = float(draw.choice([0.0, 0.5, 1.0, 2.0, 3.0]))
    disturbed = int(draw.integers(count)) if draw.random() < 0.1 else -1
    steps: list[tuple[FloatArray, FloatArray]] = []
    for place, load in enumerate(loads.tolist()):
        service = servers / capacity * math.exp(draw.normal(0, scatter))
        if kind == "M/M/c":
            answers, used = _many_servers(draw, load * capacity, service, servers, seconds)
            used = used + idle * servers
        else:
            answers, used = _one_server(draw, load * capacity, service, variation, seconds)
            used = (used + idle) * draw.normal(1, 0.02, seconds)
        steps.append((answers, used + (0.15 * servers if place == disturbed else 0.0)))
    return Swept(kind=kind, steps=steps, limit=float(servers), truth=capacity * (1 - idle))


def scaled_system(seed: int) -> Scaled:
    """A system after the Universal Scalability Law, swept up to 0.6 to 1.5 times the users of its peak."""
    draw = np.random.default_rng([20_261_124, seed])
    one, contention = math.exp(draw.uniform(2, 6)), draw.uniform(0, 0.1)
    coherency = math.exp(draw.uniform(math.log(1e-5), math.log(2e-3)))
    at_peak = math.sqrt((1 - contention) / coherency)
    top = draw.uniform(0.6, 1.5) * at_peak
    users = np.unique(np.maximum(np.round(np.linspace(max(1, 0.05 * top), top, int(draw.integers(6, 13)))), 1))
    noise = draw.uniform(0.005, 0.04)

    def rate(at: FloatArray) -> FloatArray:
        return one * at / (1 + contention * (at - 1) + coherency * at * (at - 1))

    return Scaled(
        users=users,
        rates=rate(users) * np.exp(draw.normal(0, noise, len(users))),
        truth=float(rate(np.array([at_peak]))[0]),
    )


def _many_servers(
    draw: np.random.Generator, rate: float, service: float, servers: int, seconds: int
) -> tuple[FloatArray, FloatArray]:
    """Arrivals of each second, and servers that are busy at its end."""
    end = seconds + WARM_UP_SECONDS
    arrivals = np.sort(draw.uniform(0, end, int(draw.poisson(rate * end))))
    services = draw.exponential(service, len(arrivals))
    free = [0.0] * servers
    begins = np.empty(len(arrivals))
    for place, (arrival, length) in enumerate(zip(arrivals.tolist(), services.tolist(), strict=True)):
        begin = max(free[0], arrival)
        heapq.heapreplace(free, begin + length)
        begins[place] = begin
    times = np.arange(WARM_UP_SECONDS + 1, end + 1)
    busy = np.searchsorted(np.sort(begins), times) - np.searchsorted(np.sort(begins + services), times)
    return _by_second(arrivals, end), busy.astype(np.float64)


def _one_server(
    draw: np.random.Generator, rate: float, service: float, variation: float, seconds: int
) -> tuple[FloatArray, FloatArray]:
    """Arrivals of each second, and how much of it the server was busy: Lindley's recursion over all at once."""
    end = seconds + WARM_UP_SECONDS
    arrivals = np.sort(draw.uniform(0, end, int(draw.poisson(rate * end))))
    spread = math.sqrt(math.log(1 + variation**2))
    services = draw.lognormal(math.log(service) - spread**2 / 2, spread, len(arrivals))
    work = np.concatenate([np.zeros(1), np.cumsum(services)])
    ends = work[1:] + np.maximum.accumulate(arrivals - work[:-1])
    edges = np.arange(WARM_UP_SECONDS, end + 1.0)
    begun = np.searchsorted(ends - services, edges)
    under_way = np.concatenate([np.zeros(1), ends])[begun] - edges
    busy = np.diff(work[begun] - np.maximum(under_way, 0.0))
    return _by_second(arrivals, end), busy


def _by_second(arrivals: FloatArray, end: int) -> FloatArray:
    return np.histogram(arrivals, bins=np.arange(WARM_UP_SECONDS, end + 1))[0].astype(np.float64)
