"""All resources of a system in the order in which they are full."""

from collections.abc import Sequence

from loadwatch_backend.findings.forecast.model import (
    Forecast,
    Law,
    Measured,
    Peak,
    Refusal,
    Refused,
    ResourceForecast,
)
from loadwatch_backend.findings.forecast.utilisation import forecast_use


def forecast_capacity(resources: Sequence[Measured], peak: Peak | Refused) -> Forecast:
    """The first to be full first; those without a number last, in the order given."""
    found = [ResourceForecast(resource=one, outcome=_outcome(one)) for one in resources]
    return Forecast(resources=sorted(found, key=_order), peak=peak)


def _outcome(one: Measured) -> Law | Refused:
    return Refused(refusal=Refusal.STOCK) if one.stock else forecast_use(one.steps, one.limit)


def _order(one: ResourceForecast) -> tuple[bool, float]:
    known = isinstance(one.outcome, Law)
    return not known, one.outcome.full.value if isinstance(one.outcome, Law) else 0.0
