"""From series to readings. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from loadwatch_formats.metrics.timeouts import GIVEN, LONGER, PATH


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


Labels = Mapping[str, str]
BALANCER_IDLE = "aws_applicationelb_idle_timeout_seconds"
NO_BALANCER = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable of the database that is a timeout: `factor` makes seconds of it."""

    kind: Kind
    factor: float = 1.0
    zero_is_none: bool = False


VARIABLES: Mapping[str, Variable] = {
    "mysql_global_variables_wait_timeout": Variable(kind=Kind.WAIT),
    "mysql_global_variables_innodb_lock_wait_timeout": Variable(kind=Kind.LOCK_WAIT),
    # MySQL has milliseconds here, MariaDB seconds under another name.
    "mysql_global_variables_max_execution_time": Variable(kind=Kind.STATEMENT, factor=0.001, zero_is_none=True),
    "mysql_global_variables_max_statement_time": Variable(kind=Kind.STATEMENT, zero_is_none=True),
}
METRICS = (GIVEN, LONGER, PATH, BALANCER_IDLE, *VARIABLES)
"""All metrics that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest:
    """The newest sample of a series that has not ended."""

    labels: Labels
    value: float
    time_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """All readings of one path. `direct`: there is no load balancer on it."""

    job: str
    direct: bool
    readings: tuple[TimeoutReading, ...]


def find_paths(series: Sequence[Latest]) -> list[Path]:
    """One path for each job with a `timeouts` block; one without a job where only discovered values are there."""
    own = [one for one in series if one.labels["__name__"] in (GIVEN, LONGER, PATH)]
    jobs = sorted({one.labels.get("job", "") for one in own})
    if not jobs:
        readings = (*_balancer_readings(series, ["*"]), *_database_readings(series, ["*"]))
        return [Path(job="", direct=False, readings=readings)] if readings else []
    return [_path(job, [one for one in own if one.labels.get("job", "") == job], series) for job in jobs]


def _path(job: str, own: Sequence[Latest], series: Sequence[Latest]) -> Path:
    chosen = [one.labels for one in own if one.labels["__name__"] == PATH]
    balancers = sorted({labels["load_balancer"] for labels in chosen if "load_balancer" in labels})
    databases = sorted({labels["database"] for labels in chosen if "database" in labels})
    direct = balancers == [NO_BALANCER]
    readings = [
        *_own_readings(own),
        *([] if direct else _balancer_readings(series, balancers or ["*"])),
        *_database_readings(series, databases or ["*"]),
    ]
    return Path(job=job, direct=direct, readings=tuple(readings))


def _own_readings(own: Iterable[Latest]) -> list[TimeoutReading]:
    readings: list[TimeoutReading] = []
    for one in own:
        place = _place(one.labels)
        if one.labels["__name__"] == PATH or place is None or math.isnan(one.value):
            continue
        source = one.labels.get("source", "")
        origin = Origin(source) if source in set(Origin) else Origin.CONFIGURATION
        metric = one.labels["__name__"]
        readings.append(
            TimeoutReading(
                place=place,
                seconds=one.value,
                at_least=metric == LONGER,
                origin=origin,
                field=metric if origin is Origin.PROBE else f"timeouts.{place.layer}.{place.kind}",
                name=one.labels.get("name") or one.labels.get("instance", ""),
                last_ms=one.time_ms,
            )
        )
    return readings


def _place(labels: Labels) -> TimeoutKey | None:
    """None for a layer or kind that a newer agent may know."""
    layer, kind = labels.get("layer", ""), labels.get("kind", "")
    if layer not in set(Layer) or kind not in set(Kind) or Kind(kind) not in KINDS[Layer(layer)]:
        return None
    return TimeoutKey(Layer(layer), Kind(kind))


def balancer_name(labels: Labels) -> str:
    """`prod-api` from `app/prod-api/50dc6c495c0c9188`, the dimension, or from the ARN that ends in it."""
    text = labels.get("dimension_LoadBalancer") or labels.get("name", "").partition(":loadbalancer/")[2]
    parts = text.split("/")
    return parts[1] if len(parts) == 3 else text or labels.get("name", "")


def _balancer_readings(series: Iterable[Latest], patterns: Sequence[str]) -> list[TimeoutReading]:
    place = TimeoutKey(Layer.LOAD_BALANCER, Kind.IDLE)
    readings: list[TimeoutReading] = []
    for one in series:
        name = balancer_name(one.labels) if one.labels["__name__"] == BALANCER_IDLE else ""
        if name and _matches(name, patterns) and one.value > 0:
            readings.append(_discovered(place, one.value, name, one))
    return readings


def _database_readings(series: Iterable[Latest], patterns: Sequence[str]) -> list[TimeoutReading]:
    readings: list[TimeoutReading] = []
    for one in series:
        variable = VARIABLES.get(one.labels["__name__"])
        name = one.labels.get("instance", "")
        if variable is None or not _matches(name, patterns) or math.isnan(one.value):
            continue
        seconds = one.value * variable.factor
        if seconds == 0 and variable.zero_is_none:
            seconds = math.inf
        readings.append(_discovered(TimeoutKey(Layer.DATABASE, variable.kind), seconds, name, one))
    return readings


def _discovered(place: TimeoutKey, seconds: float, name: str, one: Latest) -> TimeoutReading:
    metric = one.labels["__name__"]
    return TimeoutReading(
        place=place, seconds=seconds, origin=Origin.DISCOVERY, field=metric, name=name, last_ms=one.time_ms
    )


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
