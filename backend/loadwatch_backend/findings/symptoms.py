"""What went wrong with the load of a window, whether or not anything explains it. Pure."""

import numpy as np

from loadwatch_backend.findings.seen.facts import LEAST_FAILED, OUTCOME_WORDS, SLOWER, usual
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, share
from loadwatch_backend.findings.window import Totals, Window, episodes
from loadwatch_backend.texts.words import Words

HARM_SHARE = 0.01
"""Share of failed requests from which the load was hurt."""
LEAST_SLOWER_SECONDS = 0.05
STOPPED = 0.1
"""Share of the usual rate below which the load stands still."""
LEAST_STOPS = 2
LEAST_RATE = 5.0
"""Requests per second; of a lower rate some seconds have none by chance."""
EDGE_SECONDS = 2
MISSING_SHARE = 0.001


def find_symptoms(window: Window) -> list[Words]:
    """Thresholds that were not met, failures, slow answers, stops of the load, and rows that are not there."""
    totals = window.totals or _streamed(window)
    return [*totals.broken, *_failures(totals), *_slower(window), *_stops(window), *_missing_rows(window)]


def _streamed(window: Window) -> Totals:
    load = window.load
    if load is None:
        return Totals()
    outcomes = {name: window.total(rate) for name, rate in load.outcomes.items()}
    return Totals(requests=round(sum(outcomes.values())), outcomes=outcomes)


def _failures(totals: Totals) -> list[Words]:
    failed = {name: times for name, times in totals.outcomes.items() if name != "ok" and times >= 1}
    times, requests = sum(failed.values()), totals.requests or 0
    if times < LEAST_FAILED or times <= HARM_SHARE * requests:
        return []
    worst = OUTCOME_WORDS.get(max(failed, key=lambda name: failed[name]), OUTCOME_WORDS["other"])
    part = share(times / requests)
    return [
        Words(
            f"{count(times)} of {count(requests)} requests failed ({part}); most {worst.en}.",
            f"リクエスト{count(requests)}件中{count(times)}件が失敗({part})。多くは{worst.ja}。",
        )
    ]


def _slower(window: Window) -> list[Words]:
    baseline = window.baseline
    if baseline is None or baseline.own.p95 is None or baseline.other.p95 is None:
        return []
    own, other = baseline.own.p95, baseline.other.p95
    if own < SLOWER * other or own - other < LEAST_SLOWER_SECONDS:
        return []
    return [
        Words(
            f"p95 was {duration(own)}, against {duration(other)} in {baseline.name}.",
            f"p95は{duration_ja(own)}({baseline.name}では{duration_ja(other)})。",
        )
    ]


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
    return [
        Words(
            f"The load stopped {len(stops)} times, for {duration(longest)} at most; usually it was {rate} requests/s.",
            f"負荷が{len(stops)}回止まった(最長{duration_ja(longest)})。通常は毎秒{rate}件。",
        )
    ]


def _missing_rows(window: Window) -> list[Words]:
    counts = window.counts
    known = [] if counts is None else [one for one in (counts.stored, counts.rows) if one is not None]
    if counts is None or counts.accepted is None or not known:
        return []
    missing = counts.accepted - max(known)
    if missing < max(LEAST_FAILED, MISSING_SHARE * counts.accepted):
        return []
    return [
        Words(
            f"{count(missing)} of {count(counts.accepted)} accepted rows are not in the database.",
            f"受け付けた{count(counts.accepted)}件のうち{count(missing)}件がデータベースにない。",
        )
    ]
