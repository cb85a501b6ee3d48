"""From series to ladders: readings, those that say the same as one rung, and which has to be shorter than which. Pure.

Sources of the rules: AWS, "Edit attributes for your Application Load Balancer" (Connection idle timeout) and
"Troubleshoot your Application Load Balancers" (HTTP 460, 502 and 504); Go, package net/http, type Server;
go-sql-driver/mysql, README, "Important settings".
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import NamedTuple

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


class TimeoutKey(NamedTuple):
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


class Said(NamedTuple):
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
        rule: the rule's id; its words stand in `timeouts.yml`.
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


class Variable(NamedTuple):
    """A variable of the database that is a timeout: `factor` makes seconds of it."""

    kind: Kind
    factor: float = 1.0
    zero_is_none: bool = False


VARIABLES: Mapping[str, Variable] = {
    "mysql_global_variables_wait_timeout": Variable(Kind.WAIT),
    "mysql_global_variables_innodb_lock_wait_timeout": Variable(Kind.LOCK_WAIT),
    # MySQL has milliseconds here, MariaDB seconds under another name.
    "mysql_global_variables_max_execution_time": Variable(Kind.STATEMENT, factor=0.001, zero_is_none=True),
    "mysql_global_variables_max_statement_time": Variable(Kind.STATEMENT, zero_is_none=True),
}
METRICS = (GIVEN, LONGER, PATH, BALANCER_IDLE, *VARIABLES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest:
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


TOLERANCE_SECONDS = 1.0
TOLERANCE_RATIO = 0.05
"""A measurement this near to a written value confirms it: servers look at their timers now and then only."""

PLACES = tuple(TimeoutKey(layer, kind) for layer in Layer for kind in KINDS[layer])


def build_rungs(readings: Iterable[TimeoutReading]) -> tuple[Rung, ...]:
    """Rungs in the order of the path, the shorter first within one timeout; a measurement overrules what is written."""
    given = list(readings)
    return tuple(
        rung for place in PLACES for rung in _rungs_of(place, [reading for reading in given if reading.place == place])
    )


def confirms(probe: TimeoutReading, seconds: float) -> bool:
    if probe.at_least:
        return seconds > probe.seconds - TOLERANCE_SECONDS
    if math.isinf(seconds):
        return False
    return abs(probe.seconds - seconds) <= max(TOLERANCE_SECONDS, TOLERANCE_RATIO * seconds)


def _rungs_of(place: TimeoutKey, readings: Sequence[TimeoutReading]) -> list[Rung]:
    written: dict[float, list[TimeoutReading]] = defaultdict(list)
    for reading in readings:
        if reading.origin is not Origin.PROBE:
            written[reading.seconds].append(reading)
    alone: dict[tuple[float, bool], list[TimeoutReading]] = defaultdict(list)
    for probe in readings:
        if probe.origin is Origin.PROBE:
            agreeing = next((seconds for seconds in sorted(written) if confirms(probe, seconds)), None)
            if agreeing is None:
                # Measurements of ten instances differ by milliseconds; to three digits they are one value.
                alone[_round(probe.seconds), probe.at_least].append(probe)
            else:
                written[agreeing].append(probe)
    measured = {probe.name for probes in alone.values() for probe in probes}
    rungs = [
        *(_rung(place, seconds, group, overruled_by=measured) for seconds, group in written.items()),
        *(_rung(place, seconds, group, at_least=at_least) for (seconds, at_least), group in alone.items()),
    ]
    return sorted(rungs, key=lambda rung: (rung.seconds, rung.at_least))


def _rung(
    place: TimeoutKey,
    seconds: float,
    group: Sequence[TimeoutReading],
    *,
    at_least: bool = False,
    overruled_by: Set[str] = frozenset(),
) -> Rung:
    names = {reading.name for reading in group}
    # A probe of a balancer carries the name of the target that asked, not the balancer's.
    overruled = bool(overruled_by) and (names <= overruled_by or place.layer is Layer.LOAD_BALANCER)
    return Rung(
        id=f"{place.layer}.{place.kind}.{'over.' if at_least else ''}{seconds:g}",
        place=place,
        seconds=seconds,
        at_least=at_least,
        in_force=not overruled,
        said=tuple(sorted({Said(reading.origin, reading.field) for reading in group})),
        names=tuple(sorted(names - {""})),
        last_ms=max(reading.last_ms for reading in group),
    )


def _round(seconds: float) -> float:
    return float(f"{seconds:.3g}")


_CLIENT_REQUEST = TimeoutKey(Layer.CLIENT, Kind.REQUEST)
_CLIENT_IDLE = TimeoutKey(Layer.CLIENT, Kind.IDLE)
_BALANCER_IDLE = TimeoutKey(Layer.LOAD_BALANCER, Kind.IDLE)
_APP_IDLE = TimeoutKey(Layer.APP, Kind.IDLE)
_HANDLER = TimeoutKey(Layer.APP, Kind.HANDLER)
_WRITE = TimeoutKey(Layer.APP, Kind.WRITE)
_HEADER = TimeoutKey(Layer.APP, Kind.READ_HEADER)
_LIFETIME = TimeoutKey(Layer.POOL, Kind.MAX_LIFETIME)
_POOL_IDLE = TimeoutKey(Layer.POOL, Kind.MAX_IDLE_TIME)
_WAIT = TimeoutKey(Layer.DATABASE, Kind.WAIT)
_LOCK_WAIT = TimeoutKey(Layer.DATABASE, Kind.LOCK_WAIT)


@dataclass(frozen=True, slots=True)
class Rule:
    """`shorter` has to end before `longer`.

    Each side may name several timeouts; the one that ends first counts.

    Attributes:
        reference: address of its source.
        direct: whether the rule is for paths without a load balancer (True), with one (False), or for both (None).
        optional: timeouts that most systems do not have: while they are not known, they count as not there.
        quiet: the rule is of no interest while one side is not known.
    """

    id: str
    shorter: tuple[TimeoutKey, ...]
    longer: tuple[TimeoutKey, ...]
    reference: str
    severity: OrderSeverity = OrderSeverity.NOTICE
    direct: bool | None = None
    optional: tuple[TimeoutKey, ...] = ()
    quiet: bool = False


_AWS = "https://docs.aws.amazon.com/elasticloadbalancing/latest/application"
_AWS_IDLE = f"{_AWS}/edit-load-balancer-attributes.html#connection-idle-timeout"
_AWS_460, _AWS_504 = (f"{_AWS}/load-balancer-troubleshooting.html#http-{code}-issues" for code in (460, 504))
_GO = "https://pkg.go.dev/net/http"
_DRIVER = "https://github.com/go-sql-driver/mysql#important-settings"
_MYSQL = "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html#sysvar_innodb_lock_wait_timeout"
_ANSWER = (_HANDLER, _WRITE)
_ERROR = OrderSeverity.ERROR

RULES = (
    Rule("balancer_idle_before_app", (_BALANCER_IDLE,), (_APP_IDLE,), _AWS_IDLE, _ERROR, direct=False),
    Rule("pool_before_database", (_POOL_IDLE, _LIFETIME), (_WAIT,), _DRIVER, _ERROR),
    Rule("answer_before_balancer", _ANSWER, (_BALANCER_IDLE,), _AWS_504, direct=False, optional=(_HANDLER,)),
    Rule("balancer_before_client", (_BALANCER_IDLE,), (_CLIENT_REQUEST,), _AWS_460, direct=False),
    Rule(
        "answer_before_client", _ANSWER, (_CLIENT_REQUEST,), f"{_GO}#TimeoutHandler", direct=True, optional=(_HANDLER,)
    ),
    Rule("client_idle_before_balancer", (_CLIENT_IDLE,), (_BALANCER_IDLE,), _AWS_IDLE, direct=False),
    Rule("client_idle_before_app", (_CLIENT_IDLE,), (_APP_IDLE,), f"{_GO}#Transport", direct=True),
    Rule("handler_before_write", (_HANDLER,), (_WRITE,), f"{_GO}#TimeoutHandler", quiet=True),
    Rule("lock_wait_before_answer", (_LOCK_WAIT,), _ANSWER, _MYSQL, optional=(_HANDLER,), quiet=True),
)
"""The order that is asked for, the dearest first."""

REFERENCES = {rule.id: rule.reference for rule in RULES} | {
    # Rules that compare no two timeouts of a path.
    "measured_otherwise": "",
    "keep_alive_off": f"{_GO}#Server.SetKeepAlivesEnabled",
    "header_limit": f"{_GO}#Server",
}


def find_ladders(series: Sequence[Latest]) -> list[Ladder]:
    ladders: list[Ladder] = []
    for path in find_paths(series):
        rungs = build_rungs(path.readings)
        checks = check_ladder(rungs, direct=path.direct)
        ladders.append(Ladder(job=path.job, direct=path.direct, rungs=rungs, checks=checks))
    return ladders


def check_ladder(rungs: Sequence[Rung], *, direct: bool) -> tuple[Check, ...]:
    """Every rule that applies, looked at: what is wrong first, then what cannot be told, then what is right."""
    checks = [
        *_disagreements(rungs),
        *_keep_alive(rungs),
        *(found for rule in RULES if (found := _look(rule, rungs, direct)) is not None),
        *_header_limit(rungs),
    ]
    order = list(OrderVerdict)
    return tuple(sorted(checks, key=lambda check: (order.index(check.verdict), check.severity is OrderSeverity.NOTICE)))


def compare(shorter: Rung, longer: Rung) -> OrderVerdict:
    """Whether the first ends before the second. Equal ones race, which is wrong."""
    if shorter.at_least:
        return OrderVerdict.WRONG if shorter.seconds >= longer.seconds and not longer.at_least else OrderVerdict.UNKNOWN
    if shorter.seconds < longer.seconds or (longer.at_least and shorter.seconds == longer.seconds):
        return OrderVerdict.RIGHT
    return OrderVerdict.UNKNOWN if longer.at_least else OrderVerdict.WRONG


def _look(rule: Rule, rungs: Sequence[Rung], direct: bool) -> Check | None:
    # A server that keeps no connection, and says so, ends none under a request.
    is_moot = _APP_IDLE in rule.longer and any(rung.seconds == 0 for rung in _in_force(_APP_IDLE, rungs))
    if is_moot or rule.direct not in (None, direct):
        return None
    # With several values of one timeout, the worst is looked at.
    shorter = _side(rule.shorter, rungs, max)
    longer = _side(rule.longer, rungs, min)
    missing = tuple(
        place for place in (*rule.shorter, *rule.longer) if place not in rule.optional and not _in_force(place, rungs)
    )
    check = Check(rule=rule.id, severity=rule.severity, verdict=OrderVerdict.UNKNOWN, shorter=shorter, longer=longer)
    verdict = compare(shorter, longer) if shorter and longer else OrderVerdict.UNKNOWN
    # Of a side with several timeouts, one that is not known can only end sooner: that helps the shorter side.
    if missing and not (verdict is OrderVerdict.RIGHT and set(missing) <= set(rule.shorter)):
        return None if rule.quiet else replace(check, missing=missing)
    if verdict is OrderVerdict.UNKNOWN and rule.quiet:
        return None
    return replace(check, verdict=verdict)


def _side(places: Sequence[TimeoutKey], rungs: Sequence[Rung], worst: Callable[..., Rung]) -> Rung | None:
    values = [worst(found, key=_size) for place in places if (found := _in_force(place, rungs))]
    return min(values, key=_size, default=None)


def _size(rung: Rung) -> tuple[float, bool]:
    return rung.seconds, rung.at_least


def _in_force(place: TimeoutKey, rungs: Sequence[Rung]) -> list[Rung]:
    return [rung for rung in rungs if rung.place == place and rung.in_force]


def _keep_alive(rungs: Sequence[Rung]) -> list[Check]:
    return [
        Check(rule="keep_alive_off", severity=OrderSeverity.NOTICE, verdict=OrderVerdict.WRONG, shorter=rung)
        for rung in _in_force(_APP_IDLE, rungs)
        if rung.seconds == 0
    ]


def _header_limit(rungs: Sequence[Rung]) -> list[Check]:
    """Looks for a request header without a time limit; a probe that gave up leaves it unknown."""
    found = _in_force(_HEADER, rungs)
    if not found:
        return []
    worst = max(found, key=_size)
    unlimited = worst.seconds == float("inf")
    verdict = OrderVerdict.UNKNOWN if worst.at_least else OrderVerdict.WRONG if unlimited else OrderVerdict.RIGHT
    return [Check(rule="header_limit", severity=OrderSeverity.NOTICE, verdict=verdict, shorter=worst)]


def _disagreements(rungs: Sequence[Rung]) -> list[Check]:
    """Written values that a measurement at the same place overrules: `shorter` is measured, `longer` is written."""
    checks: list[Check] = []
    for written in rungs:
        measured = [
            rung
            for rung in rungs
            if rung.place == written.place and all(said.origin is Origin.PROBE for said in rung.said)
        ]
        if not written.in_force and measured:
            same = next((rung for rung in measured if set(rung.names) & set(written.names)), measured[0])
            verdict = OrderVerdict.WRONG
            checks.append(
                Check(rule="measured_otherwise", severity=_ERROR, verdict=verdict, shorter=same, longer=written)
            )
    return checks
