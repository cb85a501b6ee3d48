"""What `alerts` uses of this package.

- `rules.files.RuleFiles(paths, clock, built_in=True, interval_ms=1_000, library=None)`: `current() -> RuleSet`,
  `reload() -> RuleSet` (reads what has changed; a broken file keeps its old groups), `watch(listener)`/`close()` (a
  thread that looks twice a second and calls `listener(rule_set)` when rules have changed).
- `rules.evaluate.RuleEvaluator(engine, external_url, external_labels)`: `alerting(rule, at_ms) -> RuleResult`,
  `recording(rule, at_ms) -> Recorded`; `round(at_ms)` gives a `Round` with `alerting(rule)` and `recording(rule)`:
  rules of one round share what they read. Errors are ProblemErrors: the rule's last states hold.
- `rules.presence`: `presence_of(expression)`, `value_of(expression) -> ValueView`, `metrics_of(expression)`.
- `rules.template.render(text, context) -> str`.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from loadwatch_backend.series.store.port import Labels

SourceKey = tuple[tuple[str, str], ...]
"""`ActiveSeries.source` as a key: `promql.labels.label_key(source)`, pairs of name and value sorted by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveSeries:
    """One series for which an alerting rule's condition holds.

    `source` are the labels of the expression's result, without the metric's name: they and the rule identify the
    alert. `labels` and `annotations` are what goes out, rendered; `labels` include `alertname`.
    """

    source: Labels
    labels: Labels
    annotations: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """The result of an alerting rule at one instant.

    `present` are the label sets (as `ActiveSeries.source`) for which there were data at all, whether or not the
    condition holds: `label_key(source) in result.present`. It is worked out when it is first asked. None means that it
    does not matter, as in Prometheus: what is not among the active series has recovered.
    """

    active: Sequence[ActiveSeries]
    present: Set[SourceKey] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a recording rule makes at one instant: series with the rule's name and labels."""

    series: Sequence[Labels]
    values: Sequence[float]
