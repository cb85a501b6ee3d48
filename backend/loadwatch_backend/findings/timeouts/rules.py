"""Which timeout has to be shorter than which, and the look at a ladder. Pure.

Sources: AWS, "Edit attributes for your Application Load Balancer" (Connection idle timeout) and "Troubleshoot your
Application Load Balancers" (HTTP 460, 502 and 504); Go, package net/http, type Server; go-sql-driver/mysql, README,
"Important settings".
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loadwatch_backend.findings.timeouts.readings import (
    Check,
    Kind,
    Layer,
    OrderSeverity,
    OrderVerdict,
    Origin,
    Rung,
    TimeoutKey,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`shorter` has to end before `longer`.

    Each side may name several timeouts; the one that ends first counts.

    Attributes:
        direct: whether the rule is for paths without a load balancer (True), with one (False), or for both (None).
        optional: timeouts that most systems do not have: while they are not known, they count as not there.
        quiet: the rule is of no interest while one side is not known.
    """

    id: str
    severity: OrderSeverity
    shorter: tuple[TimeoutKey, ...]
    longer: tuple[TimeoutKey, ...]
    direct: bool | None = None
    optional: frozenset[TimeoutKey] = frozenset()
    quiet: bool = False
    reference: str = ""


_AWS = "https://docs.aws.amazon.com/elasticloadbalancing/latest/application"
_GO = "https://pkg.go.dev/net/http"
_DRIVER = "https://github.com/go-sql-driver/mysql#important-settings"

RULES = (
    Rule(
        id="balancer_idle_before_app",
        severity=OrderSeverity.ERROR,
        shorter=(_BALANCER_IDLE,),
        longer=(_APP_IDLE,),
        direct=False,
        reference=f"{_AWS}/edit-load-balancer-attributes.html#connection-idle-timeout",
    ),
    Rule(
        id="pool_before_database",
        severity=OrderSeverity.ERROR,
        shorter=(_POOL_IDLE, _LIFETIME),
        longer=(_WAIT,),
        reference=_DRIVER,
    ),
    Rule(
        id="answer_before_balancer",
        severity=OrderSeverity.NOTICE,
        shorter=(_HANDLER, _WRITE),
        longer=(_BALANCER_IDLE,),
        direct=False,
        optional=frozenset({_HANDLER}),
        reference=f"{_AWS}/load-balancer-troubleshooting.html#http-504-issues",
    ),
    Rule(
        id="balancer_before_client",
        severity=OrderSeverity.NOTICE,
        shorter=(_BALANCER_IDLE,),
        longer=(_CLIENT_REQUEST,),
        direct=False,
        reference=f"{_AWS}/load-balancer-troubleshooting.html#http-460-issues",
    ),
    Rule(
        id="answer_before_client",
        severity=OrderSeverity.NOTICE,
        shorter=(_HANDLER, _WRITE),
        longer=(_CLIENT_REQUEST,),
        direct=True,
        optional=frozenset({_HANDLER}),
        reference=f"{_GO}#TimeoutHandler",
    ),
    Rule(
        id="client_idle_before_balancer",
        severity=OrderSeverity.NOTICE,
        shorter=(_CLIENT_IDLE,),
        longer=(_BALANCER_IDLE,),
        direct=False,
        reference=f"{_AWS}/edit-load-balancer-attributes.html#connection-idle-timeout",
    ),
    Rule(
        id="client_idle_before_app",
        severity=OrderSeverity.NOTICE,
        shorter=(_CLIENT_IDLE,),
        longer=(_APP_IDLE,),
        direct=True,
        reference=f"{_GO}#Transport",
    ),
    Rule(
        id="handler_before_write",
        severity=OrderSeverity.NOTICE,
        shorter=(_HANDLER,),
        longer=(_WRITE,),
        quiet=True,
        reference=f"{_GO}#TimeoutHandler",
    ),
    Rule(
        id="lock_wait_before_answer",
        severity=OrderSeverity.NOTICE,
        shorter=(_LOCK_WAIT,),
        longer=(_HANDLER, _WRITE),
        optional=frozenset({_HANDLER}),
        quiet=True,
        reference="https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html#sysvar_innodb_lock_wait_timeout",
    ),
)
"""The order that is asked for, the dearest first."""

OTHER_REFERENCES = {
    "measured_otherwise": "",
    "keep_alive_off": f"{_GO}#Server.SetKeepAlivesEnabled",
    "header_limit": f"{_GO}#Server",
}
"""Rules that compare no two timeouts of a path."""

REFERENCES = {rule.id: rule.reference for rule in RULES} | OTHER_REFERENCES


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
    """A head that may take for ever. A probe that waited in vain proves nothing, so it stays unknown."""
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
            checks.append(
                Check(
                    rule="measured_otherwise",
                    severity=OrderSeverity.ERROR,
                    verdict=OrderVerdict.WRONG,
                    shorter=same,
                    longer=written,
                )
            )
    return checks
