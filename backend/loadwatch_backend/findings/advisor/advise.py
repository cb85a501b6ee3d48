"""What the advice on pools is made of, what each pool should be set to, and why. Pure."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from loadwatch_backend.core.texts.numbers import count
from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.findings.measures.peers import FAR, LEAST_PEERS, far_above
from loadwatch_backend.findings.messages import message, step

AS_MANY = 1.05
"""Rates that differ by a smaller factor are equal: they are read at different instants."""


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
        """The same for the load generator, which waits for answers before it asks for more."""
        return _times(self.load_asked, self.load_served)

    @property
    def hold_seconds(self) -> float | None:
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

    @property
    def users(self) -> Sequence[Mapping[str, object]]:
        return [{"user": user, "connections": number} for user, number in self.by_user.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    from_ms: int
    to_ms: int
    seconds: float
    pools: Sequence[MeasuredPool]
    servers: Sequence[MeasuredServer]


class Weight(StrEnum):
    """What a note asks of whoever reads it."""

    WRONG = "wrong"
    UNKNOWN = "unknown"
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


LITTLE = "J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9 (1961)"
GO_IDLE = "https://pkg.go.dev/database/sql#DB.SetMaxIdleConns"
GO_LIFETIME = "https://github.com/go-sql-driver/mysql#important-settings"
GO_IDLE_TIME = "https://pkg.go.dev/database/sql#DB.SetConnMaxIdleTime"
_GO = {
    SettingName.MAX_OPEN: "db.SetMaxOpenConns({})",
    SettingName.MAX_IDLE: "db.SetMaxIdleConns({})",
    SettingName.LIFETIME: "db.SetConnMaxLifetime({} * time.Second)",
    SettingName.IDLE_TIME: "db.SetConnMaxIdleTime({} * time.Second)",
}
SECONDS_PER_CONNECTION = 1.0
LEAST_LIFETIME_SECONDS = 30.0
MOST_LIFETIME_SECONDS = 300.0
"""The driver's authors ask for less than five minutes: balancers and servers close older ones."""
BEFORE_SERVER = 0.8
"""Share of the server's own timeout: the pool closes first and never meets a closed connection."""


BURSTS = 1.2
"""What a pool gets beyond Little's law: requests come in bursts."""


def size_for(needed: float) -> int:
    """Connections of a pool of which `needed` are in use on average; rounding errors do not add one."""
    return math.ceil(needed * BURSTS - 1e-9)


class SizeReason(StrEnum):
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
    return "\n".join(_GO[one.name].format(round(one.advised)) for one in settings if one.advised is not None)


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


LEAST_CLOSED = 10.0
"""Connections that a pool closed in the window before it counts as churn."""
LOCKED_SHARE = 0.5
"""Share of connections in use that wait for row locks, from which more would only wait as well."""
CPU_FULL = 0.85


def _note(key: str, weight: Weight, /, **values: object) -> Note:
    """A note from an entry of the messages and named after it; the entry's code becomes `config`."""
    entry = step(key, **values)
    return Note(id=key.partition(".")[2], weight=weight, text=entry.text, config=entry.code)


def overall_notes(
    measured: Measurement, server: MeasuredServer | None, room: int | None, total: float, full: Words | None
) -> list[Note]:
    """Notes on the database and all pools together; `total` is what all pools need, `full` see `why_full`."""
    notes = [] if measured.pools else [_note("pool-advice.no-pool", Weight.UNKNOWN)]
    if server is None and measured.servers:
        return [*notes, _note("pool-advice.several-servers", Weight.UNKNOWN, number=len(measured.servers))]
    if server is None or server.others is None:
        return [*notes, _note("pool-advice.no-server", Weight.UNKNOWN)]
    others, may_open = server.others, sum(pool.max_open for pool in measured.pools if pool.max_open)
    left = server.max_connections - others
    if may_open and may_open > left:
        notes.append(_note("pool-advice.exceeds-server", Weight.WRONG, may_open=may_open, others=others, left=left))
    if room is not None and total > room:
        need = total - room + server.max_connections
        shorter = 1 - room / total
        notes.append(
            _note(
                "pool-advice.no-room", Weight.WRONG, total=total, room=room, shorter=shorter, need=need, others=others
            )
        )
    if full is not None:
        notes.append(_note("pool-advice.database-full", Weight.WRONG, full=full))
    return notes


def why_full(server: MeasuredServer, busy: float) -> Words | None:
    """Why the database has no strength for more connections, `busy` of the pools' being in use; None where it has."""
    if server.lock_waits is not None and busy >= 1 and server.lock_waits >= LOCKED_SHARE * busy:
        return message("pool-advice.waits-for-locks", lock_waits=server.lock_waits, busy=busy)
    if server.cores and server.cores_used is not None and server.cores_used >= CPU_FULL * server.cores:
        return message("pool-advice.uses-its-cores", used=server.cores_used, cores=server.cores)
    return None


def group_notes(members: Sequence[MeasuredPool]) -> list[Note]:
    found: list[Note] = []
    if unused := [one.instance for one in members if one.unused_under_load]:
        instances = Words(", ".join(unused), "、".join(unused))
        found.append(_note("pool-advice.pool-per-request", Weight.WRONG, instances=instances))
    if any(one.max_open == 0 for one in members) and len(unused) < len(members):
        most = max(one.most_open for one in members)
        found.append(_note("pool-advice.pool-unlimited", Weight.WRONG, most=most))
    waits, seconds = sum(one.waits for one in members), sum(one.wait_seconds for one in members)
    mean = seconds / max(waits, 1)
    if any(one.demand is not None and one.demand.short for one in members):
        found.append(_note("pool-advice.pool-too-small", Weight.WRONG, waits=waits, mean=mean))
    elif waits >= 1:
        found.append(_note("pool-advice.few-waits", Weight.INFO, waits=waits, mean=mean))
    closed = sum(one.closed_idle for one in members)
    if closed >= LEAST_CLOSED:
        found.append(_note("pool-advice.pool-churn", Weight.WRONG, closed=closed))
    worst = max((one for one in members if one.lifetime_seconds), key=_replaced, default=None)
    if worst is not None and _replaced(worst) > 2 and sum(one.closed_old for one in members) >= LEAST_CLOSED:
        lifetime, replaced = worst.lifetime_seconds, _replaced(worst)
        found.append(_note("pool-advice.pool-lifetime-churn", Weight.WRONG, lifetime=lifetime, replaced=replaced))
    sizes = sorted({one.max_open for one in members if one.max_open is not None})
    if len(sizes) >= 2:
        found.append(_note("pool-advice.unequal", Weight.INFO, listed=", ".join(count(size) for size in sizes)))
    if any(None in (one.max_idle, one.lifetime_seconds, one.idle_seconds) for one in members):
        found.append(_note("pool-advice.settings-untold", Weight.UNKNOWN))
    holds = {one.instance: one.demand.hold_seconds for one in members if one.demand and one.demand.hold_seconds}
    if holds:
        middle, longest = statistics.median(holds.values()), max(holds, key=holds.__getitem__)
        sick = SILENT
        if len(holds) >= LEAST_PEERS and holds[longest] >= FAR * middle:
            sick = message("pool-advice.sick", instance=longest, hold=holds[longest])
        found.append(_note("pool-advice.hold", Weight.INFO, middle=middle, sick=sick))
    return found


def _replaced(pool: MeasuredPool) -> float:
    """Connections a second that end by age when all that were open are kept open."""
    return pool.most_open / pool.lifetime_seconds if pool.lifetime_seconds else 0.0


LEAST_SIZE = 2
LEAST_RESERVE = 5
RESERVE_SHARE = 0.05
"""Of max_connections: for monitoring (whose user may have 3) and for people."""
MOST_INSTANCES = 1_000


def advise(measured: Measurement, server: str = "", instances: Mapping[str, int] | None = None) -> Advice:
    """The advice for what was measured.

    Args:
        measured: of the window.
        server: instance of the database that the pools belong to; the only one that is seen, without it.
        instances: by job, how many to reckon with in place of those that are seen.
    """
    chosen = _choose(measured.servers, server)
    reserve = 0 if chosen is None else max(LEAST_RESERVE, math.ceil(chosen.max_connections * RESERVE_SHARE))
    room = None
    if chosen is not None and chosen.others is not None:
        room = max(math.floor(chosen.max_connections - chosen.others) - reserve, 0)
    busy = sum(pool.demand.in_use for pool in measured.pools if pool.demand is not None)
    full = None if chosen is None else why_full(chosen, busy)
    wanted = [_size(members, instances or {}, full=full is not None) for members in _groups(measured)]
    sizes = _fit(wanted, room)
    return Advice(
        measured=measured,
        server=chosen,
        reserve=reserve,
        room=room,
        now=_sum(round(pool.max_open) if pool.max_open else None for pool in measured.pools),
        wanted=_sum(None if size.wanted is None else size.wanted * size.instances for size in sizes),
        advised=_sum(None if size.each is None else size.each * size.instances for size in sizes),
        groups=[_advise_group(size, sizes, chosen, room) for size in sizes],
        notes=overall_notes(measured, chosen, room, sum(size.total for size in wanted), full),
    )


def _choose(servers: Sequence[MeasuredServer], wanted: str) -> MeasuredServer | None:
    if not wanted:
        return servers[0] if len(servers) == 1 else None
    return next((one for one in servers if one.instance == wanted), None)


def _groups(measured: Measurement) -> list[Sequence[MeasuredPool]]:
    """Pools that are set alike: of one name, of all instances of a job."""
    by_key: dict[tuple[str, str], list[MeasuredPool]] = {}
    for pool in measured.pools:
        by_key.setdefault((pool.job, pool.name), []).append(pool)
    return [by_key[key] for key in sorted(by_key)]


def _size(members: Sequence[MeasuredPool], instances: Mapping[str, int], *, full: bool) -> Size:
    """What the pools get as far as they alone decide; `full`: the database has no strength left for more."""
    number = min(max(instances.get(members[0].job, len(members)), 1), MOST_INSTANCES)
    needed, wanted = _wanted(members, number)
    now = max((one.max_open or 0.0 for one in members), default=0.0)
    stay = full and wanted is not None and 0 < now < wanted
    reason = SizeReason.DATABASE if stay else SizeReason.NO_LOAD if wanted is None else SizeReason.DEMAND
    return Size(
        members=members,
        instances=number,
        needed=needed,
        wanted=wanted,
        each=math.floor(now) if stay else wanted,
        reason=reason,
    )


def _wanted(members: Sequence[MeasuredPool], instances: int) -> tuple[float | None, int | None]:
    """Connections that one instance needs, and the size for it.

    Of those that are alike the busiest counts: a balancer never shares quite evenly, and all are set alike. Another
    number of instances shares the same load in the same way.
    """
    counted = alike(members)
    if not counted:
        return None, None
    each = max(map(needs, counted)) * len(members) / instances
    size = max(size_for(each), LEAST_SIZE)
    if instances == len(members):
        # Never less than what was in use at one instant: a burst may be shorter than all means.
        size = max(size, *(math.ceil(one.most_used) for one in counted))
    return each, size


def _fit(sizes: Sequence[Size], room: int | None) -> Sequence[Size]:
    """Sizes cut to the room of the database in proportion; where the room is unknown, none is given."""
    if room is None:
        unknown = SizeReason.ROOM_UNKNOWN
        return [size if size.wanted is None else replace(size, each=None, reason=unknown) for size in sizes]
    total = sum(size.total for size in sizes)
    if total <= room:
        return sizes
    fixed = sum(size.total for size in sizes if size.each is None)
    share = max(room - fixed, 0.0) / max(total - fixed, 1.0)
    return [
        size
        if size.each is None
        else replace(size, each=max(math.floor(size.each * share + 1e-9), 1), reason=SizeReason.ROOM)
        for size in sizes
    ]


def _advise_group(size: Size, sizes: Sequence[Size], server: MeasuredServer | None, room: int | None) -> GroupAdvice:
    settings = advise_settings(size, room, server)
    fitting: int | None = None
    if room is not None and size.wanted:
        elsewhere = sum(other.wanted_total for other in sizes if other is not size)
        fitting = max(math.floor((room - elsewhere) / size.wanted), 0)
    return GroupAdvice(
        job=size.members[0].job,
        name=size.members[0].name,
        members=size.members,
        instances=size.instances,
        wanted=size.wanted,
        settings=settings,
        notes=group_notes(size.members),
        code=go_lines(settings),
        most_instances=fitting,
    )


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum; None where one of them is unknown, or there is none."""
    found = list(values)
    known = [value for value in found if value is not None]
    return sum(known) if known and len(known) == len(found) else None
