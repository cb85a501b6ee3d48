"""What there is to know beside the values: what is wrong now, what does not fit, what cannot be told. Pure."""

import statistics
from collections.abc import Sequence

from loadwatch_backend.core.texts.numbers import count
from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.findings.advisor.model import MeasuredPool, MeasuredServer, Measurement, Note, Weight
from loadwatch_backend.findings.measures.peers import FAR, LEAST_PEERS
from loadwatch_backend.findings.messages.read import message, step

LEAST_CLOSED = 10.0
"""Connections that a pool closed in the window before it counts as churn."""
LOCKED_SHARE = 0.5
"""So much of what is in use waits for row locks: then more connections wait with it."""
CPU_FULL = 0.85


def _note(key: str, weight: Weight, /, **values: object) -> Note:
    """A note of an entry of messages, which is named after it; its code is what makes an unknown known."""
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
    """Notes on the pools of one name."""
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
