import pytest
from loadwatch_collectors.runs.errors import UsageError
from loadwatch_collectors.runs.facts.request import parse_links, parse_parameters, parse_start, parse_target
from loadwatch_collectors.runs.tools import Target


def test_parameters() -> None:
    assert parse_parameters(["pool=50", "note=a=b", " x = y "]) == {"pool": "50", "note": "a=b", "x": "y"}
    assert parse_parameters(["db_pass=x", "token_limit=5"]) == {"db_pass": "***", "token_limit": "5"}
    for wrong in ("pool", "=5"):
        with pytest.raises(UsageError, match="KEY=VALUE"):
            parse_parameters([wrong])


def test_links() -> None:
    assert parse_links(["https://h/i/1"], ["https://h/p?a=b", "https://h/p=The title", "https://h/d"]) == [
        {"url": "https://h/i/1", "title": "issue"},
        {"url": "https://h/p?a=b", "title": ""},
        {"url": "https://h/p", "title": "The title"},
        {"url": "https://h/d", "title": ""},
    ]
    with pytest.raises(UsageError, match="https://host/path"):
        parse_links(["ftp://h"], [])


GIVEN = {"target_rate": None, "duration": None, "concurrency": None}


def test_times_and_targets() -> None:
    assert parse_start("1970-01-01T09:00:01.5+09:00") == 1500
    assert parse_start("1970-01-01T00:00:01Z") == 1000
    for wrong in ("yesterday", "2026-11-21T10:00:00"):
        with pytest.raises(UsageError):
            parse_start(wrong)
    found = Target(rate=5, duration_seconds=10, concurrency=4)
    assert parse_target(GIVEN, found) == found
    assert parse_target(GIVEN | {"target_rate": 0, "duration": "2m", "concurrency": 3}, found) == Target(
        rate=0, duration_seconds=120, concurrency=3
    )
    with pytest.raises(UsageError, match="--duration"):
        parse_target(GIVEN | {"duration": "soon"}, found)
