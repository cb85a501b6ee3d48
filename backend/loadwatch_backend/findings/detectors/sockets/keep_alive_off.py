"""Each request opens a connection of its own."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together
from loadwatch_backend.findings.seen.host_cpu import smooth
from loadwatch_backend.findings.seen.hosts import AGENT, CPU, instance_of_host
from loadwatch_backend.findings.seen.numbers import count, figure
from loadwatch_backend.findings.window import BoolArray, Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

OPENED = "node_netstat_Tcp_PassiveOpens"
LOGINS = "mysql_global_status_connections"
REQUESTS = "ingest_accepted_total"
CONNECTIONS = "tcp_connections"
BUCKETS, LOCAL_PORTS = "kernel_tcp_max_tw_buckets", "kernel_ephemeral_ports"

EACH = 0.8
"""Connections for each request from which they are not kept."""
LEAST_REQUESTS = 20.0
LEAST_SECONDS = 10.0
MATTERS = 0.2
"""Share of the TIME-WAIT buckets, or of the local ports, from which what they leave behind matters."""

KIND = Kind(
    id="keep-alive-off",
    severity=Severity.WARNING,
    title=Words("Connections are not kept", "keep-aliveが無効"),
    explanation=Words(
        "Each request pays for a handshake, and each connection leaves a socket in TIME-WAIT for a minute, at the end "
        "that closes first. At a high rate buckets or local ports run out, and the rate is that of handshakes.",
        "リクエストごとにハンドシェイクが必要になり、先に閉じた側に1分間TIME-WAITが残る。高負荷ではTIME-WAITの枠や"
        "ローカルポートが尽き、ハンドシェイクが速度の上限になる。",
    ),
    rule=Rule(
        text=Words(
            "HTTP/1.1 keeps connections unless one side says Connection: close. Requests per connection should be "
            "far above one.",
            "HTTP/1.1では、どちらかがConnection: closeを送らない限り接続は保持される。1接続あたりの件数は1より"
            "はるかに大きいのが普通。",
        ),
        source="RFC 9112, 9.3 Persistence",
    ),
    refuted_by=Words(
        "Another service on this host that accepts the connections, or clients that are really that many.",
        "同じホストの別のサービスが接続を受けていること、またはクライアント数が実際にそれだけ多いこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each host whose application gets a connection for each request."""
    findings: list[Finding] = []
    clear: list[Words] = []
    hosts = list(window[OPENED].by("job", "instance"))
    for labels, table in hosts:
        requests = _requests(window, labels, alone=len(hosts) == 1)
        opened = np.maximum(table.rate - np.nan_to_num(window[LOGINS].rate), 0.0)
        asked = smooth(window, requests, table.slowest_ms)
        busy = focused(window, (asked >= LEAST_REQUESTS) & np.isfinite(opened))
        if not busy.any():
            continue
        found = episodes(
            busy & (smooth(window, opened - _gave_up(window), table.slowest_ms) >= EACH * asked),
            least=least_instants(window.grid, table.slowest_ms, seconds=LEAST_SECONDS),
            gap=5,
        )
        if found:
            episode = window.one_of(found)
            findings.append(_finding(window.during(episode), labels, opened, requests, episode))
            continue
        name = labels.get("instance", "the host")
        clear.append(
            Words(
                f"{name} accepted {count(window.total(opened))} connections for {count(window.total(requests))} "
                "requests.",
                f"{name}のリクエスト{count(window.total(requests))}件に対し接続は{count(window.total(opened))}。",
            )
        )
    return Look(findings=findings, clear=together(clear))


def _requests(window: Window, host: Mapping[str, str], *, alone: bool) -> FloatArray:
    """Requests per second that the applications on a host took; those of the load where nothing on it counts."""
    total = np.full(window.grid.count, np.nan)
    for labels, table in window[REQUESTS].by("job", "instance"):
        place = instance_of_host(window, labels)
        if place == host.get("instance") or (place is None and alone):
            total = np.where(np.isfinite(table.rate), np.nan_to_num(total) + table.rate, total)
    if not np.isfinite(total).any() and alone and window.load is not None:
        return window.load.rate
    return total


def _gave_up(window: Window) -> FloatArray:
    """Failed requests per second: a client that gives up closes its connection, which is no lack of keep-alive."""
    return np.zeros(window.grid.count) if window.load is None else np.nan_to_num(window.load.failed())


def _finding(
    window: Window, labels: Mapping[str, str], opened: FloatArray, requests: FloatArray, episode: Episode
) -> Finding:
    when, name = since_start(window, window.grid.time_ms(episode.first)), labels.get("instance", "the host")
    each, asked = window.total(opened, episode.span), window.total(requests, episode.span)
    room, many = _many(window, labels)
    # What the load felt may have any other reason; it is said of this only where sockets pile up.
    harm = [_left_behind(window, labels, room), *felt(window, episode)] if many.any() else []
    closes = _who_closes(window, labels)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name} accepted {count(each)} connections for {count(asked)} requests from {when.en}: connections are "
            f"not kept{closes.en}.",
            f"{name}は{when.ja}からリクエスト{count(asked)}件に対し{count(each)}接続を受けた。接続が再利用されていない"
            f"{closes.ja}。",
        ),
        from_ms=window.grid.time_ms(max(episode.first, int(many.argmax()))),
        to_ms=window.grid.time_ms(max(episode.end - 1, int(many.argmax()))),
        labels=labels,
        evidence=[
            show(
                window,
                Words(
                    f"{figure(each / asked)} connections for each request, up to "
                    f"{figure(largest(opened, episode.span))} a second.",
                    f"1リクエストあたり{figure(each / asked)}接続、最大毎秒{figure(largest(opened, episode.span))}。",
                ),
                link=Link.DEMAND,
                expression=f"rate({OPENED}{selector(labels)}[5s])",
                unit=Unit.PER_SECOND,
                values=opened,
            ),
            *harm,
        ],
        steps=[
            Step(
                text=Words(
                    "At the client: keep connections, and as many of them as requests run at once.",
                    "クライアント側: 接続を保持し、同時リクエスト数だけ維持する。",
                ),
                code="transport.DisableKeepAlives = false\ntransport.MaxIdleConnsPerHost = 100\n"
                "io.Copy(io.Discard, response.Body) // then Close: else the connection is not reused",
            ),
            Step(
                text=Words(
                    "At the server: no Connection: close, and an idle timeout above the client's.",
                    "サーバー側: Connection: closeを送らず、アイドルタイムアウトをクライアントより長くする。",
                ),
                code="server.SetKeepAlivesEnabled(true)\nserver.IdleTimeout = 75 * time.Second",
            ),
        ],
        severity=None if harm else Severity.INFO,
    )


def _many(window: Window, labels: Mapping[str, str]) -> tuple[float, BoolArray]:
    """How many sockets in TIME-WAIT there is room for, NaN where unknown, and where they are many for that."""
    waiting = window[CONNECTIONS].where(**labels, state="time_wait").sum
    bounds = [largest(window[metric].where(**labels).max, window.focus) for metric in (BUCKETS, LOCAL_PORTS)]
    room = min((bound for bound in bounds if bound > 0), default=float("nan"))
    return room, focused(window, waiting >= MATTERS * room)


def _left_behind(window: Window, labels: Mapping[str, str], room: float) -> Evidence:
    values = window[CONNECTIONS].where(**labels, state="time_wait").sum
    waiting = largest(values, window.focus)
    return show(
        window,
        Words(
            f"{count(waiting)} sockets in TIME-WAIT; there is room for {count(room)}.",
            f"TIME-WAITは{count(waiting)}ソケット(上限{count(room)})。",
        ),
        link=Link.LIMIT,
        expression=f"sum({CONNECTIONS}{selector({**labels, 'state': 'time_wait'})})",
        unit=Unit.COUNT,
        values=values,
        limit=room,
    )


def _who_closes(window: Window, labels: Mapping[str, str]) -> Words:
    """TIME-WAIT stands at the end that closes first."""
    waiting = {
        side: largest(window[CONNECTIONS].where(**labels, state="time_wait", side=side).max, window.focus)
        for side in ("local", "remote")
    }
    local, remote = (np.nan_to_num(waiting[side]) for side in ("local", "remote"))
    if max(local, remote) < LEAST_REQUESTS:
        return Words("", "")
    if local > remote:
        return Words(", and the server closes them", "(サーバー側が閉じている)")
    return Words(", and the client closes them", "(クライアント側が閉じている)")


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(OPENED,),
    reads=(LOGINS, REQUESTS, CONNECTIONS, BUCKETS, LOCAL_PORTS, AGENT, CPU),
    switched_on_by="sockets:\n  ports: [8080, 3306]",
)
