"""Baselines for tests."""

from collections.abc import Mapping

from loadwatch_backend.findings.window import Baseline, Start

MYSQL, APP = "mysql db", "app app-1"


def baseline(
    before: Mapping[tuple[str, str], float],
    now: Mapping[tuple[str, str], float],
    *,
    p95: float | None = 0.5,
    target: float | None = 100.0,
) -> Baseline:
    """A baseline with p95 of 100 ms, and a run with `p95` seconds; both at 100 requests/s unless `target` differs."""
    return Baseline(
        name="run 12",
        other=Start(facts=before, rate=100.0, p95=0.1, target=100.0),
        own=Start(facts=now, rate=100.0, p95=p95, target=target),
    )
