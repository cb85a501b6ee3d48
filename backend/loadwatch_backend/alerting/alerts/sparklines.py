"""What rules compare, over time: for sparklines and charts. Read from the samples, kept for a few seconds."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import structlog

from loadwatch_backend.alerting.rules.contract import SourceKey
from loadwatch_backend.alerting.rules.presence import value_of
from loadwatch_backend.core.errors import ProblemError
from loadwatch_backend.series.promql.engine import Engine
from loadwatch_backend.series.promql.labels import METRIC_NAME, drop_labels, label_key
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.promql.value import Grid, Matrix

log = structlog.get_logger(__name__)

SPARKLINE_MS = 30 * 60_000
SPARKLINE_POINTS = 60
STEP_MS = SPARKLINE_MS // SPARKLINE_POINTS
KEPT_MS = 5_000
SERIES_POINTS = 500

Values = Mapping[SourceKey, Sequence[float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    at_ms: int
    values: Values


class ValueHistory:
    """Safe to use from any thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: dict[str, _Kept] = {}
        self._lock = threading.Lock()

    def sparklines(self, expression: str, now_ms: int) -> Values:
        """The last half hour in 60 points, the newest now; by the labels of the rule's result.

        Empty when the expression cannot be evaluated: a page of alerts must not fail for want of a drawing.
        """
        kept = self._kept.get(expression)
        if kept is not None and 0 <= now_ms - kept.at_ms < KEPT_MS:
            return kept.values
        start_ms = now_ms - (SPARKLINE_POINTS - 1) * STEP_MS
        try:
            matrix = self._range(expression, Grid(start_ms=start_ms, step_ms=STEP_MS, count=SPARKLINE_POINTS))
        except ProblemError as problem:
            log.info("no sparkline", expression=expression, reason=problem.detail)
            values: Values = {}
        else:
            rows = _rows(matrix)
            values = {
                label_key(drop_labels(labels, (METRIC_NAME,))): row
                for labels, row in zip(matrix.labels, rows, strict=True)
            }
        with self._lock:
            self._kept = {
                text: one
                for text, one in self._kept.items()
                if 0 <= now_ms - one.at_ms < KEPT_MS and text != expression
            }
            self._kept[expression] = _Kept(at_ms=now_ms, values=values)
        return values

    def series(
        self, expression: str, key: SourceKey, start_ms: int, end_ms: int
    ) -> tuple[Sequence[int], Sequence[float | None]]:
        """Times and values of one alert, at most 500 points; raises as `Engine.range`."""
        step_ms = max(1_000, -(-(end_ms - start_ms) // (SERIES_POINTS - 1)))
        grid = Grid(start_ms=start_ms, step_ms=step_ms, count=max((end_ms - start_ms) // step_ms, 0) + 1)
        matrix = self._range(expression, grid)
        times = grid.times_ms().tolist()
        for labels, row in zip(matrix.labels, _rows(matrix), strict=True):
            if label_key(drop_labels(labels, (METRIC_NAME,))) == key:
                return times, row
        return times, [None] * len(times)

    def _range(self, text: str, grid: Grid) -> Matrix:
        expression = value_of(parse_expression(text)).expression
        return self._engine.range_of(expression, grid.start_ms, grid.end_ms, grid.step_ms)


def _rows(matrix: Matrix) -> list[list[float | None]]:
    known = matrix.present & np.isfinite(matrix.values)
    return [
        [value if there else None for value, there in zip(row, mask, strict=True)]
        for row, mask in zip(matrix.values.tolist(), known.tolist(), strict=True)
    ]
