"""The states of alerts: inactive, pending, firing, resolved. Pure; `now_ms` is an argument.

Source of `for` and `keep_firing_for`: rules/alerting.go of Prometheus 3 (`AlertingRule.Eval`). With the policy `ok` and
without damping of flapping the states are Prometheus'. Ours on top:

- What has no data has not recovered: see `NoDataPolicy`. Time without data does not count for `for`. Once nobody sends
  its target any more (`stopped`), an alert without data ends, which is sent as such and never as a recovery.
- An alert that began or ended to fire more than `flap_changes` times within `flap_window_ms` is kept firing until its
  condition has stayed the same for `flap_hold_ms`.
- A rule that cannot be evaluated keeps its states: the caller does not call `step`.
- What a run's load caused ends with the run. An alert about the load itself (its series bear the run) is over
  when the run is. Of others that bear it `keep_firing_for` and the damping hold no longer than something of that run
  holds still; so a cause outlives what follows from it. One whose condition holds on by what was measured after the run
  bears its label no longer. Without data nothing has recovered, whatever has ended.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from loadwatch_backend.alerting.alerts.evaluation.explain import (
    NO_DATA_LABEL,
    NO_RUNS,
    RUN_LABEL,
    RuleStates,
    Runs,
    Step,
    TrackedAlert,
    Transition,
    source_key,
)
from loadwatch_backend.alerting.alerts.schemas import AlertState, ResolvedReason
from loadwatch_backend.alerting.rules.model import ActiveSeries, NoDataPolicy, Rule, RuleResult, SourceKey
from loadwatch_backend.series.promql.levels import behind_ms
from loadwatch_backend.series.store.port import Labels

ALERT_NAME = "alertname"
DATA_GONE = "no-data"
"""Reason of the change at which an alert loses its data."""
DATA_BACK = "data-back"
FLAPPING = "flapping"
"""Reason of the change at which an alert is kept firing because it flaps."""
STEADY = "steady"
OUTLIVED_RUN = "outlived-run"
"""Reason of the change at which an alert loses the label of a run."""
SETTLE_MS = 5_000
"""How long after a run's end its last requests and samples count for what is measured then."""
MOST_BEHIND_MS = 60_000
"""Expressions that read further back count as if they read this far: better a page too many than none."""

Stopped = Callable[[TrackedAlert], bool]
"""Whether nobody sends the target of an alert without data any more."""

_SWINGS_KEPT = 100
_RUN_ENDED = str(ResolvedReason.RUN_ENDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSettings:
    """When an alert flaps; `flap_changes` 0 is never."""

    flap_changes: int = 6
    flap_window_ms: int = 600_000
    flap_hold_ms: int = 120_000


PROMETHEUS = MachineSettings(flap_changes=0)
"""Without damping, as Prometheus."""


def new_episode_id() -> str:
    return secrets.token_hex(12)


def plain_vanished(rule: Rule, source: Labels, at_ms: int) -> ActiveSeries:
    """The alert that says that a series has vanished, without templates."""
    del at_ms
    labels = {**source, **{name: text for name, text in rule.labels.items() if "{{" not in text}}
    annotations = {name: text for name, text in rule.annotations.items() if "{{" not in text}
    return vanished_series(rule, source, {**labels, ALERT_NAME: rule.name}, annotations)


def vanished_series(rule: Rule, source: Labels, labels: Labels, annotations: Labels) -> ActiveSeries:
    what = ", ".join(f"{name}={value}" for name, value in sorted(source.items())) or "all of it"
    return ActiveSeries(
        source={**source, NO_DATA_LABEL: "true"},
        labels={**labels, NO_DATA_LABEL: "true"},
        annotations={**annotations, "summary": f"{rule.name}: no data any more of {what}"},
        value=float("nan"),
    )


def unexplained(alert: TrackedAlert) -> Mapping[str, str]:
    """The default of `Machine.explain`: no finding is known."""
    del alert
    return {}


def unmerged(rule: Rule, before: RuleStates, result: RuleResult, at_ms: int) -> RuleResult:
    """The default of `Machine.merge`: every series is kept."""
    del rule, before, at_ms
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The rules of the game, and where ids and texts come from.

    `explain` gives an alert that fires its finding, as annotations; nothing where none is known. `merge` leaves one
    series of those that several sources have of one thing.
    """

    settings: MachineSettings = MachineSettings()
    new_id: Callable[[], str] = new_episode_id
    vanished: Callable[[Rule, Labels, int], ActiveSeries] = plain_vanished
    explain: Callable[[TrackedAlert], Mapping[str, str]] = unexplained
    merge: Callable[[Rule, RuleStates, RuleResult, int], RuleResult] = unmerged

    def step(
        self,
        rule: Rule,
        before: RuleStates,
        result: RuleResult,
        now_ms: int,
        runs: Runs = NO_RUNS,
        stopped: Stopped = lambda _alert: False,
    ) -> Step:
        """What a result at `now_ms` makes of a rule's alerts; those that begin get the label of the current run."""
        result = self.merge(rule, before, result, now_ms)
        return _Stepping(self, rule, before, result, now_ms, runs, stopped).step()


def resolve_all(before: RuleStates, now_ms: int, reason: ResolvedReason) -> Step:
    ended = [_resolved(alert, now_ms, reason) for alert in before.alerts.values()]
    transitions = [
        _transition(old, new, now_ms, reason) for old, new in zip(before.alerts.values(), ended, strict=True)
    ]
    return Step(states=RuleStates(), transitions=transitions, changed=ended)


def dismiss(before: RuleStates, alert_id: str, now_ms: int) -> Step | None:
    """End one alert whose data are gone; None when there is no such alert, or its data are there."""
    for key, alert in before.alerts.items():
        says_gone = (NO_DATA_LABEL, "true") in key
        if alert.id == alert_id and (alert.no_data_since_ms is not None or says_gone):
            ended = _resolved(alert, now_ms, ResolvedReason.DISMISSED)
            watched = tuple(pair for pair in key if pair[0] != NO_DATA_LABEL) if says_gone else key
            states = replace(
                before,
                alerts={kept: one for kept, one in before.alerts.items() if kept != key},
                seen=before.seen - {watched},
            )
            transition = _transition(alert, ended, now_ms, ResolvedReason.DISMISSED)
            return Step(states=states, transitions=[transition], changed=[ended])
    return None


def shift_states(states: RuleStates, jump_ms: int) -> RuleStates:
    """The states after the wall clock was set by `jump_ms`: all durations stay what they were."""
    return replace(
        states,
        alerts={key: shift_alert(alert, jump_ms) for key, alert in states.alerts.items()},
        swings={key: tuple(at + jump_ms for at in times) for key, times in states.swings.items()},
    )


def shift_alert(alert: TrackedAlert, jump_ms: int) -> TrackedAlert:
    return replace(
        shift_timers(alert, jump_ms),
        active_ms=alert.active_ms + jump_ms,
        fired_ms=_plus(alert.fired_ms, jump_ms),
        no_data_since_ms=_plus(alert.no_data_since_ms, jump_ms),
    )


def shift_timers(alert: TrackedAlert, pause_ms: int) -> TrackedAlert:
    """One alert after a time in which nothing was evaluated: that time counts for no duration."""
    return replace(
        alert,
        held_from_ms=alert.held_from_ms + pause_ms,
        false_since_ms=_plus(alert.false_since_ms, pause_ms),
        swung_ms=_plus(alert.swung_ms, pause_ms),
    )


def holding_until_ms(alert: TrackedAlert, keep_firing_for_ms: int, settings: MachineSettings) -> int | None:
    """When an alert ends whose condition no longer holds, if nothing changes; None when it holds."""
    if alert.false_since_ms is None:
        return None
    ends = alert.false_since_ms + keep_firing_for_ms
    return max(ends, alert.swung_ms + settings.flap_hold_ms) if alert.swung_ms is not None else ends


@dataclass(slots=True)
class _Stepping:
    machine: Machine
    rule: Rule
    before: RuleStates
    result: RuleResult
    now_ms: int
    runs: Runs
    stopped: Stopped
    busy: frozenset[str] = frozenset()

    def step(self) -> Step:
        alerts: dict[SourceKey, TrackedAlert] = {}
        transitions: list[Transition] = []
        changed: list[TrackedAlert] = []
        swings = dict(self.before.swings)
        active = {source_key(one.source): one for one in self.result.active}
        seen = self._add_vanished(active)
        explained: list[TrackedAlert] = []
        unbound: list[TrackedAlert] = []
        if self.runs is not NO_RUNS:
            active = {key: one for key, one in active.items() if not self._load_is_over(key)}
            holding = (old.labels.get(RUN_LABEL, "") for key, old in self.before.alerts.items() if key in active)
            self.busy = frozenset((*self.runs.busy, *holding))
        for key in _in_order(self.before.alerts, active):
            old = self.before.alerts.get(key)
            new, reason = self._next(key, old, active.get(key), swings)
            if new is None:
                continue
            if new.state is AlertState.FIRING and new.false_since_ms is None and not new.finding:
                new = self._explained(new)
                if new.finding:
                    explained.append(new)
            if new.state is not AlertState.RESOLVED:
                alerts[key] = new
            before = None if old is None else old.state
            if before is not new.state or reason:
                transitions.append(
                    Transition(alert=new, before=before, after=new.state, at_ms=self.now_ms, reason=reason)
                )
            if old is None or _differs(old, new):
                changed.append(new)
            if old is not None and old.labels is not new.labels:
                unbound.append(new)
            if before is not new.state and AlertState.FIRING in (before, new.state):
                self._swing(swings, key)
        states = RuleStates(alerts=alerts, swings=self._recent(swings), seen=seen)
        return Step(states=states, transitions=transitions, changed=changed, explained=explained, unbound=unbound)

    def _add_vanished(self, active: dict[SourceKey, ActiveSeries]) -> frozenset[SourceKey]:
        """Under the policy `alert`, sources that had data and have none become active series of their own."""
        if self.rule.no_data is not NoDataPolicy.ALERT or self.result.present is None:
            return frozenset()
        present = frozenset(self.result.present)
        seen = self.before.seen | present | active.keys()
        for key in sorted(seen - present - active.keys()):
            gone = self.machine.vanished(self.rule, dict(key), self.now_ms)
            old = self.before.alerts.get(source_key(gone.source))
            if old is not None and self.stopped(old):
                seen -= {key}
            else:
                active[source_key(gone.source)] = gone
        return seen

    def _next(
        self,
        key: SourceKey,
        old: TrackedAlert | None,
        active: ActiveSeries | None,
        swings: dict[SourceKey, tuple[int, ...]],
    ) -> tuple[TrackedAlert | None, str]:
        """The alert after this evaluation, and the reason if something changed besides the condition."""
        if active is not None:
            if old is None:
                return self._promoted(self._begun(active)), ""
            return self._holds(key, old, active, swings)
        assert old is not None
        if self._load_is_over(key):
            return _resolved(replace(old, no_data_since_ms=None), self.now_ms, ResolvedReason.RUN_ENDED), _RUN_ENDED
        gone = self._without_data(key)
        if gone and self.rule.no_data is not NoDataPolicy.OK:
            if self.stopped(old):
                return _resolved(old, self.now_ms, ResolvedReason.STOPPED_SENDING), ResolvedReason.STOPPED_SENDING
            if old.no_data_since_ms is not None:
                return old, ""
            return replace(old, no_data_since_ms=self.now_ms), DATA_GONE
        return self._false(key, old, swings, ResolvedReason.NO_DATA if gone else ResolvedReason.RECOVERED)

    def _load_is_over(self, key: SourceKey) -> bool:
        return any(name == RUN_LABEL and self.runs.is_finished(run) for name, run in key)

    def _ends_with_run(self, alert: TrackedAlert) -> bool:
        """Whether it began under a load that is over, and nothing that this load caused holds any more."""
        return self.runs.end_of(alert) is not None and alert.labels[RUN_LABEL] not in self.busy

    def _outlives_run(self, alert: TrackedAlert) -> bool:
        """Whether its condition holds by what was measured after the run whose label it was given."""
        ended_ms = None if alert.has_own_run or RUN_LABEL in self.rule.labels else self.runs.end_of(alert)
        if ended_ms is None:
            return False
        # Of `rate(x[15s]) or rate(x[1m])` the second is for who samples seldom.
        behind = min(behind_ms(self.rule.parsed, 0, either=min), MOST_BEHIND_MS)
        return self.now_ms - ended_ms >= behind + SETTLE_MS

    def _without_data(self, key: SourceKey) -> bool:
        present = self.result.present
        if self.rule.no_data is NoDataPolicy.ALERT:
            key = tuple(pair for pair in key if pair != (NO_DATA_LABEL, "true"))
        return present is not None and key not in present

    def _begun(self, active: ActiveSeries) -> TrackedAlert:
        run = active.labels.get(RUN_LABEL) or self.runs.current
        return TrackedAlert(
            id=self.machine.new_id(),
            source=active.source,
            labels={**active.labels, RUN_LABEL: run} if run else active.labels,
            annotations=active.annotations,
            value=active.value,
            state=AlertState.PENDING,
            active_ms=self.now_ms,
            held_from_ms=self.now_ms,
            run_name=self.runs.known[run].title if run in self.runs.known else "",
        )

    def _holds(
        self, key: SourceKey, old: TrackedAlert, active: ActiveSeries, swings: dict[SourceKey, tuple[int, ...]]
    ) -> tuple[TrackedAlert, str]:
        # Annotations are not compared: they are expanded when they are read, and mostly nobody reads them.
        new, reason = replace(old, value=active.value, annotations=active.annotations), ""
        if old.no_data_since_ms is not None:
            pause = max(self.now_ms - old.no_data_since_ms, 0)
            new, reason = replace(new, no_data_since_ms=None, held_from_ms=old.held_from_ms + pause), DATA_BACK
        if new.false_since_ms is not None:
            new = replace(new, false_since_ms=None)
            if new.flapping:
                new = replace(new, swung_ms=self.now_ms)
                self._swing(swings, key)
        if new.flapping and self._is_steady(new):
            new, reason = replace(new, flapping=False, swung_ms=None), STEADY
        if self._outlives_run(new):
            labels = {name: text for name, text in new.labels.items() if name != RUN_LABEL}
            new, reason = replace(new, labels=labels), OUTLIVED_RUN
        return self._promoted(new), reason

    def _explained(self, alert: TrackedAlert) -> TrackedAlert:
        finding = self.machine.explain(alert)
        return replace(alert, finding=finding) if finding else alert

    def _promoted(self, alert: TrackedAlert) -> TrackedAlert:
        if alert.state is AlertState.PENDING and self.now_ms - alert.held_from_ms >= self.rule.for_ms:
            return replace(alert, state=AlertState.FIRING, fired_ms=self.now_ms)
        return alert

    def _false(
        self, key: SourceKey, old: TrackedAlert, swings: dict[SourceKey, tuple[int, ...]], why: ResolvedReason
    ) -> tuple[TrackedAlert, str]:
        """The alert when its condition is known not to hold, and the reason of the change."""
        back = DATA_BACK if old.no_data_since_ms is not None else ""
        new = old if old.no_data_since_ms is None else replace(old, no_data_since_ms=None)
        if old.state is AlertState.PENDING:
            return _resolved(new, self.now_ms, why), why
        if new.false_since_ms is None:
            new = replace(new, false_since_ms=self.now_ms)
            if new.flapping:
                new = replace(new, swung_ms=self.now_ms)
                self._swing(swings, key)
        assert new.false_since_ms is not None
        if self._ends_with_run(new):
            return _resolved(new, self.now_ms, why), why
        if self.now_ms - new.false_since_ms < self.rule.keep_firing_for_ms:
            return new, back
        if not new.flapping and self._flaps(swings.get(key, ())):
            return replace(new, flapping=True, swung_ms=self.now_ms), FLAPPING
        if new.flapping and not self._is_steady(new):
            return new, back
        return _resolved(new, self.now_ms, why), why

    def _is_steady(self, alert: TrackedAlert) -> bool:
        return alert.swung_ms is None or self.now_ms - alert.swung_ms >= self.machine.settings.flap_hold_ms

    def _flaps(self, times: tuple[int, ...]) -> bool:
        settings = self.machine.settings
        recent = sum(at > self.now_ms - settings.flap_window_ms for at in times)
        return settings.flap_changes > 0 and recent + 1 > settings.flap_changes

    def _swing(self, swings: dict[SourceKey, tuple[int, ...]], key: SourceKey) -> None:
        swings[key] = (*swings.get(key, ())[-_SWINGS_KEPT:], self.now_ms)

    def _recent(self, swings: dict[SourceKey, tuple[int, ...]]) -> dict[SourceKey, tuple[int, ...]]:
        oldest = self.now_ms - self.machine.settings.flap_window_ms
        kept = {key: tuple(at for at in times if at > oldest) for key, times in swings.items()}
        return {key: times for key, times in kept.items() if times}


def _in_order(before: Iterable[SourceKey], now: Iterable[SourceKey]) -> list[SourceKey]:
    return list(dict.fromkeys([*before, *now]))


def _resolved(alert: TrackedAlert, now_ms: int, reason: ResolvedReason) -> TrackedAlert:
    return replace(
        alert,
        state=AlertState.RESOLVED,
        resolved_ms=now_ms,
        resolved_reason=reason,
        false_since_ms=None,
        flapping=False,
        swung_ms=None,
    )


def _transition(old: TrackedAlert, new: TrackedAlert, now_ms: int, reason: str) -> Transition:
    return Transition(alert=new, before=old.state, after=new.state, at_ms=now_ms, reason=reason)


def _differs(old: TrackedAlert, new: TrackedAlert) -> bool:
    return old is not new and _written(old) != _written(new)


def _written(alert: TrackedAlert) -> tuple[object, ...]:
    return (
        alert.state,
        alert.held_from_ms,
        alert.false_since_ms,
        alert.flapping,
        alert.swung_ms,
        alert.no_data_since_ms,
        alert.finding,
        alert.labels,
    )


def _plus(time_ms: int | None, shift_ms: int) -> int | None:
    return None if time_ms is None else time_ms + shift_ms
