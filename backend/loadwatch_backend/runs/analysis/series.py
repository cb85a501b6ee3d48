"""Values of signals and PromQL over a window of a run."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.catalogue.signals.grid import MAX_EVALUATED
from loadwatch_backend.catalogue.signals.interval import IntervalDetector, lookback_of, slowest, tree_of
from loadwatch_backend.catalogue.signals.service import parse_with_window
from loadwatch_backend.catalogue.signals.sightings import Sightings
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.evidence.records.model import FloatArray
from loadwatch_backend.runs.analysis.load import SECOND_MS, Span
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.value import Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """Series on one grid.

    `values` is [series, instants], NaN where there is none; instant i is `start_ms + i * step_ms`. `interval_ms` is how
    often the samples behind them came; None where nothing tells.
    """

    labels: list[Mapping[str, str]]
    values: FloatArray
    start_ms: int
    step_ms: int
    interval_ms: int | None = None

    def time_ms(self, instant: int) -> int:
        """Time of an instant."""
        return self.start_ms + instant * self.step_ms


class SeriesReader:
    """Evaluates expressions over spans; safe to use from any thread."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._intervals = IntervalDetector(engine.store, clock)

    def read(self, expression: str, span: Span) -> Values:
        """Each second of the span, from the end of its first; beyond two hours in 7,200 steps.

        Raises:
            ProblemError: of `promql.errors` or the store.
        """
        step_ms = step_of(span)
        start_ms = span.from_ms + step_ms
        count = max((span.to_ms - span.from_ms) // step_ms, 1)
        intervals = self._intervals.detect(parse_with_window(expression, 60_000), span.from_ms, span.to_ms)
        interval = slowest(intervals)
        matrix = self._engine.range_of(
            tree_of(expression, intervals, step_ms),
            start_ms,
            start_ms + (count - 1) * step_ms,
            step_ms,
            lookback_ms=lookback_of(interval),
        )
        return Values(
            labels=list(matrix.labels),
            values=_with_gaps(matrix),
            start_ms=start_ms,
            step_ms=step_ms,
            interval_ms=interval,
        )

    def sightings(self, span: Span) -> Sightings:
        """What is the same thing in a span."""
        return Sightings(self._engine.store, self._intervals, span.from_ms, span.to_ms)


def step_of(span: Span) -> int:
    """Whole seconds between instants, in ms, so that there are at most `MAX_EVALUATED`."""
    return -(-(span.to_ms - span.from_ms) // (MAX_EVALUATED * SECOND_MS)) * SECOND_MS or SECOND_MS


def _with_gaps(matrix: Matrix) -> FloatArray:
    return np.where(matrix.present, matrix.values, np.nan)
