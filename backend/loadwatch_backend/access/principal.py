"""Who is asking, and what they may do."""

from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """One thing that somebody may do. Every route asks for one."""

    SAMPLES_WRITE = "samples:write"
    """Send samples by remote write."""
    READ = "read"
    """Read everything but users, tokens and the audit log."""
    NOTES_WRITE = "notes:write"
    """Annotations."""
    RUNS_WRITE = "runs:write"
    """Runs, imports, reviews, shares."""
    ALERTS_WRITE = "alerts:write"
    """Acknowledge, silence, send again, test a receiver."""
    ADMIN = "admin"
    """Users, tokens, audit log, reading configuration files again; and all of the above."""


class Role(StrEnum):
    """A bundle of scopes."""

    AGENT = "agent"
    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"


SCOPES_OF: dict[Role, frozenset[Scope]] = {
    Role.AGENT: frozenset({Scope.SAMPLES_WRITE}),
    Role.VIEWER: frozenset({Scope.READ}),
    Role.EDITOR: frozenset({Scope.READ, Scope.NOTES_WRITE, Scope.RUNS_WRITE, Scope.ALERTS_WRITE}),
    Role.ADMIN: frozenset(Scope),
}


class Access(StrEnum):
    """Whether the server asks who is there."""

    OPEN = "open"
    """No login: only loopback addresses are served."""
    TOKEN = "token"
    """Tokens of a file, and sessions made from them; no users are set up."""
    USERS = "users"
    """Users sign in; tokens are kept in the database, those of a token file hold too."""


class RoleSource(StrEnum):
    """Where a user's role comes from."""

    HAND = "hand"
    """An administrator gave it; groups do not change it."""
    GROUP = "group"
    """A group, or a header of the proxy, brought it: gone with the group."""
    DEFAULT = "default"
    """The setting for those whom no group brings a role."""
    UNKNOWN = "unknown"
    """From before the source was recorded; treated as `GROUP` where groups bring roles."""


class PrincipalKind(StrEnum):
    """What somebody is."""

    LOCAL = "local"
    USER = "user"
    TOKEN = "token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The one who is asking. `role` is None for a token with scopes of its own.

    `user_id` is that of a user, `token_id` that of a token of the database, `file_token` the hash of a token of the
    file; `session_id` is that of a session in the database. `jobs` are the only ones whose samples and profiles a token
    may send; without any: all.
    """

    name: str
    role: Role | None
    scopes: frozenset[Scope]
    kind: PrincipalKind
    user_id: int | None = None
    token_id: str | None = None
    file_token: str | None = None
    session_id: str | None = None
    jobs: frozenset[str] = frozenset()

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes

    def may_send(self, job: str) -> bool:
        return not self.jobs or job in self.jobs

    def author(self, typed: str) -> str:
        """By whom something is written: a name that is typed counts only where nobody signs in."""
        return (typed if self.kind is PrincipalKind.LOCAL else "") or self.name


def principal_with_role(name: str, role: Role, kind: PrincipalKind) -> Principal:
    return Principal(name=name, role=role, scopes=SCOPES_OF[role], kind=kind)


LOCAL = principal_with_role("local", Role.ADMIN, PrincipalKind.LOCAL)
"""Whoever reaches the server where access is open: the person at this machine."""
