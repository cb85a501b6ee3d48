"""Roles by group, as the settings give them: `ops=admin,devs=editor`."""

from collections.abc import Iterable, Mapping, Sequence

from loadwatch_backend.access.modes import AccessSettingsError
from loadwatch_backend.access.principal import Role

RANKS = (Role.VIEWER, Role.EDITOR, Role.ADMIN)
"""Roles that people have, lowest first."""


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
    """The highest role that the groups bring; None when they bring none."""
    brought = [roles[group] for group in groups if group in roles]
    return max(brought, key=RANKS.index) if brought else None
