"""Access logs, which write down whatever somebody asks a server for."""

from collections.abc import Callable

from loadwatch_formats.access_logs.blocks import BLOCK_BYTES, LineBlocks
from loadwatch_formats.access_logs.lines.line import AccessLogError, LineOptions
from loadwatch_formats.access_logs.lines.registry import FORMATS, recognise
from loadwatch_formats.access_logs.routes import RouteNames
from loadwatch_formats.access_logs.tally import Tally

from tests.fuzz.target import Run, Target

_LINES: dict[str, bytes] = {
    "combined": b'192.0.2.1 - - [23/Nov/2026:10:00:00 +0900] "GET /users/42?a=b HTTP/1.1" 200 512 "-" "c\\"l" 0.012\n',
    "ltsv": b"time:1795395600.5\thost:a\treq:GET /a\tmethod:GET\turi:/a?b\tstatus:200\tsize:1\treqtime:0.1\n",
    "json": b'{"ts":1795395600.5,"request":{"method":"GET","uri":"/a?b"},"status":200,"size":1,"duration":0.1}\n',
    "envoy": b'[2026-11-23T01:00:00.3Z] "GET /a?b HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "c" "i" "l" "tcp://10.0.2.1:80"\n',
    "haproxy": b"h[7]: 10.0.0.1:3 [06/Feb/2026:12:14:14.655] web app/a1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "
    b'{a|b} "GET /a?b HTTP/1.1"\n',
    "alb": b"https 2026-11-23T01:00:00.1Z app/l/5 192.0.2.1:2 10.0.0.1:80 0.001 0.048 -1 200 200 34 366 "
    b'"GET https://shop.example:443/a?b HTTP/1.1" "curl" - - arn "Root" "-" "-" 0 2026-11-23T01:00:00.3Z "forward"\n',
}


def _tally(name: str) -> Callable[[], Run]:
    def run(data: bytes) -> None:
        # The reader is that of whole lines, as of a log that goes bad, and that of what has come.
        for sample in (_LINES[name], data):
            try:
                reader = recognise(sample.decode("latin-1"), LineOptions(format=name))
            except AccessLogError:
                continue
            blocks, tally = LineBlocks(), Tally(reader, RouteNames())
            for at in range(0, len(data), BLOCK_BYTES):
                tally.feed(blocks.feed(data[at : at + BLOCK_BYTES]))
            tally.feed(blocks.rest())
            for (method, route), figures in tally.settled().items():
                assert f"{method}{route}".isascii()
                assert f"{method}{route}".isprintable()
                figures.durations.quantile(0.99)

    return lambda: run


ACCESS_LOGS: tuple[Target, ...] = tuple(
    Target(
        name=f"access log, {one.name}",
        open=_tally(one.name),
        expected=(),
        corpus=lambda name=one.name: [_LINES[name] * 3, _LINES[name].replace(b"42", b"3f0c9a52") * 2],
        words=(
            b"\n",
            b"\t",
            b'"',
            b"\\",
            b"[",
            b"/",
            b"%",
            b"?",
            b" - ",
            b"\x1b[2J",
            b"\xff",
            b"9" * 40,
            b"nan",
            b'{"a":',
        ),
        longest=256 * 1024,
    )
    for one in FORMATS
)
