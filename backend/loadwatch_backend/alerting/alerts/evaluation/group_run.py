"""One group of rules as it is evaluated: health, and when the next evaluation is due.

Times without a unit in the name are seconds of the monotonic clock.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from loadwatch_backend.alerting.alerts.schemas import RuleHealth
from loadwatch_backend.alerting.rules.model import Rule, RuleGroup, RuleKind
from loadwatch_backend.alerting.rules.presence import metrics_of

LEAST_GAP = 0.05
SLEEP_SECONDS = 600.0
"""Between two looks at a rule of whose metrics none was ever seen: what they find is known."""
GAP_PER_DURATION = 4.0
"""Arrivals never take more than a fifth of a core for one group, however often samples come."""


@dataclass(slots=True)
class RuleStatus:
    """How a rule did when it was last evaluated."""

    health: RuleHealth = RuleHealth.UNKNOWN
    error: str = ""
    evaluated_ms: int | None = None
    seconds: float | None = None
    started: float = float("-inf")


@dataclass(slots=True)
class GroupRun:
    """A group. While it is busy, only the worker that evaluates it changes it."""

    group: RuleGroup
    next_tick: float
    status: dict[str, RuleStatus] = field(default_factory=dict[str, RuleStatus])
    read_later: Mapping[str, bool] = field(default_factory=dict[str, bool])
    """By rule id: whether a later rule of the group reads what the rule writes."""
    woken: set[str] = field(default_factory=set[str])
    earliest: float = float("-inf")
    busy: bool = False
    missed: int = 0
    evaluated_ms: int | None = None
    seconds: float | None = None

    @classmethod
    def begin(cls, group: RuleGroup, now: float, former: "GroupRun | None" = None) -> "GroupRun":
        """A group that is evaluated at once; what a former one of the same name knew of its rules stays."""
        run = cls(group=group, next_tick=now, read_later=_read_later(group.rules))
        # Their states may just have been read again: what was evaluated a moment ago may not have been written.
        run.woken = {rule.id for rule in group.rules}
        for rule in group.rules:
            run.status[rule.id] = former.status.get(rule.id, RuleStatus()) if former else RuleStatus()
        if former:
            run.missed, run.evaluated_ms, run.seconds = former.missed, former.evaluated_ms, former.seconds
        return run

    @property
    def interval(self) -> float:
        """The longest wait between two evaluations, but for rules that were woken in between."""
        return self.group.interval_ms / 1_000

    def next_due(self) -> float:
        """When there is something to do."""
        return min(self.next_tick, self.earliest) if self.woken else self.next_tick

    def take_due(self, now: float, asleep: Collection[str] = ()) -> Sequence[Rule]:
        """The rules to evaluate now, in order; marks the group as busy if there are any.

        Rules whose ids are `asleep` have nothing to read, and are looked at every `SLEEP_SECONDS` only.
        """
        if self.busy or now < self.next_due():
            return ()
        ticks = now >= self.next_tick
        if ticks:
            late = int((now - self.next_tick) / self.interval)
            self.missed += late
            self.next_tick += (late + 1) * self.interval
        # One that was woken less than half an interval ago has had its turn.
        old = now - self.interval / 2
        slept = now - max(SLEEP_SECONDS, self.interval / 2)
        due = [
            rule
            for rule in self.group.rules
            if rule.id in self.woken
            or (ticks and self.status[rule.id].started <= (slept if rule.id in asleep else old))
        ]
        self.woken = set()
        self.busy = bool(due)
        return due

    def finish(self, started: float, now: float, at_ms: int) -> None:
        """An evaluation is over."""
        self.busy = False
        self.seconds = now - started
        self.evaluated_ms = at_ms
        self.earliest = now + max(LEAST_GAP, GAP_PER_DURATION * self.seconds)


def _read_later(rules: Sequence[Rule]) -> dict[str, bool]:
    reads = [metrics_of(rule.parsed) for rule in rules]
    return {
        rule.id: rule.kind is RuleKind.RECORDING
        and any(read is None or rule.name in read for read in reads[place + 1 :])
        for place, rule in enumerate(rules)
    }
