"""No local port is left for connections to one port elsewhere, and dialling fails."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together
from loadwatch_backend.findings.seen.numbers import count, share
from loadwatch_backend.findings.window import Episode, Table, Window, episodes, in_force, least_instants
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

CONNECTIONS, LIMIT = "tcp_connections", "kernel_ephemeral_ports"
NOT_STORED = "ingest_failed_total"
FULL = 0.95
LEAST_FAILED = 3

KIND = Kind(
    id="ephemeral-ports-exhausted",
    resource="ephemeral_ports",
    severity=Severity.CRITICAL,
    title=Words("Local ports exhausted", "ローカルポートの枯渇"),
    explanation=Words(
        "Each connection to the same address and port needs a local port of its own, and one in TIME-WAIT keeps it for "
        "a minute. When none is left, connect() fails: cannot assign requested address (EADDRNOTAVAIL).",
        "同じ宛先への接続はそれぞれローカルポートを1つ使い、TIME-WAITの間も1分間保持する。尽きるとconnect()が"
        "cannot assign requested address(EADDRNOTAVAIL)で失敗する。",
    ),
    rule=Rule(
        text=Words(
            "New connections a second to one destination stay below local ports / 60 s; 28,232 ports are 470 a second.",
            "1つの宛先への新規接続は毎秒「ローカルポート数 / 60」まで。28,232ポートなら毎秒470接続。",
        ),
        source="ip(7), ip_local_port_range; connect(2), EADDRNOTAVAIL",
    ),
    refuted_by=Words(
        "Several addresses behind that port: each of them has all local ports to itself.",
        "同じポートの宛先アドレスが複数あること。宛先ごとにすべてのローカルポートを使える。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each host that had no local port left for a destination while requests failed."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for labels, host in window[CONNECTIONS].where(side="remote").by("job", "instance"):
        limit = in_force(window[LIMIT].where(**labels).max)
        bound = largest(limit, window.focus)
        ports = [(largest(table.sum, window.focus), port["port"], table) for port, table in host.by("port")]
        known = [one for one in ports if np.isfinite(one[0])]
        if not known or not bound > 0:
            continue
        most, port, table = max(known, key=lambda one: (one[0], one[1]))
        name = labels.get("instance", "the host")
        words = Words(
            f"{name} used {count(most)} of {count(bound)} local ports towards port {port} at most.",
            f"{name}からポート{port}へのローカルポートは最大{count(bound)}中{count(most)}。",
        )
        least = least_instants(window.grid, table.slowest_ms)
        found = episodes(focused(window, table.sum >= FULL * limit), least=least, gap=5)
        if not found:
            clear.append(words)
            continue
        episode = window.one_of(found, limit)
        bound = largest(limit, episode.span)
        harm = [*_not_stored(window, episode), *felt(window, episode)]
        if not harm:
            observations.append(words)
            continue
        findings.append(_finding(window.during(episode), {**labels, "port": port}, table, bound, episode, harm))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _not_stored(window: Window, episode: Episode) -> list[Evidence]:
    failed = window[NOT_STORED].rate
    times = window.total(failed, episode.span)
    if times < LEAST_FAILED:
        return []
    return [
        show(
            window,
            Words(f"{count(times)} rows could not be written meanwhile.", f"その間に{count(times)}行を書けなかった。"),
            link=Link.EFFECT,
            expression=f"sum(rate({NOT_STORED}[5s]))",
            unit=Unit.PER_SECOND,
            values=failed,
        )
    ]


def _finding(
    window: Window, labels: Mapping[str, str], table: Table, bound: float, episode: Episode, harm: list[Evidence]
) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, name, port = since_start(window, from_ms), labels.get("instance", "the host"), labels["port"]
    most = largest(table.sum, episode.span)
    waiting = largest(table.where(state="time_wait").sum, episode.span) if table.where(state="time_wait") else 0.0
    chosen = selector({**labels, "side": "remote"})
    evidence = [
        show(
            window,
            Words(
                f"{count(most)} of {count(bound)} local ports lead to port {port}.",
                f"{count(bound)}中{count(most)}のローカルポートがポート{port}宛て。",
            ),
            link=Link.LIMIT,
            expression=f"sum({CONNECTIONS}{chosen})",
            unit=Unit.COUNT,
            values=table.sum,
            limit=bound,
        )
    ]
    if waiting > 0:
        evidence.append(
            show(
                window,
                Words(
                    f"{count(waiting)} of them only wait to be forgotten ({share(waiting / most)} in TIME-WAIT).",
                    f"うち{count(waiting)}はTIME-WAIT({share(waiting / most)})。",
                ),
                link=Link.DEMAND,
                expression=f"sum({CONNECTIONS}{selector({**labels, 'side': 'remote', 'state': 'time_wait'})})",
                unit=Unit.COUNT,
                values=table.where(state="time_wait").sum,
            )
        )
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name} had no local port left towards port {port} from {when.en} ({count(most)} of {count(bound)}, "
            f"{count(waiting)} in TIME-WAIT). {harm[0].text.en}",
            f"{name}からポート{port}へのローカルポートが{when.ja}に枯渇({count(bound)}中{count(most)}、"
            f"TIME-WAIT {count(waiting)})。{harm[0].text.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[*evidence, *harm],
        steps=[
            Step(
                text=Words(
                    "Keep connections to that port instead of opening one for each request.",
                    "リクエストごとに開かず、そのポートへの接続を再利用する。",
                )
            ),
            Step(
                text=Words(
                    "Until then more ports, and those in TIME-WAIT again.",
                    "それまではポート範囲を広げ、TIME-WAITのポートを再利用する。",
                ),
                code="sysctl -w net.ipv4.ip_local_port_range='10000 65535'\nsysctl -w net.ipv4.tcp_tw_reuse=1",
            ),
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(CONNECTIONS,),
    reads=(LIMIT, NOT_STORED),
    follows=(
        "keep-alive-off",
        "time-wait-buildup",
        "pool-churn",
        "pool-per-request",
        "pool-unlimited",
        "pool-lifetime-churn",
    ),
    switched_on_by="sockets:\n  ports: [8080, 3306]",
)
