"""Random expressions over the series of cases.py: what nobody would think of writing down.

Deterministic for a seed. Left out is what Prometheus itself gives to chance or gets wrong: ties in topk, values as
labels where they differ in the last bit, and parameters that change under an aggregation of constants.
"""

import random
from collections.abc import Callable, Sequence

SELECTORS = (
    "requests_total",
    'requests_total{job="api"}',
    "temperature",
    'temperature{instance=~"a|b"}',
    "gappy",
    'gappy{group="2"}',
    "odd",
    "level",
    "limit",
    "job_limit",
    "twin_a",
    "twin_b",
    "double",
    "info",
    "half",
    "other_half",
    "jitter_total",
    "late_total",
    "slow_total",
    "seconds",
    "mark",
    "missing",
    "latency_bucket",
    "crooked_bucket",
    'scaled{exponent=~"-9|9"}',
    '{__name__=~"twin_.*"}',
    '{__name__=~"half|other_half"}',
    '{instance="a",__name__!~"info|odd"}',
)
LABELS = ("job instance code how group room team x k v le path __name__ nothing kind").split()
RANGES = ("1ms", "17s", "30s", "1m", "90s", "2m", "3m30s", "5m")
OFFSETS = ("", "", "", "", "", "", " offset 1m", " offset -45s", " offset 5m")
OVER_RANGES = (
    "rate increase delta irate idelta resets changes avg_over_time min_over_time max_over_time sum_over_time"
    " count_over_time last_over_time first_over_time present_over_time absent_over_time stddev_over_time"
    " stdvar_over_time deriv mad_over_time ts_of_first_over_time ts_of_last_over_time ts_of_min_over_time"
    " ts_of_max_over_time"
).split()
STEPS = ("", "10s", "1m", "37s", "step() + 7s", "max_of(20s, 1m / 2)")
SPANS = (*RANGES, "30s * 3", "2m - 17s", "(1m + 5)", "range() / 20 + 11s")
ATS = ("", "", "", "", "", " @ start()", " @ end()", " @ {inside}", " @ {outside}")
FILLS = ("", "", "", " fill (0)", " fill_left (1)", " fill_right (-2)", " fill_left (3) fill_right (NaN)")
AGGREGATIONS = ("sum avg min max count group stddev stdvar").split()
ELEMENTS = ("abs ceil floor round sgn sqrt exp ln timestamp absent -").split()
ARITHMETIC = ("+", "-", "*", "/", "%", "^", "atan2")
COMPARISONS = ("==", "!=", ">", "<", ">=", "<=")
NUMBERS = ("0", "1", "2", "-1", "0.5", "3.7", "1e9", "NaN", "Inf", "time()", "step()", "max_of(1, 2)")
GROUPS = ("", " ()", "(team)", "(owner)", "(room)", "(version)")


class RandomQueries:
    """A source of expressions."""

    def __init__(self, seed: int, inside: int) -> None:
        """`inside` is a time in seconds at which there are samples."""
        self._random = random.Random(seed)
        self._inside = inside
        self._vectors: tuple[tuple[int, Callable[[int], str]], ...] = (
            (12, lambda _depth: self._selector()),
            (18, lambda _depth: f"{self._one(OVER_RANGES)}({self._range()})"),
            (3, lambda _depth: f"quantile_over_time({self.scalar(1)}, {self._range()})"),
            (17, lambda depth: f"{self._one(AGGREGATIONS)}{self._grouping()} ({self.vector(depth - 1)})"),
            (4, lambda depth: f"quantile{self._grouping()} ({self._one(NUMBERS)}, {self.vector(depth - 1)})"),
            (2, lambda depth: f'count_values("{self._one(("v", "job"))}", floor({self.vector(depth - 1)}))'),
            (12, self._binary),
            (8, self._set),
            (9, self._with_scalar),
            (7, lambda depth: f"{self._one(ELEMENTS)}({self.vector(depth - 1)})"),
            (3, self._relabelled),
            (4, lambda depth: f"{self._one(OVER_RANGES)}({self._subquery(depth - 1)})"),
            (2, lambda _depth: f"double_exponential_smoothing({self._range()}, 0.3, 0.6)"),
            (2, lambda depth: f"predict_linear({self._subquery(depth - 1)}, {self.scalar(1)})"),
            (1, lambda depth: f"histogram_fraction({self.scalar(1)}, {self.scalar(1)}, {self.vector(depth - 1)})"),
            (1, lambda depth: f'histogram_quantiles({self.vector(depth - 1)}, "q", {self.scalar(1)}, 0.7)'),
            (1, lambda depth: f"vector({self.scalar(depth - 1)})"),
            (2, lambda depth: f"histogram_quantile({self.scalar(1)}, {self.vector(depth - 1)})"),
            (2, lambda depth: f"clamp({self.vector(depth - 1)}, {self.scalar(1)}, {self.scalar(1)})"),
        )

    def _one(self, choices: Sequence[str]) -> str:
        return choices[self._below(len(choices))]

    def _below(self, limit: int) -> int:
        # random() alone is the same in every version of Python.
        return int(self._random.random() * limit)

    def _labels(self) -> str:
        return ", ".join(dict.fromkeys(self._one(LABELS) for _ in range(self._below(3))))

    def _selector(self) -> str:
        return self._one(SELECTORS) + self._shift()

    def _shift(self) -> str:
        at = self._one(ATS).format(inside=self._inside, outside=self._inside - 7_200)
        return at + self._one(OFFSETS)

    def _range(self) -> str:
        return f"{self._one(SELECTORS)}[{self._one(SPANS)}]{self._shift()}"

    def _subquery(self, depth: int) -> str:
        return f"({self.vector(depth)})[{self._one(SPANS)}:{self._one(STEPS)}]{self._shift()}"

    def _grouping(self) -> str:
        return self._one(("", f" by ({self._labels()})", f" without ({self._labels()})"))

    def _matching(self) -> str:
        return self._one(("", "", f" on ({self._labels()})", f" ignoring ({self._labels()})"))

    def _comparison(self) -> str:
        return self._one(COMPARISONS) + self._one(("", "", " bool"))

    def _operator(self) -> str:
        return self._one(ARITHMETIC) if self._below(2) else self._comparison()

    def _binary(self, depth: int) -> str:
        matching = self._matching()
        if matching and self._below(2):
            matching += self._one((" group_left", " group_right")) + (self._one(GROUPS) or " ()")
        matching += self._one(FILLS)
        return f"({self.vector(depth - 1)} {self._operator()}{matching} {self.vector(depth - 1)})"

    def _set(self, depth: int) -> str:
        operator = self._one(("and", "or", "unless"))
        return f"({self.vector(depth - 1)} {operator}{self._matching()} {self.vector(depth - 1)})"

    def _with_scalar(self, depth: int) -> str:
        sides = [self.vector(depth - 1), self.scalar(1)]
        if self._below(3) == 0:
            sides.reverse()
        return f"({sides[0]} {self._operator()} {sides[1]})"

    def _relabelled(self, depth: int) -> str:
        target, source = self._one(LABELS), self._one(LABELS)
        template, pattern = self._one(("$1", "z", "", "$1-x")), self._one(("(.*)", ".+", "(.).*", "a|b", ""))
        return f'label_replace({self.vector(depth - 1)}, "{target}", "{template}", "{source}", "{pattern}")'

    def scalar(self, depth: int) -> str:
        """An expression of type scalar."""
        kind = self._below(10)
        if depth <= 0 or kind < 6:
            return self._one(NUMBERS)
        if kind < 8:
            return f"scalar({self.vector(depth - 1)})"
        return f"({self.scalar(depth - 1)} {self._one(ARITHMETIC)} {self.scalar(depth - 1)})"

    def vector(self, depth: int) -> str:
        """An expression of type vector."""
        if depth <= 0:
            return self._selector()
        place = self._below(sum(weight for weight, _ in self._vectors))
        for weight, make in self._vectors:
            place -= weight
            if place < 0:
                return make(depth)
        raise AssertionError("the weights cover every place")

    def query(self) -> str:
        """One expression, up to four levels deep."""
        return self.vector(1 + self._below(4))
