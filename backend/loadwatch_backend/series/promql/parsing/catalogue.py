"""What of PromQL the embedded engine evaluates: names, arguments and one line each, in the order of the guide.

`functions.FUNCTIONS` holds what evaluates them; a test keeps both and docs/guide/promql.md in step.
"""

from dataclasses import dataclass

from loadwatch_backend.series.promql.parsing.expression import ValueType


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionEntry:
    name: str
    arguments: str
    summary: str
    family: str
    returns: ValueType = ValueType.VECTOR

    @property
    def _listed(self) -> list[str]:
        return self.arguments.split(", ") if self.arguments else []

    @property
    def types(self) -> tuple[ValueType, ...]:
        """Types of the arguments; the last one holds for all that follow."""
        return tuple(_ARGUMENT_TYPES.get(one.split(" = ")[0], ValueType.SCALAR) for one in self._listed)

    @property
    def least(self) -> int:
        return sum(" = " not in one and not one.endswith("...") for one in self._listed)

    @property
    def most(self) -> int | None:
        """Arguments at the very most; None where any number may follow."""
        return _MOST_REPEATED.get(self.name) if self.arguments.endswith("...") else len(self._listed)

    @property
    def is_variadic(self) -> bool:
        return self.least != len(self._listed)


_MOST_REPEATED = {"histogram_quantiles": 12}
_ARGUMENT_TYPES = {
    "v": ValueType.VECTOR,
    "{selector}": ValueType.VECTOR,
    "v[range]": ValueType.MATRIX,
    **dict.fromkeys(
        ("dst", "replacement", "src", "regex", "separator", "src...", "label", "label..."), ValueType.STRING
    ),
}


def _entries(
    family: str, *rows: tuple[str, str, str], returns: ValueType = ValueType.VECTOR
) -> tuple[FunctionEntry, ...]:
    return tuple(
        FunctionEntry(name=name, arguments=arguments, summary=summary, family=family, returns=returns)
        for name, arguments, summary in rows
    )


_RATES = _entries(
    "Counters and slopes",
    ("rate", "v[range]", "increase per second, with resets, extrapolated to the range"),
    ("irate", "v[range]", "increase per second between the last two samples"),
    ("increase", "v[range]", "increase over the range, with resets, extrapolated"),
    ("delta", "v[range]", "difference between last and first sample of a gauge, extrapolated"),
    ("idelta", "v[range]", "difference between the last two samples"),
    ("resets", "v[range]", "number of counter resets"),
    ("changes", "v[range]", "number of times the value changed"),
    ("deriv", "v[range]", "slope per second by least squares"),
    ("predict_linear", "v[range], seconds", "value that the least-squares line reaches after `seconds`"),
)
_OVER_TIME = _entries(
    "Over time",
    ("avg_over_time", "v[range]", "mean"),
    ("min_over_time", "v[range]", "least value"),
    ("max_over_time", "v[range]", "greatest value"),
    ("sum_over_time", "v[range]", "sum"),
    ("count_over_time", "v[range]", "number of samples"),
    ("quantile_over_time", "q, v[range]", "q-quantile, interpolated"),
    ("stddev_over_time", "v[range]", "population standard deviation"),
    ("stdvar_over_time", "v[range]", "population variance"),
    ("last_over_time", "v[range]", "newest value; keeps the name"),
    ("first_over_time", "v[range]", "oldest value; keeps the name (experimental in Prometheus)"),
    ("mad_over_time", "v[range]", "median of the absolute deviations from the median"),
    ("ts_of_first_over_time", "v[range]", "time of the oldest sample, in seconds"),
    ("ts_of_last_over_time", "v[range]", "time of the newest sample, in seconds"),
    ("ts_of_min_over_time", "v[range]", "time of the last of the least samples, in seconds"),
    ("ts_of_max_over_time", "v[range]", "time of the last of the greatest samples, in seconds"),
    (
        "double_exponential_smoothing",
        "v[range], level, trend",
        "newest value, smoothed with two factors between 0 and 1",
    ),
    ("present_over_time", "v[range]", "1 for each series with a sample"),
    ("absent_over_time", "v[range]", "1 where no series has a sample in the range"),
)
_LABELS = _entries(
    "Labels, order and presence",
    ("absent", "v", "1 where the vector is empty"),
    ("label_replace", "v, dst, replacement, src, regex", "sets a label from a regular expression's groups"),
    ("label_join", "v, dst, separator, src...", "joins the values of labels"),
    ("sort", "v", "ascending order, in instant queries"),
    ("sort_desc", "v", "descending order, in instant queries"),
    ("sort_by_label", "v, label...", "in the order of labels, numbers within them by value; in instant queries"),
    ("sort_by_label_desc", "v, label...", "the other way round"),
    ("info", 'v, {selector} = {__name__="target_info"}', "adds the labels of what describes the same target"),
    ("histogram_quantile", "q, v", "q-quantile of classic histograms (buckets with `le`)"),
    ("histogram_fraction", "lower, upper, v", "share of the observations of classic histograms between both bounds"),
    ("histogram_count", "v", "nothing: there are no native histograms"),
    ("histogram_sum", "v", "likewise"),
    ("histogram_avg", "v", "likewise"),
    ("histogram_stddev", "v", "likewise"),
    ("histogram_stdvar", "v", "likewise"),
    (
        "histogram_quantiles",
        "v, label, q, q...",
        "several quantiles of classic histograms, told apart by a label; at most ten",
    ),
)
_TIME = _entries(
    "Time",
    ("timestamp", "v", "time of each sample, in seconds"),
    ("minute", "v = vector(time())", "minute of the hour, UTC"),
    ("hour", "v = vector(time())", "hour of the day, UTC"),
    ("day_of_week", "v = vector(time())", "0 is Sunday"),
    ("day_of_month", "v = vector(time())", "1 to 31"),
    ("day_of_year", "v = vector(time())", "1 to 366"),
    ("days_in_month", "v = vector(time())", "28 to 31"),
    ("month", "v = vector(time())", "1 to 12"),
    ("year", "v = vector(time())", "the year"),
)
_MATH = _entries(
    "One number to one number",
    ("abs", "v", "absolute value"),
    ("ceil", "v", "rounded up"),
    ("floor", "v", "rounded down"),
    ("round", "v, to = 1", "rounded to the nearest multiple of `to`, halves up"),
    ("clamp", "v, min, max", "kept between both; nothing if min > max"),
    ("clamp_min", "v, min", "at least min"),
    ("clamp_max", "v, max", "at most max"),
    ("sgn", "v", "sign: -1, 0 or 1"),
    ("exp", "v", "exponential"),
    ("ln", "v", "natural logarithm"),
    ("log2", "v", "binary logarithm"),
    ("log10", "v", "decimal logarithm"),
    ("sqrt", "v", "square root"),
    ("sin", "v", "sine"),
    ("cos", "v", "cosine"),
    ("tan", "v", "tangent"),
    ("asin", "v", "inverse sine"),
    ("acos", "v", "inverse cosine"),
    ("atan", "v", "inverse tangent"),
    ("sinh", "v", "hyperbolic sine"),
    ("cosh", "v", "hyperbolic cosine"),
    ("tanh", "v", "hyperbolic tangent"),
    ("asinh", "v", "inverse hyperbolic sine"),
    ("acosh", "v", "inverse hyperbolic cosine"),
    ("atanh", "v", "inverse hyperbolic tangent"),
    ("deg", "v", "radians to degrees"),
    ("rad", "v", "degrees to radians"),
)
_SCALARS = _entries(
    "Scalars",
    ("time", "", "time of the evaluation, in seconds"),
    ("pi", "", "3.14159..."),
    ("scalar", "v", "the value of a vector with one series, else NaN"),
    ("start", "", "first time of the query, in seconds"),
    ("end", "", "last time of the query, in seconds"),
    ("step", "", "step of the query, in seconds; 0 of an instant query"),
    ("range", "", "from the first to the last time of the query, in seconds"),
    ("min_of", "s, t", "the lesser of two numbers"),
    ("max_of", "s, t", "the greater of two numbers"),
    returns=ValueType.SCALAR,
)
_VECTOR = _entries("Scalars", ("vector", "s", "a series without labels"))

CATALOGUE = (*_RATES, *_OVER_TIME, *_LABELS, *_TIME, *_MATH, *_SCALARS, *_VECTOR)
FUNCTIONS_BY_NAME = {entry.name: entry for entry in CATALOGUE}
FUNCTION_TYPES = {entry.name: entry.returns for entry in CATALOGUE}

AGGREGATORS = tuple(
    "sum avg min max count group stddev stdvar topk bottomk quantile count_values limitk limit_ratio".split()
)
PARAMETERS = {
    **dict.fromkeys(("topk", "bottomk", "quantile", "limitk", "limit_ratio"), ValueType.SCALAR),
    "count_values": ValueType.STRING,
}
"""Type of the parameter of each aggregation that has one."""
NATIVE_OPERATORS = ("</", ">/")
SET_OPERATORS = ("and", "or", "unless")
ARITHMETIC_OPERATORS = ("+", "-", "*", "/", "%", "^", "atan2")
COMPARISON_OPERATORS = ("==", "!=", ">", "<", ">=", "<=")
OPERATORS = (*ARITHMETIC_OPERATORS, *COMPARISON_OPERATORS, *SET_OPERATORS)
