"""The part of a log that lies within a run, by second."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from loadwatch_formats.access_logs.groups import MatchingGroups
from loadwatch_formats.access_logs.lines.line import LineOptions
from loadwatch_formats.access_logs.lines.registry import recognise
from loadwatch_formats.access_logs.run_part import RunPart
from loadwatch_formats.run_spans import Span

START_MS = 1_795_395_600_000


def line(second: float, path: str, status: int = 200, took: float = 0.1, size: int = 100) -> str:
    at = datetime.fromtimestamp(START_MS / 1_000 + second, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    return f'192.0.2.1 - - [{at}] "GET {path} HTTP/1.1" {status} {size} "-" "-" {took:.3f}\n'


def part_of(*texts: str, steady: Span | None = None, most_cells: int = 1_000) -> Mapping[str, Any]:
    part = RunPart(Span(START_MS, START_MS + 60_000), steady, MatchingGroups(), most_cells)
    for text in texts:
        part.begin(recognise(text, LineOptions()))
        part.feed(text)
        part.end(0)
    return part.document({})


def test_requests_of_each_second_and_route() -> None:
    log = line(3, "/a") * 2 + line(3, "/a", 304, 0.0, 0) + line(7, "/a", 503, 0.5) + line(7, "/b")
    found = part_of(log)["seconds"]
    assert (found["step"], found["from_ms"]) == (1, START_MS + 3_000)
    assert found["known_ms"] == [START_MS + 3_000, START_MS + 8_000], "what was before may be lost"
    assert found["routes"] == [
        {
            **{"method": "GET", "route": "/a", "at": [0, 4], "count": [3, 1], "not_modified": [1, 0]},
            **{"failed": [0, 1], "bytes": [200, 100], "seconds": [0.2, 0.5]},
        },
        {"method": "GET", "route": "/b", "at": [4], "count": [1], "bytes": [100], "seconds": [0.1]},
    ]


def test_that_the_steady_window_and_a_second_file_are_in_it_and_a_margin_too() -> None:
    first = "".join(line(second, "/a") for second in range(-60, 30))
    second = "".join(line(second, "/a") for second in range(30, 120))
    document = part_of(first, second, steady=Span(START_MS + 10_000, START_MS + 50_000))
    (one,) = document["seconds"]["routes"]
    assert document["routes"][0]["count"] == 61
    assert one["count"] == [1] * 101, "twenty seconds before and after the run"
    assert document["seconds"]["known_ms"] == [START_MS - 20_000, START_MS + 80_000]


def test_that_seconds_become_coarser_where_there_are_too_many() -> None:
    log = "".join(line(second, path) for second in range(60) for path in ("/a", "/b"))
    found = part_of(log, most_cells=40)["seconds"]
    assert found["step"] == 4
    assert found["from_ms"] % 4_000 == 0
    assert [sum(one["count"]) for one in found["routes"]] == [60, 60]
    assert all(len(one["at"]) <= 16 for one in found["routes"])


def test_that_names_which_are_learnt_late_are_one_route() -> None:
    log = "".join(line(second % 60, f"/posts/{word}{second}-story") for second in range(120) for word in ("ab", "cd"))
    document = part_of(log)
    assert [one["route"] for one in document["seconds"]["routes"]] == [one["route"] for one in document["routes"]]
    assert sum(sum(one["count"]) for one in document["seconds"]["routes"]) == 240


def test_that_a_log_without_times_has_no_seconds() -> None:
    part = RunPart(Span(START_MS, START_MS + 60_000), None, MatchingGroups())
    text = "time:later\tmethod:GET\turi:/a\tstatus:200\tsize:1\treqtime:0.1\n"
    part.begin(recognise(text, LineOptions()))
    part.feed(text)
    part.end(0)
    assert part.document({})["seconds"] is None
    assert part.undated == 1
