import pytest
from loadwatch_formats.access_logs.groups import GroupError, MatchingGroups, split_patterns


def test_commas_part_expressions_but_not_within_brackets() -> None:
    text = r"/users/[0-9]+, /posts/[a-z]{1,8},^/(a,b)/[,]$,\{,x,"
    assert split_patterns(text) == ["/users/[0-9]+", "/posts/[a-z]{1,8}", "^/(a,b)/[,]$", r"\{", "x"]
    assert split_patterns("") == []


def test_the_first_that_is_found_names_the_route() -> None:
    groups = MatchingGroups(["/users/[0-9]+/posts", "/users/", "^/$"])
    assert groups.find("/users/1/posts?page=2") == "/users/[0-9]+/posts"
    assert groups.find("/api/users/1") == "/users/"
    assert groups.find("/") == "^/$"
    assert groups.find("/login?next=/users/") is None
    assert MatchingGroups().find("/") is None


def test_what_is_no_expression_is_named() -> None:
    with pytest.raises(GroupError, match=r"'/users/\(' is no regular expression"):
        MatchingGroups(["/a", "/users/("])
    with pytest.raises(GroupError, match="at most 200"):
        MatchingGroups(["/a"] * 201)
