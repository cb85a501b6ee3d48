"""What a ladder of timeouts is made of. Seconds throughout; infinite stands for "no limit"."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Layer(StrEnum):
    """What a request passes, in that order."""

    CLIENT = "client"
    LOAD_BALANCER = "load_balancer"
    APP = "app"
    POOL = "pool"
    DATABASE = "database"


class Kind(StrEnum):
    """What a timeout limits."""

    REQUEST = "request"
    IDLE = "idle"
    READ_HEADER = "read_header"
    READ = "read"
    HANDLER = "handler"
    WRITE = "write"
    MAX_IDLE_TIME = "max_idle_time"
    MAX_LIFETIME = "max_lifetime"
    WAIT = "wait"
    LOCK_WAIT = "lock_wait"
    STATEMENT = "statement"


KINDS: Mapping[Layer, tuple[Kind, ...]] = {
    Layer.CLIENT: (Kind.REQUEST, Kind.IDLE),
    Layer.LOAD_BALANCER: (Kind.IDLE,),
    Layer.APP: (Kind.READ_HEADER, Kind.READ, Kind.HANDLER, Kind.WRITE, Kind.IDLE),
    Layer.POOL: (Kind.MAX_IDLE_TIME, Kind.MAX_LIFETIME),
    Layer.DATABASE: (Kind.WAIT, Kind.LOCK_WAIT, Kind.STATEMENT),
}
"""The timeouts of each layer, in the order of the page."""


class Origin(StrEnum):
    """Where a value is known from."""

    CONFIGURATION = "configuration"
    RUNTIME = "runtime"
    DISCOVERY = "discovery"
    PROBE = "probe"


@dataclass(frozen=True, slots=True)
class TimeoutKey:
    """One timeout of one layer."""

    layer: Layer
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutReading:
    """One value as one source says it.

    Attributes:
        place: which timeout.
        seconds: the value; where `at_least`, the timeout is longer than this, by an unknown amount.
        at_least: whether a probe waited this long in vain.
        origin: where it is known from.
        field: what was read: a key of loadwatch.yml, or a metric.
        name: what it belongs to: the instance, the load balancer or the pool; may be empty.
        last_ms: when it was last said.
    """

    place: TimeoutKey
    seconds: float
    at_least: bool = False
    origin: Origin
    field: str
    name: str = ""
    last_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One source of a rung."""

    origin: Origin
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """Equal values of one timeout, as one line of the page.

    Attributes:
        id: stable while the values stay, such as `app.idle.75`.
        in_force: False where a measurement at the same place says otherwise; such a rung counts for no rule.
        names: what the value belongs to, sorted.
    """

    id: str
    place: TimeoutKey
    seconds: float
    at_least: bool
    in_force: bool
    said: tuple[Said, ...]
    names: tuple[str, ...]
    last_ms: int


class OrderVerdict(StrEnum):
    """What came of a check."""

    WRONG = "wrong"
    UNKNOWN = "unknown"
    RIGHT = "right"


class OrderSeverity(StrEnum):
    """What a wrong order costs: failed requests, or work and clarity."""

    ERROR = "error"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rule looked at.

    Attributes:
        rule: the rule's id; its words stand in `texts.py`.
        shorter, longer: the rungs that were compared; `shorter` should be the shorter one. One may be missing.
        missing: timeouts that have to be known before the rule can be looked at.
    """

    rule: str
    severity: OrderSeverity
    verdict: OrderVerdict
    shorter: Rung | None = None
    longer: Rung | None = None
    missing: tuple[TimeoutKey, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """All timeouts of one path from client to database.

    Attributes:
        job: the target that the `timeouts` block belongs to; empty where only discovered values are known.
        direct: clients reach the application without a load balancer.
    """

    job: str
    direct: bool
    rungs: tuple[Rung, ...]
    checks: tuple[Check, ...]
