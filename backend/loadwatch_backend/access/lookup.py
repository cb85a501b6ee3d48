"""Who bears a secret: by the token file, then by the database in one query for each request; nothing is remembered.

So whatever ends a session or a token holds from the next request on, whoever did it: this server, another one on the
same database, or the command line. From worker threads only.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any

from loadwatch_backend.access.principal import Principal, PrincipalKind, Role, Scope, principal_with_role
from loadwatch_backend.access.repository import (
    IDLE_MS,
    bearer_of_session,
    bearer_of_token,
    bearer_of_user,
    touch_session,
    touch_token,
)
from loadwatch_backend.access.token_file import TokenFile, hash_token, match_token, principal_of
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import DatabaseError
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.errors import UnavailableError

TOUCH_MS = 60_000
"""How exactly last uses are known; one write a minute is cheap."""


class AccessUnavailableError(UnavailableError, code="access-unavailable"):
    """The database that knows who may do what does not answer."""


class Lookup:
    def __init__(self, relational: Relational, clock: Clock, file: TokenFile | None = None) -> None:
        self._relational = relational
        self._clock = clock
        self._file = file

    def by_token(self, token: str, *, file_only: bool = False) -> Principal | None:
        """Who bears the token, by the file or else by the database; None when it is unknown or over.

        With `file_only` from any thread: the database is not asked.

        Raises:
            AccessUnavailableError: the database does not answer.
        """
        token_hash, now_ms = hash_token(token), self._clock()
        found = self._by_file(token_hash, None)
        if found is not None or file_only:
            return found
        try:
            with self._relational.connect() as connection:
                row = bearer_of_token(connection, token_hash)
            if row is None or _is_over(row.token_expires_ms, now_ms):
                return None
            if _is_due(row.token_used_ms, now_ms):
                # A write that fails must not keep anybody out: what is lost is a minute of "last used".
                with suppress(DatabaseError), self._relational.connect() as connection:
                    touch_token(connection, row.token_id, now_ms)
        except DatabaseError as error:
            raise _unavailable(error) from error
        return token_principal(row, None)

    def by_user(self, user_id: int) -> Principal | None:
        """A user whom a proxy has signed in; None when they are disabled or deleted.

        Raises:
            AccessUnavailableError: the database does not answer.
        """
        try:
            with self._relational.connect() as connection:
                row = bearer_of_user(connection, user_id)
        except DatabaseError as error:
            raise _unavailable(error) from error
        return None if row is None or row.disabled else user_principal(row.id, row.name, row.role, None)

    def by_session(self, secret: str, *, use: bool = True) -> Principal | None:
        """Who is signed in; None when the session is unknown or over, the user is disabled, or its token is gone.

        `use` False does not prolong the session.

        Raises:
            AccessUnavailableError: the database does not answer.
        """
        now_ms = self._clock()
        try:
            with self._relational.connect() as connection:
                row = bearer_of_session(connection, hash_token(secret))
            if row is None or row.expires_ms <= now_ms or now_ms - row.last_seen_ms >= IDLE_MS:
                return None
            if row.user_disabled or (row.token_id is not None and _is_over(row.token_expires_ms, now_ms)):
                return None
            if use and _is_due(row.last_seen_ms, now_ms):
                with suppress(DatabaseError), self._relational.connect() as connection:
                    touch_session(connection, row.id, row.user_id, now_ms)
        except DatabaseError as error:
            raise _unavailable(error) from error
        if row.file_token is not None:
            return self._by_file(row.file_token, row.id)
        if row.user_id is None:
            return token_principal(row, row.id)
        return user_principal(row.user_id, row.user_name, row.user_role, row.id)

    def _by_file(self, token_hash: str, session_id: str | None) -> Principal | None:
        record = match_token(() if self._file is None else self._file.usable(), token_hash)
        return None if record is None else principal_of(record, session_id)


def token_principal(row: Any, session_id: str | None) -> Principal:
    return Principal(
        name=row.token_name,
        role=None if row.token_role is None else Role(row.token_role),
        scopes=frozenset(Scope(scope) for scope in row.token_scopes.split()),
        kind=PrincipalKind.TOKEN,
        token_id=row.token_id,
        session_id=session_id,
        jobs=frozenset(row.token_jobs.split("\n") if row.token_jobs else ()),
    )


def user_principal(user_id: int, name: str, role: str, session_id: str | None) -> Principal:
    return replace(principal_with_role(name, Role(role), PrincipalKind.USER), user_id=user_id, session_id=session_id)


def _is_over(expires_ms: int | None, now_ms: int) -> bool:
    return expires_ms is not None and expires_ms <= now_ms


def _is_due(last_ms: int | None, now_ms: int) -> bool:
    """Whether to write the last use; also if it lies in the future, as the clock was set back."""
    return last_ms is None or abs(now_ms - last_ms) >= TOUCH_MS


def _unavailable(error: DatabaseError) -> AccessUnavailableError:
    return AccessUnavailableError(
        f"The database of users and tokens does not answer ({type(error).__name__}); try again in a few seconds."
    )
