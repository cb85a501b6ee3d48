import pytest
from loadwatch_formats.access_logs.groups import GroupError, KeptParameters, MatchingGroups
from loadwatch_formats.access_logs.lines.line import PATH, REST, LineOptions
from loadwatch_formats.access_logs.lines.registry import recognise
from loadwatch_formats.access_logs.routes import SPREAD, RouteNames


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("action=login&token=abc", "?action=login"),
        ("token=abc&view=list&action=show_all#top", "?action=show_all&view=list"),
        ("action=add&action=delete", "?action=add"),
        ("action=", "?action="),
        ("action", "?action="),
        ("ACTION=login", ""),
        ("token=action=login", ""),
        ("action=42", "?action=:id"),
        ("action=step2", "?action=step2"),
        ("action=AbC123xyz", "?action=:hash"),
        ("action=3f0c9a52-7d4e-4f7b-9e0e-0d2f1a6b7c8d", "?action=:uuid"),
        ("action=alice@example.com", "?action=:slug"),
        ("action=@alice", "?action=:slug"),
        ("action=Jane+Doe", "?action=:slug"),
        ("action=a/b", "?action=:slug"),
        ("action=:hash=x", "?action=:slug"),
        ("action=%E3%81%82", "?action=:slug"),
        ("action=" + "x" * 33, "?action=:slug"),
        ("action=" + "abcdefghijklmnopqrstu", "?action=:slug"),
        ("&" * 200 + "action=login", ""),
        ("x" * 5_000 + "&action=login", ""),
        ("", ""),
    ],
)
def test_words_stay_and_what_may_be_a_secret_does_not(query: str, kept: str) -> None:
    assert KeptParameters(["action", "view"]).query_of(f"/index.php?{query}") == kept


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["token"], "holds secrets"),
        (["X-Api-Key"], "holds secrets"),
        (["access_token"], "holds secrets"),
        (["userPassword"], "holds secrets"),
        (["code"], "holds secrets"),
        (["a=b"], "no name of a parameter"),
        ([""], "no name of a parameter"),
        (["a"] * 6, "6 parameters are too many"),
    ],
)
def test_names_of_secrets_are_refused(names: list[str], said: str) -> None:
    with pytest.raises(GroupError, match=said):
        KeptParameters(names)
    with pytest.raises(GroupError, match=said):
        MatchingGroups((), names)


def test_a_route_has_what_is_kept_and_is_the_same_after_a_restart() -> None:
    groups = MatchingGroups(["^/own"], ["action"])
    names = RouteNames(groups)
    paths = [
        "/index.php?action=login",
        "/index.php?x=1&action=logout",
        "/?action=go",
        "/a/?action=go",
        "/own?action=go",
    ]
    routes = ["/index.php?action=login", "/index.php?action=logout", "/?action=go", "/a/?action=go", "^/own"]
    assert [names.candidate(path) for path in paths] == routes
    names.settle(dict.fromkeys(routes, 3))
    again = RouteNames.from_json(names.to_json(), groups)
    assert [again.route(path) for path in paths] == routes
    assert RouteNames().candidate(paths[0]) == "/index.php"


def test_values_that_are_too_many_become_a_placeholder_and_names_beside_them_stay() -> None:
    names = RouteNames(MatchingGroups((), ["q"]))
    words = ["".join(chr(97 + int(digit)) for digit in str(number)) for number in range(SPREAD + 1)]
    counts = {names.candidate(f"/search?q={word}"): 1 for word in words} | {"/search/advanced": 5, "/search?q=:id": 2}
    renamed = names.settle(counts)
    assert {renamed.get(name, name) for name in counts} == {"/search?q=:slug", "/search/advanced", "/search?q=:id"}
    assert names.route("/search?q=something") == "/search?q=:slug"
    assert names.route("/search?q=9") == "/search?q=:id"


@pytest.mark.parametrize(
    "line",
    [
        '192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET /a?b=c HTTP/1.1" 200 512 "-" "curl/8" 0.012',
        '192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET http://h/a?b=c HTTP/1.1" 200 512 "a \\" b" "curl/8" 0.012',
        "time:23/Nov/2026:10:00:00 +0900\tmethod:GET\turi:/a?b=c\tstatus:200\treqtime:0.1",
        "time:23/Nov/2026:10:00:00 +0900\treq:GET /a?b=c HTTP/1.1\tstatus:200\treqtime:0.1",
        '{"time":"2026-11-23T10:00:00Z","method":"GET","uri":"/a?b=c","status":200,"request_time":0.1}',
        '{"time":"2026-11-23T10:00:00Z","request":"GET /a?b=c HTTP/1.1","status":200,"request_time":0.1}',
        '[2026-11-23T10:00:00.000Z] "GET /a?b=c HTTP/1.1" 200 - 0 5 7 6 "-" "curl" "id" "h" "192.0.2.1:80"',
        "http 2026-11-23T10:00:00.000000Z app/lb/1 192.0.2.1:1 192.0.2.2:80 0.0 0.1 0.0 200 200 1 5 "
        '"GET http://h:80/a?b=c HTTP/1.1" "curl" - -',
    ],
)
def test_each_format_reads_the_query_only_if_it_is_asked_to(line: str) -> None:
    for queries, path in ((False, "/a"), (True, "/a?b=c")):
        reader = recognise(line, LineOptions(queries=queries))
        (texts,) = reader.read(line)
        found = (reader.again(texts[REST]) or texts) if texts[REST] else texts
        assert found[PATH] == path
