"""Profiles: what orders them is told of runs and alerts here, which it does not know."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from loadwatch_backend.alerts.evaluation.evaluator import Evaluator
from loadwatch_backend.alerts.schemas import AlertState
from loadwatch_backend.app.foundation import Foundation
from loadwatch_backend.evidence.files.service import EvidenceFiles
from loadwatch_backend.evidence.profiles.capture.orders import ProfileOrders
from loadwatch_backend.evidence.profiles.capture.planning import FiringAlert, Process, RunNow, kinds_asked
from loadwatch_backend.evidence.profiles.capture.processes import read_processes
from loadwatch_backend.evidence.profiles.capture.watch import ProfileWatch
from loadwatch_backend.evidence.profiles.views.schemas import ProfileBase
from loadwatch_backend.evidence.profiles.views.service import Requests
from loadwatch_backend.evidence.request_counts import RequestCount, RequestsBy
from loadwatch_backend.evidence.routes.service import RouteTables
from loadwatch_backend.records.model import Seconds
from loadwatch_backend.runs.registry.reference import reference_of
from loadwatch_backend.runs.registry.registry import Registry
from loadwatch_backend.runs.registry.repository import find_others, find_run
from loadwatch_backend.runs.registry.under_way import runs_under_way
from loadwatch_backend.store.leadership import Leadership
from loadwatch_backend.store.relational import Relational

PROFILE = "profile"
"""The label, or the annotation, by which a rule asks for profiles."""
MOST_BASES = 200
"""Runs of a scenario, the newest, among which one is chosen to hold profiles against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """What is asked each second, over what is open."""

    ground: Foundation
    evaluator: Evaluator

    def runs(self) -> Sequence[RunNow]:
        return [
            RunNow(id=run.id, started_ms=run.started_ms, planned_seconds=run.planned_seconds)
            for run in runs_under_way(self.ground.relational, self.ground.clock)
        ]

    def processes(self) -> Sequence[Process]:
        return read_processes(self.ground.store, self.ground.clock())

    def alerts(self) -> Sequence[FiringAlert]:
        found: list[FiringAlert] = []
        for one in self.evaluator.live().values():
            alert = one.alert
            kinds = kinds_asked(alert.labels.get(PROFILE) or alert.annotations.get(PROFILE, ""))
            if kinds and alert.state is AlertState.FIRING:
                found.append(
                    FiringAlert(
                        id=alert.id,
                        rule=alert.labels.get("alertname", ""),
                        kinds=kinds,
                        job=alert.labels.get("job", ""),
                        instance=alert.labels.get("instance", ""),
                    )
                )
        return found


@dataclass(frozen=True, slots=True)
class ProfiledRuns:
    """`evidence.profiles.views.service.Runs` over the runs that there are."""

    registry: Registry
    relational: Relational
    route_tables: RouteTables

    def check(self, run_id: str) -> None:
        """Raise where there is no such run."""
        with self.relational.transaction() as session:
            find_run(session, run_id)

    def baseline(self, run_id: str) -> tuple[str, str] | None:
        """The pinned baseline of its scenario, else the run before it."""
        with self.relational.transaction() as session:
            other = reference_of(session, find_run(session, run_id))
            return None if other is None else (other.id, other.name)

    def others(self, run_id: str) -> Sequence[ProfileBase]:
        """Other runs of its scenario, the newest first."""
        with self.relational.transaction() as session:
            rows = find_others(session, find_run(session, run_id), MOST_BASES)
            return [ProfileBase(run=row.id, name=row.name or row.id, started_ms=row.started_ms) for row in rows]

    def requests(self, run_id: str) -> Requests:
        """Counts the run's own requests, else those of whoever counted by route; of a second in part, as much."""
        seconds = self.registry.raw_seconds(run_id)
        by_route = cache(partial(self.route_tables.counter, run_id))

        def count(from_ms: int, to_ms: int) -> RequestCount | None:
            sent = None if seconds is None else requests_between(seconds, from_ms, to_ms)
            if sent is not None:
                return RequestCount(sent, RequestsBy.LOAD_TOOL)
            counted = by_route()(from_ms, to_ms)
            return None if counted is None else RequestCount(counted, RequestsBy.ROUTES)

        return count


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


def open_profile_orders(
    ground: Foundation, leadership: Leadership, evaluator: Evaluator, files: EvidenceFiles
) -> ProfileOrders:
    """Profiles are ordered while this server leads."""
    sources = _Sources(ground=ground, evaluator=evaluator)
    orders = ProfileOrders(ground.relational, files, sources.runs, sources.processes, ground.clock)
    watch = ProfileWatch(
        relational=ground.relational,
        orders=orders,
        runs=sources.runs,
        processes=sources.processes,
        alerts=sources.alerts,
        fence=leadership.check,
        leads=lambda: leadership.held,
        clock=ground.clock,
    )
    ground.stack.callback(watch.stop)
    watch.start()
    return orders
