"""Rows as they go out."""

from collections.abc import Sequence

from loadwatch_backend.access.principal import Role, RoleSource
from loadwatch_backend.access.repository import IDLE_MS
from loadwatch_backend.access.schemas import UserOut, UserSessionList, UserSessionOut, UserSource
from loadwatch_backend.access.tables import UserRow, UserSessionRow


def session_list(rows: Sequence[UserSessionRow], user: str, current: str | None) -> UserSessionList:
    """Sessions of one user; `expires_ms` is when the session ends if nobody uses it."""
    return UserSessionList(
        sessions=[
            UserSessionOut(
                id=row.id,
                user=user,
                created_ms=row.created_ms,
                last_seen_ms=row.last_seen_ms,
                expires_ms=min(row.expires_ms, row.last_seen_ms + IDLE_MS),
                address=row.address,
                browser=row.browser,
                current=row.id == current,
            )
            for row in rows
        ]
    )


def user_out(row: UserRow, *, locked_until_ms: int | None, sessions: int) -> UserOut:
    """A user."""
    return UserOut(
        id=row.id,
        name=row.name,
        full_name=row.full_name,
        role=Role(row.role),
        role_source=RoleSource(row.role_source),
        source=UserSource(row.source),
        disabled=row.disabled,
        locked_until_ms=locked_until_ms,
        created_ms=row.created_ms,
        last_seen_ms=row.last_seen_ms,
        sessions=sessions,
    )
