"""The language of thresholds: `<metric> <op> <value> [over steady|whole|60s..120s]`. Pure.

    p95<300ms
    error_rate < 0.1% over whole
    rate >= 0.99*target
    max(pool_wait_mean) < 50ms over 60s..120s
    avg("sum(rate(mysql_global_status_queries[10s]))") > 2k

docs/guide/verdicts.md explains it to people; an error names the column and what may stand there.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from loadwatch_formats.durations import parse_go_duration
from loadwatch_formats.numbers import FACTORS, UNITS, to_base

from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.catalogue.signals.service import parse_with_window
from loadwatch_backend.core.errors import InvalidError
from loadwatch_backend.core.texts.words import message_of
from loadwatch_backend.runs.analysis.schemas import ThresholdOut, ThresholdState
from loadwatch_backend.runs.fields import RunState, Verdict
from loadwatch_backend.series.promql.errors import QueryParseError, QueryUnsupportedError
from loadwatch_backend.series.promql.parsing.expression import ValueType
from loadwatch_backend.series.promql.parsing.parse import value_type

GENERATOR_METRICS = frozenset({"rate", "ok_rate", "throughput"})
"""Besides response times; see `leans_on_generator`."""


def leans_on_generator(metric: str) -> bool:
    """Whether a metric says nothing about the system where the generator was the bottleneck."""
    return metric in GENERATOR_METRICS or is_latency(metric)


def decide_verdict(
    state: RunState, requests: int | None, thresholds: Sequence[ThresholdOut], generator: str
) -> tuple[Verdict | None, list[str]]:
    """The verdict with its reasons: texts of the thresholds that fail, then stable codes.

    A threshold that fails decides, whatever else is wrong: a gate must not open because the run was a bad one too.

    Args:
        state: of the run; one under way has no verdict yet.
        requests: of the whole run, None where nothing tells.
        thresholds: measured.
        generator: the state of the generator check.
    """
    if not thresholds or state is RunState.RUNNING:
        return None, []
    broken = [one.expression for one in thresholds if one.state is ThresholdState.FAILED]
    doubts: list[str] = []
    if state is RunState.ABORTED:
        doubts.append("aborted")
    if requests == 0:
        doubts.append("no-requests")
    if generator == "saturated" and any(leans_on_generator(one.metric) for one in thresholds):
        doubts.append("generator-saturated")
    if any(one.state is ThresholdState.UNKNOWN for one in thresholds):
        doubts.append("not-measured")
    if broken:
        return Verdict.FAILED, broken + doubts
    return (Verdict.INVALID if doubts else Verdict.PASSED), doubts


LATENCIES = ("p50", "p90", "p95", "p99", "max", "min", "mean")
_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,3})?)(?![A-Za-z0-9_.])")
OUTCOME_COUNTS: Mapping[str, str] = {
    "timeouts": "timeout",
    "resets": "reset",
    "refused": "refused",
    "dns": "dns",
    "http_4xx": "http_4xx",
    "http_5xx": "http_5xx",
    "assertions": "assertion",
    "others": "other",
}

METRICS: Mapping[str, Unit] = {
    **dict.fromkeys(LATENCIES, Unit.SECONDS),
    "rate": Unit.PER_SECOND,
    "ok_rate": Unit.PER_SECOND,
    "throughput": Unit.PER_SECOND,
    "success_ratio": Unit.RATIO,
    "error_rate": Unit.RATIO,
    "requests": Unit.COUNT,
    "failures": Unit.COUNT,
    **dict.fromkeys(OUTCOME_COUNTS, Unit.COUNT),
    "bytes_in": Unit.BYTES,
    "bytes_out": Unit.BYTES,
}


def quantile_of(name: str) -> float | None:
    """0.7 of `p70`, for any percentile from p0.001 to p99.999; None of other names."""
    found = _PERCENTILE.fullmatch(name)
    return None if found is None or not float(found[1]) else float(Decimal(found[1]) / 100)


def is_latency(name: str) -> bool:
    return name in LATENCIES or quantile_of(name) is not None


def metric_unit(name: str) -> Unit:
    return Unit.SECONDS if is_latency(name) else METRICS[name]


FUNCTIONS = ("avg", "max", "min", "last")
OPERATORS = ("<=", ">=", "==", "<", ">")


class ThresholdError(InvalidError, code="threshold", title="Invalid threshold"):
    """A threshold is not written as it should be."""


class Scope(StrEnum):
    STEADY = "steady"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A window in seconds since the run's start."""

    from_seconds: float
    to_seconds: float

    def __str__(self) -> str:
        return f"{_number(self.from_seconds)}s..{_number(self.to_seconds)}s"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadMetric:
    """A figure of the load: one of `METRICS`, or any percentile in its shortest form."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnMetric:
    name: str
    own_unit: Unit = Unit.COUNT

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesMetric:
    """An aggregate over the window of a signal by its id, or of PromQL."""

    function: str
    text: str
    is_signal: bool
    signal_unit: Unit | None = None

    def __str__(self) -> str:
        if self.is_signal:
            return f"{self.function}({self.text})"
        escaped = self.text.replace("\\", "\\\\").replace('"', '\\"')
        return f'{self.function}("{escaped}")'


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A number with its unit, or that many times the rate asked for."""

    number: float
    unit: str = ""
    of_target: bool = False

    def __str__(self) -> str:
        if self.of_target:
            return "target" if self.number == 1 else f"{_number(self.number)}*target"
        return f"{_number(self.number)}{self.unit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A parsed threshold; `str` gives it in its one form, which parses to the same."""

    metric: LoadMetric | OwnMetric | SeriesMetric
    operator: str
    value: Value
    window: Scope | Part = Scope.STEADY

    def __str__(self) -> str:
        over = "" if self.window is Scope.STEADY else f" over {self.window}"
        return f"{self.metric}{self.operator}{self.value}{over}"

    @property
    def unit(self) -> Unit | None:
        return unit_of(self.metric)

    def limit(self, target_rate: float | None) -> float | None:
        """The value in base units; None for a share of a target that nobody set."""
        if self.value.of_target:
            return None if target_rate is None else self.value.number * target_rate
        return to_base(self.value.number, FACTORS[self.value.unit] if self.value.unit else 1.0)


def unit_of(metric: LoadMetric | OwnMetric | SeriesMetric) -> Unit | None:
    """Base unit of a metric; None for PromQL."""
    if isinstance(metric, SeriesMetric):
        return metric.signal_unit
    return metric_unit(metric.name) if isinstance(metric, LoadMetric) else metric.own_unit


NO_FIGURES: Mapping[str, Unit] = {}


def parse_threshold(
    text: str, signals: Mapping[str, Unit], own: Mapping[str, Unit] = NO_FIGURES, *, kept: bool = False
) -> Threshold:
    """Read one threshold.

    Args:
        text: as a person typed it.
        signals: units of the signals there are, by id.
        own: units of figures of the user's own, by name.
        kept: it was checked once. The run's figures may be others since, so any name may be one, in any unit.

    Raises:
        ThresholdError: names the column, counted from 1, and what may stand there.
    """
    return _Reader(text, signals, own, kept=kept).threshold()


def is_taken(name: str) -> bool:
    """Whether a name is reserved, so that no figure of the user's own can have it."""
    return name in METRICS or is_latency(name) or name in (*FUNCTIONS, "target", "over")


def check_thresholds(texts: Sequence[str], signals: Mapping[str, Unit], own: Mapping[str, Unit] = NO_FIGURES) -> None:
    """Read all of them and keep none.

    Raises:
        ThresholdError: the first that is wrong.
    """
    for text in texts:
        parse_threshold(text, signals, own)


_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_UNIT = re.compile(r"%|/s|[A-Za-zµμ]+(?:/s)?")
_OVER = re.compile(r"over\b")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')
_TIME = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(ms|s|m|h)")


class _Reader:
    """A recursive-descent parser of one threshold."""

    def __init__(self, text: str, signals: Mapping[str, Unit], own: Mapping[str, Unit], *, kept: bool) -> None:
        self._own = own
        self._kept = kept
        self._text = text
        self._signals = signals
        self._at = 0

    def threshold(self) -> Threshold:
        metric = self._metric()
        operator = self._operator()
        value = self._value(None if self._kept and isinstance(metric, OwnMetric) else unit_of(metric))
        place = self._skip()
        window = self._window()
        if isinstance(metric, OwnMetric):
            if place < self._at and window is not Scope.WHOLE:
                raise self._refusal(place, "own-window")
            window = Scope.WHOLE
        if self._at < len(self._text):
            raise self._error("nothing-more")
        return Threshold(metric=metric, operator=operator, value=value, window=window)

    def _metric(self) -> LoadMetric | OwnMetric | SeriesMetric:
        start = self._skip()
        percentile = self._take(_PERCENTILE)
        if percentile is not None and float(percentile[1]):
            return LoadMetric(name=f"p{Decimal(percentile[1]).normalize():f}")
        self._at = start
        word = self._take(_WORD)
        if word is not None and word[0] in FUNCTIONS and self._literal("("):
            return self._series(word[0])
        if word is not None and word[0] in METRICS:
            return LoadMetric(name=word[0])
        if word is not None and (word[0] in self._own or (self._kept and not is_taken(word[0]))):
            return OwnMetric(name=word[0], own_unit=self._own.get(word[0], Unit.COUNT))
        self._at = start
        raise self._error("metric", metrics=", ".join(METRICS), functions="|".join(FUNCTIONS))

    def _series(self, function: str) -> SeriesMetric:
        start = self._skip()
        quoted = self._take(_QUOTED)
        if quoted is not None:
            text = _ESCAPED.sub(r"\1", quoted[1])
            self._check_promql(text, start)
            metric = SeriesMetric(function=function, text=text, is_signal=False)
        else:
            word = self._take(_WORD)
            if word is None or word[0] not in self._signals:
                self._at = start
                raise self._error("signal")
            metric = SeriesMetric(function=function, text=word[0], is_signal=True, signal_unit=self._signals[word[0]])
        if not self._literal(")"):
            raise self._error("close")
        return metric

    def _check_promql(self, text: str, start: int) -> None:
        try:
            kind = value_type(parse_with_window(text, 60_000))
        except (QueryParseError, QueryUnsupportedError) as error:
            raise self._refusal(start, "promql", detail=error.detail) from error
        if kind not in (ValueType.VECTOR, ValueType.SCALAR):
            raise self._refusal(start, "instant")

    def _operator(self) -> str:
        self._skip()
        for operator in OPERATORS:
            if self._literal(operator):
                return operator
        raise self._error("operator")

    def _value(self, unit: Unit | None) -> Value:
        start = self._skip()
        found = self._take(_NUMBER)
        if found is None:
            if self._word("target"):
                return self._of_target(1.0, unit, start)
            raise self._error("number")
        number = float(found[0])
        if number in (float("inf"), float("-inf")):
            raise self._refusal(start, "float")
        if self._literal("*"):
            if not self._word("target"):
                raise self._error("target")
            return self._of_target(number, unit, start)
        return Value(number=number, unit=self._unit(unit, number, start))

    def _of_target(self, number: float, unit: Unit | None, start: int) -> Value:
        if unit not in (Unit.PER_SECOND, None):
            raise self._refusal(start, "no-target")
        return Value(number=number, of_target=True)

    def _unit(self, unit: Unit | None, number: float, start: int) -> str:
        place = self._skip()
        allowed = FACTORS if unit is None else UNITS[unit]
        # `over` begins the window; no unit is called so.
        found = None if _OVER.match(self._text, place) else self._take(_UNIT)
        if found is None:
            if unit is Unit.SECONDS and number != 0:
                raise self._refusal(start, "time-unit", units=", ".join(allowed), example=f"{_number(number)}ms")
            return ""
        text = found[0].replace("μ", "µ")
        if text not in allowed:
            self._at = place
            raise self._error("unit", units=", ".join(allowed))
        return text

    def _window(self) -> Scope | Part:
        self._skip()
        if not self._word("over"):
            return Scope.STEADY
        start = self._skip()
        for scope in Scope:
            if self._word(scope.value):
                self._skip()
                return scope
        first = self._time()
        self._skip()
        if first is None or not self._literal(".."):
            self._at = start
            raise self._error("window")
        self._skip()
        last = self._time()
        if last is None:
            raise self._error("time")
        if last <= first:
            raise self._refusal(start, "order")
        self._skip()
        return Part(from_seconds=first, to_seconds=last)

    def _time(self) -> float | None:
        start = self._at
        found = self._take(_TIME)
        try:
            return None if found is None else parse_go_duration(found[1] + found[2])
        except ValueError:
            raise self._refusal(start, "long") from None

    # Pieces of text ---------------------------------------------------------------------------------------------------

    def _skip(self) -> int:
        self._take(_SPACE)
        return self._at

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def _literal(self, text: str) -> bool:
        self._skip()
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _word(self, word: str) -> bool:
        start = self._skip()
        found = self._take(_WORD)
        if found is not None and found[0] == word:
            return True
        self._at = start
        return False

    def _error(self, expected: str, **values: object) -> ThresholdError:
        self._skip()
        return self._refusal(self._at, expected, **values)

    def _refusal(self, at: int, expected: str, **values: object) -> ThresholdError:
        piece = self._text[at : at + 20]
        said = message_of(
            "unreadable",
            "stands",
            text=repr(self._text[:200]),
            column=at + 1,
            found=message_of("unreadable", "piece", text=piece)
            if at < len(self._text)
            else message_of("unreadable", "end"),
            expected=message_of("unreadable", expected, **values),
        )
        return ThresholdError(said.en, detail_ja=said.ja, expression=self._text, column=at + 1)


def _number(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
