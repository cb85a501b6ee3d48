"""Rules in Prometheus' file format: read, checked, tested, and evaluated on the embedded engine.

Nothing here knows of alert states or of who is notified; `alerts` does.

- `rules.files.RuleFiles(paths, clock, built_in=True, interval_ms=1_000, library=None)`: `current() -> RuleSet`,
  `reload() -> RuleSet` (reads what has changed; a broken file keeps its old groups), `watch(listener)`/`close()` (a
  thread that checks the files twice a second and calls `listener(rule_set)` when rules have changed).
- `rules.evaluate.RuleEvaluator(engine, external_url, external_labels)`: `alerting(rule, at_ms) -> RuleResult`,
  `recording(rule, at_ms) -> Recorded`; `round(at_ms)` gives a `Round` with `alerting(rule)` and `recording(rule)`:
  rules of one round share what they read. Errors are ProblemErrors: the rule's last states hold.
- `rules.presence`: `presence_of(expression)`, `value_of(expression) -> ValueView`, `metrics_of(expression)`.
- `rules.template.render(text, context) -> str`.
"""
