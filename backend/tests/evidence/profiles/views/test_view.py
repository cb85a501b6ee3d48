import pytest
from loadwatch_backend.core.language import Language
from loadwatch_backend.evidence.profiles.service import ProfileView, Side, known_words, make_view
from loadwatch_backend.evidence.runs import Normalised

from backend.tests.evidence.profiles.made import KINDS, go, profile


def side(stacks: list[tuple[str, list[int]]], requests: float | None = None, seconds: float | None = 10.0) -> Side:
    return Side(profile=profile(stacks), requests=requests, seconds=seconds)


def view(now: Side, base: Side | None = None) -> ProfileView:
    return make_view(now, base, None, "cpu", known_words("cpu", Language.EN))


def paths(found: ProfileView) -> dict[str, tuple[float, float | None]]:
    """Path from the root: value, and base."""
    tree, named = found.tree, [""]
    for node in range(1, len(tree.parent)):
        named.append(f"{named[tree.parent[node]]}/{tree.names[tree.func[node]]}")
    return {path: (tree.value[node], None if tree.base is None else tree.base[node]) for node, path in enumerate(named)}


def test_functions_and_tree_say_the_same() -> None:
    found = view(side([("b;a", [3]), ("a", [1]), ("c", [6])]))
    assert paths(found) == {"": (10, None), "/c": (6, None), "/a": (4, None), "/a/b": (3, None)}
    assert [(one.name, one.flat, one.cum) for one in found.functions] == [("c", 6, 6), ("b", 3, 3), ("a", 1, 4)]
    assert (found.total, found.base_total, found.normalised) == (10, None, Normalised.NONE)
    assert found.new is None


def test_a_difference_is_for_each_request() -> None:
    now, base = side([("b;a", [30]), ("n;a", [30])], requests=10), side([("b;a", [60]), ("g", [60])], requests=30)
    found = view(now, base)
    assert found.normalised is Normalised.REQUEST
    assert (found.total, found.base_total) == (6, 4)
    assert paths(found) == {"": (6, 4), "/a": (6, 2), "/g": (0, 2), "/a/b": (3, 2), "/a/n": (3, 0)}
    assert found.new is not None
    assert found.gone is not None
    assert [(one.functions, one.value) for one in found.new.stacks] == [(["n", "a"], 3)]
    assert [(one.functions, one.value) for one in found.gone.stacks] == [(["g"], 2)]
    by_name = {one.name: (one.flat, one.base_flat) for one in found.functions}
    assert by_name == {"a": (0, 0), "b": (3, 2), "n": (3, 0), "g": (0, 2)}


@pytest.mark.parametrize(
    ("requests", "seconds", "how", "total"),
    [
        ((None, 30.0), (10.0, 5.0), Normalised.SECOND, 6),
        ((0.0, 30.0), (10.0, 5.0), Normalised.SECOND, 6),
        ((None, None), (None, 5.0), Normalised.NONE, 60),
    ],
)
def test_without_requests_a_difference_is_for_each_second(
    requests: tuple[float | None, float | None],
    seconds: tuple[float | None, float | None],
    how: Normalised,
    total: float,
) -> None:
    found = view(side([("a", [60])], requests[0], seconds[0]), side([("a", [60])], requests[1], seconds[1]))
    assert (found.normalised, found.total) == (how, total)


def test_memory_in_use_belongs_to_no_request() -> None:
    now, base = (Side(profile=go(f"01-heap-{name}"), requests=1_000.0, seconds=10.0) for name in ("now", "base"))
    found = make_view(now, base, None, "heap", known_words("heap", Language.JA))
    assert (found.type.name, found.normalised) == ("inuse_space", Normalised.NONE)


@pytest.mark.parametrize("name", KINDS)
def test_real_profiles_can_be_shown(name: str) -> None:
    kind = name.partition("-")[2]
    now, base = (Side(profile=go(f"{name}-{side}"), requests=None, seconds=5.0) for side in ("now", "base"))
    alone = make_view(now, None, None, kind, known_words(kind, Language.EN))
    assert alone.total == sum(alone.tree.own)
    assert alone.functions
    both = make_view(now, base, None, kind, known_words(kind, Language.JA))
    assert both.tree.base is not None
    assert both.base_total == pytest.approx(both.tree.base[0])
    assert len(both.tree.parent) <= 2_000


def test_an_empty_profile_has_a_root_and_no_more() -> None:
    found = view(side([]))
    assert (found.total, found.functions, found.tree.parent) == (0, [], [-1])


def test_known_functions_say_whose_call_they_are() -> None:
    lock = ("sync.(*Mutex).Lock;main.hold;main.main", [5])
    side = Side(profile=profile([lock], ["delay/nanoseconds"]), requests=None, seconds=None)
    for language, words in (
        (Language.EN, "waits for a lock of the application itself, below main.hold"),
        (Language.JA, "アプリケーション自身のロックを待っています(main.hold の下)"),
    ):
        view = make_view(side, None, None, "block", known_words("block", language))
        assert [one.words for one in view.functions if one.name == "sync.(*Mutex).Lock"] == [words]
