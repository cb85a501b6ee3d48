"""What alerts need of others; `app.py` puts the real ones in."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from loadwatch_backend.alerting.notify.contract import Quiet
from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.alerting.notify.schemas import DeliveryOut
from loadwatch_backend.alerting.rules.contract import Recorded, RuleResult
from loadwatch_backend.alerting.rules.model import Rule, RuleSet
from loadwatch_backend.core.database.relational import Session
from loadwatch_backend.runs.registry.under_way import RunFacts

RunSource = Callable[[Collection[str]], Mapping[str, RunFacts]]
"""The runs that go on, and those of some ids that are known."""


SentSource = Callable[[], Mapping[tuple[str, str], int]]
"""When each target (job, instance) was last sent; 0 of one that somebody took away."""


class RuleRound(Protocol):
    """The rules of one instant; `rules.evaluate.Round`."""

    def prepare(self, rules: Iterable[Rule]) -> None:
        """Read what they need in one go."""
        ...

    def alerting(self, rule: Rule) -> RuleResult:
        """For which series the condition holds."""
        ...

    def recording(self, rule: Rule) -> Recorded:
        """The series that the rule makes."""
        ...


Rounds = Callable[[int], RuleRound]
"""Opens the round of an instant."""


class RuleSource(Protocol):
    """`rules.files.RuleFiles`."""

    def current(self) -> RuleSet:
        """The rules in force."""
        ...

    def reload(self) -> RuleSet:
        """Read again what has changed."""
        ...

    def watch(self, listener: Callable[[RuleSet], None]) -> None:
        """Call back when rules have changed."""
        ...


class Dispatch(Protocol):
    """`notify.groups.dispatch.Dispatcher`."""

    def take(self, session: Session, alerts: Sequence[NotifiedAlert], now_ms: int) -> None:
        """Write what follows of changed alerts, within the caller's transaction."""
        ...

    def annotate(self, session: Session, annotations: Mapping[str, Mapping[str, str]]) -> None:
        """More is known of alerts that fire, by key; within the caller's transaction."""
        ...

    def quiet(self, alerts: Sequence[NotifiedAlert], now_ms: int) -> Mapping[str, Quiet]:
        """Why alerts are not sent at present, by key."""
        ...

    def notified(self, keys: Sequence[str], since_ms: int, now_ms: int) -> Sequence[DeliveryOut]:
        """Who has been sent messages of alerts, one of each integration."""
        ...


class Lead(Protocol):
    """`store.leadership.Leadership`."""

    @property
    def held(self) -> bool:
        """Whether this server leads."""
        ...

    def check(self, session: Session) -> None:
        """Fence a transaction; raises LeadershipLostError."""
        ...
