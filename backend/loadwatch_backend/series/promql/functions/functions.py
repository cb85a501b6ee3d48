"""The registry of functions: which name is evaluated by what.

Three kinds: over the windows of a range selector, over the elements of a vector, and the few that need more.
"""

from collections.abc import Callable
from dataclasses import dataclass

from loadwatch_backend.series.promql.functions import covered, info, over_time, rates, special_functions
from loadwatch_backend.series.promql.functions.math_functions import ELEMENT_FUNCTIONS, ElementFunction
from loadwatch_backend.series.promql.functions.rates import WindowResult
from loadwatch_backend.series.promql.functions.special_functions import SpecialFunction
from loadwatch_backend.series.promql.functions.time_functions import DATE_FUNCTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class OverWindows:
    """Windows and scalars [steps] to values and presence [series, steps]."""

    evaluate: Callable[..., WindowResult]
    keeps_name: bool = False
    scalar_first: bool = False
    """The scalar stands before the range selector (quantile_over_time)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverElements:
    """Values [series, steps] and scalars [steps] to values; the metric name goes."""

    evaluate: ElementFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class Special:
    """Sees the arguments unevaluated."""

    evaluate: SpecialFunction


FUNCTIONS: dict[str, OverWindows | OverElements | Special] = {
    "rate": OverWindows(evaluate=rates.rate),
    "irate": OverWindows(evaluate=rates.irate),
    "increase": OverWindows(evaluate=rates.increase),
    "delta": OverWindows(evaluate=rates.delta),
    "idelta": OverWindows(evaluate=rates.idelta),
    "resets": OverWindows(evaluate=rates.resets),
    "changes": OverWindows(evaluate=rates.changes),
    "deriv": OverWindows(evaluate=over_time.deriv),
    "predict_linear": OverWindows(evaluate=over_time.predict_linear),
    "avg_over_time": OverWindows(evaluate=over_time.avg_over_time),
    "min_over_time": OverWindows(evaluate=over_time.min_over_time),
    "max_over_time": OverWindows(evaluate=over_time.max_over_time),
    "sum_over_time": OverWindows(evaluate=over_time.sum_over_time),
    "count_over_time": OverWindows(evaluate=over_time.count_over_time),
    "quantile_over_time": OverWindows(evaluate=over_time.quantile_over_time, scalar_first=True),
    "stddev_over_time": OverWindows(evaluate=over_time.stddev_over_time),
    "stdvar_over_time": OverWindows(evaluate=over_time.stdvar_over_time),
    "last_over_time": OverWindows(evaluate=over_time.last_over_time, keeps_name=True),
    "first_over_time": OverWindows(evaluate=over_time.first_over_time, keeps_name=True),
    "present_over_time": OverWindows(evaluate=over_time.present_over_time),
    **{
        function.__name__: OverWindows(evaluate=function)
        for function in (
            over_time.mad_over_time,
            over_time.ts_of_first_over_time,
            over_time.ts_of_last_over_time,
            over_time.ts_of_min_over_time,
            over_time.ts_of_max_over_time,
            over_time.double_exponential_smoothing,
        )
    },
    "absent_over_time": Special(evaluate=special_functions.absent_over_time),
    "absent": Special(evaluate=special_functions.absent),
    "label_replace": Special(evaluate=special_functions.label_replace),
    "label_join": Special(evaluate=special_functions.label_join),
    "sort": Special(evaluate=special_functions.sort),
    "sort_desc": Special(evaluate=special_functions.sort_desc),
    "sort_by_label": Special(evaluate=special_functions.sort_by_label),
    "sort_by_label_desc": Special(evaluate=special_functions.sort_by_label_desc),
    "info": Special(evaluate=info.info),
    "histogram_quantile": Special(evaluate=special_functions.histogram_quantile),
    "histogram_quantiles": Special(evaluate=special_functions.histogram_quantiles),
    "histogram_fraction": Special(evaluate=special_functions.histogram_fraction),
    **{
        f"histogram_{name}": Special(evaluate=special_functions.of_native_histograms)
        for name in ("count", "sum", "avg", "stddev", "stdvar")
    },
    "timestamp": Special(evaluate=special_functions.timestamp),
    **{name: Special(evaluate=special_functions.date_function(name)) for name in DATE_FUNCTIONS},
    **{name: OverElements(evaluate=function) for name, function in ELEMENT_FUNCTIONS.items() if name != "clamp"},
    "clamp": Special(evaluate=special_functions.clamp),
    "min_of": Special(evaluate=special_functions.min_of),
    "max_of": Special(evaluate=special_functions.max_of),
    **{name: Special(evaluate=special_functions.of_the_query) for name in ("start", "end", "step", "range")},
    "time": Special(evaluate=special_functions.time),
    "pi": Special(evaluate=special_functions.pi),
    "scalar": Special(evaluate=special_functions.scalar),
    "vector": Special(evaluate=special_functions.vector),
}

UNNAMED: dict[str, Special] = {covered.NAME: Special(evaluate=covered.covered_rate)}
"""Functions that no text can name: the server puts them into trees."""
