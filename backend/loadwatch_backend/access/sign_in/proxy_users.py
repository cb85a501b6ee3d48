"""Users whom a reverse proxy has signed in: known by the header, made at their first visit where that is wanted."""

import re

import structlog

from loadwatch_backend.access.credentials import ProxyClaim
from loadwatch_backend.access.lookup import TOUCH_MS, user_principal
from loadwatch_backend.access.principal import Principal, Role
from loadwatch_backend.access.repository import dismiss, find_user_by_name, give_role, keep_user, new_user, role_given
from loadwatch_backend.access.schemas import USER_NAME, UserSource
from loadwatch_backend.access.sign_in.group_roles import RANKS, RolePolicy, highest_role
from loadwatch_backend.access.tables import TEXT_LENGTH
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.outages import ConstraintError
from loadwatch_backend.core.database.relational import Relational
from loadwatch_backend.core.errors import ForbiddenError

logger = structlog.get_logger(__name__)


class ProxyUserError(ForbiddenError, code="proxy-user", title="Not let in"):
    """The proxy's user may not come in."""


def role_of_claim(claim: ProxyClaim, policy: RolePolicy) -> Role | None:
    named = [role for role in RANKS if role.value == claim.role.strip().lower()]
    groups = [group.strip() for group in claim.groups.split(",")]
    return named[0] if named else highest_role(groups, policy.group_roles)


class ProxyUsers:
    """Turns claims into users; from worker threads only."""

    def __init__(self, relational: Relational, clock: Clock, policy: RolePolicy) -> None:
        self._relational = relational
        self._clock = clock
        self._policy = policy

    def identify(self, claim: ProxyClaim) -> Principal:
        """The user whom the proxy names.

        Raises:
            ProxyUserError: of no role, disabled, or a user of another kind.
        """
        if not re.fullmatch(USER_NAME, claim.user) or len(claim.user) > 100:
            raise ProxyUserError("The proxy's name for you is no user name here: letters, digits and . _ @ + - only.")
        try:
            principal = self._identify(claim)
        except ConstraintError:  # two first requests at once: the other one has made the user
            principal = self._identify(claim)
        if principal is None:
            raise ProxyUserError(f"Nothing brings {claim.user!r} a role here; ask an administrator.")
        return principal

    def _identify(self, claim: ProxyClaim) -> Principal | None:
        """The user; None for somebody of no role, whose sessions have ended when this returns."""
        now_ms = self._clock()
        brought = role_of_claim(claim, self._policy)
        with self._relational.transaction() as session:
            row = find_user_by_name(session, claim.user)
            given = self._policy.role_of(None if row is None else role_given(row), brought)
            if row is None:
                if given is None:
                    return None
                row = new_user(claim.user, UserSource.HEADER, given.source, now_ms, seen=True)
                keep_user(session, row)
                logger.info("user of the proxy made", user=row.name, role=given.role.value)
            if row.source != UserSource.HEADER.value:
                raise ProxyUserError(f"{row.name!r} is a user with a password or of another provider; sign in there.")
            if row.disabled:
                raise ProxyUserError(f"The user {row.name!r} is disabled; ask an administrator.")
            if given is None:
                dismiss(session, row)
                return None
            give_role(session, row, given)
            if claim.full_name:
                row.full_name = claim.full_name[:TEXT_LENGTH]
            if row.last_seen_ms is None or abs(now_ms - row.last_seen_ms) >= TOUCH_MS:
                row.last_seen_ms = now_ms
            return user_principal(row.id, row.name, row.role, None)
