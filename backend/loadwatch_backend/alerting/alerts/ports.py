"""What alerts need of others; `app.py` puts the real ones in."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.alerting.notify.schemas import DeliveryOut, Quiet
from loadwatch_backend.alerting.rules.evaluate import Round
from loadwatch_backend.core.database.relational import Session
from loadwatch_backend.runs.registry.under_way import RunFacts

RunSource = Callable[[Collection[str]], Mapping[str, RunFacts]]
"""The runs that go on, and those of some ids that are known."""


SentSource = Callable[[], Mapping[tuple[str, str], int]]
"""When each target (job, instance) was last sent; 0 of one that somebody took away."""


Rounds = Callable[[int], Round]


class Dispatch(Protocol):
    """Implemented by `notify.groups.dispatch.Dispatcher`."""

    def take(self, session: Session, alerts: Sequence[NotifiedAlert], now_ms: int) -> None:
        """Write what follows of changed alerts, within the caller's transaction."""
        ...

    def annotate(self, session: Session, annotations: Mapping[str, Mapping[str, str]]) -> None:
        """More is known of alerts that fire, by key; within the caller's transaction."""
        ...

    def quiet(self, alerts: Sequence[NotifiedAlert], now_ms: int) -> Mapping[str, Quiet]: ...

    def notified(self, keys: Sequence[str], since_ms: int, now_ms: int) -> Sequence[DeliveryOut]: ...


class Lead(Protocol):
    """Implemented by `store.leadership.Leadership`."""

    @property
    def held(self) -> bool: ...

    def check(self, session: Session) -> None:
        """Fence a transaction; raises LeadershipLostError."""
        ...
