"""Log lines by their pattern."""

import random

import pytest
from loadwatch_formats.log_patterns import ANY, MOST_TEMPLATES, LogPatterns, read_line


def counted(*lines: str, most: int = MOST_TEMPLATES) -> dict[str, int]:
    patterns = LogPatterns(most)
    for line in lines:
        message = read_line(line)
        if message is not None:
            patterns.add(message)
    return {f"{one.level}|{one.text}": one.count for one in patterns.templates.values()}


def test_what_a_server_says_when_it_runs_out_of_files_is_one_pattern():
    lines = [
        f"2026/11/23 12:00:{second:02} http: Accept error: accept tcp [::]:8080: accept4: too many open files; "
        f"retrying in {5 * second}ms"
        for second in range(60)
    ]
    found = counted(*lines)
    assert list(found.values()) == [60]
    assert "accept4: too many open files; retrying in <num>" in next(iter(found))
    assert next(iter(found)).startswith("error|")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2026-11-23T12:00:00.123Z ERROR db: query took 1.5s for id 42",
         "error|ERROR db: query took <num> for id <num>"),
        ('{"level":"warn","msg":"slow request","path":"/a"}', "warning|slow request"),
        ('{"severity":"ERROR","message":"dial failed","error":"dial tcp 10.0.0.1:3306: i/o timeout"}',
         "error|dial failed: dial tcp <ip>: i/o timeout"),
        ('time=2026-11-23T12:00:00Z level=INFO msg="listening on :8080" port=8080', "info|listening on :<num>"),
        ("Nov 23 12:00:00 web-1 nginx[123]: worker exited", "|web-<num> nginx[<num>]: worker exited"),
        ("12:00:00 connect to mysql://app:hunter2@db/shop failed", "|connect to <url> failed"),
        ("login of aoi@example.org with password=hunter2", "|login of <email> with password=<*>"),
        ("user <s3cr3t> and a<s3cr3t>b, <ip>:80 and http2:<num> <thing>",
         "|user <*> and <*> <ip>:<num> and http2:<num> <thing>"),
        ("Authorization: Bearer hunter", "|Authorization: <*>"),
        ("cannot open app:hunter2@tcp(127.0.0.1:3306)/shop", "|cannot open <*>@tcp(<ip>)/shop"),
        ('{"headers":"%s","level":"error","msg":"boom"}' % ("x " * 2_000), "error|boom"),
        ('{"password":"hunter', '|{"<*>":"<*>"'),
        (r'{"msg":"\u001b[31mred\u001b[0m"}', "|red"),
        ("select failed: 'SELECT * FROM users WHERE name = 1'", '|select failed: "<*>"'),
        ("id 3f2504e0-4f89-11d3-9a0c-0305e82c3301 at 0xdeadbeef deadbeef01", "|id <uuid> at <hex> <hex>"),
        ("key abcdefghijklmnopqrstuvwxyzABCDEF", "|key <*>"),
        ("\x1b[31mFATAL\x1b[0m out of memory", "critical|FATAL out of memory"),
        ("ERROR refused\U00086350now", "error|ERROR refused now"),
        ("[error] 31#31: accept4() failed (24: No files)",
         "error|[error] <num>#<num>: accept4() failed (<num>: No files)"),
        ("[mysql] 2026/11/23 12:00:00 packets.go:122: closing bad idle connection: EOF",
         "|[mysql] <time> packets.go:<num>: closing bad idle connection: EOF"),
    ],
)  # fmt: skip
def test_a_line_without_what_varies(line: str, expected: str):
    (found,) = counted(line)
    assert found == expected


def test_words_in_which_alike_lines_differ_are_left_out():
    found = counted("login by aoi came from tokyo", "login by ren came from osaka", "login by yui came from kyoto")
    assert found == {f"|login by {ANY} came from {ANY}": 3}
    assert counted("cache is warm", "queue was full") == {"|cache is warm": 1, "|queue was full": 1}


def test_lines_that_go_on_are_no_messages():
    lines = ["panic: boom", "\tmain.go:12 +0x1d", "  at Object.run", "", "   ", "}"]
    assert counted(*lines) == {"critical|panic: boom": 1}


def test_an_id_stays_while_its_pattern_becomes_wider():
    patterns = LogPatterns()
    for name in ("aoi", "ren"):
        message = read_line(f"the session of {name} was closed")
        assert message is not None
        patterns.add(message)
    (one,) = patterns.templates.values()
    assert patterns.templates[one.id] is one
    assert (one.count, one.text) == (2, f"the session of {ANY} was closed")


def test_hostile_lines_are_bounded():
    chance = random.Random(1)
    lines = ["".join(chance.choice("abcdefgh ") for _ in range(200)) for _ in range(3_000)]
    patterns = LogPatterns(50)
    total = 0
    for line in [*lines, "x" * 1_000_000, "a " * 500_000, '"' * 100_000, "::" * 100_000, "{" * 100_000, "1." * 100_000]:
        message = read_line(line)
        if message is not None:
            patterns.add(message)
            total += 1
    assert len(patterns.templates) <= 50
    assert sum(one.count for one in patterns.templates.values()) + sum(patterns.others.values()) == total
    assert all(len(one.text) <= 1_000 for one in patterns.templates.values())
