"""How near every resource came to its limit while a run was under way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.catalogue.signals.headroom import (
    FULL,
    full_spans,
    join_limits,
    least_full_ms,
    ratios_of,
    within_limit,
)
from loadwatch_backend.catalogue.signals.legend import render_legend
from loadwatch_backend.catalogue.signals.model import Resource, Sighting
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.runs.analysis.load import Span
from loadwatch_backend.runs.analysis.schemas import ResourceReached
from loadwatch_backend.runs.analysis.series import SeriesReader, Values

BY_THE_MINUTE_MS = 30_000
"""From this interval on a value stands beside those of each second only with a mark."""
MOST = 200


def reached_limits(series: SeriesReader, resources: Sequence[Resource], span: Span) -> list[ResourceReached]:
    """Every resource of every target: what ran out first, then second; after those the nearest to its limit.

    A resource whose expression the store cannot answer (too many series, say) is left out: the others still count.
    """
    rows: list[_Row] = []
    for resource in resources:
        try:
            used, limit = series.read(resource.used, span), series.read(resource.limit, span)
        except ProblemError:
            continue
        places = join_limits(used.labels, limit.labels)
        for row, (labels, place) in enumerate(zip(used.labels, places, strict=True)):
            reached = None if place is None else describe(resource, labels, used, used.values[row], limit.values[place])
            if reached is not None:
                rows.append(
                    _Row(
                        resource=resource,
                        labels=reached.labels,
                        interval_ms=used.interval_ms or 0,
                        sparse=bool(np.isfinite(used.values[row]).mean() < 0.5),
                        reached=reached,
                    )
                )
    things = series.sightings(span).by_thing(rows)
    return sorted((row.reached for row, *_ in things), key=_order)[:MOST]


@dataclass(slots=True, kw_only=True)
class _Row(Sighting):
    reached: ResourceReached


def describe(
    resource: Resource, labels: Mapping[str, str], grid: Values, used: FloatArray, limit: FloatArray
) -> ResourceReached | None:
    """One resource of one target; None where there was no limit, or nothing to hold against it.

    Args:
        resource: what it is.
        labels: of the used series.
        grid: whose instants the arrays are on.
        used: [instant], NaN where there is none.
        limit: [instant], likewise.
    """
    used, ratios = within_limit(resource, used, limit), ratios_of(resource, used, limit)
    if np.isnan(ratios).all():
        return None
    top = int(np.nanargmax(ratios))
    interval_ms = max(grid.interval_ms or 0, resource.cadence.period_ms if resource.cadence else 0)
    full = next(iter(full_spans(ratios >= FULL, -(-least_full_ms(interval_ms) // grid.step_ms))), None)
    kept = {name: value for name, value in labels.items() if name != "__name__"}
    return ResourceReached(
        resource=resource.id,
        title=resource.title.en,
        title_ja=resource.title.ja,
        unit=resource.unit.value,
        name=render_legend(resource.legend, kept),
        labels=kept,
        used_max=float(used[top]),
        limit=float(limit[top]),
        ratio_max=float(ratios[top]),
        near=resource.near,
        at_ms=grid.time_ms(top),
        exhausted=full is not None,
        first_full_ms=None if full is None else grid.time_ms(full[0]),
        interval_ms=interval_ms if interval_ms >= BY_THE_MINUTE_MS else None,
    )


def _order(entry: ResourceReached) -> tuple[float, float, str, str]:
    first = float("inf") if entry.first_full_ms is None else float(entry.first_full_ms)
    return first, -entry.ratio_max, entry.resource, entry.name
