"""What the runs of a scenario tell of each resource: the edge of a forecast, and what it remembers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.headroom import join_limits, within_limit
from loadwatch_backend.catalogue.signals.interval import LEAST_MS, WINDOW
from loadwatch_backend.catalogue.signals.model import Resource, render_legend
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.text import parse_number
from loadwatch_backend.evidence.records.model import OUTCOME_CODES, FloatArray, Seconds
from loadwatch_backend.findings import read as findings_read
from loadwatch_backend.findings.measures.hosts import NOISE_METRICS, host_cpus
from loadwatch_backend.findings.read import grid_of, read_tables
from loadwatch_backend.findings.window import BoolArray, Window
from loadwatch_backend.runs.analysis.counters import SeriesReader, Values
from loadwatch_backend.runs.analysis.load import SECOND_MS, Span
from loadwatch_backend.runs.compare.forecasts.model import Consistency, check_little
from loadwatch_backend.runs.compare.forecasts.steps import Cut, RunLoad, answered_by_second, cut_steps, full_rate
from loadwatch_backend.runs.compare.metrics import Memory
from loadwatch_backend.runs.registry.registry import Registry
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.store.port import Reader

MOST_SERIES = 40
"""Of one resource: instances, pools, ports."""
REMEMBERED = 100
"""Ended runs whose points are kept in memory."""
HOST_CPU = "host_cpu"
MEDIAN = 0
"""Column of `Seconds.latency`."""
USERS = ("users", "vus", "concurrency", "connections", "workers", "clients", "threads")
"""Parameters that name how many work at once, where the tool does not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcePoints:
    """A resource in one run: `full_rate` is None where it never was full."""

    resource: Resource
    name: str
    limit: float
    cut: Cut
    full_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPoints:
    """What one run tells. `users` are steps whose use is the users at work; `little` is None where nothing tells."""

    run: str
    top_rate: float
    resources: Mapping[str, ResourcePoints]
    users: Cut
    little: Consistency | None


class PointReader:
    """Safe to use from any thread."""

    def __init__(self, runs: Registry, store: Reader, engine: Engine, clock: Clock, library: Library) -> None:
        self._runs = runs
        self._library = library
        self._store = store
        self._series = SeriesReader(engine, clock)
        self._known = Memory[RunPoints](REMEMBERED)

    def read(self, run: RunOut) -> RunPoints | None:
        """The points of an ended run; None where it has no per-second series."""
        return self._known.of(run, str(run.updated_ms), lambda: self._points(run))

    def _points(self, run: RunOut) -> RunPoints | None:
        seconds = self._runs.raw_seconds(run.id)
        if seconds is None or not len(seconds.outcomes):
            return None
        load = load_of(run, seconds)
        span = Span(load.start_ms, load.start_ms + SECOND_MS * len(load.good))
        resources: dict[str, ResourcePoints] = {}
        # The analysis of the run has looked for all others, and found nothing.
        reached = {one.resource for one in run.resources}
        disturbed = self._disturbed(load, span)
        for resource in (one for one in self._library.current().resources if one.id in reached):
            try:
                used, limit = self._series.read(resource.used, span), self._series.read(resource.limit, span)
            except ProblemError:
                continue
            others = disturbed if resource.id == HOST_CPU else None
            resources |= _resource_points(resource, used, limit, load, others)
        users = _users(run, seconds, len(load.good))
        cut = Cut() if users is None else cut_steps(load, users, 1.0)
        rates = [step.rate for one in resources.values() for step in one.cut.steps] + [step.rate for step in cut.steps]
        return RunPoints(
            run=run.id,
            top_rate=max(rates, default=0.0),
            resources=resources,
            users=cut,
            little=_little(run, load, users),
        )

    def _disturbed(self, load: RunLoad, span: Span) -> Mapping[str, BoolArray]:
        """[second] by instance of host: where programs that are not watched had filled its CPU."""
        grid = grid_of(findings_read.Span(from_ms=span.from_ms, to_ms=span.to_ms))
        try:
            tables = read_tables(self._store, NOISE_METRICS, grid)
        except ProblemError:
            return {}
        window = Window(grid=grid, from_ms=span.from_ms, to_ms=span.to_ms, tables=tables)
        times = load.start_ms + SECOND_MS * np.arange(1, len(load.good) + 1)
        places = np.clip((times - grid.start_ms) // grid.step_ms, 0, grid.count - 1)
        return {host.labels.get("instance", ""): host.noisy[places] for host in host_cpus(window)}


def load_of(run: RunOut, seconds: Seconds) -> RunLoad:
    """Good answers by the second in which they ended, and what of the run is steady."""
    ok = seconds.outcomes[:, OUTCOME_CODES[Outcome.OK]].astype(np.float64)
    # Tools without single requests count each by its end already.
    latency = None if seconds.latency is None or not seconds.exact else seconds.latency[:, MEDIAN]
    window = run.steady_window
    first, last = (0, len(ok)) if window is None else (_second(window.from_ms, seconds), _second(window.to_ms, seconds))
    return RunLoad(
        run=run.id,
        start_ms=seconds.start_ms,
        good=answered_by_second(ok, latency),
        failed=seconds.requests - ok,
        from_second=max(first, 0),
        to_second=min(last, len(ok)),
    )


def _second(time_ms: int, seconds: Seconds) -> int:
    return math.ceil((time_ms - seconds.start_ms) / SECOND_MS)


def _resource_points(
    resource: Resource, used: Values, limit: Values, load: RunLoad, disturbed: Mapping[str, BoolArray] | None
) -> dict[str, ResourcePoints]:
    found: dict[str, ResourcePoints] = {}
    places = join_limits(used.labels, limit.labels)
    period = max(used.interval_ms or SECOND_MS, used.step_ms, resource.cadence.period_ms if resource.cadence else 0)
    covers = period if resource.cadence else max(period, LEAST_MS) if WINDOW in resource.used else SECOND_MS
    for row, (labels, place) in enumerate(zip(used.labels, places, strict=True)):
        if place is None or len(found) >= MOST_SERIES:
            continue
        limits = limit.values[place]
        uses = within_limit(resource, used.values[row], limits)
        known = limits[np.isfinite(limits) & (limits > 0)]
        if not len(known) or not np.isfinite(uses).any():
            continue
        by_second = _by_second(np.where(np.isfinite(uses) & (limits > 0), uses, np.nan), used, load)
        others = None if disturbed is None else disturbed.get(labels.get("instance", ""))
        alone = by_second if others is None else np.where(others, np.nan, by_second)
        name = render_legend(resource.legend, labels)
        most = float(np.median(known))
        found[f"{resource.id} {name}"] = ResourcePoints(
            resource=resource,
            name=name,
            limit=most,
            cut=cut_steps(load, by_second, period / SECOND_MS, covers // SECOND_MS, others),
            full_rate=full_rate(load, alone, most),
        )
    return found


def _by_second(values: FloatArray, grid: Values, load: RunLoad) -> FloatArray:
    """Values at the end of each second of the load; of a coarser grid each stands for the seconds before it."""
    times = load.start_ms + SECOND_MS * np.arange(1, len(load.good) + 1)
    places = -(-(times - grid.start_ms) // grid.step_ms)
    inside = (places >= 0) & (places < len(values))
    return np.where(inside, values[np.clip(places, 0, max(len(values) - 1, 0))], np.nan)


def _users(run: RunOut, seconds: Seconds, count: int) -> FloatArray | None:
    """Users at work in each second, as the tool told or a parameter of the run says; None where nothing does."""
    if seconds.users is not None and np.isfinite(seconds.users).any():
        return seconds.users
    for name in USERS:
        value = parse_number(run.parameters.get(name, ""))
        if value is not None and value > 0:
            return np.full(count, value)
    return None


def _little(run: RunOut, load: RunLoad, users: FloatArray | None) -> Consistency | None:
    steady = run.steady
    if steady is None or users is None or steady.rate is None or steady.latency_seconds.mean is None:
        return None
    at_work = users[load.from_second : load.to_second]
    known: Sequence[float] = at_work[np.isfinite(at_work)].tolist()
    return check_little(sum(known) / len(known), steady.rate, steady.latency_seconds.mean) if known else None
