"""A good part of the answers are 304: they carry no body, and a load tool may count them or not."""

from loadwatch_backend.evidence.cost.model import Cost, RouteTotals
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity
from loadwatch_backend.findings.seen.costs import state
from loadwatch_backend.findings.seen.numbers import count, share
from loadwatch_backend.findings.seen.routes import LEAST_REQUESTS, of_route, total_requests
from loadwatch_backend.findings.window import Baseline, Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LEAST_SHARE = 0.1
MOVED = 0.1
"""By how much the share differs between two parts of the run, or two runs, before that is said."""

KIND = Kind(
    id="not-modified",
    severity=Severity.INFO,
    is_fact=True,
    title=Words("Answers without a body (304)", "本文のない応答(304)"),
    explanation=Words(
        "The client had the content already and was told so: quick, and next to nothing to send. A run with more of "
        "them looks faster without any request being served faster, and some benchmarks give no points for them.",
        "クライアントが既に持つ内容には304だけを返す。速く、送信量もほぼない。304が増えた試験は処理が速くなっていなくても"
        "速く見え、304を得点に数えないベンチマークもある。",
    ),
    rule=Rule(
        text=Words(
            "304 answers a conditional request whose condition is false; it has no body.",
            "304は条件付きリクエストの条件が偽のときの応答で、本文を持たない。",
        ),
        source="RFC 9110, 15.4.5",
    ),
    refuted_by=Words(
        "An access log of the same time with fewer of them.", "同じ時間のアクセスログで304がこれより少ないこと。"
    ),
)


def look(window: Window) -> Look:
    """At most one note, of all routes together."""
    cost = window.cost
    if cost is None or total_requests(cost) < LEAST_REQUESTS:
        return Look()
    part = _part(cost)
    before = _of_baseline(window.baseline)
    if part < LEAST_SHARE and (before is None or before[1] - part < MOVED):
        return Look()
    most = max((one.totals for one in cost.routes), key=lambda one: one.not_modified)
    evidence = [
        _evidence(
            window,
            cost,
            Words(
                f"{count(_not_modified(cost))} of {count(total_requests(cost))} answers were 304.",
                f"応答{count(total_requests(cost))}件のうち304は{count(_not_modified(cost))}件。",
            ),
            part,
        ),
        *_moved(window, cost),
        *_against(window, cost, part, before),
    ]
    said = evidence[-1].text if len(evidence) > 1 else Words("", "")
    return Look(findings=[_finding(window, part, most, evidence, said)])


def _finding(window: Window, part: float, most: RouteTotals, evidence: list[Evidence], said: Words) -> Finding:
    route = Words("", "")
    if most.not_modified > 0:
        own = share(most.not_modified / most.requests)
        route = Words(f", most of them of {most.key.name} ({own} of its own)", f"、最多は{most.key.name}(その{own})")
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{share(part)} of all answers were 304{route.en}. {said.en}".strip(),
            f"応答の{share(part)}が304{route.ja}。{said.ja}",
        ),
        from_ms=window.from_ms,
        to_ms=window.to_ms,
        labels={},
        evidence=evidence,
    )


def _moved(window: Window, cost: Cost) -> list[Evidence]:
    """How it went from the first third to the last."""
    first, last = _part_of(cost, 0), _part_of(cost, 2)
    if first is None or last is None or abs(last - first) < MOVED:
        return []
    text = Words(
        f"In the first third of the time {share(first)}, in the last {share(last)}.",
        f"最初の3分の1では{share(first)}、最後の3分の1では{share(last)}。",
    )
    return [_evidence(window, cost, text, last, first)]


def _against(window: Window, cost: Cost, part: float, before: tuple[str, float] | None) -> list[Evidence]:
    if before is None or abs(before[1] - part) < MOVED:
        return []
    name, other = before
    text = Words(f"In {name} {share(other)} were.", f"{name}では{share(other)}。")
    return [_evidence(window, cost, text, part, other)]


def _evidence(window: Window, cost: Cost, text: Words, value: float, limit: float | None = None) -> Evidence:
    expression = f"{of_route(cost, None, '304')} / {of_route(cost, None)}"
    return state(window, text, link=Link.DEMAND, expression=expression, unit=Unit.RATIO, value=value, limit=limit)


def _of_baseline(baseline: Baseline | None) -> tuple[str, float] | None:
    if baseline is None or baseline.cost is None or total_requests(baseline.cost) < LEAST_REQUESTS:
        return None
    return baseline.name, _part(baseline.cost)


def _not_modified(cost: Cost) -> float:
    return sum(one.totals.not_modified for one in cost.routes)


def _part(cost: Cost) -> float:
    return _not_modified(cost) / total_requests(cost)


def _part_of(cost: Cost, third: int) -> float | None:
    requests = sum(one.totals.thirds[third] for one in cost.routes)
    return sum(one.totals.not_modified_thirds[third] for one in cost.routes) / requests if requests >= 50 else None


DETECTOR = Detector(kind=KIND, look=look, needs=(), usual=False)
