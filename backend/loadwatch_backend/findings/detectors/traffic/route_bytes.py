"""The answers of one route take most of what the network carries."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.evidence.cost.model import Cost, RouteTotals
from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.costs import largest_sender, state, whole
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, selector
from loadwatch_backend.findings.seen.network import DECLARED, FULL, SENT, SPEED, Way, ways
from loadwatch_backend.findings.seen.numbers import share, size
from loadwatch_backend.findings.seen.routes import of_route
from loadwatch_backend.findings.window import Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

NEAR = 0.7
"""Of the cap, from which it is said who fills it."""
LEADS = 0.5
"""Of the bytes of all routes, and of what the interface sent."""

KIND = Kind(
    id="route-bytes",
    severity=Severity.WARNING,
    title=Words("One route fills the network", "帯域の大半を使うルート"),
    explanation=Words(
        "Most of what the interface may carry is the answers of one route. All other answers wait behind them.",
        "インターフェースの帯域の大半を1つのルートの応答が使い、他の応答はその後ろで待たされる。",
    ),
    rule=Rule(
        text=Words(
            "Requests a second times bytes an answer cannot be more than the link carries.",
            "「毎秒のリクエスト数×応答サイズ」は回線の帯域を超えられない。",
        ),
        source="D. Menascé, V. Almeida, Capacity Planning for Web Services (2001), chapter 3 (utilisation law)",
    ),
    refuted_by=Words(
        "Bytes of another sender on the same interface that explain its rate.",
        "同じインターフェースの別の送信元が、その帯域を使っていること。",
    ),
)


def look(window: Window) -> Look:
    """At most one finding: the route that sends most, where it fills the interface that its bytes went through."""
    cost, sender = window.cost, largest_sender(window)
    if cost is None or sender is None:
        return Look()
    totals, part = sender[0].totals, sender[1]
    sent = totals.sent_bytes or 0.0
    way = _carrier(window, sent / part)
    if way is None:
        return Look()
    inside = window.inside(way.rate)
    level = float(np.quantile(inside[np.isfinite(inside)], 0.9))
    if level < NEAR * way.cap or part < LEADS or sent < LEADS * window.total(way.rate):
        each, cap = size(sent / _seconds(cost)), size(way.cap)
        return Look(
            clear=Words(
                f"{totals.key.name} sent most, {each}/s of {cap}/s that {way.name.en} may.",
                f"送信が最も多い{totals.key.name}は{each}/s({way.name.ja}の上限{cap}/s)。",
            )
        )
    return Look(findings=[_finding(window, cost, way, totals, part, level)])


def _seconds(cost: Cost) -> float:
    return max((cost.to_ms - cost.from_ms) / 1_000, 1e-3)


def _carrier(window: Window, sent: float) -> Way | None:
    """The interface with a known cap that all these bytes can have gone through; None where none can, or several."""
    found = [
        way
        for way in ways(window)
        if way.sends
        and np.isfinite(way.cap)
        and np.isfinite(window.inside(way.rate)).any()
        # What is counted of answers is without headers, or with those of HTTP alone.
        and window.total(way.rate) >= 0.9 * sent
    ]
    return found[0] if len(found) == 1 else None


def _finding(window: Window, cost: Cost, way: Way, totals: RouteTotals, part: float, level: float) -> Finding:
    name, sent = totals.key.name, totals.sent_bytes or 0.0
    each, bytes_each = sent / _seconds(cost), sent / totals.requests
    harm = felt(window, whole(window)) if level >= FULL * way.cap else []
    labels: Mapping[str, str] = {**way.labels, "route": name}
    return Finding(
        kind=KIND,
        severity=None if harm else Severity.INFO,
        sentence=Words(
            f"{name} sent {size(each)}/s, {size(bytes_each)} an answer: {share(part)} of the bytes of all routes. "
            f"{way.name.en} was at {share(level / way.cap)} of what it may carry.",
            f"{name}の送信は{size(each)}/s(応答1件{size(bytes_each)})で、全ルートの{share(part)}。"
            f"{way.name.ja}は上限の{share(level / way.cap)}。",
        ),
        from_ms=window.from_ms,
        to_ms=window.to_ms,
        labels=labels,
        evidence=[
            show(
                window,
                Words(
                    f"{way.name.en} sent {size(level)}/s of {size(way.cap)}/s.",
                    f"{way.name.ja}の送信は{size(level)}/s(上限{size(way.cap)}/s)。",
                ),
                link=Link.LIMIT,
                expression=f"rate({SENT}{selector(way.labels)}[5s])",
                unit=Unit.BYTES_PER_SECOND,
                values=way.rate,
                value=level,
                limit=way.cap,
            ),
            state(
                window,
                Words(f"{name}: {size(sent)} in all, {size(each)}/s.", f"{name}: 計{size(sent)}、{size(each)}/s。"),
                link=Link.DEMAND,
                expression=of_route(cost, totals.key),
                unit=Unit.BYTES_PER_SECOND,
                value=each,
            ),
            *harm,
        ],
        steps=[
            Step(
                text=Words(
                    f"Make the answers of {name} smaller: compress, leave out what the page does not use, give images "
                    "to the web server or a CDN, let the client keep them.",
                    f"{name}の応答を小さくする(圧縮、不要な項目の削除、画像はWebサーバーやCDNから配信、"
                    "クライアントにキャッシュさせる)。",
                ),
                code="gzip on; gzip_types application/json text/css; # nginx\nlocation /images/ { expires 1d; }",
            )
        ],
    )


DETECTOR = Detector(kind=KIND, look=look, needs=(), reads=(SENT, SPEED, DECLARED), usual=False)
