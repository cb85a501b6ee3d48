"""Comparison, sweep and trend over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import REPORTS, service
from loadwatch_backend.runs.compare.forecasts.schemas import ForecastOut
from loadwatch_backend.runs.compare.forecasts.service import ForecastService
from loadwatch_backend.runs.compare.schemas import Align, CompareOut, MetricList, SweepOut, TrendOut
from loadwatch_backend.runs.compare.service import CompareService
from loadwatch_backend.runs.fields import ID_PATTERN

router = APIRouter(prefix="/api", tags=["compare"], responses=PROBLEM_RESPONSES)


Service = Annotated[CompareService, Depends(service(CompareService))]
Lang = Annotated[Language, Query(description="Language of titles and help.")]
RunIds = Annotated[list[Annotated[str, Query(pattern=ID_PATTERN)]], Query(min_length=2, max_length=8)]


@router.get("/metrics", summary="List figures of runs")
def list_metrics(service: Service, lang: Lang = Language.EN) -> MetricList:
    """What can be compared, swept and followed."""
    return service.metrics(lang)


@router.get("/compare", summary="Compare runs")
@REPORTS.endpoint
def compare_runs(
    service: Service,
    run: RunIds,
    align: Annotated[Align, Query()] = Align.START,
    percentile: Annotated[
        list[Annotated[str, Query(max_length=20)]], Query(max_length=8, description="Besides the usual: p70, p99.9.")
    ] = [],  # noqa: B006 - FastAPI copies it
    lang: Lang = Language.EN,
) -> CompareOut:
    """2 to 8 runs; the first one's group is the base."""
    return service.compare(run, align, lang, percentile)


@router.get("/sweep", summary="Sweep a parameter")
@REPORTS.endpoint
def sweep_parameter(
    service: Service,
    scenario: Annotated[str, Query(max_length=200)],
    parameter: Annotated[str, Query(max_length=200)],
    first: Annotated[str, Query(max_length=200)] = "rate",
    second: Annotated[str, Query(max_length=200)] = "p95",
    scenario_version: Annotated[str | None, Query(max_length=200)] = None,
    lang: Lang = Language.EN,
) -> SweepOut:
    """All runs of a scenario by a numeric parameter."""
    return service.sweep(scenario, scenario_version, parameter, first, second, lang)


@router.get("/trend", summary="Follow a figure over runs")
@REPORTS.endpoint
def follow_trend(
    service: Service,
    scenario: Annotated[str, Query(max_length=200)],
    metric: Annotated[str, Query(max_length=200)] = "rate",
    scenario_version: Annotated[str | None, Query(max_length=200)] = None,
    lang: Lang = Language.EN,
) -> TrendOut:
    """A figure over the runs of a scenario, with change points and their commits."""
    return service.trend(scenario, scenario_version, metric, lang)


forecasts_router = APIRouter(prefix="/api/forecasts", tags=["compare"], responses=PROBLEM_RESPONSES)


@forecasts_router.get("", summary="Forecast a scenario's capacity")
@REPORTS.endpoint
def forecast_capacity(
    service: Annotated[ForecastService, Depends(service(ForecastService))],
    scenario: Annotated[str, Query(min_length=1, max_length=200)],
    scenario_version: Annotated[str | None, Query(max_length=200, description="The newest run's by default.")] = None,
) -> ForecastOut:
    """The rate at which each resource is full, by the runs of a scenario, with what earlier forecasts were worth."""
    return service.forecast(scenario, scenario_version)
