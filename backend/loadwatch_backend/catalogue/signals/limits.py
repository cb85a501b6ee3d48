"""How close every resource of every target is to its limit, and which of them somebody waits for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from loadwatch_backend.catalogue.packs.library import Library
from loadwatch_backend.catalogue.signals.cadence import newest_step
from loadwatch_backend.catalogue.signals.headroom import (
    exhaustion_seconds,
    join_limits,
    ratios_of,
    state_of,
    within_limit,
)
from loadwatch_backend.catalogue.signals.interval import IntervalDetector, any_tree_of, lookback_of, slowest, tree_of
from loadwatch_backend.catalogue.signals.late import read_late_resource
from loadwatch_backend.catalogue.signals.model import Cadence, Resource, Sighting, render_legend
from loadwatch_backend.catalogue.signals.schemas import State
from loadwatch_backend.catalogue.signals.sightings import Sightings
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.core.language import Language
from loadwatch_backend.series.promql.admission import Ticket
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.value import Matrix

FloatArray = npt.NDArray[np.float64]

SETTLED_MS = 5_000
"""Collectors of one tick end at different times and are pushed a second later: what is older is taken as final."""
HISTORY_POINTS = 60
HISTORY_STEP_MS = 5_000
HISTORY_MS = (HISTORY_POINTS - 1) * HISTORY_STEP_MS
DEMAND_STEPS = 3
"""Whoever waited within so many of these steps counts as waiting: waits come in bursts."""
GONE_MS = 30_000
"""Whose last value is older is gone, where others of the kind go on: it is counted no more."""
MOST_LATE_ENTRIES = 20
"""Of one resource of a whole AWS account; those with the least headroom."""
HOST_WIDE = "host"
"""Group of the resources that all programs of a host share."""


class _Asked(NamedTuple):
    engine: Engine
    at_ms: int
    language: Language


@dataclass(slots=True, kw_only=True)
class _Row(Sighting):
    entry: dict[str, Any]


class Limits:
    """Safe to use from any thread."""

    def __init__(self, engine: Engine, clock: Clock, intervals: IntervalDetector, library: Library) -> None:
        self._engine = engine
        self._clock = clock
        self._intervals = intervals
        self._library = library

    def headroom(self, at_ms: int | None, language: Language, ticket: Ticket) -> dict[str, Any]:
        newest_ms = self._engine.store.newest_ms() or 0
        # A little before now the newest samples may still be under way; older than that, silence must show.
        now_ms = self._clock()
        at = min(newest_ms, now_ms) if at_ms is None else at_ms
        at = now_ms if at < now_ms - SETTLED_MS and at_ms is None else at
        asked = _Asked(engine=self._engine.bound(ticket), at_ms=at, language=language)
        rows = [
            _Row(
                resource=resource,
                labels=entry["labels"],
                interval_ms=resource.cadence.period_ms if resource.cadence else 0,
                sparse=entry["late"],
                entry=entry,
            )
            for resource in self._library.current().resources
            for entry in self._entries(asked, resource)
        ]
        things = Sightings(self._engine.store, self._intervals, at - HISTORY_MS, at).by_thing(rows)
        entries = sorted((row.entry for row, *_ in things), key=_order)
        return {"at_ms": at, "resources": entries}

    def _entries(self, asked: _Asked, resource: Resource) -> list[dict[str, Any]]:
        if resource.cadence is not None:
            return self._late_entries(asked, resource, resource.cadence)
        used, limit = self._history(asked, resource.used), self._history(asked, resource.limit)
        used_values, limit_values = used.with_gaps, limit.with_gaps
        entries: list[dict[str, Any]] = []
        for row, place in enumerate(join_limits(used.labels, limit.labels)):
            if place is None:
                continue
            ratios = ratios_of(resource, used_values[row], limit_values[place])
            step = newest_step(ratios[None])
            if step is None:
                continue
            used_row = within_limit(resource, used_values[row], limit_values[place])
            upto = slice(None, step + 1)
            entry = _entry(
                resource, used.labels[row], used_row[upto], limit_values[place][upto], ratios[upto], asked.language
            )
            missed = len(ratios) - 1 - step
            if missed:
                # Who falls silent under load may be at its limit: its last value stays, and says how old it is.
                as_of_ms = asked.at_ms - missed * HISTORY_STEP_MS
                entry |= {"history": ratios, "as_of_ms": as_of_ms, "late": True, "exhaustion_seconds": None}
            entries.append(entry)
        if not entries:
            return []
        if not all(entry["late"] for entry in entries):
            entries = [one for one in entries if not one["late"] or asked.at_ms - one["as_of_ms"] <= GONE_MS]
        wanted = self._add_demand(asked, resource, entries)
        # Of equals the worst comes first: of whom most is wanted, such as the time that its requests wait.
        return [entries[place] for place in sorted(range(len(entries)), key=lambda place: -wanted[place])]

    def _late_entries(self, asked: _Asked, resource: Resource, cadence: Cadence) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = []
        found = read_late_resource(asked.engine, resource, cadence, asked.at_ms, HISTORY_POINTS)
        for one in sorted(found, key=lambda one: one.ratios[-1], reverse=True)[:MOST_LATE_ENTRIES]:
            entry = _entry(
                resource, one.labels, one.used, one.limit, one.ratios, asked.language, step_ms=cadence.period_ms
            )
            seconds = entry["exhaustion_seconds"]
            entry["exhaustion_seconds"] = (
                None if seconds is None else max(0.0, seconds - (asked.at_ms - one.time_ms) / 1_000)
            )
            entry |= {"history": one.history, "as_of_ms": one.time_ms, "source": cadence.source}
            entries.append(entry)
        return entries

    def _add_demand(self, asked: _Asked, resource: Resource, entries: list[dict[str, Any]]) -> list[float]:
        """Note in entries near their limit whether somebody waited for more; returns how much, for each."""
        amounts = [0.0] * len(entries)
        if not resource.demand or all(entry["state"] is State.OK for entry in entries):
            return amounts
        start_ms = asked.at_ms - (DEMAND_STEPS - 1) * HISTORY_STEP_MS
        try:
            demand = self._range(asked, resource.demand, start_ms)
        except ProblemError:
            return amounts
        wanted: list[float] = np.nansum(np.maximum(demand.with_gaps, 0), axis=1).tolist()
        joined = join_limits([entry["labels"] for entry in entries], demand.labels)
        for index, (entry, place) in enumerate(zip(entries, joined, strict=True)):
            if place is not None and entry["state"] is not State.OK:
                entry["demand"] = wanted[place] > 0
                amounts[index] = wanted[place]
        return amounts

    def _history(self, asked: _Asked, text: str) -> Matrix:
        return self._range(asked, text, asked.at_ms - HISTORY_MS)

    def _range(self, asked: _Asked, text: str, start_ms: int) -> Matrix:
        intervals = self._intervals.detect(any_tree_of(text), start_ms, asked.at_ms)
        tree, lookback_ms = tree_of(text, intervals, HISTORY_STEP_MS, held=True), lookback_of(slowest(intervals))
        return asked.engine.range(tree, start_ms, asked.at_ms, HISTORY_STEP_MS, lookback_ms=lookback_ms)


def _order(entry: Mapping[str, Any]) -> tuple[int, float, bool, str]:
    """What somebody waits for, then the nearest limit; what is full and wanted by nobody last.

    A host's CPU is in use whoever works, and what lies in swap may lie there since yesterday: full without demand they
    tell nothing. Of equals what belongs to a program comes before what all programs share; of one resource they stay
    as they came, the worst first.
    """
    host_wide = entry["group"] == HOST_WIDE
    calm = host_wide and entry["demand"] is False
    rank = 0 if entry["demand"] else 2 if calm else 1
    return rank, round(entry["headroom"], 2), host_wide, entry["resource"]


def _entry(
    resource: Resource,
    labels: Mapping[str, str],
    used: FloatArray,
    limit: FloatArray,
    ratios: FloatArray,
    language: Language,
    *,
    step_ms: int = HISTORY_STEP_MS,
) -> dict[str, Any]:
    ratio = float(ratios[-1])
    kept = {name: value for name, value in labels.items() if name != "__name__"}
    return {
        "resource": resource.id,
        "title": resource.title.read(language),
        "unit": resource.unit,
        "group": resource.group,
        "name": render_legend(resource.legend, kept),
        "labels": kept,
        "used": float(used[-1]),
        "limit": float(limit[-1]),
        "headroom": 1 - ratio,
        "exhaustion_seconds": exhaustion_seconds(ratios, step_ms / 1_000),
        "history": ratios,
        "history_step_ms": step_ms,
        "state": state_of(ratio, resource.near),
        "near": resource.near,
        "demand": None,
        "as_of_ms": None,
        "late": False,
        "source": None,
    }
