import pytest
from loadwatch_formats.access_logs.lines.line import LineOptions, LineReader, Texts
from loadwatch_formats.access_logs.lines.registry import recognise

ALP = (
    "time:2026-11-23T10:00:00+09:00\thost:192.0.2.1\tforwardedfor:-\treq:GET /users/42?a=b HTTP/1.1\tstatus:200\t"
    "method:GET\turi:/users/42?a=b\tsize:512\treferer:-\tua:curl/8\treqtime:0.012\tcache:-\truntime:-\tapptime:0.010"
)


def texts_of(reader: LineReader, line: str) -> Texts | None:
    (texts,) = reader.read(line + "\n")
    return reader.again(texts[-1]) if texts[-1] else texts


def test_the_lines_that_alp_reads() -> None:
    reader = recognise(ALP + "\n")
    assert (reader.format, reader.durations) == ("ltsv", "reqtime, in seconds")
    (texts,) = reader.read(ALP)
    assert texts == ("2026-11-23T10:00:00+09:00", "GET", "/users/42", "200", "512", "0.012", "")
    assert texts_of(reader, ALP + "\r") == texts


@pytest.mark.parametrize(
    "line",
    [
        "uri:/a?x=1\tmethod:POST\tstatus:304\tsize:0\ttime:1795395600.5\treqtime:0.1",
        "reqtime:0.1\ttime:1795395600.5\tx:y\tmethod:POST\tstatus:304\tsize:0\turi:/a",
        "time:1795395600.5\treq:POST /a?x=1 HTTP/2.0\tstatus:304\tsize:0\treqtime:0.1",
        "time:1795395600.5\trequest_method:POST\trequest_uri:http://shop.example/a\tstatus:304\tbody_bytes_sent:0\t"
        "request_time:0.1",
        "time:1795395600.5\tmethod:POST\tpath:/a\tstatus:304\tbytes:0\treqtime_microsec:100000",
        "time:1795395600.5\tmethod:POST\tpath:/a\tstatus:304\tbytes:0\tlatency_ms:100",
        "time:1795395600.5\tmethod:POST\tpath:/a\tstatus:304\tbytes:0\telapsed:100ms",
    ],
)
def test_keys_by_their_names_in_any_order(line: str) -> None:
    reader = recognise(line)
    (texts,) = reader.read(line)
    assert texts[:5] == ("1795395600.5", "POST", "/a", "304", "0")
    assert reader.seconds(texts[5]) == pytest.approx(0.1)


def test_lines_in_another_order_and_with_other_keys_are_read_too() -> None:
    first = "time:1\tmethod:GET\turi:/a\tstatus:200\tsize:1\treqtime:0.1"
    reader = recognise(first)
    assert texts_of(reader, "uri:/b?q\tstatus:404\treqtime:-\tmethod:HEAD") == ("", "HEAD", "/b", "404", "", "-", "")
    assert texts_of(reader, "time:1\tmethod:GET\turi:/a\tstatus:-\tsize:1\treqtime:0.1") is not None
    for broken in ("time:1\tmethod:GET", "nothing", "time:1\tmethod:GET\turi:/a\tstatus:abc", "uri:\tstatus:200"):
        assert texts_of(reader, broken) is None


def test_keys_can_be_named() -> None:
    line = "at:1\tverb:GET\tplace:/a\tresult:200\tlen:7\tms:12\tapptime:3"
    keys = {"time": "at", "path": "place", "status": "result", "bytes": "len", "seconds": "ms"}
    reader = recognise(line, LineOptions(format="ltsv", keys=keys, unit="ms"))
    (texts,) = reader.read(line)
    assert texts == ("1", "GET", "/a", "200", "7", "12", "")
    assert reader.seconds("12") == pytest.approx(0.012)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0.1", 0.1),
        ("0", 0),
        ("0.1, 0.2", 0.3),
        ("0.1 : 0.2", 0.3),
        ("-, 0.2", 0.2),
        ("1.5ms", 0.0015),
        ("-", None),
        ("", None),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("1e300", None),
        ("soon", None),
        ("\x1b[31m", None),
    ],
)
def test_durations_as_they_are_written(text: str, seconds: float | None) -> None:
    assert recognise(ALP).seconds(text) == (None if seconds is None else pytest.approx(seconds))


def test_a_duration_without_a_unit_is_none_until_somebody_says_it() -> None:
    line = "method:GET\turi:/a\tstatus:200\tlatency:12"
    reader = recognise(line)
    assert reader.durations is None
    assert "latency, whose unit nobody says" in reader.without
    assert reader.seconds("12") is None
    assert recognise(line, LineOptions(unit="ms")).seconds("12") == pytest.approx(0.012)
