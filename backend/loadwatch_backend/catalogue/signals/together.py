"""Several instances of a signal seen together, as signals of their own: `ID@total`, `ID@low`, `ID@middle`, `ID@high`.

Made by the engine at each step of its grid: of values that are already reduced to the extrema of their buckets, which
lie at different times, no sum can be made. Pure.
"""

from collections.abc import Sequence

from loadwatch_backend.catalogue.signals.model import Orientation, Signal, Total, Unit

INSTANCE = "{{instance}}"
_ADDS_UP = (Unit.COUNT, Unit.BYTES, Unit.PER_SECOND, Unit.BYTES_PER_SECOND)
_OPERATORS = {Total.SUM: "sum", Total.MEAN: "avg", Total.HIGHEST: "max", Total.LOWEST: "min"}
_SPREAD = {
    "low": ("min without (instance) (", ")"),
    "middle": ("quantile without (instance) (0.5, ", ")"),
    "high": ("max without (instance) (", ")"),
}


def total_of(signal: Signal) -> Total | None:
    """What the series of several instances are together, as declared; None where nothing sensible.

    Where an agent measures each second: counts, bytes and rates add up, and of shares and times the worst stands for
    all. Of the most frequent ones that `topk` leaves over nothing can be told about all.
    """
    if signal.total is not None or signal.cadence is not None:
        return signal.total
    if INSTANCE not in signal.legend or "topk(" in signal.expression:
        return None
    if signal.unit in _ADDS_UP:
        return Total.SUM
    return {Orientation.MORE_IS_WORSE: Total.HIGHEST, Orientation.MORE_IS_BETTER: Total.LOWEST}.get(signal.orientation)


def together(signal: Signal) -> Sequence[Signal]:
    """Total and spread of a signal over its instances, a series for each set of the other labels."""
    total = total_of(signal)
    if total is None or signal.cadence is not None:
        return ()
    wraps = {"total": (f"{_OPERATORS[total]} without (instance) (", ")")} | _SPREAD
    legend = signal.legend.replace(INSTANCE, "").strip()
    return [
        signal.model_copy(
            update={
                "id": f"{signal.id}@{name}",
                "alternatives": (f"{head}{signal.expression}{tail}",),
                "legend": legend,
            }
        )
        for name, (head, tail) in wraps.items()
    ]
