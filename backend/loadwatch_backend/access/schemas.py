"""Documents of the session endpoints."""

from pydantic import Field

from loadwatch_backend.access.principal import Access, Principal, Role
from loadwatch_backend.kit.schemas import Schema


class PrincipalOut(Schema):
    """Who is signed in."""

    name: str
    role: Role


class SessionOut(Schema):
    """Whether the server asks for a login, and who is signed in."""

    access: Access
    principal: PrincipalOut | None


class SessionIn(Schema):
    """A token, to be exchanged for a session cookie."""

    token: str = Field(min_length=1, max_length=200, description="An administrator's token.")


def session_out(access: Access, principal: Principal | None) -> SessionOut:
    """The session as it goes out."""
    out = None if principal is None else PrincipalOut(name=principal.name, role=principal.role)
    return SessionOut(access=access, principal=out)
