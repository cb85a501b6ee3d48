"""Forecasts of capacity over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from loadwatch_backend.core.schemas import PROBLEM_RESPONSES
from loadwatch_backend.core.services import REPORTS, service
from loadwatch_backend.runs.compare.forecasts.schemas import ForecastOut
from loadwatch_backend.runs.compare.forecasts.service import ForecastService

router = APIRouter(prefix="/api/forecasts", tags=["compare"], responses=PROBLEM_RESPONSES)


@router.get("", summary="Forecast a scenario's capacity")
@REPORTS.endpoint
def forecast_capacity(
    service: Annotated[ForecastService, Depends(service(ForecastService))],
    scenario: Annotated[str, Query(min_length=1, max_length=200)],
    scenario_version: Annotated[str | None, Query(max_length=200, description="The newest run's by default.")] = None,
) -> ForecastOut:
    """The rate at which each resource is full, by the runs of a scenario, with what earlier forecasts were worth."""
    return service.forecast(scenario, scenario_version)
