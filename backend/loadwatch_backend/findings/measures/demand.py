"""Whether more was asked for than was done. Pure."""

from collections.abc import Sequence

import numpy as np

from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.texts.words import SILENT, Words
from loadwatch_backend.findings.measures.evidence import evidence
from loadwatch_backend.findings.measures.facts import usual
from loadwatch_backend.findings.measures.hosts import Program
from loadwatch_backend.findings.messages import message
from loadwatch_backend.findings.model import Evidence, Link
from loadwatch_backend.findings.window import Episode, Window

UNMET = 0.9
"""Share of the rate that was asked for below which the load was held up."""
GREW, FOLLOWED = 1.3, 1.1
"""Users that grew by the first factor are expected to raise the rate by more than the second."""
LEAST_PART = 5
IN_FLIGHT = "http_requests_in_flight"
QUEUE = 10
"""Requests in flight per core; fewer may as well be waiting for something other than the CPU."""
BUSY = 0.95
LONG = 1 / 3
"""Share of the run; saturation that lasts less does not explain figures of the whole run."""


def queued(window: Window, program: Program, episode: Episode) -> list[Evidence]:
    """Many more requests inside a program than it has cores, all of which it uses: they wait for each other.

    It tells where no second was better than the others, and a tool that waits for its answers sent all it meant to.
    """
    target = {name: program.labels.get(name, "") for name in ("job", "instance")}
    inside, load = window[IN_FLIGHT].where(**target).sum, window.load
    if not np.isfinite(inside[episode.span]).any() and load is not None:
        inside = load.rate * load.p50
    many, used = usual(inside, episode.span), usual(program.cpu, episode.span)
    if not many >= QUEUE * program.allowed or used < BUSY * program.allowed:
        return []
    rate = float("nan") if load is None else usual(load.rate, episode.span)
    cost = message("demand.cost", each=used / rate * 1_000) if rate > 0 else SILENT
    return [
        evidence(
            window,
            "demand.shared-cores",
            inside,
            value=many,
            at=episode.first,
            limit=program.allowed,
            cores=Words("core" if program.allowed == 1 else "cores", "コア"),
            cost=cost,
            target=target,
        )
    ]


def broken(window: Window, episode: Episode) -> list[Evidence]:
    """Evidence for thresholds that the run missed; none where the episode is a small part of it."""
    return of_whole_run(window, episode, [] if window.totals is None else window.totals.broken)


def of_whole_run(window: Window, episode: Episode, effects: Sequence[Words]) -> list[Evidence]:
    """Evidence from a tool's figures of its whole run; none where the episode is a small part of it."""
    if window.totals is None or len(episode) < LONG * (window.focus.stop - window.focus.start):
        return []
    return [
        Evidence(
            text=words,
            link=Link.EFFECT,
            expression='max(loadtest_request_duration_seconds{quantile="0.95"})',
            unit=Unit.COUNT,
            value=1.0,
            at_ms=window.to_ms,
        )
        for words in effects
    ]


def unmet(window: Window, episode: Episode) -> list[Evidence]:
    """The load asked for more than it got: a rate that was not reached, or users that brought no further requests."""
    load = window.load
    if load is None:
        return []
    asked, sent = usual(load.target, episode.span), usual(load.rate, episode.span)
    if np.isfinite(asked + sent) and asked > 0 and sent < UNMET * asked:
        return [evidence(window, "demand.not-sent", load.rate, value=sent, at=episode.first, limit=asked)]
    part = len(episode) // 3
    if part < LEAST_PART:
        return []
    early, late = slice(episode.first, episode.first + part), slice(episode.end - part, episode.end)
    users = usual(load.users, early), usual(load.users, late)
    rates = usual(load.rate, early), usual(load.rate, late)
    if not np.isfinite([*users, *rates]).all() or users[1] < GREW * users[0] or rates[1] > FOLLOWED * rates[0]:
        return []
    return [evidence(window, "demand.more-users", load.users, users=users, rates=rates)]
