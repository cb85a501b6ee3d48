"""Where groups of alerts meet the database.

Whatever changes groups passes the gate first, so that changes happen one after another on every database. What was
read before the gate may be old by then (MySQL's transactions read as of their first SELECT), so reads after it lock.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import orjson
from sqlalchemy import BigInteger, bindparam, delete, func, insert, or_, select, update
from sqlalchemy.orm import Session

from loadwatch_backend.alerting.notify.groups.groups import Notified, unpack_notified
from loadwatch_backend.alerting.notify.groups.tables import AlertRow, GateRow, GroupRow, MemberRow, NotifiedRow
from loadwatch_backend.alerting.notify.model import NotifiedAlert
from loadwatch_backend.series.store.port import Labels

Item = TypeVar("Item")

GATE_ID = 1
FLUSH_SLACK_MS = 10_000
"""How far the clock may lie back before a group is flushed ahead of its time: that costs a message of its own for each
alert that comes later, and servers that take turns have clocks that differ by less."""


def chunks(items: Iterable[Item], size: int = 500) -> Iterator[list[Item]]:
    found = list(items)
    return (found[start : start + size] for start in range(0, len(found), size))


def _find(session: Session, query: Any, column: Any, values: Iterable[str], *, lock: bool = True) -> Iterator[Any]:
    for some in chunks(values):
        part = query.where(column.in_(some))
        yield from session.execute(part.with_for_update() if lock else part)


# The gate -------------------------------------------------------------------------------------------------------------


class Gate(NamedTuple):
    token: str
    routed_by: str
    silences: int


_GATE = select(GateRow.token, GateRow.routed_by, GateRow.silences).where(GateRow.id == GATE_ID)


def pass_gate(session: Session) -> Gate:
    """Wait until no other transaction is behind the gate, and keep the rest out until this one ends."""
    session.execute(update(GateRow).where(GateRow.id == GATE_ID).values(turns=GateRow.turns + 1))
    return read_gate(session, lock=True)


def read_gate(session: Session, *, lock: bool = False) -> Gate:
    return Gate(*session.execute(_GATE.with_for_update() if lock else _GATE).one())


def new_token(session: Session) -> str:
    """Note that the alerts that are kept have changed."""
    token = secrets.token_hex(16)
    session.execute(update(GateRow).where(GateRow.id == GATE_ID).values(token=token))
    return token


def set_routed_by(session: Session, digest: str) -> None:
    session.execute(update(GateRow).where(GateRow.id == GATE_ID).values(routed_by=digest))


# Alerts ---------------------------------------------------------------------------------------------------------------


class KeptAlert(NamedTuple):
    fingerprint: str
    alert: NotifiedAlert


_ALERT = (
    AlertRow.key,
    AlertRow.fingerprint,
    AlertRow.labels,
    AlertRow.annotations,
    AlertRow.starts_ms,
    AlertRow.ends_ms,
    AlertRow.generator_url,
    AlertRow.acknowledged,
)


def _kept(row: Iterable[Any]) -> KeptAlert:
    key, print_, labels, annotations, starts_ms, ends_ms, url, acknowledged = row
    alert = NotifiedAlert(
        key=key,
        labels=orjson.loads(labels),
        annotations=orjson.loads(annotations),
        starts_ms=starts_ms,
        ends_ms=ends_ms,
        generator_url=url,
        acknowledged=bool(acknowledged),
    )
    return KeptAlert(print_, alert)


def find_alerts(session: Session, keys: Iterable[str], *, lock: bool = True) -> dict[str, KeptAlert]:
    rows = _find(session, select(*_ALERT), AlertRow.key, keys, lock=lock)
    return {kept.alert.key: kept for kept in map(_kept, rows)}


def all_alerts(session: Session) -> list[KeptAlert]:
    return [_kept(row) for row in session.execute(select(*_ALERT).with_for_update())]


def find_firing(session: Session, *, lock: bool) -> dict[str, Labels]:
    query = select(AlertRow.key, AlertRow.labels).where(AlertRow.ends_ms.is_(None))
    rows = session.execute(query.with_for_update() if lock else query)
    return {key: orjson.loads(labels) for key, labels in rows}


def write_alerts(session: Session, alerts: Sequence[KeptAlert], known: Iterable[str]) -> None:
    """Keep alerts; those of them that are `known` are replaced."""
    for some in chunks(known):
        session.execute(delete(AlertRow).where(AlertRow.key.in_(some)))
    rows = [
        {
            "key": kept.alert.key,
            "fingerprint": kept.fingerprint,
            "labels": orjson.dumps(dict(kept.alert.labels)).decode(),
            "annotations": orjson.dumps(dict(kept.alert.annotations)).decode(),
            "starts_ms": kept.alert.starts_ms,
            "ends_ms": kept.alert.ends_ms,
            "generator_url": kept.alert.generator_url,
            "acknowledged": kept.alert.acknowledged,
        }
        for kept in alerts
    ]
    for some in chunks(rows):
        session.execute(insert(AlertRow), some)


def annotate_alerts(session: Session, annotations: Mapping[str, Mapping[str, str]]) -> None:
    rows = [{"key": key, "annotations": orjson.dumps(dict(given)).decode()} for key, given in annotations.items()]
    if rows:
        session.execute(update(AlertRow), rows)


def forget_alerts(session: Session, keys: Iterable[str]) -> None:
    """Forget alerts that are in no group any more."""
    gone = set(keys)
    gone -= {key for (key,) in _find(session, select(MemberRow.alert_key), MemberRow.alert_key, sorted(gone))}
    for some in chunks(sorted(gone)):
        session.execute(delete(AlertRow).where(AlertRow.key.in_(some)))


# Groups ---------------------------------------------------------------------------------------------------------------


class Group(NamedTuple):
    """See GroupRow; `route` is the id of its route."""

    id: str
    route: str
    group_key: str
    labels: Mapping[str, str]
    flushed_ms: int | None
    due_ms: int | None
    delay_ms: int


_GROUP = tuple(GroupRow.__table__.c[name] for name in Group._fields)


def _group(row: Iterable[Any]) -> Group:
    id, route, group_key, labels, *times = row
    return Group(id, route, group_key, orjson.loads(labels), *times)


def find_groups(session: Session, ids: Iterable[str], *, lock: bool = True) -> dict[str, Group]:
    rows = _find(session, select(*_GROUP), GroupRow.id, ids, lock=lock)
    return {group.id: group for group in map(_group, rows)}


def find_due(session: Session, now_ms: int, limit: int) -> list[Group]:
    """Groups whose time has come, or whose time lies further ahead than it ever was set: the clock was set back."""
    query = (
        select(*_GROUP)
        .where(or_(GroupRow.due_ms <= now_ms, GroupRow.due_ms - GroupRow.delay_ms > now_ms + FLUSH_SLACK_MS))
        .order_by(GroupRow.due_ms)
        .limit(limit)
    )
    return [_group(row) for row in session.execute(query.with_for_update())]


_ANY_DUE = (
    select(GroupRow.id)
    .where(
        or_(
            GroupRow.due_ms <= bindparam("now", type_=BigInteger),
            GroupRow.due_ms - GroupRow.delay_ms > bindparam("ahead", type_=BigInteger),
        )
    )
    .limit(1)
)
"""Built once: it is executed each second, and building it costs more than executing it."""


def any_due(session: Session, now_ms: int) -> bool:
    times = {"now": now_ms, "ahead": now_ms + FLUSH_SLACK_MS}
    return session.execute(_ANY_DUE, times).first() is not None


_FIRST_DUE = select(func.min(GroupRow.due_ms))


def first_due(session: Session) -> int | None:
    return session.scalar(_FIRST_DUE)


def add_groups(session: Session, groups: Sequence[Group]) -> None:
    rows = [{**group._asdict(), "labels": orjson.dumps(dict(group.labels)).decode()} for group in groups]
    for some in chunks(rows):
        session.execute(insert(GroupRow), some)


def set_times(session: Session, groups: Sequence[Group]) -> None:
    rows = [
        {"id": group.id, "flushed_ms": group.flushed_ms, "due_ms": group.due_ms, "delay_ms": group.delay_ms}
        for group in groups
    ]
    if rows:
        session.execute(update(GroupRow), rows)


def remove_groups(session: Session, ids: Iterable[str]) -> None:
    for some in chunks(ids):
        session.execute(delete(MemberRow).where(MemberRow.group_id.in_(some)))
        session.execute(delete(GroupRow).where(GroupRow.id.in_(some)))


def count_groups(session: Session) -> dict[str, int]:
    query = (
        select(GroupRow.route, func.count(func.distinct(GroupRow.id)))
        .join(MemberRow, MemberRow.group_id == GroupRow.id)
        .join(AlertRow, AlertRow.key == MemberRow.alert_key)
        .where(AlertRow.ends_ms.is_(None))
        .group_by(GroupRow.route)
    )
    return {route: count for route, count in session.execute(query)}


# Members --------------------------------------------------------------------------------------------------------------


def groups_of(session: Session, keys: Iterable[str], *, lock: bool = True) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    query = select(MemberRow.alert_key, MemberRow.group_id)
    for key, group_id in _find(session, query, MemberRow.alert_key, keys, lock=lock):
        found.setdefault(key, set()).add(group_id)
    return found


def members_of_groups(session: Session, ids: Iterable[str]) -> dict[str, list[KeptAlert]]:
    found: dict[str, list[KeptAlert]] = {}
    query = select(MemberRow.group_id, *_ALERT).join(AlertRow, AlertRow.key == MemberRow.alert_key)
    for group_id, *row in _find(session, query, MemberRow.group_id, ids):
        found.setdefault(group_id, []).append(_kept(row))
    return found


def add_members(session: Session, members: Iterable[tuple[str, str]]) -> None:
    for some in chunks({"group_id": group_id, "alert_key": key} for group_id, key in members):
        session.execute(insert(MemberRow), some)


def remove_members(session: Session, members: Mapping[str, Iterable[str]]) -> None:
    for group_id, keys in members.items():
        for some in chunks(keys):
            session.execute(delete(MemberRow).where(MemberRow.group_id == group_id, MemberRow.alert_key.in_(some)))


def remove_strays(session: Session) -> None:
    session.execute(delete(AlertRow).where(AlertRow.key.not_in(select(MemberRow.alert_key))))


# What was sent --------------------------------------------------------------------------------------------------------


def find_notified(session: Session, ids: Iterable[str], *, lock: bool = True) -> dict[str, Notified]:
    query = select(NotifiedRow.id, NotifiedRow.sent_ms, NotifiedRow.alerts)
    rows = _find(session, query, NotifiedRow.id, ids, lock=lock)
    return {id: unpack_notified(sent_ms, packed) for id, sent_ms, packed in rows}


def write_notified(session: Session, notified: Mapping[str, tuple[Notified | None, int]]) -> None:
    """Replace what integrations know: the new state, and when it may be forgotten; None forgets it now."""
    for some in chunks(notified):
        session.execute(delete(NotifiedRow).where(NotifiedRow.id.in_(some)))
    rows = [
        {"id": id, "sent_ms": one.sent_ms, "expires_ms": expires_ms, "alerts": one.pack()}
        for id, (one, expires_ms) in notified.items()
        if one is not None
    ]
    for some in chunks(rows):
        session.execute(insert(NotifiedRow), some)


def forget_notified(session: Session, now_ms: int) -> None:
    """Forget what nobody has asked for in a long time: groups of routes that are gone."""
    session.execute(delete(NotifiedRow).where(NotifiedRow.expires_ms < now_ms))
