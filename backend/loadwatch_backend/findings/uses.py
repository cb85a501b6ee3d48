"""Reads what the resources of packs use and may use, on the grid of a window: the edge of the saturation finding."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from loadwatch_backend.catalogue.packs.library import Catalogue, Library
from loadwatch_backend.catalogue.signals.cadence import FACTS_LOOKBACK_MS, GIVEN_UP_MS
from loadwatch_backend.catalogue.signals.headroom import join_limits, within_limit
from loadwatch_backend.catalogue.signals.interval import (
    IntervalDetector,
    any_tree_of,
    fill_window,
    lookback_of,
    slowest,
    tree_of,
)
from loadwatch_backend.catalogue.signals.model import Cadence, Resource
from loadwatch_backend.catalogue.signals.sightings import Sightings
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.findings.window import Grid, Table, Unmet, Use, Window, usual_interval_ms
from loadwatch_backend.series.promql.engine import Engine, EngineSettings
from loadwatch_backend.series.store.patterns import compile_pattern
from loadwatch_backend.series.store.port import Reader

MOST_USES = 200
"""Of one resource; the fullest ones are judged."""
BOUNDS = EngineSettings(max_series=10_000, timeout_seconds=5)
Rows = Mapping[tuple[tuple[str, str], ...], FloatArray]


class UseReader:
    """Safe to use from any thread."""

    def __init__(self, store: Reader, clock: Clock, library: Library) -> None:
        self._store = store
        self._engine = Engine(store, BOUNDS)
        self._intervals = IntervalDetector(store, clock)
        self._library = library

    def add(self, window: Window) -> Window:
        """The window with the uses of all resources, and what there is.

        Raises:
            ProblemError: of the store.
        """
        packs, names = self._library.current().packs, self._names(window.grid)
        return replace(window, uses=self.read(window.grid), packs=packs, names=names)

    def _names(self, grid: Grid, before_ms: int = 0) -> frozenset[str]:
        end_ms = grid.time_ms(grid.count - 1)
        return frozenset(self._store.label_values("__name__", [], max(grid.start_ms - before_ms, 0), end_ms))

    def read(self, grid: Grid, finding_id: str = "") -> list[Use]:
        """The use of each resource whose pack is there, by target; of one finding, if it is named.

        A resource whose expressions the store cannot answer is left out: the others still count.

        Raises:
            ProblemError: of the store.
        """
        catalogue = self._library.current()
        found: list[Use] = []
        for late in (False, True):
            resources = [
                one
                for one in catalogue.resources
                if one.finding_id and finding_id in ("", one.finding_id) and (one.cadence is not None) is late
            ]
            names = self._names(grid, GIVEN_UP_MS if late else 0) if resources else frozenset[str]()
            for resource in _there(catalogue, resources, names):
                with suppress(ProblemError):
                    found += self._uses(resource, grid)
        things = Sightings(self._store, self._intervals, grid.start_ms, grid.time_ms(grid.count - 1)).by_thing(found)
        for use, *others in things:
            use.also = others
        return [use for use, *_ in things]

    def _uses(self, resource: Resource, grid: Grid) -> list[Use]:
        used, interval_ms = self._first(resource.use, grid, resource)
        proofs = [
            self._first(one.alternatives or (), grid, resource, bridged=False) for one in resource.demands if one.full
        ]
        proven = {key: values > 0 for rows, _ in proofs for key, values in rows.items() if (values > 0).any()}
        interval_ms = interval_ms or max((every for _, every in proofs), default=0)
        used = {**dict.fromkeys(proven, np.full(grid.count, np.nan)), **used}
        if not used:
            return []
        limits = {name: self._first(texts, grid, resource)[0] for name, texts in resource.limits.items()}
        uses: list[Use] = []
        for key, values in used.items():
            labels = {name: value for name, value in key if name != "__name__"}
            known = {name: _joined(labels, rows) for name, rows in limits.items()}
            bounds = {name: np.where(one > 0, one, np.inf) for name, one in known.items() if one is not None}
            limit = np.min([*bounds.values(), np.full(grid.count, np.inf)], axis=0)
            limit = np.where(np.isfinite(limit), limit, np.nan)
            full = proven[key] & ~(values < resource.near * limit) if key in proven else None
            if full is not None:
                values = np.where(full & np.isnan(values), limit, values)
            uses.append(
                Use(
                    resource=resource,
                    labels=labels,
                    used=within_limit(resource, values, limit),
                    limit=limit,
                    limits=bounds,
                    interval_ms=interval_ms,
                    sparse=bool(np.isfinite(values).mean() < 0.5),
                    proven=full,
                )
            )
        full = [one for one in uses if _may_be_full(one)]
        unlimited = [one for one in uses if not _may_be_full(one) and not np.isfinite(one.limit).any()]
        if full or (unlimited and resource.harm == "demand"):
            self._add_demand(resource, [*full, *unlimited], grid)
        if full:
            self._add_holders(resource, full, grid)
        return sorted(uses, key=lambda one: not _may_be_full(one))[:MOST_USES]

    def _add_demand(self, resource: Resource, uses: Sequence[Use], grid: Grid) -> None:
        demands = [self._first(one.alternatives or (), grid, resource, bridged=False)[0] for one in resource.demands]
        for use in uses:
            use.wanted = [
                Unmet(demand=demand, values=values, search=compile_pattern(demand.log).search if demand.log else None)
                for demand, rows in zip(resource.demands, demands, strict=True)
                if (values := _joined(use.labels, rows)) is not None or demand.log
            ]

    def _add_holders(self, resource: Resource, uses: Sequence[Use], grid: Grid) -> None:
        holders = [(one.label, self._first(one.alternatives, grid, resource)[0]) for one in resource.holders]
        for use in uses:
            use.held = {
                label: {
                    dict(key)[label]: values
                    for key, values in rows.items()
                    if label in dict(key) and _agree(use.labels, dict(key))
                }
                for label, rows in holders
            }

    def _first(
        self, alternatives: Iterable[str], grid: Grid, resource: Resource, *, bridged: bool | None = None
    ) -> tuple[Rows, int]:
        """For each entity the first alternative that has samples, for all of the window; how often they come, ms."""
        found: dict[tuple[tuple[str, str], ...], FloatArray] = {}
        longest = 0
        bridged = resource.silent == "full" if bridged is None else bridged
        for text in alternatives:
            if resource.cadence is None:
                rows, interval_ms = self._evaluate(text, grid, bridged=bridged)
            else:
                rows, interval_ms = self._late(text, grid, resource.cadence)
            longest = max(longest, interval_ms if rows else 0)
            found = {**rows, **found}
        return found, longest

    def _late(self, text: str, grid: Grid, cadence: Cadence) -> tuple[Rows, int]:
        """Each value for the period before it; what came in the minutes before the window tells that more will come."""
        ahead, behind = (-(-span // grid.step_ms) for span in (cadence.period_ms, GIVEN_UP_MS))
        wide = Grid(grid.start_ms - behind * grid.step_ms, grid.step_ms, behind + grid.count + ahead)
        text = fill_window(text, FACTS_LOOKBACK_MS)
        end_ms = wide.time_ms(wide.count - 1)
        matrix = self._engine.range(text, wide.start_ms, end_ms, grid.step_ms, lookback_ms=grid.step_ms)
        values = np.where(matrix.present, matrix.values, np.nan)
        usual = usual_interval_ms(values, wide)
        interval_ms = np.where(usual > 0, usual, cadence.usual_ms or cadence.period_ms)
        table = Table(
            grid=wide,
            labels=matrix.labels,
            values=values,
            stale=np.zeros_like(matrix.present),
            interval_ms=interval_ms,
            back=True,
        )
        rows = {
            tuple(sorted(labels.items())): table.held[row][behind : behind + grid.count]
            for row, labels in enumerate(matrix.labels)
            if np.isfinite(values[row]).any()
        }
        return rows, int(interval_ms.max(initial=0))

    def _evaluate(self, text: str, grid: Grid, *, bridged: bool) -> tuple[Rows, int]:
        end_ms = grid.time_ms(grid.count - 1)
        intervals = self._intervals.detect(any_tree_of(text), grid.start_ms, end_ms)
        interval = slowest(intervals)
        matrix = self._engine.range(
            tree_of(text, intervals, grid.step_ms, across=bridged),
            grid.start_ms,
            end_ms,
            grid.step_ms,
            lookback_ms=lookback_of(interval),
        )
        values = np.where(matrix.present, matrix.values, np.nan)
        return {
            tuple(sorted(labels.items())): values[row]
            for row, labels in enumerate(matrix.labels)
            if np.isfinite(values[row]).any()
        }, interval or 0


def _there(catalogue: Catalogue, resources: Iterable[Resource], names: frozenset[str]) -> Sequence[Resource]:
    there = {one.id for pack in catalogue.packs if not names.isdisjoint(pack.there_when) for one in pack.resources}
    return [one for one in resources if one.id in there]


def _may_be_full(use: Use) -> bool:
    with np.errstate(invalid="ignore"):
        full = bool((use.used >= use.resource.full * use.limit).any())
    return full or use.proven is not None or use.resource.silent == "full"


def _joined(labels: Mapping[str, str], rows: Rows) -> FloatArray | None:
    """Values of the row that agrees on every label that both have; None without one."""
    others = [dict(key) for key in rows]
    place = join_limits([labels], others)[0]
    return None if place is None else list(rows.values())[place]


def _agree(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return all(one[name] == other[name] for name in one.keys() & other.keys())
