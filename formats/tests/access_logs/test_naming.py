import pytest
from loadwatch_formats.access_logs.groups import MatchingGroups
from loadwatch_formats.access_logs.routes import OTHER, SPREAD, RouteNames
from loadwatch_formats.access_logs.tally import Naming, method_label


def test_names_are_settled_once_for_what_is_new() -> None:
    naming = Naming(RouteNames())
    for number in range(5):
        naming.note(naming.name(f"/users/{number}"), 1, found=True)
    assert naming.waiting == {"/users/:id"}
    assert naming.settle() == {}
    naming.note("/users/:id", 7, found=True)
    assert naming.waiting == set()


def test_slugs_are_renamed_and_paths_that_were_named_before_are_named_anew() -> None:
    naming = Naming(RouteNames())
    paths = [f"/posts/{word}-{other}" for word in "abcdefghij" for other in "klmnopqrst"]
    before = {path: naming.name(path) for path in paths}
    for name in before.values():
        naming.note(name, 1, found=True)
    renamed = naming.settle()
    assert len(paths) > SPREAD
    assert set(renamed.values()) == {"/posts/:slug"}
    assert {naming.name(path) for path in paths} == {"/posts/:slug"}


def test_beyond_the_bound_is_other() -> None:
    naming = Naming(RouteNames(limit=2))
    for path, count in (("/a", 5), ("/b", 4), ("/c", 3)):
        naming.note(naming.name(path), count, found=True)
    assert naming.settle() == {"/c": OTHER}


def test_another_process_goes_on() -> None:
    naming = Naming(RouteNames(limit=3))
    naming.note(naming.name("/a"), 5, found=True)
    naming.note(naming.name("/admin.php"), 1, found=False)
    naming.settle()
    again = Naming.from_json(naming.to_json(), MatchingGroups(), 3)
    again.note(again.name("/a"), 1, found=True)
    assert again.waiting == set()
    assert again.to_json()["names"] == naming.to_json()["names"]
    broken: list[object] = [{}, {"names": {}}, [], None]
    for document in broken:
        with pytest.raises(ValueError, match=r"route"):
            Naming.from_json(document, MatchingGroups(), 3)


def test_methods_are_few() -> None:
    assert [method_label(text) for text in ("GET", "get", "", "-", "HACK", "G" * 5_000)] == [
        *("GET", "GET", "-", "-", "other", "other")
    ]
