"""Lines of a command as it prints them: which become figures, samples and markers."""

import json

import pytest
from loadwatch_collectors.runs.errors import UsageError
from loadwatch_collectors.runs.own_figures import LineReader
from loadwatch_formats.own_figures import LONGEST_MARKER, MOST_MARKERS


def values(reader: LineReader) -> dict[str, tuple[float | None, str]]:
    return {one["name"]: (one["value"], str(one["problem"])) for one in reader.report()["figures"]}


def test_pieces_become_lines_whatever_their_ends_are() -> None:
    reader = LineReader([r"n=n=(\d+)"], [])
    for piece in (b"n=", b"1\r\nn=2\rn", b"=3\x1b[0m\nx\n\xff n=4"):
        reader.add(1, piece)
    reader.add(2, b"\0n=9\n")
    rows = reader.finish("r")
    assert [row.values[0] for row in rows][:4] == [1, 2, 3, 4]
    times = [row.timestamp_ms for row in rows]
    assert times == sorted(set(times))
    assert values(reader) == {"n": (4, "")}


def test_a_document_may_stand_on_a_line_or_on_many() -> None:
    reader = LineReader(["a=json:$.a", "b=json:$.b[1]", "c=json:$.c", "d=json:$.a.x"], [])
    reader.add(1, b'{"a": 1}\nlog {"a": 5}\n{"a": 2}\n[broken\n{\n "b": [1,\n  2],\n "c": "x"\n}\nthe end')
    reader.finish("r")
    assert values(reader) == {"a": (2, ""), "b": (2, ""), "c": (None, "no-number"), "d": (None, "no-path")}
    silent = LineReader(["a=json:$.a"], [])
    silent.add(1, b"nothing\n")
    silent.finish("r")
    assert values(silent) == {"a": (None, "no-json")}


def test_a_pattern_that_never_ends_is_given_up_and_others_go_on() -> None:
    reader = LineReader([r"slow=^((a+)+)$", r"n=(\d+)"], [r"^(b+)+$", "1"])
    reader.add(1, f"{'a' * 60}!\n{'b' * 60}!\n17\n".encode())
    reader.finish("r")
    assert values(reader) == {"slow": (None, "too-slow"), "n": (17, "")}
    assert [one["text"] for one in reader.report()["markers"]] == ["17"]
    assert reader.notes == ["--marker '^(b+)+$' takes too long on a line, so it is ignored: simplify it"]


def test_markers_are_bounded_in_number_and_length_and_hold_no_secrets() -> None:
    reader = LineReader([], ["mark"])
    reader.add(1, f"mark token=hunter2secret {'x' * 5_000}\n".encode() + b"mark\n" * (MOST_MARKERS + 5))
    found = reader.report()["markers"]
    assert len(found) == MOST_MARKERS
    assert len(found[0]["text"]) == LONGEST_MARKER
    assert "hunter2" not in json.dumps(found)
    assert len(reader.notes) == 1


def test_nothing_is_read_where_nobody_asks() -> None:
    assert not LineReader(["a=promql:up"], []).wanted
    with pytest.raises(UsageError, match="is given twice"):
        LineReader(["a=(1)", "a=promql:up"], [])
