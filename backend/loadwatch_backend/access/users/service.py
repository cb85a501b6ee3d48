"""Users as administrators see to them."""

from loadwatch_backend.access.credentials import hash_secret
from loadwatch_backend.access.limits import Lockout, wait_left_ms
from loadwatch_backend.access.principal import Principal, Role, RoleSource
from loadwatch_backend.access.repository import (
    SessionOwner,
    clear_lockouts_of,
    count_administrators,
    count_sessions,
    delete_user,
    end_session,
    end_sessions,
    find_user,
    find_user_by_name,
    give_role,
    keep_user,
    list_sessions,
    list_users,
    lock_administrators,
    new_user,
    read_locks,
    void_setup,
)
from loadwatch_backend.access.schemas import UserIn, UserList, UserOut, UserPatch, UserSessionList, UserSource
from loadwatch_backend.access.sign_in.group_roles import GivenRole
from loadwatch_backend.access.sign_in.passwords import Passwords, check_strength
from loadwatch_backend.access.sign_in.sign_in import NoPasswordError, SessionNotFoundError, session_list, stranger_key
from loadwatch_backend.access.tables import UserRow
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.errors import InvalidError, NotFoundError


class UserNotFoundError(NotFoundError, code="user-not-found"):
    """There is no user with this id or name."""


class UserNameTakenError(InvalidError, code="user-name-taken"):
    """There is a user of this name."""


class LastAdministratorError(InvalidError, code="last-administrator"):
    """Nobody could administer the server any more."""


class NotAPersonError(InvalidError, code="role-of-agents"):
    """Users have the roles of people."""


class RoleByHandError(InvalidError, code="role-by-hand"):
    """Groups cannot bring the user's role."""


class UserService:
    def __init__(self, relational: Relational, clock: Clock, passwords: Passwords) -> None:
        self._relational = relational
        self._clock = clock
        self._passwords = passwords

    def list(self) -> UserList:
        with self._relational.transaction() as session:
            return UserList(users=[self._out(session, row) for row in list_users(session)])

    def create(self, given: UserIn) -> UserOut:
        """Add a user who signs in with a password.

        Raises:
            NotAPersonError: the role is that of an agent.
            WeakPasswordError: the password is too easy to guess.
            UserNameTakenError: there is a user of this name.
        """
        _check_role(given.role)
        check_strength(given.password, given.name)
        hashed = self._passwords.hash(given.password)
        row = new_user(given.name, UserSource.PASSWORD, RoleSource.HAND, self._clock(), seen=False)
        row.full_name, row.role, row.password_hash = given.full_name, given.role.value, hashed
        try:
            with self._relational.transaction() as session:
                keep_user(session, row)
                if given.role is Role.ADMIN:
                    void_setup(session)
                return self._out(session, row)
        except ConstraintError as error:
            raise UserNameTakenError(f"There is a user {given.name!r} already; choose another name.") from error

    def update(self, user_id: int, patch: UserPatch) -> UserOut:
        """Change what the patch names.

        Raises:
            UserNotFoundError: there is none.
            LastAdministratorError: nobody could administer the server any more.
            NoPasswordError: the user signs in somewhere else.
            WeakPasswordError: the password is too easy to guess.
            RoleByHandError: the role would come from groups, and cannot.
        """
        if patch.role is not None and patch.role_by_hand is False:
            raise RoleByHandError("A role that is given is given by hand; leave role_by_hand out.")
        if patch.role is not None:
            _check_role(patch.role)
        hashed = self._new_hash(user_id, patch.password)
        with self._relational.transaction() as session:
            lock_administrators(session)
            row = _found(find_user(session, user_id), user_id)
            if patch.full_name is not None:
                row.full_name = patch.full_name
            if patch.role_by_hand is False:
                if row.source == UserSource.PASSWORD.value:
                    raise RoleByHandError(
                        f"{row.name!r} signs in with a password, so no group brings a role; give one."
                    )
                row.role_source = RoleSource.GROUP.value
            if patch.role is not None:
                give_role(session, row, GivenRole(role=patch.role, source=RoleSource.HAND))
            elif patch.role_by_hand:
                row.role_source = RoleSource.HAND.value
            if patch.disabled is not None:
                row.disabled = patch.disabled
            if hashed is not None:
                row.password_hash = hashed
            if patch.unlock or hashed is not None:
                clear_lockouts_of(session, row.name)
            if row.disabled or hashed is not None:
                end_sessions(session, row.id)
            if patch.role is not None or patch.disabled is not None:
                _check_administrators(session, row.name)
            return self._out(session, row)

    def delete(self, user_id: int) -> str:
        """Delete one and end the sessions; returns the name.

        Raises:
            UserNotFoundError: there is none.
            LastAdministratorError: nobody could administer the server any more.
        """
        with self._relational.transaction() as session:
            lock_administrators(session)
            row = _found(find_user(session, user_id), user_id)
            delete_user(session, row)
            _check_administrators(session, row.name)
            return row.name

    def sessions(self, user_id: int, actor: Principal) -> UserSessionList:
        """Browsers in which the user is signed in.

        Raises:
            UserNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            row = _found(find_user(session, user_id), user_id)
            return session_list(
                list_sessions(session, SessionOwner(user_id=user_id), self._clock()), row.name, actor.session_id
            )

    def end_session(self, user_id: int, session_id: str) -> None:
        """End one of a user's sessions.

        Raises:
            SessionNotFoundError: there is none with this id.
        """
        with self._relational.transaction() as session:
            if not end_session(session, SessionOwner(user_id=user_id), session_id):
                raise SessionNotFoundError(f"The user {user_id} has no session {session_id}; it may have ended.")

    def find(self, name: str) -> UserOut:
        """A user by name.

        Raises:
            UserNotFoundError: there is none.
        """
        with self._relational.transaction() as session:
            row = find_user_by_name(session, name)
            if row is None:
                raise UserNotFoundError(f"There is no user {name!r}; `loadwatch user list` shows them.")
            return self._out(session, row)

    def _new_hash(self, user_id: int, password: str | None) -> str | None:
        """Hash a new password outside of any transaction, as hashing takes long."""
        if password is None:
            return None
        with self._relational.transaction() as session:
            row = _found(find_user(session, user_id), user_id)
            name, source = row.name, UserSource(row.source)
        if source is not UserSource.PASSWORD:
            raise NoPasswordError(f"{name!r} signs in somewhere else ({source.value}) and has no password here.")
        check_strength(password, name)
        return self._passwords.hash(password)

    def _out(self, session: Session, row: UserRow) -> UserOut:
        now_ms = self._clock()
        end_ms = read_locks(session).get(hash_secret(stranger_key(row.name)), 0)
        locked = wait_left_ms(Lockout(locked_until_ms=end_ms), now_ms) > 0
        sessions = count_sessions(session, now_ms).get(row.id, 0)
        return UserOut.from_object(row, locked_until_ms=end_ms if locked else None, sessions=sessions)


def _check_role(role: Role) -> None:
    if role is Role.AGENT:
        raise NotAPersonError("Users are viewers, editors or admins; an agent gets a token.")


def _check_administrators(session: Session, name: str) -> None:
    if not count_administrators(session):
        raise LastAdministratorError(
            f"{name!r} is the last administrator who can sign in; make another user an administrator first."
        )


def _found(row: UserRow | None, user_id: int) -> UserRow:
    if row is None:
        raise UserNotFoundError(f"There is no user {user_id}; it may have been deleted.")
    return row
