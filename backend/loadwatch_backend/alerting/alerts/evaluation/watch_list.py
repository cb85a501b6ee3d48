"""Which rules are worth evaluating when samples of some metrics have arrived. No I/O."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from loadwatch_backend.alerting.rules.model import Rule, RuleKind
from loadwatch_backend.alerting.rules.presence import metrics_of
from loadwatch_backend.series.promql.parsing.expression import Binary, Call, Expression, ValueType, children
from loadwatch_backend.series.promql.parsing.parse import value_type

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
    """By rule id, what a rule reads that gives nothing as long as there are no series of any of it."""

    def woken_by(self, metrics: Iterable[str]) -> set[str]:
        """Ids of the rules to evaluate."""
        touched = frozenset(metrics)
        woken = {rule_id for metric in touched for rule_id in self.by_metric.get(metric, ())}
        woken.update(rule_id for rule_id, ignored in self.readers_of_all if touched - ignored)
        return woken

    def asleep(self, known: Set[str]) -> frozenset[str]:
        """Ids of the rules that can give nothing, where these metrics are all that there ever were."""
        return frozenset(rule_id for rule_id, read in self.sleepers.items() if known.isdisjoint(read))


def make_watch_list(rules: Sequence[Rule]) -> WatchList:
    """The list for all rules in force."""
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
    """Names of the metrics that a rule writes."""
    return frozenset((rule.name,)) if rule.kind is RuleKind.RECORDING else frozenset((ALERTS, ALERTS_FOR_STATE))


def _follows(rules: Sequence[Rule], reads: Mapping[str, frozenset[str] | None]) -> dict[str, set[str]]:
    """For each metric that rules write, those that rules make of it."""
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
