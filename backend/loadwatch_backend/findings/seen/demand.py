"""Whether more was asked for than was done. Pure."""

import numpy as np

from loadwatch_backend.findings.model import Evidence, Link
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import selector, usual
from loadwatch_backend.findings.seen.host_cpu import Program
from loadwatch_backend.findings.seen.numbers import figure
from loadwatch_backend.findings.window import Episode, Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

UNMET = 0.9
"""Share of the rate that was asked for below which the load was held up."""
GREW, FOLLOWED = 1.3, 1.1
"""Users that rose so much should raise the rate by more than this."""
LEAST_PART = 5
IN_FLIGHT = "http_requests_in_flight"
QUEUE = 10
"""Requests inside for each core: below it they may as well wait for something else."""
BUSY = 0.95
LONG = 1 / 3
"""Share of the run; what is full for less does not explain figures of the whole run."""


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
    cost = f" that take {figure(used / rate * 1_000)} ms of CPU each" if rate > 0 else ""
    cost_ja = f"(1件のCPU時間{figure(used / rate * 1_000)}ミリ秒)" if rate > 0 else ""
    cores = figure(program.allowed)
    return [
        show(
            window,
            Words(
                f"{figure(many)} requests shared {cores} core{'' if program.allowed == 1 else 's'}{cost}.",
                f"{figure(many)}件のリクエスト{cost_ja}が{cores}コアを分け合った。",
            ),
            link=Link.EFFECT,
            expression=f"sum({IN_FLIGHT}{selector(target)})",
            unit=Unit.COUNT,
            values=inside,
            value=many,
            at=episode.first,
            limit=program.allowed,
        )
    ]


def broken(window: Window, episode: Episode) -> list[Evidence]:
    """Thresholds that the run did not meet, where what was full was so for a good part of it."""
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
        for words in window.totals.broken
    ]


def unmet(window: Window, episode: Episode) -> Evidence | None:
    """The load asked for more than it got: a rate that was not reached, or users that brought no further requests."""
    load = window.load
    if load is None:
        return None
    asked, sent = usual(load.target, episode.span), usual(load.rate, episode.span)
    if np.isfinite(asked + sent) and asked > 0 and sent < UNMET * asked:
        words = Words(
            f"The load wanted {figure(asked)} requests/s and could send {figure(sent)}.",
            f"負荷は毎秒{figure(asked)}件を求め、{figure(sent)}件しか送れなかった。",
        )
        return show(
            window,
            words,
            link=Link.DEMAND,
            expression="sum(rate(loadtest_requests_total[5s]))",
            unit=Unit.PER_SECOND,
            values=load.rate,
            value=sent,
            at=episode.first,
            limit=asked,
        )
    part = len(episode) // 3
    if part < LEAST_PART:
        return None
    early, late = slice(episode.first, episode.first + part), slice(episode.end - part, episode.end)
    users = usual(load.users, early), usual(load.users, late)
    rates = usual(load.rate, early), usual(load.rate, late)
    if not np.isfinite([*users, *rates]).all() or users[1] < GREW * users[0] or rates[1] > FOLLOWED * rates[0]:
        return None
    return show(
        window,
        Words(
            f"Users rose from {figure(users[0])} to {figure(users[1])}, requests from {figure(rates[0])} to "
            f"{figure(rates[1])} a second only.",
            f"ユーザーは{figure(users[0])}から{figure(users[1])}に増えたが、リクエストは毎秒{figure(rates[0])}件から"
            f"{figure(rates[1])}件にとどまった。",
        ),
        link=Link.DEMAND,
        expression="sum(loadtest_active_users)",
        unit=Unit.COUNT,
        values=load.users,
    )
