"""The four settings of a pool: values, formulas and sources. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.findings.advisor.model import Advised, Demand, MeasuredPool, MeasuredServer, SettingName
from loadwatch_backend.findings.measures.peers import LEAST_PEERS, far_above
from loadwatch_backend.findings.measures.pool_size import BURSTS, size_for
from loadwatch_backend.findings.messages.read import message

LITTLE = "J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9 (1961)"
GO_IDLE = "https://pkg.go.dev/database/sql#DB.SetMaxIdleConns"
GO_LIFETIME = "https://github.com/go-sql-driver/mysql#important-settings"
GO_IDLE_TIME = "https://pkg.go.dev/database/sql#DB.SetConnMaxIdleTime"
SECONDS_PER_CONNECTION = 1.0
LEAST_LIFETIME_SECONDS = 30.0
MOST_LIFETIME_SECONDS = 300.0
"""The driver's authors ask for less than five minutes: balancers, proxies and the server close what is older."""
BEFORE_SERVER = 0.8
"""Of the server's own timeout: whoever closes a connection first does not meet one that the other has closed."""


class SizeReason(StrEnum):
    """What decided the size."""

    DEMAND = "demand"
    ROOM = "room"
    ROOM_UNKNOWN = "room-unknown"
    DATABASE = "database"
    NO_LOAD = "no-load"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What the pools of one name need and get.

    Attributes:
        instances: so many are reckoned with.
        needed: connections that one instance needs; `wanted` is the pool for it; None where nothing was measured.
        each: connections that it gets; None where nothing was measured, and then the rest follows from today's size.
    """

    members: Sequence[MeasuredPool]
    instances: int
    needed: float | None
    wanted: int | None
    each: int | None
    reason: SizeReason

    @property
    def wanted_total(self) -> float:
        """What all instances need; what they may take today where that is unknown."""
        return self._held if self.wanted is None else float(self.wanted * self.instances)

    @property
    def total(self) -> float:
        """What all instances get."""
        return self._held if self.each is None else float(self.each * self.instances)

    @property
    def _held(self) -> float:
        return max((one.max_open or one.most_open for one in self.members), default=0.0) * self.instances


def advise_settings(size: Size, room: int | None, server: MeasuredServer | None) -> list[Advised]:
    """MaxOpen, MaxIdle, lifetime and idle time, in this order; `room` is what the database leaves for all pools."""
    today = [one.max_open for one in size.members if one.max_open]
    open_ = size.each if size.each is not None else (round(max(today)) if today else None)
    lifetime, idle_time = None, message("pool-advice.follows-max-open")
    idle = lifetime_words = idle_time
    if open_ is not None:
        lifetime = _lifetime(open_, server)
        as_today = message("pool-advice.as-today") if size.each is None else SILENT
        idle = message("pool-advice.idle", today=as_today, size=open_)
        lifetime_words = _lifetime_words(open_, lifetime, server)
        idle_time = message("pool-advice.idle-time")
    return [
        Advised(name=SettingName.MAX_OPEN, advised=size.each, formula=_size_words(size, room), source=LITTLE),
        Advised(name=SettingName.MAX_IDLE, advised=open_, formula=idle, source=GO_IDLE),
        Advised(name=SettingName.LIFETIME, advised=lifetime, formula=lifetime_words, source=GO_LIFETIME),
        Advised(name=SettingName.IDLE_TIME, advised=lifetime, formula=idle_time, source=GO_IDLE_TIME),
    ]


def go_lines(settings: Sequence[Advised]) -> str:
    """Lines of Go that set what is advised; empty where nothing is."""
    lines: list[str] = []
    for one in settings:
        if one.advised is None:
            continue
        value = f"{round(one.advised)}"
        match one.name:
            case SettingName.MAX_OPEN:
                lines.append(f"db.SetMaxOpenConns({value})")
            case SettingName.MAX_IDLE:
                lines.append(f"db.SetMaxIdleConns({value})")
            case SettingName.LIFETIME:
                lines.append(f"db.SetConnMaxLifetime({value} * time.Second)")
            case SettingName.IDLE_TIME:
                lines.append(f"db.SetConnMaxIdleTime({value} * time.Second)")
    return "\n".join(lines)


def _lifetime(size: int, server: MeasuredServer | None) -> float:
    seconds = min(max(size * SECONDS_PER_CONNECTION, LEAST_LIFETIME_SECONDS), MOST_LIFETIME_SECONDS)
    if server is not None and server.wait_timeout_seconds:
        seconds = min(seconds, max(math.floor(server.wait_timeout_seconds * BEFORE_SERVER), 1))
    return seconds


def _size_words(size: Size, room: int | None) -> Words:
    needed, wanted, members, instances = size.needed, size.wanted, size.members, size.instances
    if any(one.unused_under_load for one in members):
        return message("pool-advice.unused")
    if needed is None or wanted is None:
        return message("pool-advice.no-load")
    busiest, floor, spread = max(alike(members), key=needs), size_for(needed), SILENT
    if instances != len(members):
        spread = message("pool-advice.spread", instances=instances, needed=needed)
    sized = message("pool-advice.bursts", bursts=BURSTS, wanted=wanted)
    if floor != wanted:
        sized = message("pool-advice.bursts-below", bursts=BURSTS, floor=floor, wanted=wanted)
    return message(
        "pool-advice.size",
        how=_demand_words(busiest, busiest.demand),
        spread=spread,
        sized=sized,
        bound=_bound_words(wanted, size.each, size.reason, room),
    )


def needs(pool: MeasuredPool) -> float:
    """Connections that a pool needs; 0 of one that was hardly used."""
    return 0.0 if pool.demand is None else pool.demand.connections


def alike(members: Sequence[MeasuredPool]) -> list[MeasuredPool]:
    """Those that were used, without one that needs far more than its equals: it is sick, and no measure for them."""
    used = [one for one in members if one.demand is not None]
    far = far_above(np.array([needs(one) for one in used]), 1.0) if len(used) >= LEAST_PEERS else [False] * len(used)
    return [one for one, is_far in zip(used, far, strict=True) if not is_far]


def _demand_words(pool: MeasuredPool, demand: Demand | None) -> Words:
    assert demand is not None
    instance, need, in_use, hold = pool.instance, demand.connections, demand.in_use, demand.hold_seconds
    if not demand.short:
        if hold is None or demand.served is None:
            return message("pool-advice.busiest", instance=instance, need=need)
        return message("pool-advice.busiest-requests", instance=instance, served=demand.served, hold=hold, need=need)
    if demand.more_wanted > max(demand.more_arrive, 1):
        wanted, served = demand.load_asked or 0, demand.load_served or 0
        return message(
            "pool-advice.waited-load", instance=instance, in_use=in_use, wanted=wanted, served=served, need=need
        )
    if hold is not None and demand.asked is not None and demand.more_arrive > 1:
        return message("pool-advice.waited-arrivals", instance=instance, asked=demand.asked, hold=hold, need=need)
    return message("pool-advice.waited", instance=instance, in_use=in_use, waiting=demand.waiting, need=need)


def _bound_words(wanted: int, each: int | None, reason: SizeReason, room: int | None) -> Words:
    if reason is SizeReason.ROOM and room is not None:
        return message("pool-advice.bound-room", room=room, each=each, wanted=wanted)
    if reason is SizeReason.ROOM_UNKNOWN:
        return message("pool-advice.bound-unknown")
    return message("pool-advice.bound-database", each=each) if reason is SizeReason.DATABASE else SILENT


def _lifetime_words(size: int, seconds: float, server: MeasuredServer | None) -> Words:
    below = SILENT
    if server is not None and server.wait_timeout_seconds:
        timeout = server.wait_timeout_seconds
        below = message("pool-advice.below-wait-timeout", share=BEFORE_SERVER, wait_timeout=timeout)
    return message(
        "pool-advice.lifetime",
        size=size,
        least=LEAST_LIFETIME_SECONDS,
        most=MOST_LIFETIME_SECONDS,
        server=below,
        seconds=seconds,
    )
