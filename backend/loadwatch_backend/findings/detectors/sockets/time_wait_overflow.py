"""All TIME-WAIT buckets are taken, and connections are closed without one."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together
from loadwatch_backend.findings.seen.numbers import count, figure
from loadwatch_backend.findings.window import Episode, Window, episodes
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

OVERFLOWS = "node_netstat_TcpExt_TCPTimeWaitOverflow"
TIME_WAIT, BUCKETS = "node_sockstat_TCP_tw", "kernel_tcp_max_tw_buckets"
FULL = 0.9
LEAST = 10

KIND = Kind(
    id="time-wait-overflow",
    resource="time_wait",
    severity=Severity.WARNING,
    title=Words("TIME-WAIT buckets overflow", "TIME-WAITの溢れ"),
    explanation=Words(
        "net.ipv4.tcp_max_tw_buckets is reached. The kernel closes what comes next without TIME-WAIT: a late packet of "
        "an old connection can meet a new one. The level stands still, so it no longer shows how many there are.",
        "net.ipv4.tcp_max_tw_bucketsに達し、以降の接続はTIME-WAITなしで閉じられる。古い接続の遅れたパケットが新しい"
        "接続に混ざる恐れがある。値は横ばいになり、実際の数は分からなくなる。",
    ),
    rule=Rule(
        text=Words(
            "The limit is there against simple attacks and should not be lowered; connections that are kept need none "
            "of it.",
            "この上限は単純な攻撃への備えで、下げてはならない。接続を再利用すれば不要になる。",
        ),
        source="Linux, Documentation/networking/ip-sysctl, tcp_max_tw_buckets",
    ),
    refuted_by=Words(
        "TCPTimeWaitOverflow in nstat that does not move while this load runs.",
        "この負荷の間、nstatのTCPTimeWaitOverflowが増えないこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each host whose buckets overflowed."""
    findings: list[Finding] = []
    clear: list[Words] = []
    for labels, table in window[OVERFLOWS].by("job", "instance"):
        lost = table.rate
        if not np.isfinite(lost[window.focus]).any():
            continue
        times = window.total(lost)
        found = episodes(focused(window, lost > 0), gap=10)
        name = labels.get("instance", "the host")
        if not found or times < LEAST:
            clear.append(
                Words(
                    f"{name} closed {count(times)} connections without TIME-WAIT.",
                    f"{name}でTIME-WAITなしに閉じた接続は{count(times)}。",
                )
            )
            continue
        episode = window.one_of(found, window[BUCKETS].where(**labels).max)
        during = window.during(episode)
        findings.append(_finding(during, labels, lost, during.total(lost), episode))
    return Look(findings=findings, clear=together(clear))


def _finding(window: Window, labels: Mapping[str, str], lost: FloatArray, times: float, episode: Episode) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, name, chosen = since_start(window, from_ms), labels.get("instance", "the host"), selector(labels)
    level = window[TIME_WAIT].where(**labels).max
    bound = largest(window[BUCKETS].where(**labels).max, window.focus)
    known = bound > 0 and largest(level, window.focus) >= FULL * bound
    of = Words(f"all {count(bound)} buckets", f"{count(bound)}の枠") if known else Words("the buckets", "枠")
    limit: list[Evidence] = []
    if known:
        most = largest(level, window.focus)
        limit = [
            show(
                window,
                Words(f"{count(most)} of {count(bound)} buckets.", f"{count(bound)}中{count(most)}。"),
                link=Link.LIMIT,
                expression=f"{TIME_WAIT}{chosen}",
                unit=Unit.COUNT,
                values=level,
                limit=bound,
            )
        ]
    wanted = 2 ** int(np.ceil(np.log2(max(bound if known else 8_192, 1) * 2)))
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name} had {of.en} of TIME-WAIT taken from {when.en}; {count(times)} connections were closed without.",
            f"{name}のTIME-WAITは{when.ja}から{of.ja}を使い切り、{count(times)}接続がTIME-WAITなしで閉じられた。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[
            *limit,
            show(
                window,
                Words(
                    f"Up to {figure(largest(lost, episode.span))} connections a second closed without TIME-WAIT.",
                    f"TIME-WAITなしで閉じた接続は最大毎秒{figure(largest(lost, episode.span))}。",
                ),
                link=Link.DEMAND,
                expression=f"rate({OVERFLOWS}{chosen}[5s])",
                unit=Unit.PER_SECOND,
                values=lost,
            ),
            *felt(window, episode),
        ],
        steps=[
            Step(
                text=Words(
                    "Keep connections: that is what ends it.", "接続を再利用する(keep-alive)。これが根本的な対策。"
                )
            ),
            Step(
                text=Words(
                    f"Until then {count(wanted)} buckets; each takes some 250 bytes of kernel memory.",
                    f"それまでは枠を{count(wanted)}に増やす(1つ約250バイトのカーネルメモリ)。",
                ),
                code=f"sysctl -w net.ipv4.tcp_max_tw_buckets={wanted}",
            ),
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(OVERFLOWS,),
    reads=(TIME_WAIT, BUCKETS),
    follows=("time-wait-buildup", "keep-alive-off", "pool-churn", "pool-per-request", "pool-lifetime-churn"),
    switched_on_by="sockets: {}",
)
