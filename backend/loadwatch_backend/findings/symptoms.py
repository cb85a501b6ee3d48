"""What went wrong with the load of a window, whether or not anything explains it. Pure."""

import numpy as np

from loadwatch_backend.core.texts.numbers import count, share
from loadwatch_backend.core.texts.words import Words
from loadwatch_backend.findings.measures.facts import LEAST_FAILED, OUTCOME_WORDS, SLOWER, usual
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.window import Totals, Window, episodes

HARM_SHARE = 0.01
"""Share of failed requests from which the load was hurt."""
LEAST_SLOWER_SECONDS = 0.05
WAITED = 5.0
"""Times the fastest answer of an endpoint from which its median is a wait, and times its median its p95; with the two
bounds below no healthy recording has either (21 of them), and each recording that has one met a limit."""
LEAST_WAITED_SECONDS = 0.1
LEAST_TAIL_SECONDS = 0.5
STALLED, LEAST_STALL_SECONDS = 10.0, 3.0
"""Times its p95, and seconds, from which the slowest answer of a run is a stall."""
STOPPED = 0.1
"""Share of the usual rate below which the load stands still."""
LEAST_STOPS = 2
LEAST_RATE = 5.0
"""Requests per second; of a lower rate some seconds have none by chance."""
EDGE_SECONDS = 2
MISSING_SHARE = 0.001


UNKNOWN = message("symptoms.unknown")
"""hey and wrk tell nothing until they end; whether anybody suffered is not known before."""


def find_symptoms(window: Window) -> list[Words]:
    """Thresholds that were not met, failures, slow answers, stops of the load, and rows that are not there."""
    totals = window.totals or _streamed(window)
    slow = _slower(window) or _waited(totals)
    unknown = [UNKNOWN] if window.of_run and window.load is None and totals.requests is None else []
    return [*totals.broken, *_failures(totals), *slow, *_stops(window), *_missing_rows(window), *unknown]


def _streamed(window: Window) -> Totals:
    load = window.load
    if load is None:
        return Totals()
    outcomes = {name: window.total(rate) for name, rate in load.outcomes.items()}
    return Totals(requests=round(sum(outcomes.values())), outcomes=outcomes)


def _failures(totals: Totals) -> list[Words]:
    failed = {name: times for name, times in totals.outcomes.items() if name != "ok" and times >= 1}
    times, requests = sum(failed.values()), totals.requests or 0
    if times <= HARM_SHARE * requests or (times < LEAST_FAILED and 2 * times < requests):
        return []
    worst = OUTCOME_WORDS.get(max(failed, key=lambda name: failed[name]), OUTCOME_WORDS["other"])
    part = share(times / requests)
    return [message("symptoms.failures", times=times, requests=requests, part=part, worst=worst)]


def _slower(window: Window) -> list[Words]:
    baseline = window.baseline
    if baseline is None or baseline.own.p95 is None or baseline.other.p95 is None:
        return []
    own, other = baseline.own.p95, baseline.other.p95
    if own < SLOWER * other or own - other < LEAST_SLOWER_SECONDS:
        return []
    return [message("symptoms.slower", own=own, other=other, name=baseline.name)]


def _waited(totals: Totals) -> list[Words]:
    """Of a run that was not slower than its baseline, or has none: faster answers of the endpoint tell of waits."""
    fastest, median, p95 = totals.fastest, totals.median, totals.p95
    if median is None:
        return []
    if fastest is None or median < max(LEAST_WAITED_SECONDS, WAITED * fastest):
        if p95 is None or p95 < max(LEAST_TAIL_SECONDS, WAITED * median):
            return _stalled(totals)
        return [message("symptoms.tail-waited", p95=p95, median=median)]
    return [message("symptoms.waited", median=median, fastest=fastest)]


def _stalled(totals: Totals) -> list[Words]:
    """An answer that took seconds where nearly all are quick: a stall, of a tool that waits for answers."""
    p95, slowest = totals.p95, totals.slowest
    if p95 is None or slowest is None or slowest < max(LEAST_STALL_SECONDS, STALLED * p95):
        return []
    return [message("symptoms.stalled", slowest=slowest, p95=p95)]


def _stops(window: Window) -> list[Words]:
    """Where requests were sent, and then hardly any for a second or more, and then again."""
    load = window.load
    if load is None or not usual(load.rate, window.focus) >= LEAST_RATE:
        return []
    sent = np.flatnonzero(np.nan_to_num(load.rate) > 0)
    sent = sent[(sent >= window.focus.start) & (sent < window.focus.stop)]
    edge = round(EDGE_SECONDS / window.step_seconds)
    holds = np.zeros(window.grid.count, np.bool_)
    inside = slice(int(sent[0]) + edge, max(int(sent[-1]) - edge, 0))
    holds[inside] = load.rate[inside] < STOPPED * usual(load.rate, window.focus)
    stops = episodes(holds, gap=0)
    if len(stops) < LEAST_STOPS:
        return []
    longest, rate = max(len(one) for one in stops) * window.step_seconds, count(usual(load.rate, window.focus))
    return [message("symptoms.stops", stops=len(stops), longest=longest, rate=rate)]


def _missing_rows(window: Window) -> list[Words]:
    counts = window.counts
    known = [] if counts is None else [one for one in (counts.stored, counts.rows) if one is not None]
    if counts is None or counts.accepted is None or not known:
        return []
    missing = counts.accepted - max(known)
    if missing < max(LEAST_FAILED, MISSING_SHARE * counts.accepted):
        return []
    return [message("symptoms.missing-rows", missing=missing, accepted=counts.accepted)]
