"""What a rule file says, after it has been read."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from loadwatch_backend.series.promql.parsing.expression import Expression
from loadwatch_backend.series.store.port import Labels

NO_DATA_ANNOTATION = "loadwatch_no_data"
"""Annotation of an alerting rule that names its `NoDataPolicy`; it is not sent on."""
UNIT_ANNOTATION = "loadwatch_unit"
"""Annotation with the unit of the rule's value, as signals name units; it is not sent on."""
SIGNAL_ANNOTATION = "loadwatch_signal"
"""Annotation with the id of the signal that shows the moment best; it is not sent on."""

FINDING_ANNOTATION = "loadwatch_finding"
"""Annotation with the ids of the findings that the rule reports (see `notify.causes.explained`); it is not sent on."""
CAUSE_ANNOTATION = "loadwatch_cause"
"""Annotation with the ids of the findings that explain the rule's alerts; it is not sent on."""

OWN_ANNOTATIONS = (NO_DATA_ANNOTATION, UNIT_ANNOTATION, SIGNAL_ANNOTATION, FINDING_ANNOTATION, CAUSE_ANNOTATION)


class RuleKind(StrEnum):
    """What a rule makes of its result."""

    ALERTING = "alerting"
    RECORDING = "recording"


class NoDataPolicy(StrEnum):
    """What it means for an alert that the series it watches have vanished."""

    KEEP = "keep"
    """The alert stays as it was, and says that it is without data."""
    ALERT = "alert"
    """The vanishing is itself an alert."""
    OK = "ok"
    """As in Prometheus: the alert resolves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.

    `id` is stable over reloads and restarts: a hash of file name, group, name, expression and labels. `line` counts
    from 1. Labels and annotations are templates, as written. Durations are in milliseconds.
    """

    id: str
    kind: RuleKind
    name: str
    expression: str
    parsed: Expression
    line: int
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    for_ms: int = 0
    keep_firing_for_ms: int = 0
    no_data: NoDataPolicy = NoDataPolicy.KEEP
    unit: str = ""
    signal: str = ""
    finding: str = ""
    cause: str = ""
    limit: int = 0
    """Most alerts or series that it may make, from its group; 0 is no limit."""
    query_offset_ms: int = 0
    """How far in the past it is evaluated, from its group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleGroup:
    """Rules that are evaluated together, in order. `interval_ms` is the longest wait between two evaluations."""

    name: str
    file: str
    interval_ms: int
    rules: Sequence[Rule]
    limit: int = 0
    """Most alerts or series that a rule of the group may make; 0 is no limit."""
    query_offset_ms: int = 0
    labels: Mapping[str, str] = field(default_factory=dict[str, str])


class RuleFileState(StrEnum):
    """How the last reading of a rule file ended."""

    OK = "ok"
    PARTIAL = "partial"
    """Some of its rules could not be read and are left out; all others are in force."""
    BROKEN = "broken"
    """It could not be read; the rules of its last good reading stay in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFile:
    """One rule file as it was last read; `error` and `line` say what is wrong with it, or with some of its rules."""

    path: str
    state: RuleFileState
    loaded_ms: int
    groups: Sequence[RuleGroup]
    error: str = ""
    line: int | None = None
    built_in: bool = False
    left_out: frozenset[tuple[str, str]] = frozenset()
    """Group and name of each rule that is left out; a rule without a name has an empty one."""

    def may_have(self, group: str, name: str) -> bool:
        """Whether the file may hold a rule of this name that could not be read."""
        if self.state is RuleFileState.BROKEN:
            return True
        return not self.left_out.isdisjoint({(group, name), (group, "")})


@dataclass(frozen=True, kw_only=True)
class RuleSet:
    """All rules in force; `generation` grows whenever they change."""

    generation: int
    files: Sequence[RuleFile]

    @property
    def groups(self) -> Sequence[RuleGroup]:
        return [group for file in self.files for group in file.groups]

    @cached_property
    def explained(self) -> Mapping[str, tuple[str, str]]:
        """`loadwatch_finding` and `loadwatch_cause` by the name of the rule; the first of a name counts."""
        found: dict[str, tuple[str, str]] = {}
        for rule in (rule for group in self.groups for rule in group.rules):
            if rule.finding or rule.cause:
                found.setdefault(rule.name, (rule.finding, rule.cause))
        return found


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
    series: Sequence[Labels]
    values: Sequence[float]
