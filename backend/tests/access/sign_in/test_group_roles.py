import pytest
from loadwatch_backend.access.modes import AccessSettingsError
from loadwatch_backend.access.principal import Role, RoleSource
from loadwatch_backend.access.sign_in.group_roles import GivenRole, RolePolicy, highest_role, parse_group_roles


def test_the_highest_role_counts():
    roles = parse_group_roles(("ops=admin", "cn=devs,ou=x=editor", "all = viewer"), "V")
    assert roles == {"ops": Role.ADMIN, "cn=devs,ou=x": Role.EDITOR, "all": Role.VIEWER}
    assert highest_role(["all", "ops"], roles) is Role.ADMIN
    assert highest_role(["all", "other"], roles) is Role.VIEWER
    assert highest_role(["other"], roles) is None


@pytest.mark.parametrize("pair", ["ops", "=admin", "ops=root", "ops=agent", "ops="])
def test_a_pair_that_is_none_is_named(pair: str):
    with pytest.raises(AccessSettingsError, match="V: "):
        parse_group_roles((pair,), "V")


EDITOR = {source: GivenRole(role=Role.EDITOR, source=source) for source in RoleSource}
ADMIN_BY_GROUP = GivenRole(role=Role.ADMIN, source=RoleSource.GROUP)
VIEWER_BY_DEFAULT = GivenRole(role=Role.VIEWER, source=RoleSource.DEFAULT)


@pytest.mark.parametrize("source", [None, RoleSource.GROUP, RoleSource.DEFAULT, RoleSource.UNKNOWN])
@pytest.mark.parametrize("default", [Role.VIEWER, None])
def test_a_role_is_gone_with_the_group_that_brought_it(source: RoleSource | None, default: Role | None):
    policy = RolePolicy(group_roles={"ops": Role.ADMIN}, default_role=default, brings=True)
    kept = None if source is None else EDITOR[source]
    assert policy.role_of(kept, Role.ADMIN) == ADMIN_BY_GROUP
    assert policy.role_of(kept, None) == (VIEWER_BY_DEFAULT if default else None)


def test_a_role_set_by_hand_stays_whatever_groups_bring():
    for brings in (True, False):
        policy = RolePolicy(group_roles={}, default_role=None, brings=brings)
        assert policy.role_of(EDITOR[RoleSource.HAND], Role.ADMIN) == EDITOR[RoleSource.HAND]
        assert policy.role_of(EDITOR[RoleSource.HAND], None) == EDITOR[RoleSource.HAND]


def test_where_nothing_brings_roles_they_stay_but_for_those_of_groups_that_were():
    policy = RolePolicy(group_roles={}, default_role=Role.VIEWER, brings=False)
    for source in (RoleSource.DEFAULT, RoleSource.UNKNOWN):
        assert policy.role_of(EDITOR[source], None) == EDITOR[source]
    assert policy.role_of(EDITOR[RoleSource.GROUP], None) == VIEWER_BY_DEFAULT
    assert policy.role_of(None, None) == VIEWER_BY_DEFAULT
