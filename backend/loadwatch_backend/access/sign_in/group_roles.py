"""Roles by group, as the settings give them: `ops=admin,devs=editor`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadwatch_backend.access.modes import AccessSettingsError
from loadwatch_backend.access.principal import Role, RoleSource

RANKS = (Role.VIEWER, Role.EDITOR, Role.ADMIN)
"""Roles that people have, lowest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRole:
    role: Role
    source: RoleSource


@dataclass(frozen=True, slots=True, kw_only=True)
class RolePolicy:
    """Who gets which role from outside.

    `brings` says that something is configured that brings roles: groups, or a header of the proxy. `default_role`, for
    those whom nothing brings a role, is None where they may not come in.
    """

    group_roles: Mapping[str, Role]
    default_role: Role | None
    brings: bool

    def role_of(self, kept: GivenRole | None, brought: Role | None) -> GivenRole | None:
        """The role from now on of somebody who had `kept` (None for a new user); None when they may not come in."""
        if kept is not None and kept.source is RoleSource.HAND:
            return kept
        if brought is not None:
            return GivenRole(role=brought, source=RoleSource.GROUP)
        if kept is not None and not self.brings and kept.source is not RoleSource.GROUP:
            return kept
        return None if self.default_role is None else GivenRole(role=self.default_role, source=RoleSource.DEFAULT)


def parse_group_roles(pairs: Sequence[str], variable: str) -> Mapping[str, Role]:
    """Roles by group.

    Raises:
        AccessSettingsError: a pair is none; names the variable.
    """
    found: dict[str, Role] = {}
    for pair in pairs:
        group, equals, role = pair.rpartition("=")
        if not equals or not group.strip() or role.strip() not in {one.value for one in RANKS}:
            raise AccessSettingsError(f"{variable}: {pair!r} is not group=role with viewer, editor or admin.")
        found[group.strip()] = Role(role.strip())
    return found


def highest_role(groups: Iterable[str], roles: Mapping[str, Role]) -> Role | None:
    brought = [roles[group] for group in groups if group in roles]
    return max(brought, key=RANKS.index) if brought else None
