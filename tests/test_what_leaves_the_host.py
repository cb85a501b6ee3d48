"""docs/guide/what-leaves-the-host.md: each collector stands there, and its tables are what masking does."""

import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest
from loadwatch_collectors.sources.registry import SOURCES, sources_by_name
from loadwatch_formats.access_logs.groups import MatchingGroups
from loadwatch_formats.access_logs.routes import RouteNames
from loadwatch_formats.log_patterns import LogPatterns, read_line
from loadwatch_formats.statements.fingerprint import mask

GUIDE = (Path(__file__).parents[1] / "docs" / "guide" / "what-leaves-the-host.md").read_text("utf-8")
_ROW = re.compile(r"^\| `(.+)` \| `(.+)` \|$", re.MULTILINE)


def examples(heading: str) -> Sequence[tuple[str, str]]:
    """The rows of the table with this heading."""
    _, found, rest = GUIDE.partition(f"| {heading} | what leaves |\n")
    assert found, f"the guide has no table of {heading!r}"
    return _ROW.findall(rest.partition("\n\n")[0] + "\n")


def test_that_every_collector_stands_there_once() -> None:
    table = re.findall(r"^\| `(\w+)` \| ", GUIDE, re.MULTILINE)
    sections = re.findall(r"^### (\w+)$", GUIDE, re.MULTILINE)
    assert sorted([*table, *sections]) == sorted(source.name for source in SOURCES)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("access_log", {"keep", "match", "path"}),
        ("mysql_statements", {"plans"}),
        ("mysql", {"processes", "other_variables"}),
        ("pprof", {"kinds"}),
    ],
)
def test_that_the_options_it_names_are_there(source: str, names: set[str]) -> None:
    assert names <= {field.name for field in fields(sources_by_name()[source].settings)}
    assert all(f"`{name}:" in GUIDE or f"      {name}:" in GUIDE for name in names)


@pytest.mark.parametrize("keep", [(), ("action",)])
def test_that_paths_leave_as_it_says(keep: tuple[str, ...]) -> None:
    names = RouteNames(MatchingGroups((), keep))
    rows = examples("in the log, with `keep: [action]`" if keep else "in the log")
    assert len(rows) >= 4
    for path, route in rows:
        assert names.candidate(path) == route


def test_that_statements_leave_as_it_says() -> None:
    rows = examples("executed")
    assert len(rows) >= 3
    for text, leaves in rows:
        assert mask(text) == leaves


def test_that_lines_leave_as_it_says() -> None:
    section = GUIDE.partition("### log_patterns")[2].partition("### ")[0]
    rows = _ROW.findall(section)
    assert len(rows) >= 4
    for line, leaves in rows:
        message = read_line(line)
        assert message is not None
        patterns = LogPatterns(10)
        patterns.add(message)
        assert [one.text for one in patterns.templates.values()] == [leaves]
