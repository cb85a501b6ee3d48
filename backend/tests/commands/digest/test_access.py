import bz2
import gzip
import json
import lzma
import math
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cramjam
import pytest
from click.testing import CliRunner, Result
from loadwatch_backend.app.commands.digest import access
from loadwatch_backend.app.commands.digest.group import digest
from loadwatch_formats.access_logs.lines.line import LineOptions
from loadwatch_formats.access_logs.routes import RouteNames


def ltsv(path: str, status: int = 200, took: str = "0.100", method: str = "GET", at: int = 1_795_395_600) -> str:
    return f"time:{at}\tmethod:{method}\turi:{path}\tstatus:{status}\tsize:10\treqtime:{took}\n"


def combined(path: str) -> str:
    return f'192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET {path} HTTP/1.1" 200 10 "-" "curl/8"\n'


LOG = "".join(
    [
        *(ltsv(f"/users/{at}?token=secret", took=f"0.{at:03d}", at=1_795_395_600 + at) for at in range(1, 101)),
        *(ltsv("/login", took="2.000", method="POST") for _ in range(10)),
        *(ltsv("/css/style.css", 304, "0.000") for _ in range(20)),
        *(ltsv("/slow", 503, "-") for _ in range(2)),
    ]
)


def run(*arguments: str | Path, text: str | bytes = "", status: int = 0) -> Result:
    result = CliRunner().invoke(digest, ["access", *map(str, arguments)], input=text)
    assert result.exit_code == status, result.output
    return result


def document(*arguments: str | Path, text: str | bytes = "") -> dict[str, Any]:
    return json.loads(run(*arguments, "--json", text=text).stdout)


def test_parameters_that_are_kept_are_part_of_the_route(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    lines = [
        "/index.php?action=login&token=s3cret",
        "/index.php?action=logout",
        "/index.php?action=12",
        "/index.php?x=1",
    ]
    log.write_text("".join(ltsv(path, 200, "0.1") for path in lines))
    assert [one["route"] for one in document(log)["routes"]] == ["/index.php"]
    assert {one["route"] for one in document(log, "--keep", "action,view")["routes"]} == {
        "/index.php",
        "/index.php?action=:id",
        "/index.php?action=login",
        "/index.php?action=logout",
    }
    assert "'token' is a parameter that holds secrets" in run(log, "--keep", "token", status=2).output


def test_304_has_a_column_of_its_own(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text("".join(ltsv("/a", status, "0.1") for status in (200, 301, 302, 304, 304, 304)))
    assert run(log, "-o", "2xx,3xx,304").stdout.splitlines()[3].split() == ["1", "2", "3"]


def test_the_document_has_all_figures_of_each_route() -> None:
    got = document("-", text=LOG)
    assert [(one["method"], one["route"], one["count"]) for one in got["routes"]] == [
        ("POST", "/login", 10),
        ("GET", "/users/:id", 100),
        ("GET", "/css/style.css", 20),
        ("GET", "/slow", 2),
    ]
    users = got["routes"][1]
    assert users["sum"] == pytest.approx(5.05)
    assert (users["min"], users["max"], users["mean"]) == (0.001, 0.1, pytest.approx(0.0505))
    assert users["p50"] == pytest.approx(0.050, rel=0.005)
    assert users["p90"] == pytest.approx(0.090, rel=0.005)
    assert users["p95"] == pytest.approx(0.095, rel=0.005)
    assert users["p99"] == pytest.approx(0.099, rel=0.005)
    assert users["status"] == {"200": 100}
    assert (users["bytes"], users["body"]) == (1000, {"count": 100, "min": 10, "mean": 10, "max": 10})
    assert users["share"] == pytest.approx(5.05 / 25.05)
    style = got["routes"][2]
    assert (style["min"], style["max"], style["sum"], style["status"]) == (0, 0, 0, {"304": 20})
    slow = got["routes"][3]
    assert [slow[name] for name in ("sum", "min", "mean", "p50", "p99", "max", "stddev")] == [None] * 7
    assert got["window"] == {"first_ms": 1_795_395_600_000, "last_ms": 1_795_395_700_000}
    lines = got["lines"]
    assert (lines["read"], lines["unreadable"], lines["without_duration"], lines["other_routes"]) == (132, 0, 2, 0)
    assert (lines["formats"], lines["durations"]) == (["ltsv"], ["reqtime, in seconds"])
    assert "secret" not in json.dumps(got)


def test_the_table_is_what_a_person_reads() -> None:
    result = run("-", text=LOG)
    head, rest = result.stdout.split("\n\n")
    assert head == (
        "132 requests, 4 routes; 2026-11-23T01:00:00Z to 01:01:40Z, 1 a second; "
        "durations: reqtime, in seconds; percentiles within 0.5 %"
    )
    titles, first, *_, last = rest.splitlines()
    assert titles.split() == "COUNT SHARE SUM MEAN P50 P95 P99 MAX 304 4XX 5XX BYTES METHOD ROUTE".split()
    assert first.split() == "10 79.8% 20.000 2.000 2.000 2.000 2.000 2.000 0 0 0 100 POST /login".split()
    assert last.split() == "2 0.0% - - - - - - 0 0 2 20 GET /slow".split()
    assert result.stderr == "2 requests have no duration: in counts and bytes, but not in times\n"


@pytest.mark.parametrize(
    ("arguments", "routes"),
    [
        (("--sort", "count"), ["/users/:id", "/css/style.css", "/login", "/slow"]),
        (("--sort", "count", "--ascending"), ["/slow", "/login", "/css/style.css", "/users/:id"]),
        (("--sort", "sum", "-r"), ["/login", "/users/:id", "/css/style.css", "/slow"]),
        (("--sort", "5xx"), ["/slow", "/css/style.css", "/login", "/users/:id"]),
        (("--sort", "uri"), ["/css/style.css", "/login", "/slow", "/users/:id"]),
        (("--sort", "p99", "--limit", "1"), ["/login"]),
        (("--sort", "avg", "--limit", "0"), ["/login", "/users/:id", "/css/style.css", "/slow"]),
        (("-m", "^/users/,/(login|slow)$"), ["/(login|slow)$", "^/users/", "/css/style.css", "/(login|slow)$"]),
    ],
)
def test_order_and_groups(arguments: tuple[str, ...], routes: list[str]) -> None:
    assert [one["route"] for one in document("-", *arguments, text=LOG)["routes"]] == routes


def test_columns_by_the_names_of_alp() -> None:
    shown = run("-", "-o", "count,method,uri,min,avg,max,sum,p99", "--limit", "1", text=LOG).stdout.splitlines()
    assert shown[2].split() == "COUNT METHOD ROUTE MIN MEAN MAX SUM P99".split()
    assert shown[4] == "… and 3 more; --limit 0 shows all"


def test_files_compressed_or_not_are_one_log(tmp_path: Path) -> None:
    data = LOG.encode()
    files = {
        "plain": data,
        "gz": gzip.compress(data[:2_000]) + gzip.compress(data[2_000:]),
        "bz2": bz2.compress(data),
        "xz": lzma.compress(data),
        "zst": bytes(cramjam.zstd.compress(bytearray(data))),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        assert document(tmp_path / name)["routes"] == document("-", text=content)["routes"]
    assert document(*(tmp_path / name for name in files))["routes"][1]["count"] == 500


def test_nothing_that_lies_before_the_cut_is_lost(tmp_path: Path) -> None:
    dice = random.Random(9)
    content = "".join(ltsv(f"/users/{dice.random()}") for _ in range(40_000)).encode()
    read: dict[str, tuple[bytes, Callable[[bytes], bytes]]] = {
        "gz": (gzip.compress(content), zlib.decompressobj(31).decompress),
        "bz2": (bz2.compress(content), bz2.BZ2Decompressor().decompress),
        "xz": (lzma.compress(content), lzma.LZMADecompressor().decompress),
    }
    for name, (compressed, decompress) in read.items():
        cut = compressed[: len(compressed) * 2 // 3]
        (tmp_path / name).write_bytes(cut)
        assert document(tmp_path / name)["lines"]["read"] == decompress(cut).count(b"\n") > 5_000


def test_a_short_file_that_is_cut_off_is_not_called_empty(tmp_path: Path) -> None:
    path = tmp_path / "access.log.1.gz"
    path.write_bytes(gzip.compress(LOG.encode())[:15])
    assert "damaged or cut off" in run(path, status=1).output


def test_a_file_that_is_cut_off_is_read_so_far_and_said(tmp_path: Path) -> None:
    path = tmp_path / "access.log.1.gz"
    path.write_bytes(gzip.compress((LOG * 200).encode(), 0)[:-50_000])
    got = document(path)
    assert got["lines"]["read"] > 20_000
    assert "damaged or cut off" in got["lines"]["remarks"][0]
    assert "access.log.1.gz: the file is damaged or cut off" in run(path).stderr


def test_a_log_without_durations_gives_counts(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    path.write_text("".join(combined(f"/users/{at}") for at in range(5)) + combined("/login"))
    got = document(path)
    assert [(one["route"], one["count"], one["sum"], one["share"]) for one in got["routes"]] == [
        ("/users/:id", 5, None, None),
        ("/login", 1, None, None),
    ]
    shown = run(path)
    assert "access.log: no durations: no field behind the bytes is a duration; nginx: add $request_time" in shown.stderr
    assert "percentiles" not in shown.stdout


def test_what_is_new_and_gone_and_how_much_more_it_is(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_text("".join(ltsv("/users/1", took="0.100") for _ in range(10)) + ltsv("/old"))
    after.write_text("".join(ltsv("/users/2", took="0.300") for _ in range(15)) + ltsv("/new"))
    got = document(after, "--base", before)
    users, new = got["routes"]
    assert (users["route"], users["count"], users["base"]["count"]) == ("/users/:id", 15, 10)
    assert users["base"]["p95"] == pytest.approx(0.1, rel=0.005)
    assert (new["route"], new["base"]) == ("/new", None)
    assert [(one["route"], one["count"]) for one in got["gone"]] == [("/old", 1)]
    assert got["base"]["lines"]["read"] == 11
    lines = run(after, "--base", before).stdout.splitlines()
    assert lines[1].startswith("compared with 11 requests")
    assert lines[3].split() == "COUNT +COUNT SHARE SUM +SUM MEAN P95 +P95 MAX 304 5XX METHOD ROUTE".split()
    assert lines[4].split()[:5] == ["15", "+5", "97.8%", "4.500", "+3.500"]
    assert lines[4].split()[-2:] == ["GET", "/users/:id"]
    assert [line.split()[-3:] for line in lines[5:]] == [["new", "GET", "/new"], ["gone", "GET", "/old"]]


def test_both_logs_have_the_same_routes(tmp_path: Path) -> None:
    words = [f"{one}{other}" for one in "abcdef" for other in "ghijklmnop"]
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_text("".join(ltsv(f"/posts/{word}") for word in words[:30]))
    after.write_text("".join(ltsv(f"/posts/{word}") for word in words[30:]))
    (posts,) = document(after, "--base", before)["routes"]
    assert (posts["route"], posts["count"], posts["base"]["count"]) == ("/posts/:slug", 30, 30)


def test_nothing_of_a_hostile_log_reaches_the_terminal_raw() -> None:
    hostile = (
        LOG.encode()
        + ltsv("/\x1b[31mred").encode()
        + b"time:1\tmethod:\x1b]0;x\x07\turi:/caf\xc3\xa9\tstatus:200\tsize:1\treqtime:0.1\n"
        + b"\x1b[2Jnothing \xff\xfe\n"
        + b"x" * 2_000_000
        + b"\n"
        + ltsv("/after").encode()
    )
    shown = run("-", text=hostile)
    for text in (shown.stdout, shown.stderr):
        assert all(one.isprintable() or one == "\n" for one in text)
    assert "1 line is no request, such as: \\x1b[2Jnothing \\xff\\xfe" in shown.stderr
    assert "1 line of more than a megabyte was left out" in shown.stderr
    assert "/after" in shown.stdout
    got = document("-", text=hostile)
    assert {"/:slug", "/after"} <= {one["route"] for one in got["routes"]}
    assert (got["lines"]["unreadable"], got["lines"]["too_long"]) == (1, 1)


def test_what_is_beyond_the_bound_is_counted_as_other() -> None:
    paths = (
        f"/{one}{two}/{three}{four}" for one in "abcde" for two in "fghij" for three in "klmno" for four in "pqrst"
    )
    got = document("-", text="".join(ltsv(path) for path in paths))
    other = next(one for one in got["routes"] if one["route"] == "other")
    assert len(got["routes"]) == 501
    assert other["count"] == got["lines"]["other_routes"] == 125


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_a_large_file_by_several_processes_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int
) -> None:
    dice = random.Random(4)
    words = ["".join(dice.choices("abcdefgh", k=6)) for _ in range(200)]
    paths = [f"/posts/{dice.choice(words)}" for _ in range(3_000)] + [f"/users/{at}" for at in range(3_000)]
    values = [round(dice.lognormvariate(-3, 1), 3) for _ in paths]
    path = tmp_path / "access.log"
    path.write_text("".join(ltsv(one, took=f"{took:.3f}") for one, took in zip(paths, values, strict=True)) + "?\n" * 3)
    monkeypatch.setattr(access, "PART_BYTES", 50_000)
    counting = access.Counting(lines=LineOptions())
    tally = access.count_files([str(path)], counting, RouteNames(), processes).tally
    figures = tally.settled()
    assert {key: one.count for key, one in figures.items()} == {
        ("GET", "/posts/:slug"): 3_000,
        ("GET", "/users/:id"): 3_000,
    }
    assert (tally.lines.read, tally.lines.unreadable, tally.lines.example) == (6_000, 3, "?")
    posts = figures["GET", "/posts/:slug"].durations
    exact = sorted(values[:3_000])
    assert posts.sum == pytest.approx(math.fsum(exact))
    for share in (0.5, 0.95, 0.99):
        assert posts.quantile(share) == pytest.approx(exact[math.ceil(share * 3_000) - 1], rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "text", "status", "says"),
    [
        (("missing.log",), "", 1, "missing.log: No such file or directory"),
        (("-",), "", 1, "-: has no lines"),
        (("-",), "one\ntwo\n", 1, "-: its first 2 lines are not what is known"),
        (("-", "--match", "("), LOG, 2, "the matching group '(' is no regular expression"),
        (("-", "--sort", "speed"), LOG, 2, "no column 'speed'; there are count, share"),
        (("-", "--key", "seconds"), LOG, 2, "'seconds' is not WHAT=KEY"),
        (("-", "--key", "speed=x"), LOG, 1, "a key can hold time, method, path, request, status, bytes, seconds; not"),
        ((".",), "", 1, ".: Is a directory"),
        ((), "", 2, "Missing argument 'FILE...'"),
    ],
)
def test_errors_say_what_is_wrong(arguments: tuple[str, ...], text: str, status: int, says: str) -> None:
    assert says in run(*arguments, text=text, status=status).stderr


def test_keys_and_unit_can_be_said() -> None:
    line = '{"http": {"p": "/users/1", "s": 200}, "verb": "GET", "t": 12}\n'
    said = ("--key", "path=http.p", "--key", "status=http.s", "--key", "seconds=t", "--unit", "ms")
    (users,) = document("-", *said, text=line * 3)["routes"]
    assert (users["route"], users["method"], users["max"]) == ("/users/:id", "GET", pytest.approx(0.012))


@pytest.mark.parametrize("part_bytes", [1 << 16, 1 << 30])
def test_durations_that_begin_late_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part_bytes: int) -> None:
    monkeypatch.setattr(access, "PART_BYTES", part_bytes)
    path = tmp_path / "access.log"
    lines = [combined("/a")[:-1] + " -\n"] * 5_000 + [combined("/a")[:-1] + " 0.250\n"] * 3
    path.write_text("".join(lines))
    (route,) = document(path)["routes"]
    assert (route["count"], route["max"], route["sum"]) == (5_003, 0.25, pytest.approx(0.75))


@pytest.mark.parametrize("length", [200_000, 2_000_000])
def test_a_log_may_begin_with_a_very_long_line(tmp_path: Path, length: int) -> None:
    path = tmp_path / "access.log"
    path.write_text(combined("/" + "a" * length) + LOG)
    assert document(path)["lines"]["read"] == LOG.count("\n")
    path.write_text(combined("/" + "a" * 200_000))
    assert document(path)["lines"]["read"] == 1


def test_keys_may_stand_together() -> None:
    text = '{"u": "/a", "s": 200, "took": 12}\n'
    for said in (["--key", "path=u,status=s,seconds=took"], ["--key", "path=u, status=s", "--key", "seconds=took"]):
        (route,) = document("-", *said, "--unit", "ms", text=text)["routes"]
        assert (route["route"], route["max"]) == ("/a", 0.012)
    assert "a key can hold time" in run("-", "--key", "a=b,c=d", text=text, status=1).output
    assert "'path' is not WHAT=KEY" in run("-", "--key", "path", text=text, status=2).output
