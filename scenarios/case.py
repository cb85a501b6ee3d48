"""What a case is: a system, its load, what happens to it, and what should be said of it. All of it is data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from examples.rig.load import Load
from scenarios.actions import Action


class Purpose(StrEnum):
    """What a case may be used for; nobody looks at a case to judge by while a detector is written."""

    TUNE = "tune"
    JUDGE = "judge"


class Kind(StrEnum):
    """How many limits are met, and whether anything is wrong at all."""

    SINGLE = "single"
    PAIR = "pair"
    HEALTHY = "healthy"
    NOISY = "noisy"
    """Healthy, on a host that other processes keep busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """An instance of the measuring server: its flags, and variables of its environment such as GOMAXPROCS."""

    flags: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    loaded: bool = True
    """Whether the load goes to it; an instance may also stand there and hold its connections."""
    probe: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A run of its own that ends before the case begins: the first instance has other flags meanwhile."""

    app: App
    load: Load
    seconds: float = 15
    pause: float = 10
    """Seconds from its end to the case's load, beside those in which the instance starts anew."""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case. Times are seconds from the beginning of the load."""

    name: str
    title: str
    purpose: Purpose
    kind: Kind = Kind.SINGLE
    expected: tuple[str, ...]
    """Ids of findings in the order in which harm began, causes first. Empty: nothing is wrong. `cannot-tell`: something
    is wrong, and nothing that is watched shows what.

    `a|b` is for a cause and its consequence that begin at the same instant: either is right in that place.
    """
    allowed: frozenset[str] = frozenset()
    """Ids that are right to say as well, anywhere behind the first."""
    why: str
    """Why this is the truth: what was set, and what that does to the system."""
    apps: tuple[App, ...]
    load: Load
    load_environment: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = 25
    max_connections: int = 100
    database_options: tuple[str, ...] = ()
    rows_before: int = 0
    """Rows in the table before the load begins."""
    sysctls: Mapping[str, str] = field(default_factory=dict[str, str])
    """Set in the case's own network namespace, such as `net.core.somaxconn`."""
    actions: tuple[Action, ...] = ()
    settle_seconds: float = 4
    after_seconds: float = 5
    """How long the system is watched after the load."""
    thresholds: tuple[str, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    earlier: Earlier | None = None
    watched: frozenset[str] = frozenset({"application", "database"})
    """What has collectors, beside the host."""

    @property
    def healthy(self) -> bool:
        """Whether nothing is to be accused."""
        return self.kind in (Kind.HEALTHY, Kind.NOISY)
