from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from loadwatch_formats.access_logs.lines.line import AccessLogError, LineOptions, LineReader, Texts
from loadwatch_formats.access_logs.lines.registry import recognise
from loadwatch_formats.access_logs.routes import RouteNames
from loadwatch_formats.access_logs.tally import Tally

FIXTURES = Path(__file__).with_name("fixtures")

HEAD = '192.0.2.1 - alice [23/Nov/2026:10:00:00 +0900] "GET /users/42?token=secret HTTP/1.1" 200 512'
AGENT = '"https://shop.example/?q=[1]" "Mozilla/5.0 (X11; \\"odd\\") [de]"'


def opened(*lines: str, **said: Any) -> LineReader:
    return recognise("\n".join(lines) + "\n", LineOptions(**said))


def read(reader: LineReader, line: str) -> Texts | None:
    (texts,) = reader.read(line + "\n")
    return reader.again(texts[-1]) if texts[-1] else texts


@pytest.mark.parametrize(
    ("tail", "durations", "seconds"),
    [
        (f" {AGENT} 0.012", "field 3 behind the bytes, in seconds", 0.012),
        (f" {AGENT} 0.012 0.010", "field 3 behind the bytes, in seconds", 0.012),
        (f' {AGENT} "192.0.2.9, 192.0.2.8" 345 0.012 "-" .', "field 5 behind the bytes, in seconds", 0.012),
        (f" {AGENT} rt=0.012 uct=0.001 urt=0.010", "rt=, in seconds", 0.012),
        (f" {AGENT} urt=0.010 request_time=0.012", "request_time=, in seconds", 0.012),
        (f' {AGENT} "0.012"', "field 3 behind the bytes, in seconds", 0.012),
        (" 0.012", "field 1 behind the bytes, in seconds", 0.012),
    ],
)
def test_the_duration_is_found(tail: str, durations: str, seconds: float) -> None:
    reader = opened(HEAD + tail, HEAD + tail)
    assert (reader.format, reader.durations) == ("combined", durations)
    texts = read(reader, HEAD + tail)
    assert texts is not None
    assert texts[:5] == ("23/Nov/2026:10:00:00 +0900", "GET", "/users/42", "200", "512")
    assert reader.seconds(texts[5]) == pytest.approx(seconds)
    assert texts == read(reader, HEAD + tail + "\r")


@pytest.mark.parametrize("tail", [f" {AGENT}", "", f" {AGENT} 345 1024", f' {AGENT} "-"', f" {AGENT} gzip=2.35"])
def test_a_log_without_durations_says_so(tail: str) -> None:
    reader = opened(HEAD + tail)
    assert reader.durations is None
    assert "$request_time" in reader.without
    texts = read(reader, HEAD + tail)
    assert texts is not None
    assert texts[1:5] == ("GET", "/users/42", "200", "512")
    assert reader.seconds(texts[5]) is None


TOMCAT = "; Tomcat before 10.1 writes milliseconds there: then name the unit ms"


@pytest.mark.parametrize("took", ["0", "2", "85", "999", "D=85"])
def test_whole_numbers_that_may_be_any_unit_are_none_until_somebody_says_it(took: str) -> None:
    line = f"{HEAD} {AGENT} {took}"
    assert opened(line).durations is None
    assert "whose unit nobody says: us (Apache's %D), s (its %T) or ms" in opened(line).without
    reader = opened(line, unit="ms")
    texts = read(reader, line)
    assert texts is not None
    assert reader.seconds(texts[5]) == pytest.approx(int(took.removeprefix("D=")) / 1_000)


def test_a_unit_and_a_field_can_be_named() -> None:
    line = f"{HEAD} {AGENT} 12 345"
    reader = opened(line, keys={"seconds": "3"}, unit="ms")
    assert reader.durations == "field 3 behind the bytes, in milliseconds"
    texts = read(reader, line)
    assert texts is not None
    assert reader.seconds(texts[5]) == pytest.approx(0.012)
    assert opened(f"{HEAD} {AGENT} took.s=12", keys={"seconds": "took.s"}).durations == "took.s=, in seconds"
    with pytest.raises(AccessLogError, match="from 1 to 4 here"):
        opened(line, keys={"seconds": "5"})
    with pytest.raises(AccessLogError, match="not min"):
        opened(line, unit="min")


@pytest.mark.parametrize(
    ("request_line", "method", "path"),
    [
        ("-", "", ""),
        ("", "", ""),
        ("\\x16\\x03\\x01\\x02\\x00", "", ""),
        ("GET /a b HTTP/1.1", "GET", "/a"),
        ('GET /a\\"b HTTP/1.1', "GET", '/a\\"b'),
        ("GET http://shop.example:80/a HTTP/1.1", "GET", "/a"),
        ("GET /", "GET", "/"),
        ("OPTIONS * HTTP/1.0", "OPTIONS", "*"),
        ("GET /caf\xc3\xa9 HTTP/1.1", "GET", "/caf\xc3\xa9"),
    ],
)
def test_requests_of_all_kinds_are_read(request_line: str, method: str, path: str) -> None:
    usual = f"{HEAD} {AGENT} 0.012"
    odd = f'shop.example:80 192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "{request_line}" 400 - {AGENT} 0.000'
    reader = opened(usual, usual, odd)
    texts = read(reader, odd)
    assert texts is not None
    assert texts[1:6] == (method, path, "400", "-", "0.000")


def test_a_line_whose_duration_is_missing_is_a_request() -> None:
    usual = f"{HEAD} {AGENT} 0.012"
    reader = opened(usual, usual, f"{HEAD} {AGENT} -")
    for line in (f"{HEAD} {AGENT} -", f"{HEAD} {AGENT}"):
        texts = read(reader, line)
        assert texts is not None
        assert reader.seconds(texts[5]) is None
    assert read(reader, "2026/11/23 10:00:00 [error] 7#7: upstream timed out") is None


@pytest.mark.timeout(60)
def test_a_hostile_line_takes_no_time() -> None:
    usual = f"{HEAD} {AGENT} 0.012"
    reader = opened(usual)
    for text in ('"' * 100_000, '\\"' * 100_000, "[" * 100_000, "- " * 100_000):
        assert read(reader, text) is None
        read(reader, f"{HEAD} {text}")
    assert read(reader, f"{HEAD} " + '"a" ' * 50_000 + '"') is not None


@pytest.mark.parametrize("took", ["1" * 5_000, f"{'1' * 5_000}/2", f"1/{'2' * 5_000}"])
def test_numbers_of_thousands_of_digits_are_no_durations(took: str) -> None:
    assert opened(*[f"{HEAD} {AGENT} {took}"] * 30).durations is None


def test_numbers_that_nginx_does_not_mean_as_durations_are_none_until_somebody_says_it() -> None:
    """$request_length and $connection are whole numbers, too; its durations have a fraction."""
    head = '192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET /a HTTP/1.1" 200'
    lengths = [f'{head} 512 "-" "curl" 1034', f'{head} 0 "-" "curl" 1533', f'{head} 77 "-" "curl" 1201']
    connections = [f'{head} 512 "-" "curl" {12_000 + number // 4}' for number in range(40)]
    for lines in (lengths, connections):
        assert opened(*lines).durations is None
        assert "may be anything" in opened(*lines).without
        assert opened(*lines, unit="us").durations == "the last field, taken as microseconds (Apache's %D)"
    apache = [*lengths, f'{head} - "-" "curl" 1035']
    assert opened(*apache).durations == f"the last field, taken as microseconds (Apache's %D){TOMCAT}"


def test_milliseconds_of_tomcat_are_not_taken_for_microseconds() -> None:
    """Its `%D` before 10.1, in lines like Apache's, under so much load that half of the requests take a second."""
    head = '192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET /a HTTP/1.1" 200'
    lines = [f"{head} 512 {took}" for took in (1840, 2303, 4, 1511)]
    assert opened(*lines).durations is None
    assert "ms (Tomcat's %D before 10.1)" in opened(*lines).without
    reader = opened(*lines, unit="ms")
    texts = read(reader, lines[0])
    assert texts is not None
    assert reader.seconds(texts[5]) == pytest.approx(1.84)
    assert (opened(lines[0], lines[1]).durations or "").endswith(TOMCAT)


def test_a_moment_is_no_duration() -> None:
    """nginx' $msec."""
    reader = opened(f"{HEAD} {AGENT} 1795395600.123 0.012")
    assert reader.durations == "field 4 behind the bytes, in seconds"
    assert opened(f"{HEAD} {AGENT} 1795395600.123").durations is None


@pytest.mark.parametrize(
    ("tail", "later"),
    [(f"{AGENT} -", True), (f"{AGENT} rt=-", True), (AGENT, False), ('"-" "-"', False), (f'{AGENT} "-"', True)],
)
def test_a_field_without_a_value_may_be_a_duration(tail: str, later: bool) -> None:
    assert opened(f"{HEAD} {tail}").later == later


def log(tail: Callable[[int], str], lines: int = 200) -> list[str]:
    """Lines of which the request with number `at` takes 10, 20, ... 100 ms."""
    head = '192.0.2.9 - - [22/Jul/2020:14:00:{:02d} +0200] "GET /item/{} HTTP/1.1" 200 {}'
    return [f"{head.format(at % 60, at % 7, 1000 + at)}{tail(at)}" for at in range(lines)]


def took(at: int) -> float:
    return (at % 10 + 1) / 100


def mean(lines: Iterable[str]) -> tuple[int, float | None]:
    """How many durations a log has, and their mean."""
    text = "\n".join(lines)
    tally = Tally(recognise(text), RouteNames())
    tally.feed(text)
    durations = [figures.durations for figures in tally.settled().values()]
    count = sum(one.count for one in durations)
    return count, sum(one.sum for one in durations) / count if count else None


UA = '"-" "Mozilla/5.0 (X11)"'


OWN_TIME: Sequence[Callable[[int], str]] = [
    lambda at: f' {UA} "10.0.0.1:80" "{"0.001" if at % 2 else "-"}" {took(at):.3f}',
    lambda at: f" {UA} 10.0.0.1:80, 10.0.0.2:80 0.001, 0.002 502, 200 {took(at):.3f}",
    lambda at: f" {UA} {took(at):.3f} {0.001 if at % 2 else took(at):.3f}",
    lambda at: f" {UA} {at % 3 / 1000:.3f} {0.001 + at % 3 / 1000:.3f} {0.009:.3f} {took(at):.3f} .",
    lambda at: f" {took(at):.3f} {UA}",
    lambda at: f' {UA} "{at % 5 + 1.25:.2f}" {took(at):.3f}',
    lambda at: f' {UA} "{took(at):.3f}" "{at % 5 + 1.25:.2f}"',
    lambda at: f" {UA} 1595422800.{at:03d} 0.001 {took(at):.3f}",
    # ingress-nginx
    lambda at: f" {UA} 345 {took(at):.3f} [default-app-80] [] 10.1.0.3:80 512 {took(at) - 0.004:.3f} 200 {at:032x}",
    lambda at: f'{UA}rt={took(at):.3f} uct="0.001" uht="0.004" urt="0.004"',
    lambda at: f' {UA} uct="0.001, 0.002" urt="0.004, 0.001" rt="{took(at):.3f}"',
    lambda at: f' {UA} urt="0.004" "{took(at):.3f}"',
    lambda at: f" {UA} request_time_ms={took(at) * 1000:.0f}",
    # Traefik, gunicorn's %(L)s, Rack, morgan, a proxy in Go
    lambda at: f' "-" "-" {at + 1} "app@docker" "http://172.18.0.3:80" {took(at) * 1000:.0f}ms',
    lambda at: f" {UA} {took(at):.6f}",
    lambda at: f" {took(at):.4f}",
    lambda at: f" {UA} {took(at) * 1000:.3f} ms",
    lambda at: f" {UA} {took(at) * 1e6:.0f}\xc2\xb5s",
    # Apache: %D, %T/%D, %D with a process, a header behind it
    lambda at: f" {UA} {took(at) * 1e6 + at:.0f}",
    lambda at: f" {UA} 0/{took(at) * 1e6 + at:.0f}",
    lambda at: f" {UA} {4000 + at % 8} {took(at) * 1e6 + at:.0f}",
    lambda at: f' {UA} {took(at) * 1e6 + at:.0f} "shop.example"',
    lambda at: f" {took(at) * 1e6 + at:.0f} 0 {UA}",
]


@pytest.mark.parametrize("tail", OWN_TIME)
def test_the_request_s_own_time_is_found(tail: Callable[[int], str]) -> None:
    count, average = mean(log(tail))
    assert count == 200
    assert average == pytest.approx(0.055, rel=0.003)
    # A log that is written while it is read ends in the middle of a line.
    whole = log(tail)
    count, average = mean([*whole, whole[0][:-3]])
    assert count in (200, 201)
    assert average == pytest.approx(0.055, rel=0.01)


SOMETHING_ELSE: Sequence[tuple[Callable[[int], str], str]] = [
    (lambda at: f' {UA} "{at % 5 + 1.25:.2f}"', "field 3 behind the bytes"),
    (lambda at: f' {UA} "{"-" if at % 3 else "2.35"}"', "field 3 behind the bytes"),
    (lambda at: f" {UA} {at % 7 * 3.7}", "field 3 behind the bytes"),
    (lambda at: f" {UA} {took(at):.3f} {0.11 - took(at):.3f}", "field 3 behind the bytes or field 4 behind"),
    (lambda at: f" {UA} {12_345 + at % 8}", "may be anything"),
    # Apache's %O, bytes with a head
    (lambda at: f" {UA} {1_160 + at + at * 7 % 11}", "may be anything"),
    (lambda at: f" {UA} 139872{at % 8}52448512", "may be anything"),
    (lambda at: f" {UA} {20_000 + at * 7919 % 90_000} {1_000 + at * 104_729 % 80_000}", "field 3 behind the"),
    (lambda at: f" {UA} {took(at) * 1000:.0f}", "may be anything"),
    (lambda at: f" {UA} [2026] ({at})", "no field behind the bytes"),
]


@pytest.mark.parametrize(("tail", "says"), SOMETHING_ELSE)
def test_what_may_be_something_else_is_no_duration(tail: Callable[[int], str], says: str) -> None:
    reader = opened(*log(tail))
    assert reader.durations is None
    assert says in reader.without
    assert mean(log(tail)) == (0, None)


@pytest.mark.parametrize(
    ("name", "count", "seconds"),
    [
        ("gzip-ratio-as-duration.log", 0, None),
        ("nginx-docs-rt-without-space.log", 400, 22.0),
        ("named-quoted-rt-lists.log", 400, 22.0),
        ("upstream-time-before-request-time.log", 400, 22.0),
        ("traefik-clf-12ms.log", 400, 11.8),
        ("json-rt-key.log", 400, 22.0),
    ],
)
def test_logs_whose_truth_is_known(name: str, count: int, seconds: float | None) -> None:
    lines = (FIXTURES / name).read_text("latin-1").splitlines()
    found, average = mean(lines)
    assert found == count
    assert average == (None if seconds is None else pytest.approx(seconds / count))


@pytest.mark.parametrize(
    "before",
    [
        "[2001:db8::1]:443 192.0.2.9 - - [{}]",
        "[::1] 192.0.2.9 - - [{}]",
        '"192.0.2.8, 192.0.2.7" - - [{}]',
        "192.0.2.9 - [192.0.2.9] - - [{}]",
        "[6f1c-33][app][{}]",
        "[{}] [6f1c-33]",
        '[{}] "shop.example"',
        "192.0.2.9 - - [{}] https shop.example",
    ],
)
def test_what_may_stand_before_the_request(before: str) -> None:
    line = f'{before.format("22/Jul/2020:14:45:10 +0200")} "GET /a?b HTTP/1.1" 200 3027 "-" "curl" 0.012'
    texts = read(opened(line), line)
    assert texts == ("22/Jul/2020:14:45:10 +0200", "GET", "/a", "200", "3027", "0.012", "")


def test_a_virtual_host_may_be_an_address_of_ipv6() -> None:
    lines = (FIXTURES / "vhost-ipv6-literal.log").read_text().splitlines()
    reader = opened(*lines)
    found = [read(reader, line) for line in lines]
    assert [texts and texts[:3] for texts in found] == [
        ("22/Jul/2020:14:45:09 +0200", "GET", "/a"),
        ("22/Jul/2020:14:45:10 +0200", "GET", "/a"),
    ]
