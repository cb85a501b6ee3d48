"""Decides who is asking: an ordered tuple of authenticators, the first that knows the asker wins.

Users with passwords or single sign-on become further authenticators; nothing behind `Principal` changes for them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from loadwatch_backend.access.principal import LOCAL, Access, Principal, Role
from loadwatch_backend.access.schemas import LoginWays, SessionOut, principal_out
from loadwatch_backend.access.sessions import sign_session, verify_session
from loadwatch_backend.access.tokens import TokenFile, TokenFileError, TokenRecord, match_token, principal_of
from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.kit.errors import UnauthorizedError

SESSION_COOKIE = "loadwatch_session"
SESSION_SECONDS = 12 * 3600

logger = structlog.get_logger(__name__)


class WrongTokenError(UnauthorizedError):
    """The token offered for a session is not one that may sign in."""

    code = "wrong-token"
    title = "Wrong token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a request brings along to say who it is from."""

    authorization: str | None
    session: str | None


Authenticator = Callable[[Credentials], Principal | None]


def bearer_of(authorization: str | None) -> str | None:
    """The token of an `Authorization: Bearer …` header."""
    scheme, _, token = (authorization or "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


class AccessService:
    """Identifies askers and opens sessions."""

    def __init__(self, *, tokens: TokenFile | None, session_key: bytes, clock: Clock) -> None:
        self.access = Access.OPEN if tokens is None else Access.TOKEN
        self._tokens = tokens
        self._session_key = session_key
        self._clock = clock
        self._broken = ""
        self._authenticators: tuple[Authenticator, ...] = (
            (self._anyone,) if tokens is None else (self._by_token, self._by_session)
        )

    def session(self, principal: Principal | None) -> SessionOut:
        """How one signs in here, and who is."""
        return SessionOut(
            access=self.access,
            principal=principal_out(principal),
            ways=LoginWays(token=self.access is not Access.OPEN, password=False, oidc=None),
            setup=False,
        )

    def identify(self, credentials: Credentials) -> Principal | None:
        """Who brought the credentials; None for a stranger."""
        for authenticate in self._authenticators:
            principal = authenticate(credentials)
            if principal is not None:
                return principal
        return None

    def open_session(self, token: str) -> tuple[Principal, str | None]:
        """The bearer of an administrator's token and the value of a cookie; no cookie where access is open.

        Raises:
            WrongTokenError: the token is unknown, or may not sign in.
        """
        if self.access is Access.OPEN:
            return LOCAL, None
        record = match_token(self._records(), token)
        if record is None:
            raise WrongTokenError(
                "This token is not known here. `loadwatch token list` shows the names of those known."
            )
        if record.role is not Role.ADMIN:
            raise WrongTokenError(f"The token {record.name!r} belongs to an agent and cannot sign in to the page.")
        return principal_of(record), sign_session(self._session_key, record, self._now_seconds() + SESSION_SECONDS)

    def _anyone(self, credentials: Credentials) -> Principal:
        del credentials
        return LOCAL

    def _by_token(self, credentials: Credentials) -> Principal | None:
        token = bearer_of(credentials.authorization)
        record = None if token is None else match_token(self._records(), token)
        return None if record is None else principal_of(record)

    def _by_session(self, credentials: Credentials) -> Principal | None:
        if not credentials.session:
            return None
        record = verify_session(self._session_key, credentials.session, self._records(), self._now_seconds())
        return None if record is None else principal_of(record)

    def _records(self) -> "list[TokenRecord]":
        """All tokens; none while the file cannot be read, so that a damaged file lets nobody in."""
        assert self._tokens is not None
        try:
            records = list(self._tokens.records())
        except TokenFileError as error:
            if str(error) != self._broken:
                self._broken = str(error)
                logger.error("token file unusable; every token is refused", reason=self._broken)
            return []
        self._broken = ""
        return records

    def _now_seconds(self) -> int:
        return self._clock() // 1000
