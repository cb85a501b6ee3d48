"""Who bears a secret that the database keeps the hash of: one query for each request, and nothing is remembered.

So whatever ends a session or a token holds from the next request on, whoever did it: this server, another one on the
same database, or the command line. From worker threads only.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
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
from loadwatch_backend.access.tokens.tokens import TokenRecord, principal_of
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.kit.errors import UnavailableError
from loadwatch_backend.store.outages import DatabaseError
from loadwatch_backend.store.relational import Relational

TOUCH_MS = 60_000
"""How exactly last uses are known; one write a minute is cheap."""


class AccessUnavailableError(UnavailableError):
    """The database that knows who may do what does not answer."""

    code = "access-unavailable"


class Lookup:
    """Finds the bearers of secrets by their hashes."""

    def __init__(self, relational: Relational, clock: Clock) -> None:
        self._relational = relational
        self._clock = clock

    def by_token(self, token_hash: str) -> Principal | None:
        """Who bears the token; None when it is unknown or over.

        Raises:
            AccessUnavailableError: the database does not answer.
        """
        now_ms = self._clock()
        try:
            with self._relational.connect() as connection:
                row = bearer_of_token(connection, token_hash)
            if row is None or _is_over(row.token_expires_ms, now_ms):
                return None
            self._touch_token(row, now_ms)
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

    def by_session(
        self, secret_hash: str, file_tokens: Callable[[], Sequence[TokenRecord]], *, use: bool = True
    ) -> Principal | None:
        """Who is signed in; None when the session is unknown or over, the user is disabled, or its token is gone.

        `file_tokens` are those of the token file; `use` False looks without prolonging the session.

        Raises:
            AccessUnavailableError: the database does not answer.
        """
        now_ms = self._clock()
        try:
            with self._relational.connect() as connection:
                row = bearer_of_session(connection, secret_hash)
            if row is None or row.expires_ms <= now_ms or now_ms - row.last_seen_ms >= IDLE_MS:
                return None
            if row.user_disabled or (row.token_id is not None and _is_over(row.token_expires_ms, now_ms)):
                return None
            if use:
                self._touch_session(row, now_ms)
        except DatabaseError as error:
            raise _unavailable(error) from error
        if row.file_token is not None:
            return next((principal_of(one, row.id) for one in file_tokens() if one.sha256 == row.file_token), None)
        if row.user_id is None:
            return token_principal(row, row.id)
        return user_principal(row.user_id, row.user_name, row.user_role, row.id)

    # A write that fails must not keep anybody out: what is lost is a minute of "last used".

    def _touch_token(self, row: Any, now_ms: int) -> None:
        if _is_due(row.token_used_ms, now_ms):
            with suppress(DatabaseError), self._relational.connect() as connection:
                touch_token(connection, row.token_id, now_ms)

    def _touch_session(self, row: Any, now_ms: int) -> None:
        if _is_due(row.last_seen_ms, now_ms):
            with suppress(DatabaseError), self._relational.connect() as connection:
                touch_session(connection, row.id, row.user_id, now_ms)


def token_principal(row: Any, session_id: str | None) -> Principal:
    """Who bears a token of the database."""
    return Principal(
        name=row.token_name,
        role=None if row.token_role is None else Role(row.token_role),
        scopes=frozenset(Scope(scope) for scope in row.token_scopes.split()),
        kind=PrincipalKind.TOKEN,
        token_id=row.token_id,
        session_id=session_id,
    )


def user_principal(user_id: int, name: str, role: str, session_id: str | None) -> Principal:
    """A user who is signed in."""
    whole = principal_with_role(name, Role(role), PrincipalKind.USER)
    return Principal(
        name=whole.name, role=whole.role, scopes=whole.scopes, kind=whole.kind, user_id=user_id, session_id=session_id
    )


def _is_over(expires_ms: int | None, now_ms: int) -> bool:
    return expires_ms is not None and expires_ms <= now_ms


def _is_due(last_ms: int | None, now_ms: int) -> bool:
    """Also when the last use lies in the future: the clock was set back."""
    return last_ms is None or abs(now_ms - last_ms) >= TOUCH_MS


def _unavailable(error: DatabaseError) -> AccessUnavailableError:
    return AccessUnavailableError(
        f"The database of users and tokens does not answer ({type(error).__name__}); try again in a few seconds."
    )
