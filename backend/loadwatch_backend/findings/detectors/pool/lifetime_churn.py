"""Connections are closed for their age so early that logins become a part of the load."""

import math

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import (
    Pool,
    felt,
    focused,
    largest,
    of_pool,
    pools,
    requests_of,
    together,
    usual,
)
from loadwatch_backend.findings.seen.lives import lives
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure, share
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LEAST_RATE = 2.0
LEAST_SHARE = 0.01
YOUNG_SECONDS = 20.0
"""A pool whose connections live for less on average is renewed far more often than any load balancer asks for."""
LEAST_SECONDS = 10.0
"""Connections that were opened together are closed together: a shorter time may hold one such burst."""

BY_AGE = ("go_sql_max_lifetime_closed_total", "go_sql_connection_max_lifetime_seconds", "SetConnMaxLifetime")
BY_IDLENESS = (
    "go_sql_max_idle_time_closed_total",
    "go_sql_connection_max_idle_time_seconds",
    "SetConnMaxIdleTime",
)
LOGINS = "mysql_global_status_connections"

KIND = Kind(
    id="pool-lifetime-churn",
    severity=Severity.WARNING,
    title=Words("Connections live too briefly", "接続の寿命が短すぎる"),
    explanation=Words(
        "The pool closes its connections after a short life (SetConnMaxLifetime or SetConnMaxIdleTime). Each one is "
        "dialled anew by a request, which pays for the handshake and the login; connections that were opened together "
        "also end together, in bursts.",
        "プールが接続を短い寿命で閉じている(SetConnMaxLifetimeまたはSetConnMaxIdleTime)。そのたびにリクエストが"
        "ハンドシェイクとログインを負担する。同時に開いた接続は同時に閉じるため、負担は集中する。",
    ),
    rule=Rule(
        text=Words(
            "ConnMaxLifetime of MaxOpenConns × 1 s makes about one new connection a second; minutes are usual, and "
            "shorter than the database's wait_timeout is enough.",
            "ConnMaxLifetimeをMaxOpenConns × 1秒にすると新規接続は毎秒約1。通常は数分とし、DBのwait_timeoutより"
            "短ければ十分。",
        ),
        source="Go, package database/sql, func (*DB) SetConnMaxLifetime; the rate follows from Little's law",
    ),
    refuted_by=Words(
        "MaxLifetimeClosed and MaxIdleTimeClosed that stand still, or answers no quicker with a long lifetime.",
        "MaxLifetimeClosedとMaxIdleTimeClosedが増えないこと、または寿命を延ばしても応答が速くならないこと。",
    ),
)


def look(window: Window) -> Look:
    """A finding for each pool that is renewed within seconds."""
    findings: list[Finding] = []
    clear: list[Words] = []
    for pool in pools(window):
        rates = [of_pool(window, metric, pool.labels).rate for metric, _, _ in (BY_AGE, BY_IDLENESS)]
        totals = [window.total(rate) for rate in rates]
        if not any(np.isfinite(window.inside(rate)).any() for rate in rates):
            continue
        worse = int(totals[1] > totals[0])
        setting = (BY_AGE, BY_IDLENESS)[worse]
        found = _renewed(window, pool, rates[worse], setting[1])
        if found is not None:
            findings.append(_finding(window.during(found), pool, rates[worse], setting, found))
            continue
        clear.append(
            Words(
                f"The pool of {pool.name} closed {count(sum(totals))} connections for their age or idleness.",
                f"{pool.name}のプールが寿命・アイドル時間で閉じた接続は{count(sum(totals))}。",
            )
        )
    return Look(findings=findings, clear=together(clear))


def _renewed(window: Window, pool: Pool, closed: FloatArray, setting: str) -> Episode | None:
    """From the first to the last closing, where they come at a rate that matters over all of that time."""
    found = episodes(focused(window, closed > 0))
    if not found:
        return None
    episode = window.one_of(found, of_pool(window, setting, pool.labels).max, lives(window, pool.labels))
    if len(episode) < least_instants(window.grid, pool.interval_ms, seconds=LEAST_SECONDS):
        return None
    rate = window.total(closed, episode.span) / (len(episode) * window.step_seconds)
    opened = usual(pool.open, episode.span)
    asked = np.nan_to_num(usual(requests_of(window, pool.labels), episode.span))
    young = np.isfinite(opened) and opened > 0 and opened / rate < YOUNG_SECONDS
    return episode if young and rate >= max(LEAST_RATE, LEAST_SHARE * asked) else None


def _finding(
    window: Window, pool: Pool, closed: FloatArray, setting: tuple[str, str, str], episode: Episode
) -> Finding:
    times = window.total(closed, episode.span)
    asked = window.total(requests_of(window, pool.labels), episode.span)
    life = usual(pool.open, episode.span) * len(episode) * window.step_seconds / times
    set_to = largest(of_pool(window, setting[1], pool.labels).max, window.focus)
    name = f"{setting[2]}({duration(set_to)})" if set_to > 0 else setting[2]
    part = Words(
        f", {share(times / asked)} of {count(asked)} requests" if asked > 0 else "",
        f"(リクエスト{count(asked)}件の{share(times / asked)})" if asked > 0 else "",
    )
    return Finding(
        kind=KIND,
        sentence=Words(
            f"The pool of {pool.name} closed {count(times)} connections for {name}{part.en}: each lived for about "
            f"{duration(life)} and was dialled anew.",
            f"{pool.name}のプールは{name}により{count(times)}接続を閉じた{part.ja}。寿命は平均約{duration_ja(life)}で、"
            "そのつど張り直された。",
        ),
        from_ms=window.grid.time_ms(episode.first),
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=pool.labels,
        evidence=_evidence(window, closed, setting, episode),
        steps=[
            Step(
                text=Words(
                    "Let connections live for minutes; the database's wait_timeout has to be longer.",
                    "接続の寿命を数分にする。DBのwait_timeoutはそれより長くする。",
                ),
                code=f"db.{setting[2]}(5 * time.Minute)",
            )
        ],
    )


def _evidence(window: Window, closed: FloatArray, setting: tuple[str, str, str], episode: Episode) -> list[Evidence]:
    found = [
        show(
            window,
            Words(
                f"Up to {figure(largest(closed, episode.span))} connections a second closed for {setting[2]}.",
                f"{setting[2]}による切断は最大毎秒{figure(largest(closed, episode.span))}接続。",
            ),
            link=Link.LIMIT,
            expression=f"sum(rate({setting[0]}[5s]))",
            unit=Unit.PER_SECOND,
            values=closed,
        )
    ]
    logins = window[LOGINS].rate
    opened = window.total(logins, episode.span)
    if math.isfinite(opened) and opened >= 0.5 * window.total(closed, episode.span):
        found.append(
            show(
                window,
                Words(
                    f"{count(opened)} new connections at the database meanwhile.",
                    f"その間のDBへの新規接続は{count(opened)}。",
                ),
                link=Link.DEMAND,
                expression=f"sum(rate({LOGINS}[5s]))",
                unit=Unit.PER_SECOND,
                values=logins,
            )
        )
    return [*found, *felt(window, episode)]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(BY_AGE[0], BY_IDLENESS[0]),
    reads=(
        "go_sql_in_use_connections",
        "go_sql_open_connections",
        BY_AGE[1],
        BY_IDLENESS[1],
        LOGINS,
        "ingest_accepted_total",
    ),
    switched_on_by="dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats",
)
