import pytest
from hypothesis import given
from loadwatch_backend.evidence.profiles.merging import merge, subtract
from loadwatch_backend.evidence.profiles.model import Profile, ProfilesDifferError
from loadwatch_backend.evidence.profiles.reading.read import read_profile
from loadwatch_backend.evidence.profiles.tree import stacks_of, table_of

from backend.tests.evidence.profiles.folding.test_table import STACKS
from backend.tests.evidence.profiles.made import KINDS, encoded, go, message, profile


def cums(one: Profile) -> dict[str, list[int]]:
    table = table_of(stacks_of(one))
    return {one.name: table.cum[place].tolist() for place, one in enumerate(table.functions) if table.cum[place].any()}


def test_the_same_stacks_become_one() -> None:
    both = merge([profile([("a;main", [1]), ("b;main", [2])]), profile([("b;main", [5])])])
    assert both.values[:, 0].tolist() == [1, 7] or sorted(both.values[:, 0].tolist()) == [1, 2, 5]
    assert cums(both) == {"a": [1], "b": [7], "main": [8]}


def test_the_same_code_elsewhere_in_memory_is_the_same() -> None:
    def mapped(start: int) -> Profile:
        made = message([("a;b", [3])])
        made.string_table.append(b"app")
        made.mapping.add(id=1, memory_start=start, memory_limit=start + 4_096, filename=len(made.string_table) - 1)
        for location in made.location:
            location.mapping_id = 1
            location.address += start
        return read_profile(encoded(made))

    both = merge([mapped(2**63), mapped(4_096)])
    assert both.values.tolist() == [[6]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_profile_less_itself_is_nothing(kind: str) -> None:
    one = go(f"{kind}-now")
    assert len(subtract(one, one)) == 0
    assert len(merge([one])) == len(one)


@given(STACKS, STACKS)
def test_merging_keeps_every_sum(left: list[tuple[str, int]], right: list[tuple[str, int]]) -> None:
    one, other = profile([(s, [v]) for s, v in left]), profile([(s, [v]) for s, v in right])
    both = merge([one, other])
    assert int(both.values.sum()) == int(one.values.sum()) + int(other.values.sum())
    assert cums(merge([both, both])) == {name: [2 * value] for name, [value] in cums(both).items()}


def test_only_types_that_all_have_are_kept() -> None:
    left = profile([("a", [1, 2])], ["samples/count", "cpu/nanoseconds"])
    right = profile([("a", [5])], ["cpu/nanoseconds"])
    both = merge([left, right])
    assert ([one.name for one in both.types], both.values.tolist(), both.default) == (["cpu"], [[7]], 0)
    with pytest.raises(ProfilesDifferError, match="measure different things"):
        merge([left, profile([("a", [5])], ["space/bytes"])])
    with pytest.raises(ProfilesDifferError, match="in nanoseconds and in seconds"):
        merge([right, profile([("a", [5])], ["cpu/seconds"])])


def test_times_and_labels_come_along() -> None:
    one = go("00-cpu-now")
    both = merge([one, go("00-cpu-base")])
    assert both.duration_ns > one.duration_ns
    assert {label.key for each in both.label_sets for label in each} == {"route"}
    assert both.period == one.period
