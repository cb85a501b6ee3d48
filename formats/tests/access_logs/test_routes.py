import json
import random
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadwatch_formats.access_logs.groups import MatchingGroups
from loadwatch_formats.access_logs.routes import MOST_ROUTES, MOST_UNFOUND, OTHER, SPREAD, RouteNames

WORDS = [f"{first}{second}" for first in ("ab", "cd", "ef", "gh", "ij", "kl", "mn") for second in "opqrstuvwxyz"]


def counted(names: RouteNames, paths: Iterable[str], unfound: Iterable[str] = ()) -> Counter[str]:
    """Requests by route, settled once, as a caller does it."""
    counts = Counter(names.candidate(path) for path in paths)
    renamed = names.settle(counts, {names.candidate(path) for path in unfound})
    settled: Counter[str] = Counter()
    for name, count in counts.items():
        settled[renamed.get(name, name)] += count
    return settled


def test_a_place_with_many_names_has_slugs_and_its_neighbours_keep_their_names() -> None:
    names = RouteNames()
    paths = [f"/posts/{word}" for word in WORDS] + [f"/posts/{word}/comments" for word in WORDS]
    paths += ["/login", "/register", "/posts"] * 3
    assert counted(names, paths) == {
        "/posts/:slug": len(WORDS),
        "/posts/:slug/comments": len(WORDS),
        "/login": 3,
        "/register": 3,
        "/posts": 3,
    }
    assert names.route("/posts/never-seen-before") == "/posts/:slug"
    assert names.route("/never-seen-before") == OTHER


def test_few_names_are_routes() -> None:
    paths = [f"/api/{word}" for word in WORDS[:SPREAD]]
    assert set(counted(RouteNames(), paths)) == set(paths)


def test_what_was_decided_is_kept() -> None:
    names = RouteNames()
    counted(names, [f"/posts/{word}" for word in WORDS])
    assert counted(names, ["/posts/new-one"]) == {"/posts/:slug": 1}
    again = RouteNames.from_json(json.loads(json.dumps(names.to_json())))
    assert again.to_json() == names.to_json()
    assert counted(again, ["/posts/new-one", "/login"]) == {"/posts/:slug": 1, "/login": 1}


def test_names_that_come_one_by_one_become_slugs_too_also_after_a_restart() -> None:
    names = RouteNames()
    renamed: dict[str, str] = {}
    for at, word in enumerate(WORDS[: SPREAD + 1]):
        if at == 30:
            names = RouteNames.from_json(names.to_json())
        renamed = names.settle({names.candidate(f"/posts/{word}"): 1})
    assert renamed == {f"/posts/{WORDS[SPREAD]}": "/posts/:slug"}
    assert names.routes == {"/posts/:slug"}


def test_a_name_with_much_of_the_requests_stays_among_slugs() -> None:
    paths = [f"/{word}" for word in WORDS] + ["/login"] * 40
    assert counted(RouteNames(), paths) == {"/:slug": len(WORDS), "/login": 40}


def test_scanners_teach_nothing() -> None:
    names = RouteNames()
    scanned = [f"/{word}.php" for word in WORDS] + [f"/{word}" for word in WORDS]
    routes = counted(names, [*scanned, "/login", "/posts"], unfound=scanned)
    assert routes["/login"] == routes["/posts"] == 1
    assert "/:slug" not in routes
    assert routes[OTHER] == len(scanned) - MOST_UNFOUND
    # What was not there yesterday, and is there today, is a route like others.
    assert counted(names, ["/new"], unfound=["/new"]) == {OTHER: 1}
    assert counted(names, ["/new"]) == {"/new": 1}


def test_endings_of_files_stay() -> None:
    paths = [f"/static/{word}.{ending}" for word in WORDS for ending in ("js", "css")]
    assert set(counted(RouteNames(), paths)) == {"/static/:slug.js", "/static/:slug.css"}


def test_hashes_without_a_digit_or_a_letter_are_hashes_beside_others() -> None:
    dice = random.Random(1)
    hashes = [f"{dice.randrange(1 << 32):08x}" for _ in range(3_000)] + ["12345678", "deadbeef"]
    names = RouteNames()
    assert counted(names, [*(f"/commit/{one}" for one in hashes), "/commit/latest"]) == {
        "/commit/:hash": 3_002,
        "/commit/latest": 1,
    }
    assert names.route("/commit/87654321") == "/commit/:hash"
    assert counted(RouteNames(), ["/users/1"] * 50 + ["/users/3f2a9c1b"] * 50) == {"/users/:id": 50, "/users/:hash": 50}


def test_decisions_below_a_name_hold_below_its_slug() -> None:
    names = RouteNames()
    counted(names, [f"/alice/repos/{word}" for word in WORDS])
    assert names.route("/alice/repos/x") == "/alice/repos/:slug"
    counted(names, [f"/{word}/repos/main" for word in WORDS])
    assert names.candidate("/alice/repos/x") in ("/alice/repos/:slug", "/:slug/repos/:slug")
    assert names.candidate("/bob/repos/never-seen") == "/:slug/repos/:slug"


def test_matching_groups_come_first_and_are_always_routes() -> None:
    names = RouteNames(MatchingGroups(["/users/.*", "^/posts/[a-z]+$"]), limit=3)
    paths = ["/users/alice"] * 2 + ["/posts/ab", "/posts/cd", "/a", "/b", "/c", "/c", "/d"]
    assert counted(names, paths) == {"/users/.*": 2, "^/posts/[a-z]+$": 2, "/c": 2, OTHER: 3}


def test_ten_million_paths_would_be_five_hundred_routes() -> None:
    names = RouteNames()
    dice = random.Random(2)
    for _ in range(20):
        paths = [f"/{dice.choice(WORDS)}/{dice.choice(WORDS)}/{dice.choice(WORDS)}" for _ in range(2_000)]
        paths += ["/login"] * 1_000
        counted(names, paths)
    assert len(names.routes) <= MOST_ROUTES
    assert names.route("/login") == "/login"
    assert len(json.dumps(names.to_json())) < 100_000
    few = RouteNames(limit=5)
    assert len(counted(few, [f"/{one}/{two}" for one in "abcdef" for two in "uvwxyz"])) == 6
    assert counted(few, ["/late"]) == {OTHER: 1}


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"version": 2},
        {"version": 1, "slugs": [], "hashes": [], "routes": [1], "unfound": []},
        {"version": 1, "slugs": {"a": 1}, "hashes": [], "routes": [], "unfound": []},
        {"version": 1, "slugs": [], "hashes": 4, "routes": [], "unfound": []},
    ],
)
def test_what_are_no_decisions_is_said(document: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no decisions on routes"):
        RouteNames.from_json(document)


@given(st.lists(st.lists(st.sampled_from(["a", "b", "1", "deadbeef", "12345678", "a1b2c3d4", "x.js", ""]), max_size=4)))
def test_settling_counts_every_request_once_and_twice_is_once(segments: list[list[str]]) -> None:
    names = RouteNames(limit=20)
    counts = Counter(names.candidate("/" + "/".join(one)) for one in segments)
    renamed = names.settle(counts)
    settled: Counter[str] = Counter()
    for name, count in counts.items():
        settled[renamed.get(name, name)] += count
    assert settled.total() == len(segments)
    assert names.settle(settled) == {}
    for one in segments:
        name = names.candidate("/" + "/".join(one))
        assert name in settled or settled[OTHER]
