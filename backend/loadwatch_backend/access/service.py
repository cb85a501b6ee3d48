"""Decides who is asking: by a token, a session, or what a proxy claims; the first that knows the asker wins.

What needs no database is decided at once: an open server, and tokens of the file. The rest is one query in a worker
thread (`identify_stored`).
"""

from dataclasses import dataclass, field, replace

import structlog

from loadwatch_backend.access.audit import AuditEvent, AuditLog
from loadwatch_backend.access.credentials import Cookie, CookieKind, Credentials, Visit, bearer_of
from loadwatch_backend.access.limits import FailureLimit, TooManyAttemptsError
from loadwatch_backend.access.lookup import AccessUnavailableError, Lookup
from loadwatch_backend.access.principal import LOCAL, Access, Principal, Scope
from loadwatch_backend.access.repository import any_administrator, end_session_by_secret, open_session, owner_of
from loadwatch_backend.access.schemas import LoginWays, SessionOut, principal_out
from loadwatch_backend.access.sign_in.proxy_users import ProxyUsers
from loadwatch_backend.access.token_file import TokenFile
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.errors import UnauthorizedError

SESSION_SECONDS = 7 * 86_400
"""How long browsers keep the cookie of a session; the server ends it earlier when nobody uses it."""
TOKENS_A_MINUTE = 30

logger = structlog.get_logger(__name__)


class WrongTokenError(UnauthorizedError, code="wrong-token", title="Wrong token"):
    """The token offered for a session is not one that may sign in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    session: SessionOut
    principal: Principal
    cookies: tuple[Cookie, ...] = ()


@dataclass(slots=True, kw_only=True)
class AccessCounts:
    tokens_refused_total: int = 0
    logins_failed_total: int = 0
    headers_ignored_total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessParts:
    access: Access
    relational: Relational
    sealing_key: bytes
    clock: Clock
    audit: AuditLog
    tokens: TokenFile | None = None
    proxy: ProxyUsers | None = None
    oidc_label: str | None = None
    attempts: FailureLimit = field(default_factory=lambda: FailureLimit(most=20, seconds=300))


class AccessService:
    """Identifies askers, and opens and ends sessions made from tokens."""

    def __init__(self, parts: AccessParts) -> None:
        self.access = parts.access
        self.counts = AccessCounts()
        self.attempts = parts.attempts
        self._parts = parts
        self._lookup = Lookup(parts.relational, parts.clock, parts.tokens)
        self._refused = FailureLimit(most=TOKENS_A_MINUTE, seconds=60)
        self._has_administrator = False

    def session(self, principal: Principal | None) -> SessionOut:
        users = self.access is Access.USERS
        return SessionOut(
            access=self.access,
            principal=principal_out(principal),
            ways=LoginWays(
                token=self.access is not Access.OPEN, password=users, oidc=self._parts.oidc_label if users else None
            ),
            setup=users and not self._any_administrator(),
        )

    def identify_at_once(self, credentials: Credentials) -> Principal | None:
        """Who brought the credentials, as far as it can be told without the database."""
        return LOCAL if self.access is Access.OPEN else self._by_token(credentials, file_only=True)

    def needs_lookup(self, credentials: Credentials) -> bool:
        if self.access is Access.OPEN:
            return False
        return bool(bearer_of(credentials.authorization) or credentials.session or credentials.claim)

    def identify_stored(self, credentials: Credentials) -> Principal | None:
        """Who brought the credentials, by the database; None for a stranger. From worker threads only.

        Raises:
            AccessUnavailableError: the database does not answer.
            TooManyAttemptsError: the address has sent too many tokens that nobody knows.
            ProxyUserError: the proxy's user may not come in.
        """
        principal = self._by_token(credentials) or self._by_session(credentials) or self._by_proxy(credentials)
        if principal is None and bearer_of(credentials.authorization):
            self._note_refused(credentials.address)
        return principal

    def holds(self, credentials: Credentials, principal: Principal) -> bool:
        """Whether who was identified by the credentials still is, and with the same rights. From worker threads only.

        For what lasts longer than a request; it is no use of the session. A proxy's claim is not read again: it is as
        old as the request. While the database does not answer, nobody's rights can have changed there.
        """
        if self.access is Access.OPEN:
            return True
        try:
            found = self._by_token(credentials) or self._by_session(credentials, use=False)
            if found is None and principal.user_id is not None and principal.session_id is None:
                found = self._lookup.by_user(principal.user_id)
        except AccessUnavailableError:
            return True
        return found == principal

    def open_session(self, token: str, visit: Visit, before: str | None) -> SignedIn:
        """Sign in with a token that may read; no cookie where access is open. `before` is the cookie so far.

        Raises:
            WrongTokenError: the token is unknown, or may not sign in.
            TooManyAttemptsError: the address tried too many.
        """
        if self.access is Access.OPEN:
            return SignedIn(session=self.session(LOCAL), principal=LOCAL)
        self._parts.attempts.attempt(visit.address, "attempts to sign in")
        try:
            signed_in = self._sign_in_with(token, visit)
        except WrongTokenError:
            self.counts.logins_failed_total += 1
            self._parts.audit.write_failed_sign_in(WrongTokenError.code, visit.address)
            raise
        self._parts.attempts.forgive(visit.address)
        self.end_session(before)
        self._parts.audit.write(
            AuditEvent(
                action="session.login", actor=signed_in.principal, address=visit.address, detail={"way": "token"}
            )
        )
        return signed_in

    def end_session(self, cookie: str | None) -> None:
        if cookie:
            with self._parts.relational.transaction() as session:
                end_session_by_secret(session, cookie)

    def note_ignored_header(self, peer: str) -> None:
        """Count a user header that no trusted proxy sent; the 1st, 10th, 100th and each 1000th is logged."""
        self.counts.headers_ignored_total += 1
        if self.counts.headers_ignored_total in (1, 10, 100) or self.counts.headers_ignored_total % 1_000 == 0:
            logger.warning(
                "user header ignored: its sender is not in LOADWATCH_PROXY_NETWORKS",
                sender=peer,
                times=self.counts.headers_ignored_total,
            )

    def _by_token(self, credentials: Credentials, *, file_only: bool = False) -> Principal | None:
        token = bearer_of(credentials.authorization)
        return None if token is None else self._lookup.by_token(token, file_only=file_only)

    def _by_session(self, credentials: Credentials, *, use: bool = True) -> Principal | None:
        if not credentials.session:
            return None
        principal = self._lookup.by_session(credentials.session, use=use)
        # Users sign in only where users are asked for; sessions from before a change of the setting rest.
        return None if principal and principal.user_id is not None and self.access is not Access.USERS else principal

    def _by_proxy(self, credentials: Credentials) -> Principal | None:
        if credentials.claim is None or self._parts.proxy is None:
            return None
        return self._parts.proxy.identify(credentials.claim)

    def _sign_in_with(self, token: str, visit: Visit) -> SignedIn:
        principal = self._lookup.by_token(token)
        owner = None if principal is None else owner_of(principal)
        if principal is None or owner is None:
            raise WrongTokenError(
                "This token is not known here. `loadwatch token list` shows the names of those known."
            )
        if not principal.may(Scope.READ):
            raise WrongTokenError(
                f"The token {principal.name!r} cannot sign in to the page: it lacks the scope {Scope.READ.value!r}."
            )
        with self._parts.relational.transaction() as session:
            session_id, secret = open_session(session, owner, visit, now_ms=self._parts.clock())
        principal = replace(principal, session_id=session_id)
        cookie = Cookie(kind=CookieKind.SESSION, value=secret, seconds=SESSION_SECONDS)
        return SignedIn(session=self.session(principal), principal=principal, cookies=(cookie,))

    def _note_refused(self, address: str) -> None:
        """Count a token that nobody knows. A known one is let in however many unknown ones came from its address."""
        self.counts.tokens_refused_total += 1
        self._parts.audit.write(
            AuditEvent(action="token.use", actor=None, outcome=UnauthorizedError.code, address=address)
        )
        wait = self._refused.wait_after(address)
        if wait:
            raise TooManyAttemptsError(
                f"Too many requests with unknown tokens come from your address; try again in {wait} s.",
                retry_after_seconds=wait,
            )

    def _any_administrator(self) -> bool:
        """Whether there is, or was since the start, an administrator: the link that makes one is void from then on."""
        if not self._has_administrator:
            with self._parts.relational.transaction() as session:
                self._has_administrator = any_administrator(session)
        return self._has_administrator
