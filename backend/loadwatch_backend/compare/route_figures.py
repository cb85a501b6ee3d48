"""What a request of a route asked of the database, as a figure that is followed over runs."""

from collections.abc import Iterable

from loadwatch_backend.compare.schemas import MetricInfo
from loadwatch_backend.compare.statistics import Scale
from loadwatch_backend.kit.language import Language
from loadwatch_backend.runs.schemas import RunOut
from loadwatch_backend.signals.model import Orientation, Unit
from loadwatch_backend.texts.compare import COMPARE
from loadwatch_backend.texts.words import Texts

ROUTE_PREFIX = "route:"
MOST_ROUTES = 100
SCALE = Scale(margin=0.05, scatter=0.2, floor=0.000_01)


def route_metric(metric: str, language: Language) -> MetricInfo | None:
    """What a figure is; None where it is none of a route."""
    name = metric.removeprefix(ROUTE_PREFIX)
    if name == metric or not name:
        return None
    t = Texts(COMPARE, language)
    return MetricInfo(
        id=metric,
        title=t("route-title", route=name),
        unit=Unit.SECONDS,
        orientation=Orientation.MORE_IS_WORSE,
        help=t("route-help"),
    )


def route_value(run: RunOut, metric: str) -> float | None:
    """Seconds a request; None where the run's findings could not tell."""
    name = metric.removeprefix(ROUTE_PREFIX)
    routes = [] if run.diagnosis is None else run.diagnosis.routes
    return next((one.database_seconds for one in routes if one.name == name), None)


def route_metrics(runs: Iterable[RunOut], language: Language) -> list[MetricInfo]:
    """Of all routes that any of the runs knows, by their names."""
    names = {one.name for run in runs if run.diagnosis is not None for one in run.diagnosis.routes}
    found = [route_metric(f"{ROUTE_PREFIX}{name}", language) for name in sorted(names)[:MOST_ROUTES]]
    return [one for one in found if one is not None]
