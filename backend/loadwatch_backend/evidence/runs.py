"""Runs as evidence sees them: values, since the registry of runs stands on evidence and not below it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np

from loadwatch_backend.evidence.records.model import Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWindow:
    """When a run was; `steady_ms` is its steady window, None without one.

    `requests` and `steady_requests` are those that its load tool sent; None where no result tells.
    """

    id: str
    name: str
    from_ms: int
    to_ms: int
    steady_ms: tuple[int, int] | None = None
    requests: int | None = None
    steady_requests: int | None = None

    @property
    def span(self) -> tuple[int, int]:
        return self.from_ms, self.to_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldRun:
    """A run, held against a base run where there is one: of their steady windows, or `whole`."""

    run: RunWindow
    base: RunWindow | None
    whole: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRun:
    id: str
    name: str
    started_ms: int


class Runs(Protocol):
    """The registry of runs (`runs.registry.registry`); each raises NotFoundError of a run that is not there."""

    def window(self, run_id: str) -> RunWindow: ...

    def name(self, run_id: str) -> str:
        """Its name, else its id."""
        ...

    def reference(self, run_id: str) -> str | None:
        """The run that it is held against: the pinned baseline of its scenario, else the run before it."""
        ...

    def others(self, run_id: str) -> Sequence[OtherRun]:
        """Other runs of its scenario, the newest first."""
        ...

    def raw_seconds(self, run_id: str) -> Seconds | None:
        """Its per-second series; None where nothing tells."""
        ...


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
