"""Rules, readings and steps for tests of the state machine."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from loadwatch_backend.alerting.alerts.evaluation.explain import (
    NO_RUNS,
    RuleStates,
    Runs,
    Step,
    TrackedAlert,
    Transition,
    source_key,
)
from loadwatch_backend.alerting.alerts.evaluation.machine import Machine, MachineSettings, unexplained
from loadwatch_backend.alerting.rules.model import ActiveSeries, NoDataPolicy, Rule, RuleKind, RuleResult
from loadwatch_backend.runs.registry.under_way import RunFacts
from loadwatch_backend.series.promql.parsing.parse import parse_expression
from loadwatch_backend.series.store.port import Labels

NOW_MS = 1_800_000_000_000


def make_rule(
    *,
    name: str = "TooMany",
    for_s: float = 0,
    keep_s: float = 0,
    no_data: NoDataPolicy = NoDataPolicy.KEEP,
    labels: Mapping[str, str] | None = None,
) -> Rule:
    return Rule(
        id=f"rule-{name}",
        kind=RuleKind.ALERTING,
        name=name,
        expression="x > 5",
        parsed=parse_expression("x > 5"),
        line=1,
        labels=labels or {},
        for_ms=int(for_s * 1_000),
        keep_firing_for_ms=int(keep_s * 1_000),
        no_data=no_data,
    )


def read(true: Iterable[str] = (), false: Iterable[str] = (), *, knows_absence: bool = True) -> RuleResult:
    """Series `i=<name>`: those for which the condition holds, and those that have data and for which it does not."""
    sources: list[Labels] = [{"i": name} for name in true]
    return RuleResult(
        active=[
            ActiveSeries(
                source=source, labels={"alertname": "TooMany", **source}, annotations={"summary": "x"}, value=6.0
            )
            for source in sources
        ],
        present=frozenset(source_key({"i": name}) for name in (*true, *false)) if knows_absence else None,
    )


def during(id: str, title: str = "") -> Runs:
    """A run goes on."""
    return Runs(known={id: RunFacts(title=title or id, started_ms=NOW_MS, ended_ms=None, finished=False)})


def after(ended_s: float, *busy: str, finished: bool = True) -> Runs:
    """The run r1 has ended, at a second."""
    ended_ms = NOW_MS + int(ended_s * 1_000)
    ended = RunFacts(title="r1", started_ms=NOW_MS, ended_ms=ended_ms, finished=finished)
    return Runs(known={"r1": ended}, busy=frozenset(busy))


@dataclass
class Player:
    """Plays readings through the machine, second by second from NOW_MS."""

    rule: Rule
    settings: MachineSettings = field(default_factory=MachineSettings)
    explain: Callable[[TrackedAlert], Mapping[str, str]] = unexplained
    states: RuleStates = field(default_factory=RuleStates)
    second: float = 0
    ids: str = "e"
    """What the ids of its alerts begin with."""
    said: list[Transition] = field(default_factory=list[Transition])

    def __post_init__(self) -> None:
        numbers = count(1)
        self.machine = Machine(
            settings=self.settings,
            new_id=lambda: f"{self.ids}{next(numbers)}",
            explain=lambda alert: self.explain(alert),
        )

    def at(self, second: float, result: RuleResult, runs: Runs = NO_RUNS, *, stopped: bool = False) -> Step:
        """One evaluation; `stopped`: nobody sends the target any more."""
        self.second = second
        at_ms = NOW_MS + int(second * 1_000)
        step = self.machine.step(self.rule, self.states, result, at_ms, runs, lambda _alert: stopped)
        self.states = step.states
        self.said += step.transitions
        return step

    def story(self) -> list[str]:
        """All that changed, as `second before>after reason`."""
        return [
            f"{(one.at_ms - NOW_MS) / 1_000:g} {one.before or 'inactive'}>{one.after} {one.reason}".strip()
            for one in self.said
        ]


def play(
    rule: Rule, readings: Sequence[tuple[float, RuleResult]], settings: MachineSettings | None = None
) -> list[str]:
    """The story of some readings."""
    player = Player(rule, settings or MachineSettings())
    for second, result in readings:
        player.at(second, result)
    return player.story()
