import pytest
from loadwatch_formats.access_logs.lines.registry import recognise

LINE = (
    "https 2026-11-23T01:00:00.186641Z app/my-lb/50dc6c495c0c9188 192.0.2.1:2817 10.0.0.1:80 {times} {status} 200 "
    '34 366 "{request}" "curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:x "Root=1-58337281" '
    '"-" "-" 0 2026-11-23T01:00:00.364000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-"'
)


def line(times: str, status: str = "200", request: str = "GET https://shop.example:443/users/42?a=b HTTP/1.1") -> str:
    return LINE.format(times=times, status=status, request=request)


def test_the_three_times_together() -> None:
    usual = line("0.001 0.048 0.002")
    reader = recognise(usual)
    assert (reader.format, reader.durations) == (
        "alb",
        "request, target and response processing time together, in seconds",
    )
    (texts,) = reader.read(usual)
    assert texts == ("2026-11-23T01:00:00.186641Z", "GET", "/users/42", "200", "366", "0.001 0.048 0.002", "")
    assert reader.seconds(texts[5]) == pytest.approx(0.051)


def test_a_part_that_never_happened_is_no_duration() -> None:
    reader = recognise(line("0.001 0.048 0.002"))
    (texts,) = reader.read(line("-1 -1 -1", "504"))
    assert texts[3] == "504"
    assert reader.seconds(texts[5]) is None
    assert reader.seconds("0.0 -1 0.0") is None
    assert reader.seconds("0.0 0.1") is None
    assert reader.seconds("a b c") is None
    assert reader.seconds("0.1 18446744073709551615 0.1") is None


def test_a_request_that_was_none() -> None:
    (texts,) = recognise(line("0.001 0.048 0.002")).read(line("-1 -1 -1", "400", "- http://shop.example:80- -"))
    assert texts[1:4] == ("-", "", "400")
