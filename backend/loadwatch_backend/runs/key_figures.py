"""The four figures that a run is read by first: by page, meeting and report alike. Pure.

Each is the whole run's or the steady window's, as the summary's are. Where a threshold of the run judges the figure, it
is what that threshold measured, over that threshold's window: a page must not say two figures for one thing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from loadwatch_backend.runs.analysis.schemas import (
    FiguresOut,
    KeyFigure,
    OwnFigureOut,
    ReconciliationOut,
    ThresholdOut,
    ThresholdState,
)
from loadwatch_backend.runs.analysis.thresholds import is_latency

OWN = "figure:"
"""Prefix of the ids of figures that users define."""
STEADY, WHOLE = "steady", "whole"
LATENCIES = ("p95", "p99", "p90", "p50", "max", "mean")
"""Order of preference among latencies with a threshold; the first if none has one."""
SECOND = "p99"
"""Second latency, shown where nothing tells how many rows were stored."""


def key_figures(
    *,
    whole: FiguresOut | None,
    steady: FiguresOut | None,
    target_rate: float | None,
    thresholds: Sequence[ThresholdOut],
    reconciliation: ReconciliationOut | None,
    own: Sequence[OwnFigureOut] = (),
) -> list[KeyFigure]:
    """Figures of the user's own; good answers of the target rate, a latency, failures, rows stored of those accepted.

    Where nothing counts what was stored, a second latency stands in its place. Without a result all are unknown.
    `steady` is of a window that is a part of the run: None where that is all of it, or there is none.
    """
    covered = _Covered(whole=whole, steady=steady, thresholds=thresholds)
    latency = _latency_name(thresholds)
    stored = None if reconciliation is None else _stored(reconciliation)
    return [
        *(_own(covered, one) for one in own),
        _good(covered, target_rate),
        _latency(covered, latency),
        _failing(covered),
        stored or _latency(covered, "p95" if latency == SECOND else SECOND),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Covered:
    whole: FiguresOut | None
    steady: FiguresOut | None
    thresholds: Sequence[ThresholdOut]

    def read(self, id: str, unit: str, value: Callable[[FiguresOut], float | None]) -> KeyFigure:
        figures = self.whole if self.steady is None else self.steady
        found = None if figures is None else value(figures)
        note = "" if found is not None else "no-result" if figures is None else "not-measured"
        return _plain(id, unit, found, WHOLE if self.steady is None else STEADY, note)

    def judge(self, figure: KeyFigure, metric: str, read: Callable[[float], float] = float) -> KeyFigure:
        """The figure as its threshold has it: value, window and limit are the threshold's own.

        Of several the one that failed, else one that could not be measured, else the first.
        """
        order = (ThresholdState.FAILED, ThresholdState.UNKNOWN, ThresholdState.PASSED)
        found = [one for one in self.thresholds if one.metric == metric]
        if not found:
            return figure
        one = min(found, key=lambda one: order.index(one.state))
        return figure.model_copy(
            update={
                "value": None if one.actual is None else read(one.actual),
                "window": WHOLE if one.window == STEADY and self.steady is None else one.window,
                "against": None if one.limit is None else read(one.limit),
                "base": "" if one.limit is None else "threshold",
                "threshold": one.expression,
                "state": one.state,
                "note": "not-measured" if one.actual is None else "",
            }
        )

    def kinds(self, window: str) -> list[str]:
        """Outcomes of failed requests in a window, the most frequent first; none of a part that nobody keeps."""
        figures = {WHOLE: self.whole, STEADY: self.steady}.get(window)
        counts = {} if figures is None else figures.outcomes
        return sorted(
            (name for name, count in counts.items() if count and name != "ok"), key=lambda name: -counts[name]
        )


def _own(covered: _Covered, one: OwnFigureOut) -> KeyFigure:
    figure = covered.read(f"{OWN}{one.name}", one.unit, lambda _: None)
    note = "" if one.value is not None else "not-measured"
    return covered.judge(figure.model_copy(update={"value": one.value, "window": WHOLE, "note": note}), one.name)


def _good(covered: _Covered, target_rate: float | None) -> KeyFigure:
    figure = covered.judge(covered.read("ok_rate", "per_second", lambda figures: figures.ok_rate), "ok_rate")
    return figure if target_rate is None else figure.model_copy(update={"against": target_rate, "base": "target"})


def _latency(covered: _Covered, name: str) -> KeyFigure:
    def latency(figures: FiguresOut) -> float | None:
        return figures.latency_seconds.model_dump().get(name)

    return covered.judge(covered.read(name, "seconds", latency), name)


def _failing(covered: _Covered) -> KeyFigure:
    def share(figures: FiguresOut) -> float | None:
        return None if figures.success_ratio is None else 1 - figures.success_ratio

    figure = covered.read("error_rate", "ratio", share)
    judged = covered.judge(figure, "error_rate")
    if judged is figure:
        judged = covered.judge(figure, "success_ratio", lambda ratio: 1 - ratio)
    return judged.model_copy(update={"kinds": covered.kinds(judged.window)})


def _stored(reconciliation: ReconciliationOut) -> KeyFigure:
    """Rows stored, against what the application says it accepted, else against what it answered well."""
    counts = {step.id: step.count for step in reconciliation.steps}
    base = next((name for name in ("accepted", "answered_ok") if counts.get(name) is not None), "")
    value = counts.get("stored")
    note = "not-counted" if value is None else "mixed" if reconciliation.mixed_with else ""
    figure = _plain("stored", "count", value, WHOLE, note)
    return figure.model_copy(update={"against": counts.get(base), "base": base})


def _plain(id: str, unit: str, value: float | None, window: str, note: str) -> KeyFigure:
    return KeyFigure(
        id=id,
        unit=unit,
        value=value,
        window=window,
        against=None,
        base="",
        threshold="",
        state=None,
        kinds=[],
        note=note,
    )


def _latency_name(thresholds: Sequence[ThresholdOut]) -> str:
    asked = [one.metric for one in thresholds if is_latency(one.metric) and one.operator.startswith("<")]
    return next((name for name in (*LATENCIES, *asked) if name in asked), LATENCIES[0])
