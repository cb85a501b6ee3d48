"""The table of endpoints of a comparison: repeats of a group taken together. Pure."""

from collections.abc import Mapping, Sequence
from statistics import fmean, geometric_mean

import numpy as np
from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.compare.schemas import CompareEndpoint, CompareGroup
from loadwatch_backend.runs.analysis.schemas import EndpointOut
from loadwatch_backend.runs.schemas import RunOut

ENDPOINTS_SHOWN = 500
MIX_DIFFERS = 0.05
Seconds = Mapping[str, float]
"""A response time of each endpoint."""


def endpoint_rows(
    groups: Sequence[CompareGroup], runs: Mapping[str, RunOut], percentiles: Mapping[str, Mapping[str, Seconds]]
) -> list[CompareEndpoint]:
    """Endpoints over all groups, those with the most requests first.

    `percentiles` are by their names and by runs.
    """
    tables: list[dict[str, list[EndpointOut]]] = []
    totals: dict[str, int] = {}
    for group in groups:
        table: dict[str, list[EndpointOut]] = {}
        for endpoint in (endpoint for run in group.runs for endpoint in runs[run].endpoints):
            table.setdefault(endpoint.name, []).append(endpoint)
            totals[endpoint.name] = totals.get(endpoint.name, 0) + endpoint.requests
        tables.append(table)
    sums = [sum(one.requests for found in table.values() for one in found) for table in tables]
    names = sorted(totals, key=lambda name: (-totals[name], name))[:ENDPOINTS_SHOWN]
    return [
        _row(name, [table.get(name, []) for table in tables]).model_copy(
            update={
                "share": [
                    sum(one.requests for one in table.get(name, [])) / total if total else None
                    for table, total in zip(tables, sums, strict=True)
                ],
                "percentiles": {
                    percentile: [_typical([found[run].get(name) for run in group.runs]) for group in groups]
                    for percentile, found in percentiles.items()
                },
            }
        )
        for name in names
    ]


def mix_differs(endpoints: Sequence[CompareEndpoint]) -> bool:
    """Whether a twentieth of a group's requests, or more, went to other endpoints than in the base."""
    shares = np.array([one.share for one in endpoints if None not in one.share], np.float64)
    return bool(len(shares) and (np.abs(shares - shares[:, :1]).sum(axis=0) / 2 >= MIX_DIFFERS).any())


def _row(name: str, found: Sequence[Sequence[EndpointOut]]) -> CompareEndpoint:
    return CompareEndpoint(
        name=name,
        requests=[sum(one.requests for one in group) if group else None for group in found],
        rate=[_mean([one.rate for one in group]) for group in found],
        p95_seconds=[_typical([one.latency_seconds.p95 for one in group]) for group in found],
        failure_ratio=[_failure_ratio(group) for group in found],
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _typical(values: Sequence[float | None]) -> float | None:
    """The geometric mean, as of all response times that are compared; zero where one of them is."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return geometric_mean(known) if min(known) > 0 else 0.0


def _failure_ratio(group: Sequence[EndpointOut]) -> float | None:
    requests = sum(one.requests for one in group)
    return 1 - sum(one.outcomes.get(Outcome.OK, 0) for one in group) / requests if requests else None
