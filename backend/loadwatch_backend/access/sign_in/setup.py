"""The one-time link that makes the first administrator.

Its secret stands in the fragment, so that no server or proxy logs it; the database keeps its hash and an end. Each
start makes a new one and voids the one before, until there is an administrator, by the link or from anywhere else.
"""

from loadwatch_backend.access.credentials import new_secret
from loadwatch_backend.access.repository import any_administrator, offer_setup, take_setup, void_setup
from loadwatch_backend.core.clock import Clock
from loadwatch_backend.core.database.relational import Relational, Session
from loadwatch_backend.core.errors import ForbiddenError

VALID_MS = 24 * 3600_000
PAGE = "/setup"


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


def setup_link(base: str, secret: str) -> str:
    """The address to open."""
    return f"{base.rstrip('/')}{PAGE}#{secret}"
