"""Signing in as a user, one's own password and one's own sessions; and the link that makes the first administrator.

The link's secret stands in the fragment, so that no server or proxy logs it; the database keeps its hash and an end.
Each start makes a new one and voids the one before, until there is an administrator, by the link or otherwise.
"""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from loadwatch_backend.access.audit import AuditEvent
from loadwatch_backend.access.credentials import Cookie, CookieKind, Visit, new_id, new_secret
from loadwatch_backend.access.limits import TooManyAttemptsError, count_failure, wait_left_ms
from loadwatch_backend.access.lookup import user_principal
from loadwatch_backend.access.principal import Access, Principal, Role, RoleSource
from loadwatch_backend.access.repository import (
    IDLE_MS,
    SessionOwner,
    any_administrator,
    clear_lockout,
    clear_lockouts_of,
    end_session,
    end_session_by_secret,
    end_sessions,
    find_user,
    find_user_by_name,
    keep_user,
    list_sessions,
    name_key,
    new_user,
    offer_setup,
    open_session,
    owner_of,
    read_lockout,
    take_setup,
    void_setup,
    write_lockout,
)
from loadwatch_backend.access.schemas import (
    PasswordChange,
    PasswordLogin,
    SessionOut,
    SetupIn,
    UserSessionList,
    UserSessionOut,
    UserSource,
)
from loadwatch_backend.access.service import SESSION_SECONDS, AccessParts, AccessService, SignedIn
from loadwatch_backend.access.sign_in.passwords import Passwords, check_strength
from loadwatch_backend.access.tables import UserRow, UserSessionRow
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.errors import ForbiddenError, NotFoundError, UnauthorizedError

VALID_MS = 24 * 3600_000


class SetupLinkError(ForbiddenError, code="setup-link", title="The link does not hold"):
    """The link is wrong, used or over."""


def begin_setup(relational: Relational, clock: Clock, secret: str | None = None) -> str | None:
    """A new link's secret (the one that is given, or a random one); None when there is an administrator already."""
    with relational.transaction() as session:
        void_setup(session)
        if any_administrator(session):
            return None
        chosen = secret or new_secret()
        offer_setup(session, chosen, clock() + VALID_MS)
        return chosen


def use_setup(session: Session, secret: str, now_ms: int) -> None:
    """Use the link up, inside the transaction that makes the user. Of two at once, one succeeds.

    An end further ahead than a link is valid was written by a clock that has been set back since; it holds.

    Raises:
        SetupLinkError: the link is wrong, used or over, or there is an administrator already.
    """
    if not take_setup(session, secret, now_ms) or any_administrator(session):
        raise SetupLinkError(
            "This link is wrong, used, or over. While there is no administrator, each start of the server logs a new "
            "one; `loadwatch user create --role admin --name NAME` makes an administrator too."
        )


def seal(key: bytes, purpose: str, document: Mapping[str, Any], end_ms: int) -> str:
    """The document as a cookie's value; one of another purpose is not taken for it."""
    text = json.dumps({**document, "end": end_ms}, separators=(",", ":"))
    body = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return f"{body}.{_signature(key, purpose, body)}"


def unseal(key: bytes, purpose: str, value: str, now_ms: int) -> dict[str, Any] | None:
    """The document; None when it is forged, of another purpose, or over."""
    body, _, signature = value.rpartition(".")
    if not body.isascii() or not signature.isascii():
        return None
    if not hmac.compare_digest(_signature(key, purpose, body), signature):
        return None
    document = cast("dict[str, Any]", json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))))
    return document if document.pop("end") > now_ms else None


def _signature(key: bytes, purpose: str, body: str) -> str:
    return hmac.new(key, f"{purpose}\n{body}".encode(), hashlib.sha256).hexdigest()


DEVICE_SECONDS = 180 * 86_400
DEVICE = "device"


class WrongPasswordError(UnauthorizedError, code="wrong-password", title="Wrong name or password"):
    """Name and password do not belong together; which of them is wrong is not said."""


class DisabledUserError(ForbiddenError, code="user-disabled", title="User disabled"):
    """The password is right, and the user is disabled."""


class NoPasswordsError(ForbiddenError, code="no-passwords", title="No passwords here"):
    """Users do not sign in here."""


class NoPasswordError(ForbiddenError, code="no-password", title="No password here"):
    """The asker is no user with a password."""


class SessionNotFoundError(NotFoundError, code="session-not-found"):
    """There is no session with this id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser:
    visit: Visit
    session: str | None = None
    device: str | None = None


class SignInService:
    def __init__(self, parts: AccessParts, gate: AccessService, passwords: Passwords) -> None:
        self._parts = parts
        self._gate = gate
        self._passwords = passwords
        # One reading and writing of a lock-out at a time, so that attempts at once are all counted.
        self._lockouts = threading.Lock()

    def setup(self, given: SetupIn, browser: Browser) -> SignedIn:
        """Make the first administrator and sign them in.

        Raises:
            TooManyAttemptsError: the address tried too often.
            WeakPasswordError: the password is too easy to guess.
            SetupLinkError: the link is wrong, used or over.
        """
        address = browser.visit.address
        self._parts.attempts.attempt(address, "attempts with a link")
        check_strength(given.password, given.name)
        hashed = self._passwords.hash(given.password)
        now_ms = self._parts.clock()
        with self._parts.relational.transaction() as session:
            use_setup(session, given.secret, now_ms)
            row = new_user(given.name, UserSource.PASSWORD, RoleSource.HAND, now_ms, seen=True)
            row.role, row.password_hash = Role.ADMIN.value, hashed
            user_id = keep_user(session, row)
        self._parts.attempts.forgive(address)
        return self.open(user_id, browser, "setup")

    def sign_in(self, given: PasswordLogin, browser: Browser) -> SignedIn:
        """Sign in with name and password.

        Raises:
            TooManyAttemptsError: the address tried too often, or the name is locked.
            WrongPasswordError: they do not belong together.
            DisabledUserError: they do, and the user is disabled.
            NoPasswordsError: the server asks for tokens only, or for nothing.
        """
        visit = browser.visit
        if self._parts.access is not Access.USERS:
            raise NoPasswordsError("Users do not sign in here: the server runs with LOADWATCH_ACCESS other than users.")
        self._parts.attempts.attempt(visit.address, "attempts to sign in")
        key = self._lockout_key(given.name, browser.device)
        try:
            row = self._checked(given.name, given.password, key)
            if row.disabled:
                raise DisabledUserError(f"The user {row.name!r} is disabled; ask an administrator.")
        except (WrongPasswordError, TooManyAttemptsError, DisabledUserError) as error:
            self._gate.counts.logins_failed_total += 1
            self._parts.audit.write_failed_sign_in(error.code, visit.address, subject=self._known_name(given.name))
            raise
        self._parts.attempts.forgive(visit.address)
        return self.open(row.id, browser, "password")

    def open(self, user_id: int, browser: Browser, way: str) -> SignedIn:
        """A new session for a user who has proved to be one; the one before in this browser ends."""
        now_ms = self._parts.clock()
        with self._parts.relational.transaction() as session:
            if browser.session:
                end_session_by_secret(session, browser.session)
            row = find_user(session, user_id)
            if row is None or row.disabled:
                raise DisabledUserError("This user was disabled or deleted just now.")
            row.last_seen_ms = now_ms
            session_id, secret = open_session(session, SessionOwner(user_id=row.id), browser.visit, now_ms=now_ms)
            principal = user_principal(row.id, row.name, row.role, session_id)
        self._parts.audit.write(
            AuditEvent(action="session.login", actor=principal, address=browser.visit.address, detail={"way": way})
        )
        device = seal(
            self._parts.sealing_key,
            DEVICE,
            {"name": name_key(principal.name), "id": new_id()},
            now_ms + DEVICE_SECONDS * 1_000,
        )
        return SignedIn(
            session=self._gate.session(principal),
            principal=principal,
            cookies=(
                Cookie(kind=CookieKind.SESSION, value=secret, seconds=SESSION_SECONDS),
                Cookie(kind=CookieKind.DEVICE, value=device, seconds=DEVICE_SECONDS),
            ),
        )

    def change_password(self, given: PasswordChange, actor: Principal, address: str) -> SessionOut:
        """Change one's own password; one's other sessions end.

        Raises:
            NoPasswordError: the actor is no user with a password.
            TooManyAttemptsError: wrong ones were tried too often.
            WrongPasswordError: the current one is wrong.
            WeakPasswordError: the new one is too easy to guess.
        """
        with self._parts.relational.transaction() as session:
            row = None if actor.user_id is None else find_user(session, actor.user_id)
        if row is None or row.password_hash is None:
            raise NoPasswordError(f"{actor.name!r} has no password here: it is a token, or signs in somewhere else.")
        self._parts.attempts.attempt(address, "attempts to change a password")
        self._checked(row.name, given.current, f"own:{row.id}")
        self._parts.attempts.forgive(address)
        check_strength(given.new, row.name)
        hashed = self._passwords.hash(given.new)
        with self._parts.relational.transaction() as session:
            fresh = find_user(session, row.id)
            if fresh is None:
                raise SessionNotFoundError("This user was deleted just now.")
            fresh.password_hash = hashed
            clear_lockouts_of(session, fresh.name)
            end_sessions(session, row.id, but=actor.session_id)
        return self._gate.session(actor)

    def own_sessions(self, actor: Principal) -> UserSessionList:
        owner = owner_of(actor)
        if owner is None:
            return UserSessionList(sessions=[])
        with self._parts.relational.transaction() as session:
            rows = list_sessions(session, owner, self._parts.clock())
            return session_list(rows, actor.name, actor.session_id)

    def end_own_session(self, actor: Principal, session_id: str) -> None:
        """End one of one's own.

        Raises:
            SessionNotFoundError: there is none with this id, or it is somebody else's.
        """
        owner = owner_of(actor)
        with self._parts.relational.transaction() as session:
            if owner is None or not end_session(session, owner, session_id):
                raise SessionNotFoundError(f"You have no session {session_id}; it may have ended.")

    # Passwords --------------------------------------------------------------------------------------------------------

    def _checked(self, name: str, password: str, key: str) -> UserRow:
        """The user of a name and a password. A failure is noted before it is known to be one, and taken back."""
        now_ms = self._parts.clock()
        with self._lockouts, self._parts.relational.transaction() as session:
            state = read_lockout(session, key)
            left_ms = wait_left_ms(state, now_ms)
            if left_ms:
                seconds = -(-left_ms // 1_000)
                raise TooManyAttemptsError(
                    f"Too many wrong passwords for this name; try again in {seconds} s, or ask an administrator.",
                    retry_after_seconds=seconds,
                )
            write_lockout(session, key, name, count_failure(state, now_ms))
            row = find_user_by_name(session, name)
        if not self._passwords.matches(password, row.password_hash if row else None) or row is None:
            raise WrongPasswordError("Name and password do not belong together.")
        outdated = self._passwords.is_outdated(row.password_hash or "")
        renewed = self._passwords.hash(password) if outdated else None
        with self._lockouts, self._parts.relational.transaction() as session:
            clear_lockout(session, key)
            fresh = find_user(session, row.id)
            if fresh is not None and renewed is not None and fresh.password_hash == row.password_hash:
                fresh.password_hash = renewed
        return row

    def _known_name(self, name: str) -> str:
        """The name for the audit log; empty when there is no such user, for people type passwords into that field."""
        with self._parts.relational.transaction() as session:
            row = find_user_by_name(session, name)
            return "" if row is None else row.name

    def _lockout_key(self, name: str, device: str | None) -> str:
        """The lockout key; browsers that signed in before are apart, so that strangers cannot lock them out."""
        known = unseal(self._parts.sealing_key, DEVICE, device, self._parts.clock()) if device else None
        if known is not None and known["name"] == name_key(name):
            return f"device:{name_key(name)}:{known['id']}"
        return stranger_key(name)


def session_list(rows: Sequence[UserSessionRow], user: str, current: str | None) -> UserSessionList:
    """Sessions of one user; `expires_ms` is when the session ends if nobody uses it."""
    sessions = [
        UserSessionOut.from_object(
            row, user=user, expires_ms=min(row.expires_ms, row.last_seen_ms + IDLE_MS), current=row.id == current
        )
        for row in rows
    ]
    return UserSessionList(sessions=sessions)


def stranger_key(name: str) -> str:
    """What wrong passwords for a name count under when they come from a browser that was not here before."""
    return f"name:{name_key(name)}"
