"""Sockets in TIME-WAIT pile up towards the kernel's limit."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together
from loadwatch_backend.findings.seen.host_cpu import smooth
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure
from loadwatch_backend.findings.window import Episode, Window, episodes, in_force, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

TIME_WAIT, BUCKETS = "node_sockstat_TCP_tw", "kernel_tcp_max_tw_buckets"
STATES, CONNECTIONS = "node_tcp_connection_states", "tcp_connections"
OPENED = ("node_netstat_Tcp_PassiveOpens", "node_netstat_Tcp_ActiveOpens")
STAYS_SECONDS = 60.0
"""TCP_TIMEWAIT_LEN, fixed in Linux."""
HIGH, COMING = 0.5, 0.8
"""Share of the buckets that are taken, and that would be in a minute at this rate."""
PROVEN = 0.5
"""Share of sockstat's figure that has to be TIME-WAIT: it holds orphaned FIN-WAIT-2 as well."""

KIND = Kind(
    id="time-wait-buildup",
    severity=Severity.WARNING,
    title=Words("TIME-WAIT sockets pile up", "TIME-WAITの増加"),
    explanation=Words(
        "A connection that this host closes first stays for a minute as TIME-WAIT. Short connections at a high rate "
        "pile up; at the limit the kernel closes them without, and a client runs out of local ports.",
        "先に閉じた側の接続は1分間TIME-WAITとして残る。短い接続が高頻度で続くと増え、上限では保持されずに閉じられ、"
        "クライアント側ではローカルポートが尽きる。",
    ),
    rule=Rule(
        text=Words(
            "Sockets in TIME-WAIT = connections closed a second × 60. Fewer, longer connections are the remedy; "
            "tcp_tw_reuse helps the side that dials.",
            "TIME-WAIT数 = 毎秒閉じる接続数 × 60。対策は接続の再利用。tcp_tw_reuseは接続する側にだけ効く。",
        ),
        source="RFC 9293, 3.6 Closing a Connection; Linux, Documentation/networking/ip-sysctl",
    ),
    refuted_by=Words(
        "ss -tan state time-wait shows few: then the figure holds orphaned FIN-WAIT-2, and the peer does not close.",
        "ss -tan state time-waitで少ないこと。その場合は孤立したFIN-WAIT-2で、相手が閉じていない。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each host whose buckets fill, at a rate that will take them all."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for labels, table in window[TIME_WAIT].by("job", "instance"):
        level, limit = table.max, in_force(window[BUCKETS].where(**labels).max)
        bound = largest(limit, window.focus)
        most = largest(level, window.focus)
        if not np.isfinite(most + bound) or bound <= 0:
            continue
        name = labels.get("instance", "the host")
        words = Words(
            f"{name} had {count(most)} of {count(bound)} TIME-WAIT buckets taken at most.",
            f"{name}のTIME-WAITは最大{count(bound)}中{count(most)}。",
        )
        high = focused(window, level >= HIGH * limit)
        least = least_instants(window.grid, table.slowest_ms)
        if not episodes(high, least=least, gap=5):
            clear.append(words)
            continue
        opened = _opened(window, labels, table.slowest_ms)
        found = episodes(high & (opened * STAYS_SECONDS >= COMING * limit), least=least, gap=10)
        if not found or not _is_time_wait(window, labels, level):
            observations.append(words)
            continue
        episode = window.one_of(found, limit)
        bound = largest(limit, episode.span)
        findings.append(_finding(window.during(episode), labels, level, bound, opened, episode))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _opened(window: Window, labels: Mapping[str, str], interval_ms: int) -> FloatArray:
    """Connections per second: on one host both ends count each, once as accepted and once as dialled."""
    rates = [np.nan_to_num(window[metric].where(**labels).rate) for metric in OPENED]
    return smooth(window, np.maximum(*rates), interval_ms)


def _is_time_wait(window: Window, labels: Mapping[str, str], level: FloatArray) -> bool:
    waiting = largest(window[STATES].where(**labels, state="time_wait").max, window.focus)
    return not np.isfinite(waiting) or waiting >= PROVEN * largest(level, window.focus)


def _finding(
    window: Window, labels: Mapping[str, str], level: FloatArray, bound: float, opened: FloatArray, episode: Episode
) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, most, rate = since_start(window, from_ms), largest(level, episode.span), largest(opened, episode.span)
    where, name, chosen = _where(window, labels), labels.get("instance", "the host"), selector(labels)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{count(most)} of the {count(bound)} TIME-WAIT buckets of {name} are taken{where.en}; up to "
            f"{figure(rate)} connections a second, each for a minute, need {count(rate * STAYS_SECONDS)} (from "
            f"{when.en}).",
            f"{name}のTIME-WAITは{count(bound)}中{count(most)}{where.ja}。最大毎秒{figure(rate)}接続が各1分残ると"
            f"{count(rate * STAYS_SECONDS)}必要({when.ja}から)。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[
            show(
                window,
                Words(f"{count(most)} of {count(bound)} buckets.", f"{count(bound)}中{count(most)}。"),
                link=Link.LIMIT,
                expression=f"{TIME_WAIT}{chosen}",
                unit=Unit.COUNT,
                values=level,
                limit=bound,
            ),
            _demand(window, chosen, opened, rate, bound),
            *felt(window, episode),
        ],
        steps=[
            Step(
                text=Words(
                    "Find who does not keep connections, and let it keep them.", "接続を使い回さない箇所を直す。"
                ),
                code="ss -tan state time-wait | awk '{print $4}' | sort | uniq -c | sort -rn | head",
            ),
            Step(
                text=Words(
                    "Where this host dials: let it reuse such ports.",
                    "このホストが接続する側なら、ポートを再利用する。",
                ),
                code="sysctl -w net.ipv4.tcp_tw_reuse=1",
            ),
        ],
    )


def _demand(window: Window, chosen: str, opened: FloatArray, rate: float, bound: float) -> Evidence:
    return show(
        window,
        Words(
            f"Up to {figure(rate)} connections a second; {figure(bound / STAYS_SECONDS)} fill all buckets in "
            f"{duration(STAYS_SECONDS)}.",
            f"最大毎秒{figure(rate)}接続。毎秒{figure(bound / STAYS_SECONDS)}接続で"
            f"{duration_ja(STAYS_SECONDS)}後に満杯。",
        ),
        link=Link.DEMAND,
        expression=f"rate({OPENED[0]}{chosen}[5s])",
        unit=Unit.PER_SECOND,
        values=opened,
        limit=bound / STAYS_SECONDS,
    )


def _where(window: Window, labels: Mapping[str, str]) -> Words:
    """The port that most of them belong to."""
    table = window[CONNECTIONS].where(**labels, state="time_wait")
    most = [
        (largest(row, window.focus), one.get("port", "?")) for one, row in zip(table.labels, table.held, strict=True)
    ]
    known = [one for one in most if one[0] >= 1]
    if not known:
        return Words("", "")
    number, port = max(known)
    return Words(f", {count(number)} of them at port {port}", f"(うちポート{port}が{count(number)})")


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(TIME_WAIT,),
    reads=(BUCKETS, STATES, CONNECTIONS, *OPENED),
    follows=("keep-alive-off", "pool-churn", "pool-per-request", "pool-lifetime-churn"),
    switched_on_by="sockets:\n  ports: [8080, 3306]",
)
