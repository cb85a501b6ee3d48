import pytest
from loadwatch_backend.access.group_roles import highest_role, parse_group_roles
from loadwatch_backend.access.modes import AccessSettingsError
from loadwatch_backend.access.principal import Role


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
