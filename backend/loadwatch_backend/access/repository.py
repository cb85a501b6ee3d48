"""Where users, sessions and lock-outs meet the database. Every function works inside the caller's transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, CursorResult, Row, bindparam, delete, func, or_, select, update
from sqlalchemy.orm import Session

from loadwatch_backend.access.credentials import Visit, hash_secret, new_id, new_secret
from loadwatch_backend.access.limits import FORGET_MS, Lockout
from loadwatch_backend.access.principal import Principal, Role, RoleSource
from loadwatch_backend.access.schemas import UserSource
from loadwatch_backend.access.sign_in.group_roles import GivenRole
from loadwatch_backend.access.tables import (
    NAME_LENGTH,
    TEXT_LENGTH,
    ApiTokenRow,
    AuditRow,
    LockoutRow,
    SetupRow,
    UserRow,
    UserSessionRow,
)

IDLE_MS = 12 * 3600_000
"""A session that nobody uses ends after this."""
LONGEST_MS = 7 * 86_400_000
"""A session ends after this, used or not."""
MOST_SESSIONS = 50
"""Sessions of one user or token; the one unused for longest ends first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOwner:
    """Whose a session is: one of a user, a token of the database, and (by its hash) a token of the file."""

    user_id: int | None = None
    token_id: str | None = None
    file_token: str | None = None


def owner_of(principal: Principal) -> SessionOwner | None:
    owner = SessionOwner(user_id=principal.user_id, token_id=principal.token_id, file_token=principal.file_token)
    return None if owner == SessionOwner() else owner


def name_key(name: str) -> str:
    return name.casefold()


# Users ----------------------------------------------------------------------------------------------------------------


def any_administrator(session: Session) -> bool:
    """Whether there is an administrator, one who may not sign in included."""
    return session.scalars(select(UserRow.id).where(UserRow.role == Role.ADMIN.value).limit(1)).first() is not None


def void_setup(session: Session) -> None:
    session.execute(delete(SetupRow))


def offer_setup(session: Session, secret: str, expires_ms: int) -> None:
    session.add(SetupRow(secret_hash=hash_secret(secret), expires_ms=expires_ms))


def take_setup(session: Session, secret: str, now_ms: int) -> bool:
    """Use a link up; whether it held. It takes the lock for which a second request has to wait."""
    query = delete(SetupRow).where(SetupRow.secret_hash == hash_secret(secret)).where(SetupRow.expires_ms > now_ms)
    return cast("CursorResult[Any]", session.execute(query)).rowcount == 1


def give_role(session: Session, row: UserRow, given: GivenRole) -> None:
    """Set a user's role; the first administrator, wherever from, voids the link that makes one.

    Plain assignments: a row that does not change is not written.
    """
    if given.role is Role.ADMIN and row.role != given.role.value:
        void_setup(session)
    row.role = given.role.value
    row.role_source = given.source.value


def role_given(row: UserRow) -> GivenRole:
    return GivenRole(role=Role(row.role), source=RoleSource(row.role_source))


def find_user(session: Session, user_id: int) -> UserRow | None:
    return session.get(UserRow, user_id)


def find_user_by_name(session: Session, name: str) -> UserRow | None:
    return session.scalars(select(UserRow).where(UserRow.name_key == name_key(name))).first()


def find_user_by_external_id(session: Session, external_id: str) -> UserRow | None:
    return session.scalars(select(UserRow).where(UserRow.external_id == external_id)).first()


def new_user(name: str, source: UserSource, role_source: RoleSource, now_ms: int, *, seen: bool) -> UserRow:
    return UserRow(
        name=name,
        name_key=name_key(name),
        full_name="",
        role=Role.VIEWER.value,
        role_source=role_source.value,
        source=source.value,
        disabled=False,
        created_ms=now_ms,
        last_seen_ms=now_ms if seen else None,
    )


def keep_user(session: Session, row: UserRow) -> int:
    session.add(row)
    session.flush()
    return row.id


def delete_user(session: Session, row: UserRow) -> None:
    end_sessions(session, row.id)
    clear_lockouts_of(session, row.name)
    session.delete(row)


def list_users(session: Session) -> Sequence[UserRow]:
    return session.scalars(select(UserRow).order_by(UserRow.name_key)).all()


def lock_administrators(session: Session) -> None:
    """Let nobody else change administrators until the transaction ends; SQLite's writers take turns anyway."""
    query = select(UserRow.id).where(UserRow.role == Role.ADMIN.value).order_by(UserRow.id).with_for_update()
    session.execute(query).all()


def count_administrators(session: Session) -> int:
    """Administrators who can sign in, what this transaction has changed included.

    That is written first: on SQLite the write takes the lock that other changes wait for.
    """
    session.flush()
    query = (
        select(func.count())
        .select_from(UserRow)
        .where(UserRow.role == Role.ADMIN.value)
        .where(UserRow.disabled.is_(False))
    )
    return session.scalar(query) or 0


def dismiss(session: Session, row: UserRow) -> None:
    """Take the role from a user to whom nothing gives one any more, and end all of their sessions."""
    give_role(session, row, GivenRole(role=Role.VIEWER, source=RoleSource.DEFAULT))
    end_sessions(session, row.id)


# Sessions -------------------------------------------------------------------------------------------------------------


def open_session(session: Session, owner: SessionOwner, visit: Visit, *, now_ms: int) -> tuple[str, str]:
    """A new session's id and its secret for the cookie; sessions that are over are cleared away."""
    _forget_over(session, now_ms)
    _keep_newest(session, owner)
    secret, session_id = new_secret(), new_id()
    session.add(
        UserSessionRow(
            id=session_id,
            secret_hash=hash_secret(secret),
            user_id=owner.user_id,
            token_id=owner.token_id,
            file_token=owner.file_token,
            created_ms=now_ms,
            last_seen_ms=now_ms,
            expires_ms=now_ms + LONGEST_MS,
            address=visit.address[:NAME_LENGTH],
            browser=visit.browser[:TEXT_LENGTH],
        )
    )
    session.flush()
    return session_id, secret


def list_sessions(session: Session, owner: SessionOwner, now_ms: int) -> Sequence[UserSessionRow]:
    """Somebody's sessions that hold, last used first."""
    query = (
        select(UserSessionRow)
        .where(_is_of(owner))
        .where(UserSessionRow.expires_ms > now_ms)
        .where(UserSessionRow.last_seen_ms > now_ms - IDLE_MS)
        .order_by(UserSessionRow.last_seen_ms.desc(), UserSessionRow.id)
    )
    return session.scalars(query).all()


def count_sessions(session: Session, now_ms: int) -> dict[int, int]:
    query = (
        select(UserSessionRow.user_id, func.count())
        .where(UserSessionRow.user_id.is_not(None))
        .where(UserSessionRow.expires_ms > now_ms)
        .where(UserSessionRow.last_seen_ms > now_ms - IDLE_MS)
        .group_by(UserSessionRow.user_id)
    )
    return {user_id: number for user_id, number in session.execute(query).all() if user_id is not None}


def end_sessions(session: Session, user_id: int, but: str | None = None) -> None:
    query = delete(UserSessionRow).where(UserSessionRow.user_id == user_id)
    session.execute(query if but is None else query.where(UserSessionRow.id != but))


def end_session(session: Session, owner: SessionOwner, session_id: str) -> bool:
    query = delete(UserSessionRow).where(_is_of(owner)).where(UserSessionRow.id == session_id)
    return cast("CursorResult[Any]", session.execute(query)).rowcount > 0


def end_session_by_secret(session: Session, secret: str) -> None:
    session.execute(delete(UserSessionRow).where(UserSessionRow.secret_hash == hash_secret(secret)))


def _forget_over(session: Session, now_ms: int) -> None:
    over = or_(UserSessionRow.expires_ms <= now_ms, UserSessionRow.last_seen_ms <= now_ms - IDLE_MS)
    session.execute(delete(UserSessionRow).where(over))


def _is_of(owner: SessionOwner) -> ColumnElement[bool]:
    if owner.user_id is not None:
        return UserSessionRow.user_id == owner.user_id
    if owner.token_id is not None:
        return UserSessionRow.token_id == owner.token_id
    return UserSessionRow.file_token == owner.file_token


def _keep_newest(session: Session, owner: SessionOwner) -> None:
    query = (
        select(UserSessionRow.id)
        .where(_is_of(owner))
        .order_by(UserSessionRow.last_seen_ms.desc())
        .offset(MOST_SESSIONS - 1)
    )
    surplus = session.scalars(query).all()
    if surplus:
        session.execute(delete(UserSessionRow).where(UserSessionRow.id.in_(surplus)))


# Tokens ---------------------------------------------------------------------------------------------------------------


def list_tokens(session: Session) -> Sequence[ApiTokenRow]:
    return session.scalars(select(ApiTokenRow)).all()


def add_token(session: Session, row: ApiTokenRow) -> None:
    session.add(row)


def delete_token(session: Session, *, id: str | None = None, name: str | None = None) -> str | None:
    """Delete the one of an id or name with its sessions; its name, None when there was none."""
    condition = ApiTokenRow.id == id if id is not None else ApiTokenRow.name == name
    row = session.scalars(select(ApiTokenRow).where(condition)).one_or_none()
    if row is None:
        return None
    session.execute(delete(UserSessionRow).where(UserSessionRow.token_id == row.id))
    session.delete(row)
    return row.name


# Bearers of secrets, asked at each request ----------------------------------------------------------------------------

_TOKEN_COLUMNS = (
    ApiTokenRow.id.label("token_id"),
    ApiTokenRow.name.label("token_name"),
    ApiTokenRow.role.label("token_role"),
    ApiTokenRow.scopes.label("token_scopes"),
    ApiTokenRow.jobs.label("token_jobs"),
    ApiTokenRow.last_used_ms.label("token_used_ms"),
    ApiTokenRow.expires_ms.label("token_expires_ms"),
)
_BY_TOKEN = select(*_TOKEN_COLUMNS).where(ApiTokenRow.token_hash == bindparam("hash"))
_BY_SESSION = (
    select(
        UserSessionRow.id,
        UserSessionRow.last_seen_ms,
        UserSessionRow.expires_ms,
        UserSessionRow.file_token,
        UserRow.id.label("user_id"),
        UserRow.name.label("user_name"),
        UserRow.role.label("user_role"),
        UserRow.disabled.label("user_disabled"),
        *_TOKEN_COLUMNS,
    )
    .outerjoin(UserRow, UserRow.id == UserSessionRow.user_id)
    .outerjoin(ApiTokenRow, ApiTokenRow.id == UserSessionRow.token_id)
    .where(UserSessionRow.secret_hash == bindparam("hash"))
)
_BY_USER = select(UserRow.id, UserRow.name, UserRow.role, UserRow.disabled).where(UserRow.id == bindparam("id"))

Bearer = Row[*tuple[Any, ...]]


def bearer_of_token(connection: Connection, token_hash: str) -> Bearer | None:
    """The columns `token_...`."""
    return connection.execute(_BY_TOKEN, {"hash": token_hash}).first()


def bearer_of_user(connection: Connection, user_id: int) -> Bearer | None:
    """Id, name, role, and whether the user is disabled."""
    return connection.execute(_BY_USER, {"id": user_id}).first()


def bearer_of_session(connection: Connection, secret_hash: str) -> Bearer | None:
    """The session, with the columns `user_...` or `token_...` of whose it is."""
    return connection.execute(_BY_SESSION, {"hash": secret_hash}).first()


def touch_token(connection: Connection, token_id: str, now_ms: int) -> None:
    connection.execute(update(ApiTokenRow).where(ApiTokenRow.id == token_id).values(last_used_ms=now_ms))


def touch_session(connection: Connection, session_id: str, user_id: int | None, now_ms: int) -> None:
    connection.execute(update(UserSessionRow).where(UserSessionRow.id == session_id).values(last_seen_ms=now_ms))
    if user_id is not None:
        connection.execute(update(UserRow).where(UserRow.id == user_id).values(last_seen_ms=now_ms))


# Lock-outs ------------------------------------------------------------------------------------------------------------


def read_lockout(session: Session, key: str) -> Lockout:
    """The lockout of a key; its row is locked until the transaction ends."""
    row = session.scalars(
        select(LockoutRow).where(LockoutRow.key_hash == hash_secret(key)).with_for_update()
    ).one_or_none()
    if row is None:
        return Lockout()
    return Lockout(failures=row.failures, last_failure_ms=row.last_failure_ms, locked_until_ms=row.locked_until_ms)


def write_lockout(session: Session, key: str, name: str, state: Lockout) -> None:
    """Write the lockout of a key, and delete expired ones."""
    session.execute(delete(LockoutRow).where(LockoutRow.last_failure_ms < state.last_failure_ms - FORGET_MS))
    session.merge(
        LockoutRow(
            key_hash=hash_secret(key),
            name_hash=hash_secret(name_key(name)),
            failures=state.failures,
            last_failure_ms=state.last_failure_ms,
            locked_until_ms=state.locked_until_ms,
        )
    )


def clear_lockout(session: Session, key: str) -> None:
    session.execute(delete(LockoutRow).where(LockoutRow.key_hash == hash_secret(key)))


def clear_lockouts_of(session: Session, name: str) -> None:
    session.execute(delete(LockoutRow).where(LockoutRow.name_hash == hash_secret(name_key(name))))


def read_locks(session: Session) -> dict[str, int]:
    """Ends of lock-outs by the hash of their keys."""
    query = select(LockoutRow.key_hash, LockoutRow.locked_until_ms).where(LockoutRow.locked_until_ms > 0)
    return {row.key_hash: row.locked_until_ms for row in session.execute(query)}


# The audit log --------------------------------------------------------------------------------------------------------


def find_entries(
    session: Session, start_ms: int, end_ms: int, actor: str, action: str, before: int | None, limit: int
) -> Sequence[AuditRow]:
    query = select(AuditRow).where(AuditRow.at_ms >= start_ms).where(AuditRow.at_ms <= end_ms)
    if actor:
        query = query.where(AuditRow.actor == actor)
    if action:
        query = query.where(
            (AuditRow.action == action) | AuditRow.action.startswith(f"{action.rstrip('.')}.", autoescape=True)
        )
    if before is not None:
        query = query.where(AuditRow.id < before)
    return session.scalars(query.order_by(AuditRow.id.desc()).limit(limit)).all()


def add_entry(session: Session, row: AuditRow) -> None:
    session.add(row)


def forget_entries(session: Session, before_ms: int) -> None:
    session.execute(delete(AuditRow).where(AuditRow.at_ms < before_ms))
