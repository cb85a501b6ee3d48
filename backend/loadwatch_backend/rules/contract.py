"""What `alerts` uses of this package.

- `rules.files.RuleFiles(paths, clock, built_in=True)`: `current() -> RuleSet`, `reload() -> RuleSet` (reads what has
  changed; a broken file keeps its old groups), `watch(listener)`/`close()` (a thread that looks every second).
- `rules.evaluate.RuleEvaluator(engine)`: `alerting(rule, at_ms) -> Reading`, `recording(rule, at_ms) -> Recorded`.
- `rules.presence.presence_of(expression) -> Expression | None` and `value_of(expression)`: see there.
- `rules.template.render(text, context) -> str`.
- `rules.metrics_of(rule) -> frozenset[str] | None`: names of metrics that the expression reads; None is all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadwatch_backend.store.port import Labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One series for which an alerting rule's condition holds.

    `source` are the labels of the expression's result, without the metric's name: they and the rule identify the
    alert. `labels` and `annotations` are what goes out, rendered; `labels` include `alertname`.
    """

    source: Labels
    labels: Labels
    annotations: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The result of an alerting rule at one instant.

    `present` are the label sets (as `Instance.source`) for which there were data at all, whether or not the condition
    holds; None when absence of data cannot be told apart for this expression (it asks for absence itself).
    """

    instances: Sequence[Instance]
    present: frozenset[tuple[tuple[str, str], ...]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a recording rule makes at one instant: series with the rule's name and labels."""

    series: Sequence[Labels]
    values: Sequence[float]
