"""Access logs whose durations are known, in formats made by chance.

Of nginx and Apache from what the programs wrote (`tests/fuzz/real`), of HAProxy, Traefik and Envoy by their documented
grammars. A duration that is read is right, or there is none; in the formats that the guide names there is one.

Sources: docs.haproxy.org "HTTP log format", doc.traefik.io "Access logs", envoyproxy.io "Access logging".
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from loadwatch_formats.access_logs.lines.line import AccessLogError
from loadwatch_formats.access_logs.lines.registry import recognise
from loadwatch_formats.access_logs.routes import RouteNames
from loadwatch_formats.access_logs.tally import Tally

from tests.fuzz.target import Run, Target

_REAL = Path(__file__).parents[1] / "real"
_NEAR = 0.01
_NGINX_NAMES = {
    "request_time": ("rt", "request_time", "reqtime"),
    "upstream_response_time": ("urt", "upstream_response_time"),
    "upstream_connect_time": ("uct",),
    "upstream_header_time": ("uht",),
    "request_length": ("rl", "len"),
    "gzip_ratio": ("gz", "ratio"),
    "request_id": ("id", "rid"),
    "connection": ("c", "conn"),
    "upstream_addr": ("ua", "upstream"),
    "upstream_status": ("us",),
    "pid": ("pid",),
}


@dataclass(slots=True)
class Log:
    """Lines, and seconds of each. `promised`: the guide says that they are found."""

    lines: list[str] = field(default_factory=list[str])
    seconds: list[float] = field(default_factory=list[float])
    promised: bool = False


def _rows(name: str) -> Sequence[dict[str, str]]:
    names, *lines = (_REAL / f"{name}.tsv").read_text("latin-1").splitlines()
    return [dict(zip(names.split("\t"), line.split("\t"), strict=True)) for line in lines]


def _sample(random: Random, rows: Sequence[dict[str, str]]) -> Sequence[dict[str, str]]:
    """In their order; so many that they show what they are."""
    return [rows[at] for at in sorted(random.sample(range(len(rows)), random.randrange(120, len(rows))))]


def _nginx(random: Random) -> Log:
    log = Log()
    log.promised = random.random() < 0.3
    others = [name for name in (*_NGINX_NAMES, "msec", "host", "bytes_sent") if name != "request_time"]
    chosen = random.sample(others, random.randrange(0, 7))
    agents = random.random() < 0.8
    if log.promised:
        chosen, agents = [], True
    if log.promised or random.random() < 0.85:
        chosen.insert(random.randrange(len(chosen) + 1), "request_time")
    shapes = {name: _shape(random, _NGINX_NAMES.get(name, ()), plain=log.promised) for name in chosen}
    for row in _sample(random, _rows("nginx")):
        line = '{remote_addr} - {remote_user} [{time_local}] "{request}" {status} {body_bytes_sent}'.format(**row)
        if agents:
            line += ' "{http_referer}" "{http_user_agent}"'.format(**row)
        log.lines.append(line + "".join(" " + shapes[name](row[name]) for name in chosen))
        log.seconds.append(float(row["request_time"]))
    if "request_time" not in chosen:
        log.seconds = []
    return log


def _shape(random: Random, names: Sequence[str], *, plain: bool) -> Callable[[str], str]:
    """How a format has a value: alone, in quotes, named, or both."""
    name = random.choice(names) if names and not plain and random.random() < 0.4 else ""
    form = "{}" if plain else random.choice(("{}", "{}", '"{}"'))
    return lambda value: f"{name}{'=' if name else ''}{form.format(value)}"


def _apache(random: Random) -> Log:
    log = Log()
    log.promised = random.random() < 0.3
    others = ("%P", "%{tid}P", "%I", "%O", "%X", "%k", "%v", "%p", "%L", "%B", "%a", "%{UNIQUE_ID}e", "%{Host}i")
    chosen: list[str] = [] if log.promised else random.sample(others, random.randrange(0, 5))
    own = "%D" if log.promised else random.choice(("%D", "%D", "%T/%D", "%{ms}Tms", ""))
    if own:
        chosen.insert(random.randrange(len(chosen) + 1), own)
    agents = log.promised or random.random() < 0.7
    for row in _sample(random, _rows("apache")):
        row = {**row, "%T/%D": f"{row['%T']}/{row['%D']}", "%{ms}Tms": f"{row['%{ms}T']}ms"}
        line = f'{row["%h"]} {row["%l"]} {row["%u"]} {row["%t"]} "{row["%r"]}" {row["%>s"]} {row["%b"]}'
        if agents:
            line += f' "{row["%{Referer}i"]}" "{row["%{User-Agent}i"]}"'
        log.lines.append(line + "".join(f" {row[name]}" for name in chosen))
        log.seconds.append(int(row["%{ms}T"]) / 1e3 if own == "%{ms}Tms" else int(row["%D"]) / 1e6)
    if not own:
        log.seconds = []
    return log


def _request(random: Random) -> tuple[str, str, int, int, int]:
    """Method, path, status, bytes, milliseconds."""
    path = random.choice((f"/users/{random.randrange(10**6)}", "/", "/a b".replace(" ", "%20"), "/q?x=1.234&y=5ms"))
    status = random.choice((200, 200, 200, 301, 404, 500, 503))
    took = round(random.choice((0, random.expovariate(1 / 20), random.expovariate(1 / 900))))
    return random.choice(("GET", "GET", "POST", "DELETE")), path, status, random.randrange(100_000), took


def _haproxy(random: Random) -> Log:
    log = Log(promised=True)
    captured = random.choice(("", "{shop.example|curl/8} ", "{1.234|} {5ms} "))
    early = "+" if random.random() < 0.1 else ""
    for number in range(150):
        method, path, status, size, took = _request(random)
        gone = random.random() < 0.05
        ended, retries = random.choice(("----", "CR--", "SH--")), f"{early}{number % 3}"
        times = "-1/-1/-1/-1" if gone else f"{took // 9}/0/{took // 5}/{took // 2}"
        log.lines.append(
            f"Feb  6 12:14:{number % 60:02} lb haproxy[{random.randrange(9_999)}]: 10.0.1.2:{random.randrange(65_536)}"
            f" [06/Feb/2026:12:14:{number % 60:02}.{number:03}] http-in{random.choice(('', '~'))}"
            f" static/{'<NOSRV>' if gone else f'srv{number % 3}'} {times}/{early}{took} {-1 if gone else status}"
            f" {early}{0 if gone else size} - - {ended} {number}/9/8/7/{retries}"
            f' 0/0 {captured}"{method} {path} HTTP/1.1"'
        )
        log.seconds.append(took / 1e3)
    return log


def _traefik(random: Random) -> Log:
    log = Log(promised=True)
    as_json = random.random() < 0.4
    for number in range(150):
        method, path, status, size, took = _request(random)
        at = f"22/Jul/2026:14:0{number // 60}:{number % 60:02} +0200"
        if as_json:
            took_ns = took * 1_000_000 + random.randrange(1_000_000)
            document = {
                "ClientAddr": "10.0.0.1:5", "DownstreamContentSize": size, "DownstreamStatus": status,
                "Duration": took_ns, "OriginDuration": took_ns // 3, "Overhead": took_ns // 7,
                "OriginStatus": status, "RequestCount": number, "RequestMethod": method, "RequestPath": path,
                "RequestProtocol": "HTTP/1.1", "StartUTC": f"2026-07-22T12:0{number // 60}:{number % 60:02}.123456789Z",
                "level": "info", "msg": "", "time": f"2026-07-22T14:0{number // 60}:{number % 60:02}+02:00",
            }  # fmt: skip
            log.lines.append(json.dumps(document))
            log.seconds.append(took_ns / 1e9)
            continue
        log.lines.append(
            f'10.0.0.1 - - [{at}] "{method} {path} HTTP/1.1" {status} {size} "-" "-" {number + 1}'
            f' "app@docker" "http://172.18.0.3:80" {took}ms'
        )
        log.seconds.append(took / 1e3)
    return log


def _envoy(random: Random) -> Log:
    log = Log(promised=True)
    istio = random.random() < 0.4
    more = ' via_upstream - "-"' if istio else ""
    behind = " outbound|80||shop.svc 10.0.2.1:80 10.0.3.1:5 - default" if istio else ""
    for number in range(150):
        method, path, status, size, took = _request(random)
        upstream = "-" if status == 503 else str(took // 2)
        log.lines.append(
            f'[2026-07-22T12:0{number // 60}:{number % 60:02}.{number:03}Z] "{method} {path} HTTP/2" {status}'
            f" {random.choice(('-', 'UF,URX', 'DC'))}{more} {random.randrange(900)} {size} {took} {upstream}"
            f' "10.0.35.28" "curl/8.5 5ms" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "shop.example"'
            f' "{"-" if status == 503 else "10.0.2.1:80"}"{behind}'
        )
        log.seconds.append(took / 1e3)
    return log


FAMILIES: Sequence[Callable[[Random], Log]] = (_nginx, _nginx, _apache, _apache, _haproxy, _traefik, _envoy)


def check(data: bytes) -> None:
    """Read the log that the bytes stand for."""
    random = Random(data)
    log = random.choice(FAMILIES)(random)
    text = "\n".join(log.lines) + "\n"
    shown = "\n".join(log.lines[:3])
    try:
        reader = recognise(text)
    except AccessLogError as error:
        raise AssertionError(f"not recognised: {error}\n{shown}") from error
    tally = Tally(reader, RouteNames())
    tally.feed(text)
    found = [figures.durations for figures in tally.settled().values()]
    count, total = sum(one.count for one in found), sum(one.sum for one in found)
    if reader.durations is None:
        assert not log.promised, f"{reader.without}\n{shown}"
        return
    if "of an upstream" in reader.durations:
        return
    truth = sum(log.seconds)
    assert count == len(log.seconds), f"{count} of {len(log.seconds)} durations, {reader.durations}\n{shown}"
    assert abs(total - truth) <= _NEAR * truth, f"{total} s for {truth} s, {reader.durations}\n{shown}"


def _open() -> Run:
    return check


TRUE_DURATIONS: tuple[Target, ...] = (
    Target(
        name="access logs, durations of known truth",
        open=_open,
        expected=(),
        corpus=lambda: [bytes([number]) for number in range(50)],
        generate=lambda random: random.randbytes(8),
        longest=64,
    ),
)
