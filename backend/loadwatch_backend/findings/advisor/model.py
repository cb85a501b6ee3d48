"""What the advice on pools is made of, and the advice. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from loadwatch_backend.core.texts.words import Words

AS_MANY = 1.05
"""Rates that differ by less are the same: they are read at different instants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What was asked of a pool while it was busiest.

    Attributes:
        at_ms: middle of that time.
        in_use: connections in use, mean.
        waiting: requests that waited for one at once, mean; seconds waited per second, which is Little's law.
        asked, served: requests per second that arrived at this instance, and that it did; None where nothing tells.
        load_asked, load_served: the same of the whole load: the rate that its generator was told, and good answers.
        short: requests waited while all connections were in use.
    """

    at_ms: int
    in_use: float
    waiting: float
    asked: float | None = None
    served: float | None = None
    load_asked: float | None = None
    load_served: float | None = None
    short: bool

    @property
    def connections(self) -> float:
        """How many connections it takes for nobody to wait, with statements as fast as they were.

        What arrives times how long each holds its connection: Little's law. A pool that was long enough is its own
        measure; otherwise in use × asked ÷ served, or, where that is unknown or no more, all who held or waited.
        """
        if not self.short:
            return self.in_use
        more = max(self.more_arrive, self.more_wanted)
        return self.in_use * more if more > 1 else self.in_use + self.waiting

    @property
    def more_arrive(self) -> float:
        """Requests that arrive for each that is done; 1 where they are as many, or nothing tells."""
        return _times(self.asked, self.served)

    @property
    def more_wanted(self) -> float:
        """The same by the load generator, which waits for answers before it asks for more."""
        return _times(self.load_asked, self.load_served)

    @property
    def hold_seconds(self) -> float | None:
        """How long one request holds its connection."""
        return self.in_use / self.served if self.served else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPool:
    """A pool of an application's instance: how it is set, and what it did.

    Attributes:
        max_open: 0 is unlimited; this and the other settings are None where the application does not say.
        most_open, most_used: most connections that were open, and in use, at one instant.
        waits, wait_seconds: waits that began, and time waited, over the window.
        closed_idle, closed_old: connections closed because enough were idle, and because of their age.
        demand: None where the pool was hardly used.
        unused_under_load: nothing in it moved while the application took requests.
    """

    job: str
    instance: str
    name: str
    max_open: float | None = None
    max_idle: float | None = None
    lifetime_seconds: float | None = None
    idle_seconds: float | None = None
    most_open: float = 0.0
    most_used: float = 0.0
    waits: float = 0.0
    wait_seconds: float = 0.0
    closed_idle: float = 0.0
    closed_old: float = 0.0
    demand: Demand | None = None
    unused_under_load: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredServer:
    """A database server.

    Attributes:
        connected: most connections, mean of ten seconds.
        others: those at the end of the window that belong to none of the pools; None where nothing tells.
        by_user: connections by user at the end of the window, the most first; empty where nobody counts them.
        wait_timeout_seconds: after which the server closes idle sessions.
        statements: per second, while the pools were busiest; None where unknown.
        lock_waits: sessions that waited for a row lock then, mean.
        cores_used: that the database itself used then, of `cores` of its host; None where its process is not seen.
    """

    job: str
    instance: str
    max_connections: float
    connected: float
    others: float | None
    by_user: Mapping[str, float] = field(default_factory=dict[str, float])
    wait_timeout_seconds: float | None = None
    statements: float | None = None
    lock_waits: float | None = None
    cores_used: float | None = None
    cores: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """All that the advice is made of."""

    from_ms: int
    to_ms: int
    seconds: float
    pools: Sequence[MeasuredPool]
    servers: Sequence[MeasuredServer]


class Weight(StrEnum):
    """What a note asks of whoever reads it."""

    WRONG = "wrong"
    """Change this."""
    UNKNOWN = "unknown"
    """This cannot be told."""
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something to know; `config` is what makes an unknown known, to be pasted."""

    id: str
    weight: Weight
    text: Words
    config: str = ""


def _times(asked: float | None, served: float | None) -> float:
    return asked / served if asked and served and asked > served * AS_MANY else 1.0


class SettingName(StrEnum):
    """The four settings of a pool, in the order in which Go takes them."""

    MAX_OPEN = "max_open"
    MAX_IDLE = "max_idle"
    LIFETIME = "lifetime"
    IDLE_TIME = "idle_time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """One setting: a number of connections, or seconds.

    Attributes:
        advised: None where it cannot be told.
        formula: how the value comes about, with its figures; why there is none, without it.
        source: where the rule comes from.
    """

    name: SettingName
    advised: float | None
    formula: Words
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAdvice:
    """The pools of one name of all instances of a job, which should be set alike.

    Attributes:
        instances: so many are reckoned with.
        wanted: connections that each pool would get if the database had room; None where it cannot be told.
        most_instances: as many instances fit beside all else; None without a limit or a size.
        code: lines of Go; empty where nothing is advised.
    """

    job: str
    name: str
    members: Sequence[MeasuredPool]
    instances: int
    wanted: int | None
    settings: Sequence[Advised]
    notes: Sequence[Note]
    code: str
    most_instances: int | None = None

    @property
    def max_open(self) -> int | None:
        """The size that each pool is advised."""
        advised = self.settings[0].advised
        return None if advised is None else round(advised)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """The advice for all pools of one database.

    Attributes:
        server: None where none is seen, or several and none was chosen.
        reserve: connections left for people and monitoring.
        room: what is left for the pools; None without a server.
        now: sum of all pools' limits as they are set; None where one is unlimited or unknown.
        wanted: sum of what they need; advised: sum of what they are advised, None where one cannot be told.
    """

    measured: Measurement
    server: MeasuredServer | None
    reserve: int
    room: int | None
    now: float | None
    wanted: int | None
    advised: int | None
    groups: Sequence[GroupAdvice]
    notes: Sequence[Note]
