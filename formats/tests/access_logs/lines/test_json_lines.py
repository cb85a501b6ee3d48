import json

import pytest
from loadwatch_formats.access_logs.lines.line import AccessLogError, LineOptions
from loadwatch_formats.access_logs.lines.registry import recognise

NGINX = {
    "time": "2026-11-23T10:00:00+09:00",
    "remote_addr": "192.0.2.1",
    "request_method": "GET",
    "request_uri": "/users/42?a=b",
    "status": 200,
    "body_bytes_sent": "512",
    "request_time": 0.012,
    "upstream_response_time": "0.010",
}
CADDY = {
    "level": "info",
    "ts": 1795395600.5,
    "logger": "http.log.access",
    "msg": "handled request",
    "request": {"method": "GET", "host": "shop.example", "uri": "/users/42?a=b", "headers": {"Accept": ["*/*"]}},
    "bytes_read": 0,
    "duration": 0.012,
    "size": 512,
    "status": 200,
}
ENVOY = {
    "start_time": "2026-11-23T01:00:00.000Z",
    "method": "GET",
    "path": "/users/42?a=b",
    "response_code": 200,
    "bytes_received": 0,
    "bytes_sent": 512,
    "duration": 12,
}
ECHO = {
    "time": "2026-11-23T10:00:00.123456789+09:00",
    "method": "GET",
    "uri": "/users/42?a=b",
    "status": 200,
    "latency": 12000000,
    "latency_human": "12ms",
    "bytes_out": 512,
}
TRAEFIK = {
    "StartUTC": "2026-11-23T01:00:00.123456789Z",
    "RequestMethod": "GET",
    "RequestPath": "/users/42?a=b",
    "DownstreamStatus": 200,
    "DownstreamContentSize": 512,
    "Duration": 12000000,
}
GOOGLE = {
    "timestamp": "2026-11-23T01:00:00Z",
    "httpRequest": {
        "requestMethod": "GET",
        "requestUrl": "https://shop.example/users/42?a=b",
        "status": 200,
        "responseSize": "512",
        "latency": "0.012s",
    },
}
REQUEST = {"time": "x", "request": "GET /users/42?a=b HTTP/1.1", "status": "200", "bytes": 512, "elapsed_us": 12000}


@pytest.mark.parametrize("document", [NGINX, CADDY, ENVOY, ECHO, TRAEFIK, GOOGLE, REQUEST])
def test_the_keys_of_known_writers(document: dict[str, object]) -> None:
    line = json.dumps(document)
    reader = recognise(line)
    assert reader.format == "json"
    for text in (line, f"web-1  | {line}\r"):
        (texts,) = reader.read(text)
        assert texts[1:2] + texts[3:5] == ("GET", "200", "512")
        assert texts[2].removeprefix("https://shop.example") == "/users/42"
        assert reader.seconds(texts[5]) == pytest.approx(0.012)
        assert texts[6] == ""


def test_keys_can_be_named_with_dots() -> None:
    line = json.dumps({"http": {"p": "/a", "s": 503}, "took.ms": 4, "verb": "GET"})
    reader = recognise(line, LineOptions(keys={"path": "http.p", "status": "http.s", "seconds": "took.ms"}, unit="ms"))
    (texts,) = reader.read(line)
    assert texts == ("", "GET", "/a", "503", "", "4", "")
    with pytest.raises(AccessLogError, match=r"a key can hold time, .*seconds; not latency"):
        recognise(line, LineOptions(keys={"latency": "x"}))


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "{}",
        '{"msg": "starting"}',
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"request_uri": 3, "status": {}}',
        '{"request_uri": "/a", "status": "ok"}',
        "plain text",
        "NaN",
    ],
)
def test_other_lines_are_not_requests(line: str) -> None:
    reader = recognise(json.dumps(NGINX))
    (texts,) = reader.read(line)
    assert texts[6] == line
    assert reader.again(line) is None


def test_a_number_that_is_none_is_no_duration() -> None:
    reader = recognise(json.dumps(NGINX))
    (texts,) = reader.read('{"request_uri": "/a", "status": 200, "request_time": NaN, "body_bytes_sent": -1}')
    assert reader.seconds(texts[5]) is None
