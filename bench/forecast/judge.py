"""Forecasts of synthetic systems held against their truth. Pure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from loadwatch_backend.runs.compare.forecasts.model import Interval, Refused, Step
from loadwatch_backend.runs.compare.forecasts.scalability import forecast_peak
from loadwatch_backend.runs.compare.forecasts.steps import RunLoad, cut_steps
from loadwatch_backend.runs.compare.forecasts.utilisation import forecast_use

from bench.forecast.systems import Swept, scaled_system, swept_system


@dataclass(slots=True)
class Judged:
    """What was said of the systems of one kind.

    `held` counts intervals that hold the truth, `low` and `high` those that lie below and above it; `errors` are
    (said - truth) / truth, `widths` those of the intervals over the truth.
    """

    held: int = 0
    low: int = 0
    high: int = 0
    errors: list[float] = field(default_factory=list[float])
    widths: list[float] = field(default_factory=list[float])
    refused: Counter[str] = field(default_factory=Counter[str])

    @property
    def answered(self) -> int:
        """Systems with a number."""
        return len(self.errors)

    def count(self, said: Interval, truth: float) -> None:
        """One more."""
        self.errors.append(said.value / truth - 1)
        self.widths.append((said.high - said.low) / truth)
        if said.high < truth:
            self.low += 1
        elif said.low > truth:
            self.high += 1
        else:
            self.held += 1


def judge_swept(kind: str, seeds: Sequence[int]) -> Judged:
    """Utilisation laws of `M/M/c` or `M/G/1`."""
    judged = Judged()
    for seed in seeds:
        system = swept_system(seed, kind)
        said = forecast_use(steps_of(system), system.limit)
        if isinstance(said, Refused):
            judged.refused[said.refusal] += 1
        else:
            judged.count(said.full, system.truth)
    return judged


def judge_scaled(seeds: Sequence[int]) -> Judged:
    """Peaks by the Universal Scalability Law."""
    judged = Judged()
    for seed in seeds:
        system = scaled_system(seed)
        said = forecast_peak(system.users, system.rates)
        if isinstance(said, Refused):
            judged.refused[said.refusal] += 1
        else:
            judged.count(said.rate, system.truth)
    return judged


def steps_of(system: Swept) -> Sequence[Step]:
    """Each step of the sweep as a run of its own, cut as those of real runs are."""
    found: list[Step] = []
    for place, (answers, used) in enumerate(system.steps):
        load = RunLoad(
            run=f"run-{place}",
            start_ms=0,
            good=answers,
            failed=np.zeros(len(answers)),
            from_second=0,
            to_second=len(answers),
        )
        found += cut_steps(load, used, 1.0).steps
    return found
