import pytest
from loadwatch_formats.access_logs.lines.registry import recognise

PROCESS = "Feb  6 12:14:14 localhost haproxy[14389]: "
HTTP = (
    "10.0.1.2:33317 [06/Feb/2026:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "
    '{shop.example|Mozilla/5.0 (X11; Linux)} {} "GET /index.html?token=s HTTP/1.1"'
)


@pytest.mark.parametrize("before", ["", PROCESS, "<134>1 2026-02-06T12:14:14.655+01:00 lb haproxy 7 - - "])
def test_the_last_time_is_the_whole(before: str) -> None:
    line = before + HTTP
    reader = recognise(f"{line}\n{line}\n")
    assert reader.format == "haproxy"
    (texts,) = reader.read(line)
    assert texts == ("06/Feb/2026:12:14:14.655", "GET", "/index.html", "200", "2750", "109", "")
    assert reader.seconds("109") == pytest.approx(0.109)


@pytest.mark.parametrize(
    ("line", "method", "path", "status", "seconds"),
    [
        # https: its log has five fields more; HTTP/2 writes whole addresses
        (
            "::1:61446 [22/Jul/2026:14:00:00.000] https~ app/<NOSRV> 1/-1/-1/-1/+7 -1 +0 - - CR-- 2/2/0/0/3 0/0 "
            '"GET https://shop.example/a?b HTTP/2.0" 0/0000000000000000/0/0/0 shop.example/TLSv1.3/X',
            *("GET", "/a", "", 0.007),
        ),
        (HTTP.split('"')[0] + '"<BADREQ>"', "", "<BADREQ>", "200", 0.109),
        (HTTP[:-10], "GET", "/index.html", "200", 0.109),
    ],
)
def test_lines_of_all_kinds(line: str, method: str, path: str, status: str, seconds: float) -> None:
    reader = recognise(f"{HTTP}\n{HTTP.replace('[06', '[07')}\n")
    (texts,) = reader.read(line)
    assert texts[1:4] == (method, path, status)
    assert reader.seconds(texts[5]) == pytest.approx(seconds)


def test_the_log_in_common_form_has_the_same_time() -> None:
    line = (
        '192.0.2.9 - - [22/Jul/2026:14:00:0{0} +0000] "GET /a HTTP/1.1" 200 1000 "" "" 33317 655 "web" "app" "a1" '
        '10 0 30 69 {1} "----" 1 1 1 1 0 0 0 "" "" "" ""'
    )
    reader = recognise("\n".join(line.format(at, 109 + at) for at in range(9)))
    assert reader.durations == "field 12 behind the bytes (HAProxy's %Ta), in milliseconds"
    (texts,) = reader.read(line.format(0, 109))
    assert reader.seconds(texts[5]) == pytest.approx(0.109)
