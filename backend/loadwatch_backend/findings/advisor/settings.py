"""The four settings of a pool: values, formulas and sources. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from loadwatch_backend.findings.advisor.model import Advised, Demand, PoolSeen, ServerSeen, SettingName
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure
from loadwatch_backend.findings.seen.peers import LEAST_PEERS, far_above
from loadwatch_backend.findings.seen.pool_size import BURSTS, size_for
from loadwatch_backend.texts.words import Words

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

    members: Sequence[PoolSeen]
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


def advise_settings(size: Size, room: int | None, server: ServerSeen | None) -> list[Advised]:
    """MaxOpen, MaxIdle, lifetime and idle time, in this order; `room` is what the database leaves for all pools."""
    today = [one.max_open for one in size.members if one.max_open]
    open_ = size.each if size.each is not None else (round(max(today)) if today else None)
    lifetime = None if open_ is None else _lifetime(open_, server)
    return [
        Advised(name=SettingName.MAX_OPEN, advised=size.each, formula=_size_words(size, room), source=LITTLE),
        Advised(
            name=SettingName.MAX_IDLE,
            advised=open_,
            formula=_idle_words(open_, measured=size.each is not None),
            source=GO_IDLE,
        ),
        Advised(
            name=SettingName.LIFETIME, advised=lifetime, formula=_lifetime_words(open_, server), source=GO_LIFETIME
        ),
        Advised(name=SettingName.IDLE_TIME, advised=lifetime, formula=_idle_time_words(lifetime), source=GO_IDLE_TIME),
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


def _lifetime(size: int, server: ServerSeen | None) -> float:
    seconds = min(max(size * SECONDS_PER_CONNECTION, LEAST_LIFETIME_SECONDS), MOST_LIFETIME_SECONDS)
    if server is not None and server.wait_timeout_seconds:
        seconds = min(seconds, max(math.floor(server.wait_timeout_seconds * BEFORE_SERVER), 1))
    return seconds


def _size_words(size: Size, room: int | None) -> Words:
    needed, wanted, members, instances = size.needed, size.wanted, size.members, size.instances
    if any(one.unused_under_load for one in members):
        return Words(
            "No size: requests do not use this pool. Open one pool that all of them share, and look again.",
            "算出不可: リクエストはこのプールを使っていない。全体で共有するプールを1つ開いてから見直すこと。",
        )
    if needed is None or wanted is None:
        return Words(
            "No size: the pool was hardly used in this window. Choose a window with the load that it has to carry.",
            "算出不可: この期間、プールはほとんど使われていない。想定する負荷がかかった期間を選ぶこと。",
        )
    busiest = max(alike(members), key=needs)
    how = _demand_words(busiest, busiest.demand)
    spread = (
        Words(f" Shared by {instances} instances: {figure(needed)} each.", f"{instances}台で分担し各{figure(needed)}。")
        if instances != len(members)
        else Words("", "")
    )
    floor = size_for(needed)
    sized = (
        Words(f" × {BURSTS:g} for bursts = {wanted}.", f"×{BURSTS:g}(集中への余裕)={wanted}。")
        if floor == wanted
        else Words(
            f" × {BURSTS:g} for bursts = {floor}; {wanted} were in use at one instant, or are the least that is "
            "sensible.",
            f"×{BURSTS:g}(集中への余裕)={floor}。ある瞬間に使われた数、または最低限として{wanted}。",
        )
    )
    bound = _bound_words(wanted, size.each, size.reason, room)
    return Words(how.en + spread.en + sized.en + bound.en, how.ja + spread.ja + sized.ja + bound.ja)


def needs(pool: PoolSeen) -> float:
    """Connections that a pool needs; 0 of one that was hardly used."""
    return 0.0 if pool.demand is None else pool.demand.connections


def alike(members: Sequence[PoolSeen]) -> list[PoolSeen]:
    """Those that were used, without one that needs far more than its equals: it is sick, and no measure for them."""
    used = [one for one in members if one.demand is not None]
    far = far_above(np.array([needs(one) for one in used]), 1.0) if len(used) >= LEAST_PEERS else [False] * len(used)
    return [one for one, is_far in zip(used, far, strict=True) if not is_far]


def _demand_words(pool: PoolSeen, demand: Demand | None) -> Words:
    assert demand is not None
    need = figure(demand.connections)
    hold = demand.hold_seconds
    if not demand.short:
        if hold is not None and demand.served is not None:
            return Words(
                f"Busiest 10 s of {pool.instance}: {figure(demand.served)} requests/s × {duration(hold)} that each "
                f"holds its connection = {need} in use",
                f"{pool.instance}が最も忙しい10秒: 毎秒{figure(demand.served)}件×接続の保持{duration_ja(hold)}="
                f"{need}接続",
            )
        return Words(
            f"Busiest 10 s of {pool.instance}: {need} connections in use on average, and nobody waited",
            f"{pool.instance}が最も忙しい10秒: 平均{need}接続を使用し、待ちなし",
        )
    if demand.more_wanted > max(demand.more_arrive, 1):
        told, done = figure(demand.load_asked or 0), figure(demand.load_served or 0)
        return Words(
            f"While requests waited at {pool.instance}: {figure(demand.in_use)} connections in use × {told} requests/s "
            f"that the load was to be ÷ {done} that were served = {need}",
            f"{pool.instance}で待ちが出ていた間: 使用中{figure(demand.in_use)}×負荷の目標毎秒{told}件"
            f"÷処理できた{done}件={need}接続",
        )
    if hold is not None and demand.asked is not None and demand.more_arrive > 1:
        return Words(
            f"While requests waited at {pool.instance}: {figure(demand.asked)} requests/s arrived × {duration(hold)} "
            f"that each holds its connection = {need}",
            f"{pool.instance}で待ちが出ていた間: 到着は毎秒{figure(demand.asked)}件×接続の保持{duration_ja(hold)}="
            f"{need}接続",
        )
    return Words(
        f"While requests waited at {pool.instance}: {figure(demand.in_use)} connections in use + "
        f"{figure(demand.waiting)} requests waiting at once = {need}",
        f"{pool.instance}で待ちが出ていた間: 使用中{figure(demand.in_use)}+同時の待ち{figure(demand.waiting)}="
        f"{need}接続",
    )


def _bound_words(wanted: int, each: int | None, reason: SizeReason, room: int | None) -> Words:
    if reason is SizeReason.ROOM and room is not None:
        return Words(
            f" The database leaves {count(room)} connections for all pools, so each gets {each} of {wanted}.",
            f"DBが全プールに残せるのは{count(room)}接続のため、各{wanted}のうち{each}。",
        )
    if reason is SizeReason.ROOM_UNKNOWN:
        return Words(
            " No size: how many connections the database has left is not known.",
            "算出不可: DBに残っている接続数が不明。",
        )
    if reason is SizeReason.DATABASE:
        return Words(
            f" The database is what is full, so more connections would wait there: stay at {each}.",
            f"飽和しているのはDBであり、接続を増やしてもDBで待つだけなので{each}のままとする。",
        )
    return Words("", "")


def _idle_words(size: int | None, *, measured: bool) -> Words:
    if size is None:
        return Words("No value: it follows from MaxOpenConns.", "算出不可: MaxOpenConnsから決まる。")
    today = "" if measured else " as it is set today"
    now = "" if measured else "(現在の値)"
    return Words(
        f"MaxOpenConns{today} = {size}: whatever is above it is closed after each burst and dialled again at the next "
        "one.",
        f"MaxOpenConns{now}={size}。これを超えた分は負荷が引くたびに閉じられ、次の負荷で接続し直しになる。",
    )


def _lifetime_words(size: int | None, server: ServerSeen | None) -> Words:
    if size is None:
        return Words("No value: it follows from MaxOpenConns.", "算出不可: MaxOpenConnsから決まる。")
    seconds = _lifetime(size, server)
    server_side = Words("", "")
    if server is not None and server.wait_timeout_seconds:
        server_side = Words(
            f"; below {BEFORE_SERVER:.0%} of the server's wait_timeout of {duration(server.wait_timeout_seconds)}",
            f"、サーバーのwait_timeout({duration_ja(server.wait_timeout_seconds)})の{BEFORE_SERVER:.0%}未満",
        )
    return Words(
        f"{size} connections × 1 s, so that about one a second is replaced, and not all at once; at least "
        f"{LEAST_LIFETIME_SECONDS:.0f} s, at most {MOST_LIFETIME_SECONDS:.0f} s{server_side.en}: "
        f"{duration(seconds)}.",
        f"{size}接続×1秒(毎秒約1接続ずつ入れ替わる)。最短{LEAST_LIFETIME_SECONDS:.0f}秒、"
        f"最長{MOST_LIFETIME_SECONDS:.0f}秒{server_side.ja}: {duration_ja(seconds)}。",
    )


def _idle_time_words(lifetime: float | None) -> Words:
    if lifetime is None:
        return Words("No value: it follows from MaxOpenConns.", "算出不可: MaxOpenConnsから決まる。")
    return Words(
        "The same as the lifetime: shorter than the pauses of the load it would close what is needed again, and "
        "without it or a lifetime an idle pool keeps its connections from other clients for ever.",
        "寿命と同じ値。負荷の合間より短いとすぐ必要になる接続を閉じ、寿命もこれもなければ負荷の後も接続を占有し続ける。",
    )
