"""Resources in the order in which they are full."""

from dataclasses import replace

from loadwatch_backend.runs.compare.forecasts.model import Law, Refusal, Refused
from loadwatch_backend.runs.compare.forecasts.utilisation import forecast_capacity

from backend.tests.compare.forecasts.made import made_resource, made_sweep

RATES = (100.0, 200.0, 300.0, 400.0, 500.0)
NO_PEAK = Refused(refusal=Refusal.NO_USERS)


def test_the_first_to_be_full_is_first_and_what_has_no_number_last() -> None:
    steps = made_sweep(RATES, 0.05)
    resources = [
        made_resource("idle", 5_000.0, steps),
        made_resource("cpu", 60.0, steps),
        made_resource("pool", 40.0, steps, "app-1"),
    ]
    forecast = forecast_capacity(resources, NO_PEAK)
    assert [one.resource.id for one in forecast.resources] == ["pool", "cpu", "idle"]
    assert [resource.key for resource, _ in forecast.laws] == ["pool app-1", "cpu"]
    assert isinstance(forecast.resources[0].outcome, Law)
    assert forecast.peak is NO_PEAK


def test_what_is_kept_has_no_number_however_it_grows() -> None:
    memory = replace(made_resource("memory", 40.0, made_sweep(RATES, 0.05)), stock=True)
    (only,) = forecast_capacity([memory], NO_PEAK).resources
    assert only.outcome == Refused(refusal=Refusal.STOCK)


def test_another_idle_target_changes_nothing() -> None:
    pool = made_resource("pool", 40.0, made_sweep(RATES, 0.05))
    alone = forecast_capacity([pool], NO_PEAK)
    idle = made_resource("pool", 40.0, made_sweep(RATES, 0.0), "idle")
    assert forecast_capacity([idle, pool], NO_PEAK).laws == alone.laws
