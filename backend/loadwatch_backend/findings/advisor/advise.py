"""What each pool should be set to, and why. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from loadwatch_backend.findings.advisor.model import Advice, GroupAdvice, MeasuredPool, MeasuredServer, Measurement
from loadwatch_backend.findings.advisor.notes import group_notes, overall_notes, why_full
from loadwatch_backend.findings.advisor.settings import Size, SizeReason, advise_settings, alike, go_lines, needs
from loadwatch_backend.findings.measures.pool_size import size_for

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
        now=_total_now(measured.pools),
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
    """The same where the database has room for all; else each gets its share of it. Nothing of what is unknown."""
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


def _total_now(pools: Sequence[MeasuredPool]) -> float | None:
    return _sum(None if not pool.max_open else round(pool.max_open) for pool in pools)


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum; None where one of them is unknown, or there is none."""
    total: int | None = None
    for value in values:
        if value is None:
            return None
        total = value + (total or 0)
    return total
