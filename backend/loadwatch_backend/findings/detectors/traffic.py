"""What stands between the load and the system."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from loadwatch_formats.metrics.timeouts import GIVEN, LONGER

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.evidence.cost.model import Cost, RouteTotals
from loadwatch_backend.findings.measures.against import worse
from loadwatch_backend.findings.measures.costs import (
    LEAST_REQUESTS,
    largest_sender,
    named,
    of_route,
    total_requests,
    whole,
)
from loadwatch_backend.findings.measures.facts import (
    IMPACT_SHARE,
    LEAST_FAILED,
    focused,
    largest,
    load_effects,
    since_start,
)
from loadwatch_backend.findings.measures.network import DECLARED, FULL, SENT, SPEED, Way, ways
from loadwatch_backend.findings.measures.outcomes import Clear, Draft, Observation, Outcome, detector, further
from loadwatch_backend.findings.measures.process_ends import LIFE_METRICS, Death, deaths, torn
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Evidence, Finding, Severity, Step
from loadwatch_backend.findings.timeouts.ladder import (
    BALANCER_IDLE,
    METRICS,
    Check,
    Ladder,
    Latest,
    OrderVerdict,
    find_ladders,
)
from loadwatch_backend.findings.timeouts.writing import write_ladder
from loadwatch_backend.findings.window import Baseline, Episode, Window, episodes

MIX_TAKES = 0.5
"""Of all requests, from which a route has the mix."""
MIX_GREW = 0.25
"""By so much of all requests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """A route with its share now and before; `when`: where the earlier share is of."""

    route: RouteTotals
    now: float
    before: float
    when: Words
    episode: Episode
    harm: list[Evidence]


@detector("mix-taken-over")
def mix_taken_over(window: Window) -> Iterator[Outcome]:
    """One route takes over the mix of requests: figures before and after are of another load.

    At most one finding: against the baseline, else against the first third of the time.
    """
    cost = window.cost
    if cost is None or len(cost.routes) < 2:
        return
    taken = _against_baseline(window, cost) or _against_beginning(window, cost)
    if taken is not None:
        yield _mix_finding(window, cost, taken)


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
    if now < MIX_TAKES or now - before < MIX_GREW:
        return None
    when = message("mix-taken-over.when-baseline", name=baseline.name)
    return _Taken(route=most, now=now, before=before, when=when, episode=whole(window), harm=worse(window, baseline))


def _against_beginning(window: Window, cost: Cost) -> _Taken | None:
    first, last = (sum(one.totals.thirds[third] for one in cost.routes) for third in (0, 2))
    if min(first, last) < LEAST_REQUESTS / 2:
        return None
    most = max(named(cost), key=lambda one: one.thirds[2], default=None)
    if most is None:
        return None
    now, before = most.thirds[2] / last, most.thirds[0] / first
    if now < MIX_TAKES or now - before < MIX_GREW:
        return None
    episode = Episode(window.focus.stop - max((window.focus.stop - window.focus.start) // 3, 1), window.focus.stop)
    when = message("mix-taken-over.when-beginning")
    return _Taken(route=most, now=now, before=before, when=when, episode=episode, harm=load_effects(window, episode))


def _mix_finding(window: Window, cost: Cost, taken: _Taken) -> Finding:
    name, harm = taken.route.key.name, taken.harm
    draft, later = Draft(window, taken.episode, {"route": name}, taken=taken, name=name), SILENT
    if taken.episode.first > window.focus.start:
        later = message("mix-taken-over.later", since=since_start(window, window.grid.time_ms(taken.episode.first)))
    own, every = of_route(cost, taken.route.key), of_route(cost, None)
    shown = draft.show("mix-taken-over.demand", taken.now, limit=taken.before, route=own, all_routes=every)
    severity, key = None if harm else Severity.INFO, "mix-taken-over.sentence"
    found = draft.finding(key, [shown, *harm], severity=severity, later=later, harm=further(harm))
    return replace(found, to_ms=window.to_ms)


BYTES_NEAR = 0.7
"""Of the cap, from which it is said who fills it."""
BYTES_LEADS = 0.5
"""Of the bytes of all routes, and of what the interface sent."""


@detector("route-bytes", reads=(SENT, SPEED, DECLARED))
def route_bytes(window: Window) -> Iterator[Outcome]:
    """The answers of one route take most of what the network carries.

    At most one finding: the route that sends most, where it fills the interface that its bytes went through.
    """
    cost, sender = window.cost, largest_sender(window)
    if cost is None or sender is None:
        return
    totals, part = sender[0].totals, sender[1]
    sent = totals.sent_bytes or 0.0
    way = _carrier(window, sent / part)
    if way is None:
        return
    level = float(np.quantile(window.known(way.rate), 0.9))
    if level < BYTES_NEAR * way.cap or part < BYTES_LEADS or sent < BYTES_LEADS * window.total(way.rate):
        each, cap = sent / _seconds(cost), way.cap
        yield Clear(message("route-bytes.clear", name=totals.key.name, each=each, cap=cap, interface=way.name))
        return
    yield _bytes_finding(window, cost, way, totals, part, level)


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


def _bytes_finding(window: Window, cost: Cost, way: Way, totals: RouteTotals, part: float, level: float) -> Finding:
    name, sent = totals.key.name, totals.sent_bytes or 0.0
    each, bytes_each = sent / _seconds(cost), sent / totals.requests
    harm = load_effects(window, whole(window)) if level >= FULL * way.cap else []
    draft = Draft(window, None, {**way.labels, "route": name}, name=name, each=each, way=way)
    shown = [
        draft.show("route-bytes.limit", way.rate, value=level, limit=way.cap),
        draft.show("route-bytes.demand", each, sent=sent, of_route=of_route(cost, totals.key)),
        *harm,
    ]
    severity, level = None if harm else Severity.INFO, level / way.cap
    return draft.finding(
        "route-bytes.sentence", shown, severity=severity, bytes_each=bytes_each, part=part, level=level
    )


@detector("connections-refused", reads=LIFE_METRICS)
def refused(window: Window) -> Iterator[Outcome]:
    """Connections are refused: nobody listens where the load knocks.

    One finding where the load was refused.
    """
    load = window.load
    if load is None:
        return
    sent, refused = window.total(load.rate), load.failed("refused")
    times = window.total(refused)
    if times < LEAST_FAILED or times < IMPACT_SHARE * sent:
        yield Clear(message("connections-refused.clear", times=times, sent=sent))
        return
    found = episodes(focused(window, refused > 0), gap=5)
    episode = window.one_of(found)
    times = window.total(refused, episode.span)
    gone = [death for death in deaths(window) if death.gone_during(episode) and not death.database]
    # Stopped with care, and back: refusals are what a restart costs, and nobody's fault.
    restarted = bool(gone) and all(death.back is not None and not torn(window, death) for death in gone)
    named = gone[0] if len(gone) == 1 else None
    yield _refusal_finding(window.during(episode), episode, times, sent, named, restarted=restarted)


def _refusal_finding(
    window: Window, episode: Episode, times: float, sent: float, gone: Death | None, *, restarted: bool
) -> Finding:
    load = window.load
    assert load is not None
    length, refused, who = len(episode) * window.step_seconds, load.failed("refused"), SILENT
    draft, shown = Draft(window, episode, {} if gone is None else gone.labels, times=times, sent=sent), list[Evidence]()
    if gone is not None:
        who = message("connections-refused.who", name=gone.name)
        at, up = min(gone.at, window.grid.count - 1), {**gone.labels, "collector": "process"}
        shown = [draft.show("connections-refused.limit", gone.running, value=0.0, at=at, name=gone.name, target=up)]
    shown.append(draft.show("connections-refused.demand", refused, part=times / sent))
    shown += [one for one in load_effects(window, episode) if 'outcome="refused"' not in one.expression]
    severity = Severity.INFO if restarted else None
    return draft.finding("connections-refused.sentence", shown, severity=severity, length=length, who=who)


HURTS: Mapping[str, tuple[str, ...]] = {
    "balancer_idle_before_app": ("http_5xx", "reset"),
    "pool_before_database": ("http_5xx",),
    "client_idle_before_balancer": ("reset",),
    "client_idle_before_app": ("reset",),
}
"""What fails where a rule is broken: connections that idle end under the request that takes them."""
ORDER_LEAST_FAILED = 3
NOW_AND_THEN = 0.05
"""Share of failed requests up to which they are those of single connections; more have another reason."""


@detector("timeouts-out-of-order", needs=(GIVEN, LONGER, BALANCER_IDLE), reads=METRICS)
def timeouts_order(window: Window) -> Iterator[Outcome]:
    """Timeouts end in the wrong order, and requests fail now and then as they do for it.

    One finding for each order that is wrong and has failures of its kind beside it.
    """
    for ladder in find_ladders(_latest(window)):
        checks = [one for one in ladder.checks if one.rule in HURTS]
        wrong = [one for one in checks if one.verdict is OrderVerdict.WRONG]
        if not wrong and any(one.verdict is OrderVerdict.RIGHT for one in checks):
            name = ladder.job or "discovery"
            yield Clear(message("timeouts-out-of-order.clear", name=name))
        for check in wrong:
            words = _words(replace(ladder, checks=(check,)))
            yield _order_finding(window, check, ladder.job, words) or Observation(words[0])


def _words(ladder: Ladder) -> tuple[Words, Words]:
    """Consequence and remedy."""
    en, ja = (write_ladder(ladder, language).checks[0] for language in (Language.EN, Language.JA))
    return Words(en.consequence, ja.consequence), Words(en.remedy, ja.remedy)


def _latest(window: Window) -> Sequence[Latest]:
    found: list[Latest] = []
    for metric in METRICS:
        table = window[metric]
        for row, labels in enumerate(table.labels):
            values = table.values[row, : window.focus.stop]
            places = np.flatnonzero(~np.isnan(values))
            if places.size:
                last = int(places[-1])
                named = {"__name__": metric, **labels}
                found.append(Latest(labels=named, value=float(values[last]), time_ms=window.grid.time_ms(last)))
    return found


def _order_finding(window: Window, check: Check, job: str, words: tuple[Words, Words]) -> Finding | None:
    """None where nothing failed as it does for this, or no connection can have idled for so long."""
    load = window.load
    longer = math.inf if check.longer is None else check.longer.seconds
    if load is None or longer > (window.to_ms - window.from_ms) / 1_000:
        return None
    failed = load.failed(*HURTS[check.rule])
    times, sent = window.total(failed), window.total(load.rate)
    if times < ORDER_LEAST_FAILED or times > NOW_AND_THEN * sent:
        return None
    found = episodes(focused(window, failed > 0), gap=window.grid.count)
    shorter = math.inf if check.shorter is None else check.shorter.seconds
    labels = {"rule": check.rule, **({"job": job} if job else {})}
    draft = Draft(window, found[0].joined(found[-1]), labels, times=times, sent=sent)
    limit, at, most = np.full(window.grid.count, longer), window.focus.start, largest(failed, window.focus)
    outcomes, part = "|".join(HURTS[check.rule]), times / sent
    shown = [
        draft.show("timeouts-out-of-order.limit", limit, value=longer, at=at, shorter=shorter),
        draft.show("timeouts-out-of-order.effect", failed, part=part, failed=most, outcomes=outcomes),
    ]
    return draft.finding("timeouts-out-of-order.sentence", shown, [Step(text=words[1])], consequence=words[0])


LEAST_SHARE = 0.1
UNMODIFIED_MOVED = 0.1
"""By how much the share differs between two parts of the run, or two runs, before that is said."""


@detector("not-modified")
def not_modified(window: Window) -> Iterator[Outcome]:
    """A good part of the answers are 304: they carry no body, and a load tool may count them or not.

    At most one note, of all routes together.
    """
    cost = window.cost
    if cost is None or total_requests(cost) < LEAST_REQUESTS:
        return
    part = _part(cost)
    before = _of_baseline(window.baseline)
    if part < LEAST_SHARE and (before is None or before[1] - part < UNMODIFIED_MOVED):
        return
    most = max((one.totals for one in cost.routes), key=lambda one: one.not_modified)
    requests, unchanged = of_route(cost, None), of_route(cost, None, "304")
    draft, moved = Draft(window, None, {}, part=part, requests=requests, unchanged=unchanged), list[Evidence]()
    # How it went from the first third to the last.
    first, last = _part_of(cost, 0), _part_of(cost, 2)
    if first is not None and last is not None and abs(last - first) >= UNMODIFIED_MOVED:
        moved.append(draft.show("not-modified.moved", last, limit=first))
    if before is not None and abs(before[1] - part) >= UNMODIFIED_MOVED:
        moved.append(draft.show("not-modified.against", part, limit=before[1], name=before[0]))
    route, many, of = SILENT, _not_modified(cost), total_requests(cost)
    if most.not_modified > 0:
        route = message("not-modified.route", name=most.key.name, own=most.not_modified / most.requests)
    shown = draft.show("not-modified.demand", part, not_modified=many, total_requests=of)
    yield draft.finding("not-modified.sentence", [shown, *moved], route=route, moved=further(moved[-1:]))


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
