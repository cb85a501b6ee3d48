"""Where users, sessions and lock-outs meet the database. Every function works inside the caller's transaction."""

from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import CursorResult, delete, func, or_, select
from sqlalchemy.orm import Session

from loadwatch_backend.access.credentials import Visit, hash_secret, new_id, new_secret
from loadwatch_backend.access.lockout import FORGET_MS, Lockout
from loadwatch_backend.access.lookup import IDLE_MS
from loadwatch_backend.access.principal import Role
from loadwatch_backend.access.tables import NAME_LENGTH, TEXT_LENGTH, LockoutRow, UserRow, UserSessionRow

LONGEST_MS = 7 * 86_400_000
"""A session ends after this, used or not."""
MOST_SESSIONS = 50
"""Sessions of one user; the one unused for longest ends first."""


def name_key(name: str) -> str:
    """The name as it is compared."""
    return name.casefold()


# Users ----------------------------------------------------------------------------------------------------------------


def any_user(session: Session) -> bool:
    """Whether there is a user."""
    return session.scalars(select(UserRow.id).limit(1)).first() is not None


def find_user(session: Session, user_id: int) -> UserRow | None:
    """A user by id."""
    return session.get(UserRow, user_id)


def find_user_by_name(session: Session, name: str) -> UserRow | None:
    """A user by name, whatever the case."""
    return session.scalars(select(UserRow).where(UserRow.name_key == name_key(name))).first()


def find_user_by_external_id(session: Session, external_id: str) -> UserRow | None:
    """A user of the provider."""
    return session.scalars(select(UserRow).where(UserRow.external_id == external_id)).first()


def list_users(session: Session) -> Sequence[UserRow]:
    """All users by name."""
    return session.scalars(select(UserRow).order_by(UserRow.name_key)).all()


def lock_administrators(session: Session) -> None:
    """Let nobody else change administrators until the transaction ends; SQLite's writers take turns anyway."""
    query = select(UserRow.id).where(UserRow.role == Role.ADMIN.value).order_by(UserRow.id).with_for_update()
    session.execute(query).all()


def count_administrators(session: Session) -> int:
    """Administrators who can sign in. Call it after the change has been flushed."""
    query = (
        select(func.count())
        .select_from(UserRow)
        .where(UserRow.role == Role.ADMIN.value)
        .where(UserRow.disabled.is_(False))
    )
    return session.scalar(query) or 0


# Sessions -------------------------------------------------------------------------------------------------------------


def open_session(
    session: Session,
    *,
    user_id: int | None,
    token_id: str | None,
    visit: Visit,
    now_ms: int,
    end_ms: int | None = None,
) -> tuple[str, str]:
    """A new session's id and its secret for the cookie; sessions that are over are cleared away."""
    _forget_over(session, now_ms)
    if user_id is not None:
        _keep_newest(session, user_id)
    secret, session_id = new_secret(), new_id()
    longest = now_ms + LONGEST_MS
    session.add(
        UserSessionRow(
            id=session_id,
            secret_hash=hash_secret(secret),
            user_id=user_id,
            token_id=token_id,
            created_ms=now_ms,
            last_seen_ms=now_ms,
            expires_ms=longest if end_ms is None else min(longest, end_ms),
            address=visit.address[:NAME_LENGTH],
            browser=visit.browser[:TEXT_LENGTH],
        )
    )
    session.flush()
    return session_id, secret


def list_sessions(session: Session, user_id: int, now_ms: int) -> Sequence[UserSessionRow]:
    """A user's sessions that hold, last used first."""
    query = (
        select(UserSessionRow)
        .where(UserSessionRow.user_id == user_id)
        .where(UserSessionRow.expires_ms > now_ms)
        .where(UserSessionRow.last_seen_ms > now_ms - IDLE_MS)
        .order_by(UserSessionRow.last_seen_ms.desc(), UserSessionRow.id)
    )
    return session.scalars(query).all()


def count_sessions(session: Session, now_ms: int) -> dict[int, int]:
    """Numbers of sessions that hold, by user."""
    query = (
        select(UserSessionRow.user_id, func.count())
        .where(UserSessionRow.user_id.is_not(None))
        .where(UserSessionRow.expires_ms > now_ms)
        .where(UserSessionRow.last_seen_ms > now_ms - IDLE_MS)
        .group_by(UserSessionRow.user_id)
    )
    return {user_id: number for user_id, number in session.execute(query).all() if user_id is not None}


def end_sessions(session: Session, user_id: int, but: str | None = None) -> None:
    """End all of a user's sessions, or all but one."""
    query = delete(UserSessionRow).where(UserSessionRow.user_id == user_id)
    session.execute(query if but is None else query.where(UserSessionRow.id != but))


def end_session(session: Session, user_id: int, session_id: str) -> bool:
    """End one of a user's sessions; whether there was one."""
    query = delete(UserSessionRow).where(UserSessionRow.user_id == user_id).where(UserSessionRow.id == session_id)
    return cast("CursorResult[Any]", session.execute(query)).rowcount > 0


def end_session_by_secret(session: Session, secret: str) -> None:
    """End the session of a cookie, if there is one."""
    session.execute(delete(UserSessionRow).where(UserSessionRow.secret_hash == hash_secret(secret)))


def _forget_over(session: Session, now_ms: int) -> None:
    over = or_(UserSessionRow.expires_ms <= now_ms, UserSessionRow.last_seen_ms <= now_ms - IDLE_MS)
    session.execute(delete(UserSessionRow).where(over))


def _keep_newest(session: Session, user_id: int) -> None:
    query = (
        select(UserSessionRow.id)
        .where(UserSessionRow.user_id == user_id)
        .order_by(UserSessionRow.last_seen_ms.desc())
        .offset(MOST_SESSIONS - 1)
    )
    surplus = session.scalars(query).all()
    if surplus:
        session.execute(delete(UserSessionRow).where(UserSessionRow.id.in_(surplus)))


# Lock-outs ------------------------------------------------------------------------------------------------------------


def read_lockout(session: Session, key: str) -> Lockout:
    """Wrong passwords so far under a key."""
    row = session.scalars(
        select(LockoutRow).where(LockoutRow.key_hash == hash_secret(key)).with_for_update()
    ).one_or_none()
    if row is None:
        return Lockout()
    return Lockout(failures=row.failures, last_failure_ms=row.last_failure_ms, locked_until_ms=row.locked_until_ms)


def write_lockout(session: Session, key: str, name: str, state: Lockout) -> None:
    """Keep it, and forget those that are over."""
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
    """The password was right."""
    session.execute(delete(LockoutRow).where(LockoutRow.key_hash == hash_secret(key)))


def clear_lockouts_of(session: Session, name: str) -> None:
    """An administrator lets the name in again, from everywhere."""
    session.execute(delete(LockoutRow).where(LockoutRow.name_hash == hash_secret(name_key(name))))


def read_locks(session: Session) -> dict[str, int]:
    """Ends of lock-outs by the hash of their keys."""
    query = select(LockoutRow.key_hash, LockoutRow.locked_until_ms).where(LockoutRow.locked_until_ms > 0)
    return {row.key_hash: row.locked_until_ms for row in session.execute(query)}
