"""The states of one rule's alerts, as values."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from loadwatch_backend.alerts.schemas import AlertState, ResolvedReason
from loadwatch_backend.promql.labels import label_key
from loadwatch_backend.rules.contract import SourceKey
from loadwatch_backend.store.port import Labels

NO_DATA_LABEL = "no_data"
"""Label, with the value "true", of alerts that say that series have vanished."""
RUN_LABEL = "run"
"""Label with the id of the load-test run that was under way when an alert began."""


def source_key(source: Labels) -> SourceKey:
    """The identity of an alert within its rule."""
    return label_key(source)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedAlert:
    """One episode of an alert. Times are milliseconds of the wall clock.

    `active_ms` is when the condition began to hold, for people; `held_from_ms` is what `for` counts from: later than
    `active_ms` by the time in which nobody looked (no server, no data). `labels` stay as they were at the beginning,
    annotations and value are those of the last evaluation at which the condition held.
    """

    id: str
    source: Labels
    labels: Labels
    annotations: Mapping[str, str]
    value: float
    state: AlertState
    active_ms: int
    held_from_ms: int
    fired_ms: int | None = None
    false_since_ms: int | None = None
    """Fires, though the condition has not held since then: `keep_firing_for`, or flapping."""
    flapping: bool = False
    swung_ms: int | None = None
    """While it flaps: when the condition last changed."""
    no_data_since_ms: int | None = None
    resolved_ms: int | None = None
    resolved_reason: ResolvedReason | None = None
    finding: Mapping[str, str] = field(default_factory=dict[str, str])
    """What ran out, as annotations: the finding of the moment at which it fired, or the first one after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleStates:
    """All that is known of one rule's alerts between two evaluations.

    `swings` are the times, oldest first, at which alerts began or ended to fire within the flapping window; they
    outlive an episode. `seen` are sources that had data, kept for the policy `alert` only.
    """

    alerts: Mapping[SourceKey, TrackedAlert] = field(default_factory=dict[SourceKey, TrackedAlert])
    swings: Mapping[SourceKey, tuple[int, ...]] = field(default_factory=dict[SourceKey, tuple[int, ...]])
    seen: frozenset[SourceKey] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One change, with the alert as it is after it. `reason` is empty where the condition itself is the reason."""

    alert: TrackedAlert
    before: AlertState | None
    after: AlertState
    at_ms: int
    reason: str = ""

    @property
    def notifies(self) -> bool:
        """Whether receivers may have to be told: it began to fire, or ended to."""
        return self.before is not self.after and AlertState.FIRING in (self.before, self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What an evaluation made of a rule's alerts: states from now on, and what to write.

    `changed` are alerts of which more than the value or annotations has changed; resolved ones are among them, and
    no longer among `states`. `explained` are those of them whose finding has become known.
    """

    states: RuleStates
    transitions: Sequence[Transition]
    changed: Sequence[TrackedAlert]
    explained: Sequence[TrackedAlert] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsOver:
    """Runs that have ended, as far as alerts bear them.

    Attributes:
        ended: by run, when it ended.
        busy: runs of which an alert of another rule holds still.
    """

    ended: Mapping[str, int] = field(default_factory=dict[str, int])
    busy: Set[str] = frozenset()


NO_RUNS_OVER = RunsOver()
