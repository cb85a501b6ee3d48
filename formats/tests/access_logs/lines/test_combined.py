import pytest
from loadwatch_formats.access_logs.lines.line import AccessLogError, LineOptions, LineReader, Texts
from loadwatch_formats.access_logs.lines.registry import recognise

HEAD = '192.0.2.1 - alice [23/Nov/2026:10:00:00 +0900] "GET /users/42?token=secret HTTP/1.1" 200 512'
AGENT = '"https://shop.example/?q=[1]" "Mozilla/5.0 (X11; \\"odd\\") [de]"'


def opened(*lines: str, **said: object) -> LineReader:
    return recognise("\n".join(lines) + "\n", LineOptions(**said))  # type: ignore[arg-type] - options by name


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
        (f" {AGENT} 12034", "the last field, taken as microseconds (Apache's %D)", 0.012034),
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


@pytest.mark.parametrize("tail", [f" {AGENT}", "", f" {AGENT} 345 1024", f' {AGENT} "-"'])
def test_a_log_without_durations_says_so(tail: str) -> None:
    reader = opened(HEAD + tail)
    assert reader.durations is None
    assert "$request_time" in reader.without
    texts = read(reader, HEAD + tail)
    assert texts is not None
    assert texts[1:5] == ("GET", "/users/42", "200", "512")
    assert reader.seconds(texts[5]) is None


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


def test_numbers_that_nginx_does_not_mean_as_durations_are_none_until_somebody_says_it() -> None:
    """$request_length and $connection are whole numbers, too; its durations have a fraction."""
    head = '192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET /a HTTP/1.1" 200'
    lengths = [f'{head} 512 "-" "curl" 1034', f'{head} 0 "-" "curl" 1533', f'{head} 77 "-" "curl" 1201']
    connections = [f'{head} 512 "-" "curl" {12_000 + number // 4}' for number in range(40)]
    for lines in (lengths, connections):
        assert opened(*lines).durations is None
        assert "may be anything" in opened(*lines).without
        assert opened(*lines, unit="us").durations == "the last field, taken as microseconds (Apache's %D)"
    apache = [*lengths, f'{head} - "-" "curl" 1034']
    assert opened(*apache).durations == "the last field, taken as microseconds (Apache's %D)"


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
