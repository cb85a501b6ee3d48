"""From advice to its document. Pure."""

from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.advisor.model import (
    Advice,
    Advised,
    GroupAdvice,
    MeasuredPool,
    MeasuredServer,
    Note,
    SettingName,
)
from loadwatch_backend.findings.advisor.schemas import (
    PoolAdviceOut,
    PoolDemandOut,
    PoolGroupOut,
    PoolNoteOut,
    PoolOut,
    PoolServerOut,
    PoolServerUserOut,
    PoolSettingOut,
)
from loadwatch_backend.findings.schemas import TextOut


def advice_out(advice: Advice) -> PoolAdviceOut:
    """The document of the advice."""
    return PoolAdviceOut(
        from_ms=advice.measured.from_ms,
        to_ms=advice.measured.to_ms,
        servers=[one.instance for one in advice.measured.servers],
        server=None if advice.server is None else _server(advice.server),
        reserve=advice.reserve,
        room=advice.room,
        now=advice.now,
        wanted=advice.wanted,
        advised=advice.advised,
        groups=[_group(one) for one in advice.groups],
        notes=[_note(one) for one in advice.notes],
    )


def _text(words: Words) -> TextOut:
    return TextOut(en=words.en, ja=words.ja)


def _note(note: Note) -> PoolNoteOut:
    return PoolNoteOut(id=note.id, weight=note.weight, text=_text(note.text), config=note.config)


def _server(server: MeasuredServer) -> PoolServerOut:
    return PoolServerOut(
        job=server.job,
        instance=server.instance,
        max_connections=server.max_connections,
        connected=server.connected,
        others=server.others,
        users=[PoolServerUserOut(user=user, connections=number) for user, number in server.by_user.items()],
        wait_timeout_seconds=server.wait_timeout_seconds,
    )


def _group(group: GroupAdvice) -> PoolGroupOut:
    return PoolGroupOut(
        job=group.job,
        pool=group.name,
        instances=group.instances,
        seen=len(group.members),
        wanted=group.wanted,
        most_instances=group.most_instances,
        settings=[_setting(one, group) for one in group.settings],
        notes=[_note(one) for one in group.notes],
        code=group.code,
        members=[_pool(one) for one in group.members],
    )


def _setting(advised: Advised, group: GroupAdvice) -> PoolSettingOut:
    now = {_now(advised.name, one) for one in group.members}
    return PoolSettingOut(
        name=advised.name,
        now=sorted(value for value in now if value is not None),
        advised=advised.advised,
        formula=_text(advised.formula),
        source=advised.source,
    )


def _now(name: SettingName, pool: MeasuredPool) -> float | None:
    match name:
        case SettingName.MAX_OPEN:
            return pool.max_open
        case SettingName.MAX_IDLE:
            return pool.max_idle
        case SettingName.LIFETIME:
            return pool.lifetime_seconds
        case SettingName.IDLE_TIME:
            return pool.idle_seconds


def _pool(pool: MeasuredPool) -> PoolOut:
    demand = pool.demand
    return PoolOut(
        instance=pool.instance,
        max_open=pool.max_open,
        max_idle=pool.max_idle,
        lifetime_seconds=pool.lifetime_seconds,
        idle_seconds=pool.idle_seconds,
        most_open=pool.most_open,
        most_used=pool.most_used,
        waits=pool.waits,
        wait_seconds=pool.wait_seconds,
        closed_idle=pool.closed_idle,
        closed_old=pool.closed_old,
        demand=None
        if demand is None
        else PoolDemandOut(
            at_ms=demand.at_ms,
            in_use=demand.in_use,
            waiting=demand.waiting,
            connections=demand.connections,
            hold_seconds=demand.hold_seconds,
            short=demand.short,
        ),
    )
