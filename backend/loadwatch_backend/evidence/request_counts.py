"""Who counted the requests by which figures are divided."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from loadwatch_backend.evidence.records.model import Seconds


class Normalised(StrEnum):
    """What the values of both sides of a difference are divided by."""

    REQUEST = "request"
    SECOND = "second"
    NONE = "none"
    """A level, such as memory in use; or neither requests nor seconds are known."""


class RequestsBy(StrEnum):
    """Who counted requests."""

    LOAD_TOOL = "load_tool"
    """The tool that sent them."""
    ROUTES = "routes"
    """Whoever counted them by route: an access log, or the application."""


@dataclass(frozen=True, slots=True)
class RequestCount:
    """Requests of a time, and who counted them."""

    requests: float
    by: RequestsBy


def weakest_of(several: Sequence[RequestsBy | None]) -> RequestsBy | None:
    """Who to name where requests of several sides stand together: whoever is not the load tool. Pure."""
    known = [one for one in several if one is not None]
    return RequestsBy.ROUTES if RequestsBy.ROUTES in known else next(iter(known), None)


def requests_between(seconds: Seconds, from_ms: int, to_ms: int) -> float | None:
    """Requests of a span; None where the series does not cover it."""
    each = seconds.requests
    first, last = (from_ms - seconds.start_ms) / 1_000, (to_ms - seconds.start_ms) / 1_000
    # A second at either end is the generator's own: its last requests began before it ended.
    if first < -1 or last > len(each) + 1 or last <= first:
        return None
    edges = np.arange(len(each), dtype=np.float64)
    share = np.clip(np.minimum(edges + 1, last) - np.maximum(edges, first), 0, 1)
    return float((each * share).sum())
