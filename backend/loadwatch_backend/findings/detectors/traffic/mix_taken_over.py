"""One route takes over the mix of requests: figures before and after are of another load."""

from dataclasses import dataclass

from loadwatch_backend.evidence.cost.model import Cost, RouteTotals
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.against import worse
from loadwatch_backend.findings.seen.costs import state, whole
from loadwatch_backend.findings.seen.facts import felt, since_start
from loadwatch_backend.findings.seen.numbers import count, share
from loadwatch_backend.findings.seen.routes import LEAST_REQUESTS, named, of_route, total_requests
from loadwatch_backend.findings.window import Episode, Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

TAKES = 0.5
"""Of all requests, from which a route has the mix."""
GREW = 0.25
"""By so much of all requests."""

KIND = Kind(
    id="mix-taken-over",
    severity=Severity.WARNING,
    title=Words("One route takes over the mix", "1つのルートが大半を占めるようになった"),
    explanation=Words(
        "The share of one route among all requests grew until most are of it. What is slower or faster since then may "
        "be another load, not another system: compare route by route.",
        "1つのルートの割合が増え、リクエストの大半を占めるようになった。その前後の速さの差はシステムではなく負荷の違いかも"
        "しれない。ルートごとに比べること。",
    ),
    rule=Rule(
        text=Words(
            "Two measurements are of the same load only where the mix of requests is the same.",
            "リクエストの構成が同じでなければ、同じ負荷の測定とはいえない。",
        ),
        source="R. Jain, The Art of Computer Systems Performance Analysis (1991), chapter 5 (workload selection)",
    ),
    refuted_by=Words(
        "A load that was meant to change so, with the same time a request for each route.",
        "意図した負荷の変化であり、ルートごとの所要時間が変わっていないこと。",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """A route with its share now and before; `when`: where the earlier share is of."""

    route: RouteTotals
    now: float
    before: float
    when: Words
    episode: Episode
    harm: list[Evidence]


def look(window: Window) -> Look:
    """At most one finding: against the baseline, else against the first third of the time."""
    cost = window.cost
    if cost is None or len(cost.routes) < 2:
        return Look()
    taken = _against_baseline(window, cost) or _against_beginning(window, cost)
    return Look() if taken is None else Look(findings=[_finding(window, cost, taken)])


def _against_baseline(window: Window, cost: Cost) -> _Taken | None:
    baseline = window.baseline
    other = None if baseline is None else baseline.cost
    if baseline is None or other is None or min(total_requests(cost), total_requests(other)) < LEAST_REQUESTS:
        return None
    most = max(named(cost), key=lambda one: one.requests, default=None)
    # A name that the other run does not know may be a route that was renamed: that is no change of the mix.
    same = None if most is None else next((one for one in named(other) if one.key == most.key), None)
    if most is None or same is None:
        return None
    now, before = most.requests / total_requests(cost), same.requests / total_requests(other)
    if now < TAKES or now - before < GREW:
        return None
    when = Words(f"in {baseline.name}", f"{baseline.name}では")
    return _Taken(route=most, now=now, before=before, when=when, episode=whole(window), harm=worse(window, baseline))


def _against_beginning(window: Window, cost: Cost) -> _Taken | None:
    first, last = (sum(one.totals.thirds[third] for one in cost.routes) for third in (0, 2))
    if min(first, last) < LEAST_REQUESTS / 2:
        return None
    most = max(named(cost), key=lambda one: one.thirds[2], default=None)
    if most is None:
        return None
    now, before = most.thirds[2] / last, most.thirds[0] / first
    if now < TAKES or now - before < GREW:
        return None
    episode = Episode(window.focus.stop - max((window.focus.stop - window.focus.start) // 3, 1), window.focus.stop)
    when = Words("in the first third of the time", "最初の3分の1では")
    return _Taken(route=most, now=now, before=before, when=when, episode=episode, harm=felt(window, episode))


def _finding(window: Window, cost: Cost, taken: _Taken) -> Finding:
    name = taken.route.key.name
    from_ms = window.grid.time_ms(taken.episode.first)
    last = taken.episode.first > window.focus.start
    since = since_start(window, from_ms) if last else Words("", "")
    later = Words(
        f" in the last third, from {since.en}" if last else "", f"最後の3分の1({since.ja}から)で" if last else ""
    )
    harm = Words(f" {taken.harm[0].text.en}", taken.harm[0].text.ja) if taken.harm else Words("", "")
    return Finding(
        kind=KIND,
        severity=None if taken.harm else Severity.INFO,
        sentence=Words(
            f"{share(taken.now)} of all requests were {name}{later.en}, against {share(taken.before)} "
            f"{taken.when.en}.{harm.en}",
            f"{later.ja}リクエストの{share(taken.now)}が{name}({taken.when.ja}{share(taken.before)})。{harm.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.to_ms,
        labels={"route": name},
        evidence=[
            state(
                window,
                Words(
                    f"{share(taken.now)} of all requests, {share(taken.before)} {taken.when.en}; "
                    f"{count(taken.route.requests)} requests in all.",
                    f"全リクエストの{share(taken.now)}、{taken.when.ja}{share(taken.before)}。計"
                    f"{count(taken.route.requests)}件。",
                ),
                link=Link.DEMAND,
                expression=f"{of_route(cost, taken.route.key)} / {of_route(cost, None)}",
                unit=Unit.RATIO,
                value=taken.now,
                limit=taken.before,
            ),
            *taken.harm,
        ],
        steps=[
            Step(
                text=Words(
                    "Hold the runs against each other route by route, or run with the same mix again.",
                    "ルートごとに比較するか、同じ構成でもう一度試験する。",
                )
            )
        ],
    )


DETECTOR = Detector(kind=KIND, look=look, needs=(), usual=False)
