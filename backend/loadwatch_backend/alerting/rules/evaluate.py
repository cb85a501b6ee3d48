"""Rules at one instant: what holds, where there were data, and what recording rules make.

Source: rules/alerting.go and rules/recording.go of Prometheus (Eval).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache

from loadwatch_backend.alerting.rules.model import ActiveSeries, Recorded, Rule, RuleResult, SourceKey
from loadwatch_backend.alerting.rules.presence import presence_of, selectors_of
from loadwatch_backend.alerting.rules.template import TemplateContext, TemplateError, render
from loadwatch_backend.core.errors import LimitError, ProblemError
from loadwatch_backend.series.promql.engine import Engine, Instant, Question
from loadwatch_backend.series.promql.errors import QueryExecutionError
from loadwatch_backend.series.promql.labels import METRIC_NAME, drop_labels, label_key
from loadwatch_backend.series.promql.parsing.expression import Expression
from loadwatch_backend.series.store.port import Labels

ALERT_NAME = "alertname"
_AT_ONCE = 256
"""Rules whose samples are read together."""


class RuleLimitError(LimitError, code="rule-limit", title="A rule makes too much"):
    """A rule makes more alerts or series than its group allows."""


class RuleEvaluator:
    """Evaluates rules on an engine; keeps nothing between two instants, and may be used from any thread."""

    def __init__(
        self, engine: Engine, external_url: str = "", external_labels: Mapping[str, str] | None = None
    ) -> None:
        self._engine = engine
        self._external_url = external_url
        self._external_labels = dict(external_labels or {})

    def round(self, at_ms: int) -> "Round":
        """An evaluation of several rules at one instant, which reads each selector once."""
        return Round(self._engine, at_ms, self._external_url, self._external_labels)

    def alerting(self, rule: Rule, at_ms: int) -> RuleResult:
        """For which series the rule's condition holds at `at_ms`, and for which there were data.

        Raises:
            QueryExecutionError: also when two series get the same labels.
            QueryTooLargeError, QueryTimeoutError, QueryLimitError: a limit of engine or store.
            RuleLimitError: more alerts than the group's limit.
        """
        return self.round(at_ms).alerting(rule)

    def recording(self, rule: Rule, at_ms: int) -> Recorded:
        """The series that the rule makes at `at_ms`; raises as `alerting`."""
        return self.round(at_ms).recording(rule)


class Round:
    def __init__(self, engine: Engine, at_ms: int, external_url: str, external_labels: Mapping[str, str]) -> None:
        self._instant: Instant = engine.at(at_ms)
        self._external_url = external_url
        self._external_labels = external_labels
        self._asking = _Asking(engine=engine, at_ms=at_ms)
        self.at_ms = at_ms

    def prepare(self, rules: Iterable[Rule]) -> None:
        """Read what the rules need in one go; without it each reads for itself, which is more work."""
        by_offset: dict[int, list[Expression]] = {}
        for rule in rules:
            by_offset.setdefault(rule.query_offset_ms, []).append(rule.parsed)
        for offset_ms, expressions in by_offset.items():
            for first in range(0, len(expressions), _AT_ONCE):
                # What is too much at once, or fails, is reported by the rule that it belongs to.
                with suppress(ProblemError):
                    self._instant.load(expressions[first : first + _AT_ONCE], offset_ms)

    def alerting(self, rule: Rule) -> RuleResult:
        question = self._instant.question(rule.query_offset_ms)
        matrix = question.vector(rule.parsed)
        if rule.limit and len(matrix.labels) > rule.limit:
            raise _over_limit(rule, len(matrix.labels), "alerts")
        active: list[ActiveSeries] = []
        seen: set[SourceKey] = set()
        for labels, value in zip(matrix.labels, matrix.values[:, 0].tolist(), strict=True):
            one = self._active(rule, labels, value)
            key = label_key(one.labels)
            if key in seen:
                raise QueryExecutionError(
                    f"the rule {rule.name!r} gives several series the labels {dict(key)}: leave out rule labels that"
                    " hide what tells them apart"
                )
            seen.add(key)
            active.append(one)
        return RuleResult(active=active, present=_Present(question, rule.parsed, active))

    def recording(self, rule: Rule) -> Recorded:
        """Evaluate a recording rule; rules that follow read series of its name again."""
        matrix = self._instant.question(rule.query_offset_ms).vector(rule.parsed)
        if rule.limit and len(matrix.labels) > rule.limit:
            raise _over_limit(rule, len(matrix.labels), "series")
        added = {METRIC_NAME: rule.name, **rule.labels}
        series = [{name: value for name, value in {**labels, **added}.items() if value} for labels in matrix.labels]
        if len({label_key(labels) for labels in series}) < len(series):
            raise QueryExecutionError(
                f"the rule {rule.name!r} gives several series the same labels: leave out rule labels that hide what"
                " tells them apart, or aggregate"
            )
        self._instant.forget(rule.name)
        return Recorded(series=series, values=matrix.values[:, 0].tolist())

    def forget(self, metric: str) -> None:
        self._instant.forget(metric)

    def _active(self, rule: Rule, labels: Labels, value: float) -> ActiveSeries:
        context = TemplateContext(
            labels=labels,
            value=value,
            external_labels=self._external_labels,
            external_url=self._external_url,
            time_ms=self.at_ms,
            query=self._asking,
        )
        source = drop_labels(labels, (METRIC_NAME,))
        own = {name: render(text, context) for name, text in rule.labels.items()}
        full = {**source, **own, ALERT_NAME: rule.name}
        return ActiveSeries(
            source=source,
            labels={name: text for name, text in full.items() if text},
            annotations=_Rendered(rule.annotations, lambda text: render(text, context)),
            value=value,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """Answers a template's `query`; alerts keep annotations unexpanded, so it holds no samples."""

    engine: Engine
    at_ms: int

    def __call__(self, text: str) -> list[tuple[Labels, float]]:
        try:
            matrix = self.engine.instant(text, self.at_ms)
        except ProblemError as error:
            raise TemplateError(f"error calling query: {error.detail}") from error
        return list(zip(matrix.labels, matrix.values[:, 0].tolist(), strict=True))


def _over_limit(rule: Rule, count: int, what: str) -> RuleLimitError:
    return RuleLimitError(
        f"the rule {rule.name!r} makes {count} {what}, and its group's limit is {rule.limit}; raise `limit` in the rule"
        " file, or aggregate in the expression"
    )


class _Rendered(Mapping[str, str]):
    """Annotations, expanded when they are asked for: most evaluations of an alert that goes on need none of them."""

    def __init__(self, templates: Mapping[str, str], render: Callable[[str], str]) -> None:
        self._templates = templates
        self._render = render

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {name: self._render(text) for name, text in self._templates.items()}

    def __getitem__(self, name: str) -> str:
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._templates)

    def __len__(self) -> int:
        return len(self._templates)

    def __repr__(self) -> str:
        return repr(self._texts)


class _Present(Set[SourceKey]):
    """The label sets for which there were data, worked out when they are asked for.

    Where presence cannot be asked series by series (`presence_of` is None, or its expression fails on these data), it
    is asked as a whole: as long as every selector finds a series, every label set counts as present, else none does but
    those whose condition holds.
    """

    def __init__(self, question: Question, expression: Expression, active: list[ActiveSeries]) -> None:
        self._question = question
        self._expression = expression
        self._active = active

    @cached_property
    def _keys(self) -> frozenset[SourceKey] | None:
        wanted = _presence_of(self._expression)
        if wanted is None:
            return None
        try:
            matrix = self._question.vector(wanted)
        except QueryExecutionError:
            return None
        found = {label_key(drop_labels(labels, (METRIC_NAME,))) for labels in matrix.labels}
        return frozenset(found | self._holding)

    @cached_property
    def _holding(self) -> frozenset[SourceKey]:
        return frozenset(label_key(one.source) for one in self._active)

    @cached_property
    def _all_selectors_find(self) -> bool:
        return all(len(self._question.vector(one).labels) for one in selectors_of(self._expression))

    def __contains__(self, key: object) -> bool:
        if self._keys is not None:
            return key in self._keys
        return key in self._holding or self._all_selectors_find

    def __iter__(self) -> Iterator[SourceKey]:
        return iter(self._holding if self._keys is None else self._keys)

    def __len__(self) -> int:
        return len(self._holding if self._keys is None else self._keys)


_presence_of = lru_cache(maxsize=8_192)(presence_of)
