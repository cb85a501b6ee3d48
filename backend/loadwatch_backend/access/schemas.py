"""Documents of the session, user, token and audit endpoints."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from loadwatch_backend.access.principal import Access, Principal, PrincipalKind, Role, RoleSource, Scope
from loadwatch_backend.core.schemas import Milliseconds, Schema

USER_NAME = r"^[A-Za-z0-9][A-Za-z0-9._@+-]*$"
UserName = Field(min_length=1, max_length=100, pattern=USER_NAME)
Password = Field(min_length=1, max_length=1_000)
NewPassword = Field(min_length=12, max_length=1_000, description="At least 12 characters; common ones are refused.")


class PrincipalOut(Schema):
    """Who is signed in."""

    name: str
    role: Role | None = Field(description="None for a token with scopes of its own.")
    scopes: list[Scope]
    kind: PrincipalKind


class LoginWays(Schema):
    """How one may sign in here."""

    token: bool
    password: bool
    oidc: str | None = Field(description="The provider's name for the button; None where there is none.")


class SessionOut(Schema):
    """Whether the server asks for a login, how to sign in, and who is signed in."""

    access: Access
    principal: PrincipalOut | None
    ways: LoginWays
    setup: bool = Field(description="No administrator exists yet: the one-time link of the server's log makes one.")


class SessionIn(Schema):
    """A token, to be exchanged for a session cookie."""

    token: str = Field(min_length=1, max_length=200, description="A token with the scope `read` or more.")


class PasswordLogin(Schema):
    """Name and password, to be exchanged for a session cookie."""

    name: str = UserName
    password: str = Password


class PasswordChange(Schema):
    """One's own new password; other sessions of the user end."""

    current: str = Password
    new: str = NewPassword


class SetupIn(Schema):
    """The first administrator, made by the one-time link."""

    secret: str = Field(min_length=1, max_length=200)
    name: str = UserName
    password: str = NewPassword


class UserSource(StrEnum):
    """Where a user comes from."""

    PASSWORD = "password"
    HEADER = "header"
    OIDC = "oidc"


class UserOut(Schema):
    """A user."""

    id: int
    name: str
    full_name: str
    role: Role
    role_source: RoleSource = Field(description="`hand`: given by an administrator, and no group changes it.")
    source: UserSource
    disabled: bool
    locked_until_ms: Milliseconds | None = Field(description="Too many wrong passwords.")
    created_ms: Milliseconds
    last_seen_ms: Milliseconds | None
    sessions: int


class UserList(Schema):
    """All users by name."""

    users: list[UserOut]


class UserIn(Schema):
    """A user to be, who signs in with a password."""

    name: str = UserName
    full_name: str = Field(default="", max_length=200)
    role: Role
    password: str = NewPassword


class UserPatch(Schema):
    """What is to change. A new password and disabling end the user's sessions."""

    full_name: str | None = Field(default=None, max_length=200)
    role: Role | None = Field(default=None, description="By hand: no group changes it from then on.")
    role_by_hand: bool | None = Field(default=None, description="False: groups bring the role, from the next sign-in.")
    disabled: bool | None = None
    password: str | None = Field(default=None, min_length=12, max_length=1_000)
    unlock: bool | None = Field(default=None, description="Lift a lock-out; a new password lifts it too.")


class UserSessionOut(Schema):
    """One browser that is signed in."""

    id: str
    user: str
    created_ms: Milliseconds
    last_seen_ms: Milliseconds
    expires_ms: Milliseconds
    address: str
    browser: str
    current: bool


class UserSessionList(Schema):
    """Sessions, last used first."""

    sessions: list[UserSessionOut]


class TokenOut(Schema):
    """An API token; the token itself was shown once."""

    id: str
    name: str
    scopes: list[Scope]
    created_ms: Milliseconds
    created_by: str
    last_used_ms: Milliseconds | None
    expires_ms: Milliseconds | None
    jobs: list[str] = Field(description="The only jobs whose samples it may send; without any: all.")
    from_file: bool = Field(description="It stands in the token file and is revoked there: `loadwatch token revoke`.")


class TokenList(Schema):
    """All tokens by name."""

    tokens: list[TokenOut]


class TokenIn(Schema):
    """A token to be."""

    name: str = Field(min_length=1, max_length=63, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    scopes: list[Scope] = Field(min_length=1, max_length=len(Scope))
    expires_ms: Milliseconds | None = None
    jobs: list[Annotated[str, Field(pattern=r"^[^\n]+$", max_length=99)]] = Field(
        default_factory=list[str],
        max_length=20,
        description="The only jobs whose samples it may send; without any: all. For the scope `samples:write` alone.",
    )


class TokenCreated(Schema):
    """The new token, for the only time."""

    token: str
    record: TokenOut


class AuditEntryOut(Schema):
    """One thing that somebody did, or tried to do."""

    id: int
    at_ms: Milliseconds
    actor: str = Field(description="Empty for a stranger.")
    actor_kind: PrincipalKind | None
    action: str = Field(description="As `silence.create`, `session.login`, `user.update`.", examples=["silence.create"])
    subject: str = Field(description="What it was done to.")
    outcome: str = Field(description="`ok`, or the code of the problem.")
    address: str
    detail: dict[str, Any] = Field(description="Never holds a secret.")


class AuditList(Schema):
    """Entries, newest first."""

    entries: list[AuditEntryOut]
    next_before: int | None


def principal_out(principal: Principal | None) -> PrincipalOut | None:
    if principal is None:
        return None
    return PrincipalOut.from_object(principal, scopes=sorted(principal.scopes))
