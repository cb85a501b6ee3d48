"""Percentiles of a run that its analysis does not keep, such as p70: of the run and of its endpoints."""

from collections.abc import Sequence
from decimal import Decimal

from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.evidence.records.figures import endpoint_percentiles_over
from loadwatch_backend.evidence.records.model import OTHER_ENDPOINTS
from loadwatch_backend.runs.analysis.load import Bounds, Load, Span, percentiles_in
from loadwatch_backend.runs.analysis.own_figures import Subject
from loadwatch_backend.runs.analysis.phases import Shape
from loadwatch_backend.runs.analysis.schemas import (
    EndpointPercentiles,
    PercentileOut,
    PercentilesOut,
    PercentileValue,
    WindowSource,
)
from loadwatch_backend.runs.analysis.thresholds import quantile_of


def shortest_name(name: str) -> str | None:
    """`p99.9` of `p99.90`; None of what names no percentile."""
    return None if quantile_of(name) is None else f"p{Decimal(name[1:]).normalize():f}"


def read_percentiles(subject: Subject, load: Load, shape: Shape, names: Sequence[str]) -> PercentilesOut:
    """Exact where single requests are kept; of the run otherwise with bounds, of endpoints none.

    Args:
        subject: the run.
        load: its load.
        shape: its windows.
        names: each names a percentile, see `quantile_of`.
    """
    quantiles = [quantile for name in names if (quantile := quantile_of(name)) is not None]
    steady = None if shape.window.source is WindowSource.WHOLE else percentiles_in(load, shape.steady, quantiles)
    whole = percentiles_in(load, load.span, quantiles)
    detail = ""
    if not whole:
        nothing = load.whole is None or not load.whole.requests
        detail = "no-requests" if nothing else "not-kept"
    span = load.span if shape.window.source is WindowSource.WHOLE else shape.steady
    endpoints = _endpoints(subject, load, span, quantiles)
    return PercentilesOut(
        percentiles=[
            PercentileOut(name=name, steady=_at(steady, place), whole=_at(whole, place))
            for place, name in enumerate(names)
        ],
        detail=detail,
        endpoints=endpoints or [],
        endpoints_detail="not-kept" if endpoints is None else "",
    )


def _at(found: Sequence[Bounds] | None, place: int) -> PercentileValue | None:
    if not found:
        return None
    bounds = found[place]
    return PercentileValue(seconds=bounds.middle, low=bounds.low, high=bounds.high)


def _endpoints(
    subject: Subject, load: Load, span: Span, quantiles: Sequence[float]
) -> list[EndpointPercentiles] | None:
    """None where single requests are not kept: seconds are of all endpoints together."""
    result = subject.load
    if result is None or subject.files is None or load.percentiles is None:
        return None
    names = [endpoint.name for endpoint in result.endpoints]
    try:
        if len(names) == 1:
            found = [load.percentiles(quantiles, *load.records_ns(span))]
        else:
            named = [name for name in names if name != OTHER_ENDPOINTS]
            found = endpoint_percentiles_over(subject.files, named, quantiles, *load.records_ns(span))
            names = [*named, OTHER_ENDPOINTS]
    except (ProblemError, OSError):
        # The records are gone or damaged.
        return None
    return [
        EndpointPercentiles(name=name, seconds=list(seconds))
        for name, seconds in zip(names, found, strict=True)
        if seconds is not None
    ]
