"""Who bears a secret that the database keeps the hash of: one query for each request, and nothing is remembered.

So whatever ends a session or a token holds from the next request on, whoever did it: this server, another one on the
same database, or the command line. From worker threads only.
"""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.engine import Connection, Row
from sqlalchemy.exc import SQLAlchemyError

from loadwatch_backend.access.principal import Principal, PrincipalKind, Role, Scope, principal_with_role
from loadwatch_backend.access.tables import ApiTokenRow, UserRow, UserSessionRow
from loadwatch_backend.access.tokens.tokens import TokenRecord, principal_of
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.kit.errors import UnavailableError
from loadwatch_backend.store.relational import Relational

IDLE_MS = 12 * 3600_000
"""A session that nobody uses ends after this."""
TOUCH_MS = 60_000
"""How exactly last uses are known; one write a minute is cheap."""

_TOKEN_COLUMNS = (
    ApiTokenRow.id.label("token_id"),
    ApiTokenRow.name.label("token_name"),
    ApiTokenRow.role.label("token_role"),
    ApiTokenRow.scopes.label("token_scopes"),
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
                row = connection.execute(_BY_TOKEN, {"hash": token_hash}).first()
            if row is None or _is_over(row.token_expires_ms, now_ms):
                return None
            self._touch_token(row, now_ms)
        except SQLAlchemyError as error:
            raise _unavailable(error) from error
        return token_principal(row, None)

    def by_user(self, user_id: int) -> Principal | None:
        """A user whom a proxy has signed in; None when they are disabled or deleted.

        Raises:
            AccessUnavailableError: the database does not answer.
        """
        try:
            with self._relational.connect() as connection:
                row = connection.execute(_BY_USER, {"id": user_id}).first()
        except SQLAlchemyError as error:
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
                row = connection.execute(_BY_SESSION, {"hash": secret_hash}).first()
            if row is None or row.expires_ms <= now_ms or now_ms - row.last_seen_ms >= IDLE_MS:
                return None
            if row.user_disabled or (row.token_id is not None and _is_over(row.token_expires_ms, now_ms)):
                return None
            if use:
                self._touch_session(row, now_ms)
        except SQLAlchemyError as error:
            raise _unavailable(error) from error
        if row.file_token is not None:
            return next((principal_of(one, row.id) for one in file_tokens() if one.sha256 == row.file_token), None)
        if row.user_id is None:
            return token_principal(row, row.id)
        return user_principal(row.user_id, row.user_name, row.user_role, row.id)

    # A write that fails must not keep anybody out: what is lost is a minute of "last used".

    def _touch_token(self, row: "Row[*tuple[Any, ...]]", now_ms: int) -> None:
        if _is_due(row.token_used_ms, now_ms):
            statement = update(ApiTokenRow).where(ApiTokenRow.id == row.token_id).values(last_used_ms=now_ms)
            self._write(lambda connection: connection.execute(statement))

    def _touch_session(self, row: "Row[*tuple[Any, ...]]", now_ms: int) -> None:
        if not _is_due(row.last_seen_ms, now_ms):
            return
        seen = update(UserSessionRow).where(UserSessionRow.id == row.id).values(last_seen_ms=now_ms)
        user = update(UserRow).where(UserRow.id == row.user_id).values(last_seen_ms=now_ms)

        def write(connection: Connection) -> None:
            connection.execute(seen)
            if row.user_id is not None:
                connection.execute(user)

        self._write(write)

    def _write(self, work: Callable[[Connection], Any]) -> None:
        try:
            with self._relational.connect() as connection:
                work(connection)
        except SQLAlchemyError:
            return


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


def _unavailable(error: SQLAlchemyError) -> AccessUnavailableError:
    return AccessUnavailableError(
        f"The database of users and tokens does not answer ({type(error).__name__}); try again in a few seconds."
    )
