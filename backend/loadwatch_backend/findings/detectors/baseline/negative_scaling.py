"""More of a parameter gave less: throughput rose with it up to a value, and falls beyond it."""

import re
import statistics
from collections.abc import Mapping, Sequence

from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import together
from loadwatch_backend.findings.seen.numbers import figure
from loadwatch_backend.findings.window import Load, Sweep, Trial, Window
from loadwatch_backend.kit.text.quantities import parse_number
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LESS = 0.9
"""Repeats of one setting differ by some 5 %."""
LEAST_VALUES = 3
SAME_TARGET = 0.05
CAPACITY = re.compile(
    r"(^|[^a-z])(node|instance|replica|worker|shard|server|pod|task|core|cpu|thread)s?([^a-z]|$)", re.IGNORECASE
)
"""What somebody adds to get more: that it only made things worse is said of these, too. A delay may do as it likes."""
Points = Mapping[float, float]
"""Value of the parameter to good answers per second, the median of its runs."""

KIND = Kind(
    id="negative-scaling",
    severity=Severity.WARNING,
    title=Words("More of it makes it slower", "増やすほど遅くなる(負のスケーリング)"),
    explanation=Words(
        "With more nodes, workers or connections the system served less than with fewer: they wait for something that "
        "they share, and agreeing on it costs more with each that takes part.",
        "ノード・ワーカー・接続などを増やしたら、少ないときより処理量が減った。共有する何かを待っており、その調整コストが"
        "参加者の数とともに増えている。",
    ),
    rule=Rule(
        text=Words(
            "Contention bounds throughput, coherence makes it fall: beyond a point each further node costs more than "
            "it brings.",
            "競合は処理量の上限を決め、整合性の維持は処理量を下げる。ある点を超えると、追加した分より損失が大きい。",
        ),
        source="N. J. Gunther, Guerrilla Capacity Planning (2007), chapter 4: the Universal Scalability Law",
    ),
    refuted_by=Words(
        "Repeats of both settings that overlap, or a load generator or network that was the limit only at the larger "
        "one.",
        "両方の設定を繰り返すと値が重なること、または大きい設定のときだけ負荷生成側やネットワークが上限だったこと。",
    ),
)


def look(window: Window) -> Look:
    """A finding for each parameter of which less served more; a generator that was the limit itself proves nothing."""
    sweep, load = window.sweep, window.load
    if sweep is None or load is None or sweep.own.good is None:
        return Look()
    if window.generator is not None and window.generator.state == "saturated":
        return Look()
    findings: list[Finding] = []
    clear: list[Words] = []
    for name, text in sorted(sweep.own.parameters.items()):
        own = parse_number(text)
        points = _points(sweep, name)
        if own is None or len(points) < LEAST_VALUES:
            continue
        best = max((value for value in points if value < own), key=points.__getitem__, default=None)
        if best is not None and _falls(name, points, best, own):
            findings.append(_finding(window, load, name, points, best, own))
        else:
            said = _listed(points)
            clear.append(Words(f"Good answers by {name}: {said}.", f"{name}ごとの正常応答: {said}。"))
    return Look(findings=findings, clear=together(clear))


def _points(sweep: Sweep, name: str) -> Points:
    found: dict[float, list[float]] = {}
    for trial in (sweep.own, *sweep.others):
        value = parse_number(trial.parameters.get(name, ""))
        if value is not None and trial.good is not None and _comparable(sweep.own, trial, name):
            found.setdefault(value, []).append(trial.good)
    return {value: statistics.median(found[value]) for value in sorted(found)}


def _comparable(own: Trial, other: Trial, name: str) -> bool:
    """Nothing but the parameter differs."""
    if {**own.parameters, name: ""} != {**other.parameters, name: ""}:
        return False
    if own.target is None or other.target is None:
        return own.target is other.target
    return abs(own.target - other.target) <= SAME_TARGET * max(own.target, other.target)


def _falls(name: str, points: Points, best: float, own: float) -> bool:
    """It falls from the best to here without coming back, and rose to the best or is something one adds to get more."""
    rose = any(value < best and points[value] <= LESS * points[best] for value in points)
    beyond = all(points[value] < points[best] for value in points if best < value <= own)
    return points[own] <= LESS * points[best] and beyond and (rose or CAPACITY.search(name) is not None)


def _listed(points: Points) -> str:
    return ", ".join(f"{figure(value)}: {figure(points[value])}/s" for value in points)


def _finding(window: Window, load: Load, name: str, points: Points, best: float, own: float) -> Finding:
    good, most = points[own], points[best]
    shown: Sequence[Words] = (
        Words(
            f"{figure(good)} good answers/s with {name}={figure(own)}, against {figure(most)} with "
            f"{name}={figure(best)}.",
            f"正常応答は{name}={figure(own)}で毎秒{figure(good)}件、{name}={figure(best)}で毎秒{figure(most)}件。",
        ),
        Words(f"By {name}, nothing else changed: {_listed(points)}.", f"{name}だけを変えた試験: {_listed(points)}。"),
    )
    values = load.outcomes.get("ok", load.rate)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name}={figure(own)} serves {figure(good)} good answers/s, less than the {figure(most)} of "
            f"{name}={figure(best)}: more of it costs throughput.",
            f"{name}={figure(own)}の正常応答は毎秒{figure(good)}件で、{name}={figure(best)}の{figure(most)}件より少ない。"
            "増やすと処理量が下がる。",
        ),
        from_ms=window.grid.time_ms(window.focus.start),
        to_ms=window.grid.time_ms(window.focus.stop - 1),
        labels={"parameter": name},
        evidence=[
            show(
                window,
                words,
                link=link,
                expression='sum(rate(loadtest_requests_total{outcome="ok"}[5s]))',
                unit=Unit.PER_SECOND,
                values=values,
                value=good,
                limit=most,
            )
            for words, link in zip(shown, (Link.EFFECT, Link.DEMAND), strict=True)
        ],
        steps=[
            Step(
                text=Words(
                    f"Go back to {name}={figure(best)}, the best that was measured, and look for what all of them "
                    "share: a lock, a sequence, one row or table that each writes.",
                    f"計測した中で最良の{name}={figure(best)}に戻し、全員が共有するもの(ロック、シーケンス、皆が書く"
                    "1行・1表など)を探す。",
                )
            )
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(),
    usual=False,
)
