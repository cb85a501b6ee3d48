"""Who is asking, and what a role may do. Users with finer roles come later and end in the same `Principal`."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What the bearer may do: an agent writes samples and nothing else, an administrator does everything."""

    AGENT = "agent"
    ADMIN = "admin"


class Access(StrEnum):
    """Whether the server asks who is there."""

    OPEN = "open"
    """No login: only loopback addresses are served."""
    TOKEN = "token"
    """Every request needs a token or a session made from one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The one who is asking."""

    name: str
    role: Role


LOCAL = Principal(name="local", role=Role.ADMIN)
"""Whoever reaches the server where access is open: the person at this machine."""
