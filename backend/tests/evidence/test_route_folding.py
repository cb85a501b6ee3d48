import operator

from loadwatch_backend.evidence.route_folding import RouteKey, by_source, folded, folds


def get(route: str) -> RouteKey:
    return RouteKey("GET", route)


def test_that_literals_belong_to_the_slug_that_another_source_has_learnt() -> None:
    first = {get("/posts/:slug"): 90.0, get("/about"): 5.0}
    second = {get("/posts/hello-world"): 3.0, get("/posts/my-day"): 4.0, get("/about"): 2.0}
    names = folds([first, second])
    assert names == {get("/posts/hello-world"): get("/posts/:slug"), get("/posts/my-day"): get("/posts/:slug")}
    assert folded(second, names, operator.add) == {get("/posts/:slug"): 7.0, get("/about"): 2.0}


def test_that_a_name_which_is_kept_apart_stays_a_route() -> None:
    first = {get("/posts/:slug"): 80.0, get("/posts/popular"): 20.0}
    second = {get("/posts/popular"): 3.0, get("/posts/hello-world"): 3.0}
    assert folds([first, second]) == {get("/posts/hello-world"): get("/posts/:slug")}


def test_that_what_was_counted_before_a_name_was_learnt_is_added() -> None:
    one = {get("/posts/:slug"): 97.0, get("/posts/hello-world"): 2.0}
    assert folds([one]) == {get("/posts/hello-world"): get("/posts/:slug")}


def test_what_a_slug_does_not_cover() -> None:
    first = {get("/posts/:slug"): 90.0, get("/files/:slug.css"): 9.0}
    second = {
        RouteKey("POST", "/posts/hello-world"): 1.0,
        get("/posts/:id"): 1.0,
        get("/posts/hello-world/edit"): 1.0,
        get("/posts/"): 1.0,
        get("/posts/*"): 1.0,
        get("/files/a.js"): 1.0,
        get("/files/a.css"): 1.0,
    }
    assert folds([first, second]) == {get("/files/a.css"): get("/files/:slug.css")}
    assert folds([second]) == folds([]) == {}


def test_that_each_instance_is_a_source() -> None:
    labels = [{"instance": "a", "route": "/"}, {"instance": "b", "route": "/"}, {"instance": "b", "route": ""}]
    found = by_source(labels, [1.0, 2.0, 4.0], lambda one: get(one["route"]) if one["route"] else None)
    assert found == [{get("/"): 1.0}, {get("/"): 2.0}]
