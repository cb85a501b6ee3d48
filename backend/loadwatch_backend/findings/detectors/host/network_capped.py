"""An interface sends or receives all that it may: its speed, a declared cap, or a flat top that nobody declared."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.costs import largest_sender
from loadwatch_backend.findings.seen.demand import unmet
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together, usual
from loadwatch_backend.findings.seen.network import DECLARED, FULL, RECEIVED, SENT, SPEED, Way, ways
from loadwatch_backend.findings.seen.numbers import figure, share, size
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

QUEUED = "node_tcp_connection_states"
FLAT = 0.02
"""How far a flat top's seconds lie from each other, as a share of the rate."""
FLAT_SECONDS, FULL_SECONDS = 10.0, 5.0
LEAST_BYTES = 1_000_000.0
STANDING_SECONDS = 0.05
"""Worth of sending that stands in the sockets' queues, from which the network is what they wait for."""

KIND = Kind(
    id="network-capped",
    severity=Severity.CRITICAL,
    title=Words("Network at its cap", "ネットワーク帯域の上限"),
    explanation=Words(
        "The interface carries all that it may. Answers wait in the sockets for the wire, and each further request "
        "makes the others slower. A cloud's cap is often far below the speed that the interface shows.",
        "インターフェースの帯域を使い切っている。応答はソケットで送信待ちとなり、負荷を増やすほど全体が遅くなる。"
        "クラウドの上限は表示される速度よりかなり低いことが多い。",
    ),
    rule=Rule(
        text=Words(
            "100 Mbit/s are 12.5 MB/s, some 11.8 of them payload. A rate that is flat while more is asked for is a "
            "cap.",
            "100 Mbit/sは12.5 MB/s、実データは約11.8 MB/s。要求が増えても横ばいなら、それが上限。",
        ),
        source="IEEE 802.3 (preamble, gap and headers of a full frame: 1,460 of 1,538 bytes)",
    ),
    refuted_by=Words(
        "A transfer beside this load (iperf3) that gets through faster than the flat rate.",
        "この負荷と同時にiperf3を実行し、横ばいの値より速く転送できること。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each interface that was full, or flat, while more was wanted."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for way in ways(window):
        most = largest(way.rate, window.focus)
        if not np.isfinite(most):
            continue
        words = _said(way, most)
        episode, flat = _full(window, way), False
        if episode is None:
            episode, flat = _flat_top(window, way), True
        if episode is None:
            if np.isfinite(way.cap):
                clear.append(words)
            continue
        asked, effects, queued = unmet(window, episode), felt(window, episode), _queued(window, way, episode)
        harm = [*([] if asked is None else [asked]), *effects]
        # A flat top alone may be any limit; sockets that cannot get rid of what they send make it the network's.
        if not harm or (flat and queued is None):
            if not flat:
                observations.append(words)
            continue
        findings.append(_finding(window, way, episode, [*([] if queued is None else [queued]), *harm], flat=flat))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _said(way: Way, most: float) -> Words:
    name, verb = way.name, way.verb
    of = Words(f" of {size(way.cap)}/s", f"(上限{size(way.cap)}/s)") if np.isfinite(way.cap) else Words("", "")
    return Words(
        f"{name.en} {verb.en} {size(most)}/s{of.en} at most.", f"{name.ja}の{verb.ja}は最大{size(most)}/s{of.ja}。"
    )


def _full(window: Window, way: Way) -> Episode | None:
    least = least_instants(window.grid, way.interval_ms, seconds=FULL_SECONDS)
    found = episodes(focused(window, way.rate >= FULL * way.cap), least=least, gap=3)
    return window.one_of(found) if found else None


def _flat_top(window: Window, way: Way) -> Episode | None:
    """Where the rate stood at its own maximum, second for second."""
    inside = way.rate[window.focus]
    known = inside[np.isfinite(inside)]
    if not known.size:
        return None
    # The highest second may be a burst that the cap lets through; the tenth of the highest ones is the top.
    top = float(np.quantile(known, 0.9))
    if top < LEAST_BYTES:
        return None
    least = least_instants(window.grid, way.interval_ms, seconds=FLAT_SECONDS)
    found = episodes(focused(window, np.abs(way.rate - top) <= FLAT * top), least=least, gap=1)
    return max(found, key=len) if found else None


def _queued(window: Window, way: Way, episode: Episode) -> Evidence | None:
    """Bytes that stand in the sockets of the host, waiting to be sent."""
    if not way.sends:
        return None
    host = {name: way.labels[name] for name in ("job", "instance") if name in way.labels}
    waiting = window[QUEUED].where(instance=host.get("instance", ""), state="tx_queued_bytes").max
    stands, rate = usual(waiting, episode.span), usual(way.rate, episode.span)
    if not stands >= STANDING_SECONDS * rate:
        return None
    return show(
        window,
        Words(
            f"{size(stands)} stood in the sockets, waiting to be sent.", f"ソケットに{size(stands)}が送信待ちで滞留。"
        ),
        link=Link.DEMAND,
        expression=f"{QUEUED}{selector({'instance': host.get('instance', ''), 'state': 'tx_queued_bytes'})}",
        unit=Unit.BYTES,
        values=waiting,
        value=stands,
        at=episode.first,
    )


def _finding(window: Window, way: Way, episode: Episode, harm: list[Evidence], *, flat: bool) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, used, name, verb = since_start(window, from_ms), usual(way.rate, episode.span), way.name, way.verb
    bits = f"{figure(used * 8 / 1e6)} Mbit/s"
    of = Words("flat", "横ばい")
    if not flat:
        kind = Words("declared", "宣言値") if way.declared else Words("of the link", "リンク速度")
        of = Words(
            f"of {figure(way.cap * 8 / 1e6)} Mbit/s ({kind.en})", f"上限{figure(way.cap * 8 / 1e6)} Mbit/s、{kind.ja}"
        )
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name.en} {verb.en} {bits}, {of.en}, from {when.en}. {harm[-1].text.en}",
            f"{name.ja}の{verb.ja}が{when.ja}から{bits}({of.ja})。{harm[-1].text.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=way.labels,
        evidence=[
            show(
                window,
                Words(f"{size(used)}/s {verb.en}, {of.en}.", f"{verb.ja}{size(used)}/s({of.ja})。"),
                link=Link.LIMIT,
                expression=f"rate({way.metric}{selector(way.labels)}[5s])",
                unit=Unit.BYTES_PER_SECOND,
                values=way.rate,
                limit=None if flat else way.cap,
            ),
            *harm,
        ],
        steps=[
            *(_sender(window) if way.sends else []),
            Step(
                text=Words(
                    "Send less: compression, 304 for what the client has, static files from elsewhere.",
                    "送信量を減らす(圧縮、304応答、静的ファイルの分離)。",
                ),
                code="gzip on; gzip_types application/json text/css; # nginx",
            ),
            Step(
                text=Words(
                    "Measure what the line carries, and declare it, so that it is watched.",
                    "実際の帯域を計測し、上限として宣言して監視する。",
                ),
                code=f"iperf3 -c <host> -t 10\n# loadwatch.yml\nlimits:\n  {way.labels.get('device', 'eth0')}: "
                f"{max(round(used * 8 / 1e6), 1)}Mbit/s",
            ),
        ],
    )


def _sender(window: Window) -> list[Step]:
    found = largest_sender(window)
    if found is None:
        return []
    route, part = found
    name, sent = route.totals.key.name, size(route.totals.sent_bytes or 0.0)
    return [
        Step(
            text=Words(
                f"Begin with {name}: it sent {sent}, {share(part)} of what all routes sent.",
                f"まず{name}から。送信量{sent}、全ルートの{share(part)}。",
            )
        )
    ]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(SENT,),
    reads=(RECEIVED, SPEED, DECLARED, QUEUED),
    follows=("route-bytes",),
    switched_on_by="host: {}\nsockets: {}\nlimits:\n  eth0: 100Mbit/s",
)
