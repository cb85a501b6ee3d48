import pytest
from loadwatch_backend.evidence.profiles.model import Kind, ProfilesDifferError
from loadwatch_backend.evidence.profiles.reading.read import read_profile
from loadwatch_backend.evidence.profiles.tree import column_of, kind_of

from backend.tests.evidence.profiles.made import KINDS, PY_SPY, go, profile


@pytest.mark.parametrize("name", KINDS)
def test_gos_profiles_are_told_apart(name: str) -> None:
    assert kind_of(go(f"{name}-now")) == Kind(name[3:])


def test_the_others() -> None:
    assert kind_of(read_profile((PY_SPY / "app.collapsed").read_bytes())) is Kind.OTHER
    assert kind_of(profile([], ["contentions/count", "delay/nanoseconds"])) is Kind.BLOCK


def test_a_type_by_name_number_or_none() -> None:
    heap = go("01-heap-now")
    assert [column_of(heap, name) for name in (None, "", "alloc_space", "0")] == [3, 3, 1, 0]
    old = profile([("a", [1, 2])], ["objects/count", "space/bytes"])
    assert column_of(old, "inuse_space") == 1
    with pytest.raises(ProfilesDifferError, match="no sample type '9'; it has alloc_objects, alloc_space"):
        column_of(heap, "9")
