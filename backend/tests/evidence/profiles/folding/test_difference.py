import pytest
from hypothesis import given
from loadwatch_backend.evidence.profiles.model import ProfilesDifferError
from loadwatch_backend.evidence.profiles.tree import Requests, gone_stacks, new_stacks, side_by_side, tree_of

from backend.tests.evidence.profiles.folding.test_table import STACKS
from backend.tests.evidence.profiles.made import KINDS, go, profile


@pytest.mark.parametrize("kind", KINDS)
def test_a_profile_does_not_differ_from_itself(kind: str) -> None:
    one = go(f"{kind}-now")
    for sample_type in one.types:
        sides = side_by_side(one, one, sample_type.name)
        assert not sides.flat.any()
        assert not sides.cum.any()
        tree = tree_of(sides.stacks, most_nodes=10**9)
        assert new_stacks(tree).count == gone_stacks(tree).count == 0
        assert (tree.total[:, 0] == tree.total[:, 1]).all()


@given(STACKS, STACKS)
def test_a_difference_is_the_difference_of_the_tables(now: list[tuple[str, int]], base: list[tuple[str, int]]) -> None:
    sides = side_by_side(profile([(s, [v]) for s, v in now]), profile([(s, [v]) for s, v in base]))
    for place, one in enumerate(sides.table.functions):
        wanted = sum(v for s, v in now if one.name in s.split(";")) - sum(
            v for s, v in base if one.name in s.split(";")
        )
        assert int(sides.cum[place]) == wanted


def test_values_for_each_request_are_of_each_sides_own_requests() -> None:
    now, base = profile([("work;main", [6_000])]), profile([("work;main", [2_000])])
    sides = side_by_side(now, base, None, Requests(now=30, base=5))
    # Three times as much, for six times the requests: half for each.
    assert sides.per_request(sides.table.cum).tolist() == [[200, 400], [200, 400]]


def test_what_is_in_use_belongs_to_no_request() -> None:
    heap = go("01-heap-now")
    with pytest.raises(ProfilesDifferError, match="inuse_space says how much there is at one moment"):
        side_by_side(heap, heap, None, Requests(now=1, base=1))
    assert side_by_side(heap, heap, "alloc_space", Requests(now=1, base=1)).requests is not None
    with pytest.raises(ProfilesDifferError, match="above zero on both sides"):
        side_by_side(heap, heap, "alloc_space", Requests(now=1, base=0))


def test_profiles_of_different_kinds_are_refused() -> None:
    with pytest.raises(ProfilesDifferError, match="no sample type 'cpu'; it has contentions, delay"):
        side_by_side(go("00-cpu-now"), go("04-block-now"))
    with pytest.raises(ProfilesDifferError, match="in seconds and in nanoseconds"):
        side_by_side(profile([("a", [1])], ["cpu/seconds"]), profile([("a", [1])]))
    sides = side_by_side(profile([]), profile([]))
    with pytest.raises(ProfilesDifferError, match="requests of both profiles are not known"):
        sides.per_request(sides.table.cum)


def test_new_and_gone_stacks_are_those_that_cannot_be_there_by_chance() -> None:
    now = profile([("a;main", [9_000]), ("new;main", [900]), ("tiny;main", [10])])
    base = profile([("a;main", [9_000]), ("old;main", [500]), ("older;main", [800])])
    tree = tree_of(side_by_side(now, base).stacks, most_nodes=10**9)
    new, gone = new_stacks(tree), gone_stacks(tree)
    assert [(one.functions, one.value) for one in new.stacks] == [(("new", "main"), 900)]
    assert (new.count, new.smaller) == (1, 1)
    assert [one.functions[0] for one in gone.stacks] == ["older", "old"]
