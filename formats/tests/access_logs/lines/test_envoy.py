import pytest
from loadwatch_formats.access_logs.lines.registry import recognise

PLAIN = (
    '[2026-11-23T01:00:00.310Z] "POST /users/42?a=b HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" '
    '"cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80"'
)
ISTIO = (
    '[2026-11-23T01:00:00.310Z] "POST /users/42?a=b HTTP/1.1" 204 - via_upstream - "-" 154 0 226 100 "-" "curl/8" '
    '"84961386" "shop:8000" "127.0.0.1:80" inbound|8000|| 127.0.0.1:4 10.44.1.27:80 10.44.1.23:3 - default'
)


@pytest.mark.parametrize("line", [PLAIN, ISTIO])
def test_both_defaults(line: str) -> None:
    reader = recognise(line)
    assert (reader.format, reader.durations) == ("envoy", "%DURATION%, in milliseconds")
    (texts,) = reader.read(line)
    assert texts == ("2026-11-23T01:00:00.310Z", "POST", "/users/42", "204", "0", "226", "")
    assert reader.seconds("226") == pytest.approx(0.226)


def test_nobody_answered() -> None:
    line = '[2026-11-23T01:00:00.310Z] "GET / HTTP/1.1" 0 DC 0 0 5 - "-" "-" "-" "-" "-"'
    (texts,) = recognise(PLAIN).read(line)
    assert texts[3] == "0"
