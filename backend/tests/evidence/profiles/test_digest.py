import pytest
from loadwatch_backend.evidence.profiles.digest import digest_of
from loadwatch_backend.evidence.profiles.model import ProfilesDifferError

from backend.tests.evidence.profiles.made import go, profile


def test_rows_have_both_sides_and_their_difference() -> None:
    found = digest_of(profile([("b;a", [5])]), profile([("b;a", [2]), ("c;a", [4])]))
    assert [(one.name, one.flat, one.cum, one.base_flat, one.base_cum) for one in found.rows] == [
        ("c", -4, -4, 4, 4),
        ("b", 3, 3, 2, 2),
        ("a", 0, -1, 0, 6),
    ]
    assert (found.total, found.base_total, found.share_of) == (5, 6, 6)


def test_what_is_the_same_in_sum_may_differ_for_a_request() -> None:
    found = digest_of(profile([("a", [100])]), profile([("a", [100])]), requests=10, base_requests=20)
    assert found.rows[0].flat_per_request == 5


def test_requests_of_what_is_there_at_one_moment_are_refused() -> None:
    with pytest.raises(ProfilesDifferError, match="does not belong to requests"):
        digest_of(go("05-goroutine-now"), requests=5)


def test_small_stacks_of_a_sampled_profile_are_no_change() -> None:
    found = digest_of(go("00-cpu-now"), go("00-cpu-base"))
    assert found.new is not None
    assert all(one.value >= 5 * 10_000_000 for one in found.new.stacks)
    assert found.new.smaller > 0


def test_the_caller_is_named_only_where_most_is_below_it() -> None:
    def caller(*values: int) -> str | None:
        stacks = [(f"encoding/json.Marshal;main.f{place}", [value]) for place, value in enumerate(values)]
        rows = {one.name: one for one in digest_of(profile(stacks)).rows}
        assert rows["encoding/json.Marshal"].meaning == "json"
        return rows["encoding/json.Marshal"].caller

    assert caller(6, 4) == "main.f0"
    assert caller(4, 3, 3) is None
