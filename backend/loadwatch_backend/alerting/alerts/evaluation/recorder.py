"""Writes the series that rules make into the store: those of recording rules, ALERTS and ALERTS_FOR_STATE.

Series that a rule no longer makes get a stale marker, as in Prometheus (rules/group.go). ALERTS are written when
something changes and every 15 s: 10,000 alerts that go on would otherwise be 20,000 samples a second of no news.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

import numpy as np

from loadwatch_backend.alerting.alerts.evaluation.explain import TrackedAlert
from loadwatch_backend.alerting.rules.model import Recorded, Rule, RuleKind
from loadwatch_backend.alerting.rules.presence import metrics_of
from loadwatch_backend.series.promql.labels import LabelKey, label_key
from loadwatch_backend.series.promql.parsing.expression import Binary, Call, Expression, ValueType, children
from loadwatch_backend.series.promql.parsing.parse import value_type
from loadwatch_backend.series.store.port import STALE_NAN_BITS, Batch, Labels, Writer

ALERTS = "ALERTS"
ALERTS_FOR_STATE = "ALERTS_FOR_STATE"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchList:
    """Rules by what they read.

    Rules write series too, and their commits wake other rules. What a rule writes never wakes it, neither at once nor
    through others: it is evaluated at its interval then. So nothing goes round in circles.
    """

    by_metric: Mapping[str, Sequence[str]]
    readers_of_all: Sequence[tuple[str, frozenset[str]]]
    """Ids of rules that may read any metric, each with the metrics that do not wake it."""
    sleepers: Mapping[str, frozenset[str]]
    """By rule id, the metrics that a rule reads; it gives nothing as long as no series of them exists."""

    def woken_by(self, metrics: Iterable[str]) -> set[str]:
        touched = frozenset(metrics)
        woken = {rule_id for metric in touched for rule_id in self.by_metric.get(metric, ())}
        woken.update(rule_id for rule_id, ignored in self.readers_of_all if touched - ignored)
        return woken

    def asleep(self, known: Set[str]) -> frozenset[str]:
        """Ids of the rules that can give nothing, where these metrics are all that there ever were."""
        return frozenset(rule_id for rule_id, read in self.sleepers.items() if known.isdisjoint(read))


def make_watch_list(rules: Sequence[Rule]) -> WatchList:
    reads = {rule.id: metrics_of(rule.parsed) for rule in rules}
    follows = _follows(rules, reads)
    by_metric: dict[str, list[str]] = {}
    readers_of_all: list[tuple[str, frozenset[str]]] = []
    for rule in rules:
        own = frozenset[str]().union(*(_reached(metric, follows) for metric in outputs_of(rule)))
        read = reads[rule.id]
        if read is None:
            readers_of_all.append((rule.id, own))
            continue
        for metric in read - own:
            by_metric.setdefault(metric, []).append(rule.id)
    sleepers = {rule.id: read for rule in rules if (read := reads[rule.id]) and not _gives_something(rule.parsed)}
    return WatchList(by_metric=by_metric, readers_of_all=readers_of_all, sleepers=sleepers)


def _gives_something(expression: Expression) -> bool:
    """Whether a vector may have a sample without a single series in the store: `absent(x)`, `vector(1)`, `hour()`."""
    match expression:
        case Call(function="absent" | "absent_over_time" | "vector") | Call(arguments=()):
            return True
        case Binary(operator="and", left=left, right=right):
            return _gives_something(left) and _gives_something(right)
        case Binary(operator="unless", left=left):
            return _gives_something(left)
        case Binary(operator=operator) if operator != "or":
            # Arithmetic and comparison: what is missing on one side is missing in the result.
            return all(_gives_something(one) for one in _vectors_in(expression))
        case _:
            return any(_gives_something(one) for one in _vectors_in(expression))


def _vectors_in(expression: Expression) -> list[Expression]:
    return [one for one in children(expression) if value_type(one) in (ValueType.VECTOR, ValueType.MATRIX)]


def outputs_of(rule: Rule) -> frozenset[str]:
    return frozenset((rule.name,)) if rule.kind is RuleKind.RECORDING else frozenset((ALERTS, ALERTS_FOR_STATE))


def _follows(rules: Sequence[Rule], reads: Mapping[str, frozenset[str] | None]) -> dict[str, set[str]]:
    """For each metric that rules write, the metrics that rules derive from it."""
    written = frozenset[str]().union(*(outputs_of(rule) for rule in rules))
    follows: dict[str, set[str]] = {metric: set() for metric in written}
    for rule in rules:
        read = reads[rule.id]
        for metric in written if read is None else read & written:
            follows[metric] |= outputs_of(rule)
    return follows


def _reached(start: str, follows: Mapping[str, set[str]]) -> set[str]:
    """The metric, and all that are made of it in any number of steps."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        metric = waiting.pop()
        if metric not in found:
            found.add(metric)
            waiting += follows[metric]
    return found


STALE = np.array([STALE_NAN_BITS], np.uint64).view(np.float64)[0]
ALERTS_EVERY_MS = 15_000
WRITE_SECONDS = 30


@dataclass(slots=True)
class _Made:
    series: Mapping[LabelKey, Labels] = field(default_factory=dict[LabelKey, Labels])
    at_ms: int = 0
    signature: object = None


class Recorder:
    """Keeps, by rule id, what was written last. A rule is written by one thread at a time."""

    def __init__(self, store: Writer) -> None:
        self._store = store
        self._made: dict[str, _Made] = {}

    def record(self, rule: Rule, recorded: Recorded, at_ms: int, *, wait: bool) -> None:
        """Write what a recording rule made; with `wait` it can be read when this returns.

        Raises:
            SeriesLimitError, StoreBusyError, StoreWriteError: the store.
        """
        self._write(rule.id, recorded.series, recorded.values, at_ms - rule.query_offset_ms, wait=wait)

    def show(self, rule: Rule, alerts: Sequence[TrackedAlert], at_ms: int) -> None:
        """Write ALERTS and ALERTS_FOR_STATE of an alerting rule, when there is news; raises as `record`."""
        made = self._made.get(rule.id)
        signature = tuple((alert.id, alert.state) for alert in alerts)
        if made is None and not alerts:
            return
        if made is not None and made.signature == signature and 0 <= at_ms - made.at_ms < ALERTS_EVERY_MS:
            return
        series: list[Labels] = []
        values: list[float] = []
        for alert in alerts:
            series.append({**alert.labels, "__name__": ALERTS, "alertstate": str(alert.state)})
            values.append(1.0)
            series.append({**alert.labels, "__name__": ALERTS_FOR_STATE})
            values.append(alert.held_from_ms / 1_000)
        self._write(rule.id, series, values, at_ms, wait=False)
        self._made[rule.id].signature = signature

    def keep_only(self, rule_ids: frozenset[str], at_ms: int) -> None:
        """Write stale markers to the series of rules that are gone."""
        for rule_id in self._made.keys() - rule_ids:
            self._write(rule_id, (), (), at_ms, wait=False)
            del self._made[rule_id]

    def forget(self) -> None:
        """Forget what was written without ending its series, as another server writes from now on."""
        self._made.clear()

    def _write(
        self, rule_id: str, series: Sequence[Labels], values: Sequence[float], at_ms: int, *, wait: bool
    ) -> None:
        former = self._made.get(rule_id, _Made()).series
        made = {label_key(labels): labels for labels in series}
        ended = [labels for key, labels in former.items() if key not in made]
        if made or ended:
            ids = self._store.resolve([*series, *ended])
            batch = Batch(
                series=ids,
                timestamps=np.full(len(ids), at_ms, np.int64),
                values=np.concatenate([np.asarray(values, np.float64), np.full(len(ended), STALE)]),
                own=True,
            )
            future = self._store.append(batch)
            if wait:
                future.result(timeout=WRITE_SECONDS)
        self._made[rule_id] = _Made(series=made, at_ms=at_ms)
