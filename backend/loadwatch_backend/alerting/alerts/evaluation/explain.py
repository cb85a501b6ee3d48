"""What ran out, for an alert that fires: the finding of the moment, as annotations. Nothing is computed here."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from loadwatch_backend.alerting.alerts.schemas import AlertState, ResolvedReason
from loadwatch_backend.alerting.notify.causes import Explain, annotations_of, finding_of
from loadwatch_backend.alerting.rules.model import SourceKey
from loadwatch_backend.findings.snapshot import FindingsSnapshot
from loadwatch_backend.runs.registry.under_way import RunFacts
from loadwatch_backend.series.promql.labels import label_key
from loadwatch_backend.series.store.port import Labels

NO_DATA_LABEL = "no_data"
"""Label, with the value "true", of alerts that say that series have vanished."""
RUN_LABEL = "run"
"""Label with the id of a load-test run: of the series, or of the run during which the alert began, while that lasts."""


def source_key(source: Labels) -> SourceKey:
    """The identity of an alert within its rule."""
    return label_key(source)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedAlert:
    """One episode of an alert. Times are milliseconds of the wall clock.

    `active_ms` is when the condition began to hold, for people; `held_from_ms` is what `for` counts from: later than
    `active_ms` by the time in which nothing was evaluated (no server, no data). `labels` stay as they were at the
    beginning, but for that of a run that it outlives; annotations and value are those of the last evaluation at which
    the condition held. `run_name` is of the run whose label it began with.
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
    run_name: str = ""

    @property
    def has_own_run(self) -> bool:
        """Whether a label `run` is of its series, and no word of ours on when it began."""
        return RUN_LABEL in self.source


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
        return self.before is not self.after and AlertState.FIRING in (self.before, self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What an evaluation made of a rule's alerts: states from now on, and what to write.

    `changed` are alerts of which more than the value or annotations has changed; resolved ones are among them, and
    no longer among `states`. `explained` are those of them whose finding has become known, `unbound` those that outlive
    the run whose label they bore, and bear it no longer.
    """

    states: RuleStates
    transitions: Sequence[Transition]
    changed: Sequence[TrackedAlert]
    explained: Sequence[TrackedAlert] = ()
    unbound: Sequence[TrackedAlert] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Runs that go on, and those whose ids alerts bear, as far as they are known, by id.

    `busy` are runs of which an alert of another rule holds.
    """

    known: Mapping[str, RunFacts] = field(default_factory=dict[str, RunFacts])
    busy: Set[str] = frozenset()

    @property
    def current(self) -> str:
        """The run that was last begun and goes on; empty where none does."""
        going_on = [(run.started_ms, id) for id, run in self.known.items() if run.ended_ms is None]
        return max(going_on, default=(0, ""))[1]

    def is_finished(self, id: str) -> bool:
        return id in self.known and self.known[id].finished

    def end_of(self, alert: TrackedAlert) -> int | None:
        """When an alert's run ended, or was last heard of (0: it was deleted); None while it lasts, or without one."""
        id = alert.labels.get(RUN_LABEL, "")
        if not id or (alert.has_own_run and not self.is_finished(id)):
            return None
        return self.known[id].ended_ms if id in self.known else 0


NO_RUNS = Runs()


def explainer(
    explained: Explain, findings_now: Callable[[], FindingsSnapshot | None]
) -> Callable[[TrackedAlert], Mapping[str, str]]:
    """A function for `Machine.explain`; its answer is empty where no finding fits."""

    def explain(alert: TrackedAlert) -> Mapping[str, str]:
        snapshot = findings_now()
        if snapshot is None or not snapshot.findings:
            return {}
        found = finding_of(alert.labels, alert.active_ms, snapshot, explained)
        return {} if found is None else annotations_of(found, snapshot)

    return explain
