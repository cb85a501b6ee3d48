import json
import math
import pickle
import random

import pytest
from loadwatch_formats.access_logs.figures import SecondCounts
from loadwatch_formats.access_logs.lines.registry import recognise
from loadwatch_formats.access_logs.routes import OTHER, RouteNames
from loadwatch_formats.access_logs.tally import Tally, settle_together


def line(path: str, status: int | str = 200, took: str = "0.100", size: int | str = 10, method: str = "GET") -> str:
    return f"time:1795395600\tmethod:{method}\turi:{path}\tstatus:{status}\tsize:{size}\treqtime:{took}\n"


def tally(names: RouteNames | None = None) -> Tally:
    return Tally(recognise(line("/")), names or RouteNames())


def test_every_line_is_counted_with_all_that_it_says() -> None:
    counted = tally()
    counted.feed(line("/users/1?a") + line("/users/2", 304, "0.300", 0) + line("/users/3", 500, "-", "-"))
    counted.feed(line("/users/4", 200, "0", 30, "POST") + line("/users/5", 0, "0.2", 5, "HACK") + "what?\n\n")
    counted.feed("uri:/users/6\tmethod:\tstatus:-\n")
    figures = counted.settled()
    assert set(figures) == {(method, "/users/:id") for method in ("GET", "POST", "other", "-")}
    got = figures["GET", "/users/:id"]
    assert got.statuses == {"200": 1, "304": 1, "500": 1}
    assert (got.count, got.durations.count, got.durations.least, got.durations.greatest) == (3, 2, 0.1, 0.3)
    assert (got.sized, got.bytes, got.least_bytes, got.most_bytes) == (2, 10, 0, 10)
    assert figures["POST", "/users/:id"].durations.least == 0
    assert figures["-", "/users/:id"].statuses == {"0": 1}
    assert (counted.lines.read, counted.lines.unreadable) == (6, 1)
    assert counted.lines.first_ms == counted.lines.last_ms == 1_795_395_600_000


def test_a_request_that_nobody_understood_hides_no_line_behind_it() -> None:
    def combined(request: str, status: int, took: str) -> str:
        return f'::1 - - [23/Nov/2026:10:00:00 +0900] "{request}" {status} 10 "-" "curl" {took}\n'

    usual = combined("GET /users/42 HTTP/1.1", 200, "0.012")
    counted = Tally(recognise(usual), RouteNames())
    counted.feed(usual + combined("", 400, "0.001") + combined("-", 408, "60.001"))
    counted.feed(combined(r"GET /a\x22b HTTP/1.1", 500, "0.5") + "what?\n")
    figures = counted.settled()
    assert figures["-", "-"].statuses == {"400": 1, "408": 1}
    assert figures["-", "-"].durations.greatest == 60.001
    assert [one.statuses for (method, _), one in figures.items() if method == "GET"] == [{"200": 1}, {"500": 1}]
    assert (counted.lines.read, counted.lines.unreadable) == (4, 1)


def test_percentiles_are_within_one_percent_of_exact_ones() -> None:
    dice = random.Random(5)
    values = [round(dice.lognormvariate(-3, 1.2), 3) for _ in range(50_000)]
    counted = tally()
    for at in range(0, len(values), 1_000):
        counted.feed("".join(line("/a", took=f"{value:.3f}") for value in values[at : at + 1_000]))
    durations = counted.settled()["GET", "/a"].durations
    ordered = sorted(values)
    for share in (0.5, 0.9, 0.95, 0.99, 0.999):
        exact = ordered[math.ceil(share * len(values)) - 1]
        assert durations.quantile(share) == pytest.approx(exact, rel=0.01)
    assert durations.sum == pytest.approx(math.fsum(values))
    assert (durations.least, durations.greatest) == (ordered[0], ordered[-1])


def test_a_million_paths_are_few_routes_and_nothing_is_lost() -> None:
    counted, dice = tally(), random.Random(6)
    words = ["".join(dice.choices("abcdefghijklm", k=7)) for _ in range(5_000)]
    made = 0
    for _ in range(10):
        paths = [f"/{dice.choice(words)}/{dice.choice(words)}" for _ in range(4_000)] + ["/login"] * 500
        counted.feed("".join(map(line, paths)))
        made += len(paths)
        assert len(counted.figures) < 10_000
    figures = counted.settled()
    assert len(figures) <= 501
    assert sum(one.count for one in figures.values()) == made == counted.lines.read
    assert figures["GET", "/login"].count == 5_000


def test_scanners_do_not_hide_routes() -> None:
    counted, dice = tally(), random.Random(6)
    scanned = ["/" + "".join(dice.choices("abcdefghijklm", k=7)) for _ in range(3_000)]
    counted.feed("".join(line(path, 404) for path in scanned) + line("/login") + line("/posts/new"))
    figures = counted.settled()
    assert figures["GET", "/login"].count == figures["GET", "/posts/new"].count == 1
    assert figures["GET", OTHER].count == 3_000 - 50


def test_parts_that_others_counted_are_one_log() -> None:
    paths = [f"/posts/{chr(97 + at % 26)}{chr(97 + at // 26)}" for at in range(80)] + ["/login"] * 20
    whole, joined = tally(), tally()
    whole.feed("".join(map(line, paths)))
    for at in range(0, len(paths), 20):
        part = tally()
        part.feed("".join(map(line, paths[at : at + 20])) + "?\n")
        joined.join(pickle.loads(pickle.dumps(part.part())))
    one, other = whole.settled(), joined.settled()
    assert {key: figures.count for key, figures in one.items()} == {
        key: figures.count for key, figures in other.items()
    }
    assert set(one) == {("GET", "/posts/:slug"), ("GET", "/login")}
    assert joined.lines.read == whole.lines.read
    assert joined.lines.unreadable == 5


def test_two_logs_have_the_same_names() -> None:
    names = RouteNames()
    before, after = tally(names), tally(names)
    words = [f"{one}{other}" for one in "abcdef" for other in "ghijklmnop"]
    before.feed("".join(line(f"/posts/{word}") for word in words[:40]))
    after.feed("".join(line(f"/posts/{word}") for word in words[30:]) + line("/login"))
    settle_together((before, after))
    assert set(before.figures) == {("GET", "/posts/:slug")}
    assert set(after.figures) == {("GET", "/posts/:slug"), ("GET", "/login")}


def test_a_log_that_grows_keeps_its_counts() -> None:
    counted = tally()
    words = [f"{one}{other}" for one in "abcdef" for other in "ghijklmnop"]
    for at, word in enumerate(words):
        counted.feed(line(f"/posts/{word}"))
        assert sum(one.count for one in counted.settled().values()) == at + 1
    assert set(counted.figures) == {("GET", "/posts/:slug")}
    assert counted.names.settle(counted.counts(), counted.unfound()) == {}
    assert json.dumps(counted.names.to_json())


def test_counts_of_seconds_join_in_the_coarser_steps_of_both() -> None:
    def counted(step: int) -> SecondCounts:
        counts = SecondCounts(step)
        moments = [f"1970-01-01T00:00:{second:02}Z" for second in range(8)]
        counts.add(moments, ["200"] * 8, ["1"] * 8, ["0.5"] * 8, float)
        return counts

    for one, other in ((counted(1), counted(4)), (counted(4), counted(1))):
        one.merge(other)
        assert (one.step, one.document(0)) == (4, {"at": [0, 1], "count": [8, 8], "bytes": [8, 8], "seconds": [4, 4]})
