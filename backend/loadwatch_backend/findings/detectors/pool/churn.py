"""A pool keeps fewer idle connections than it needs: it closes some and dials others all the time."""

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
    selector,
    together,
)
from loadwatch_backend.findings.seen.lives import LIFE_METRICS, lives
from loadwatch_backend.findings.seen.numbers import count, figure, share
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LEAST_RATE = 1.0
"""Connections closed per second; one a second is what a sensible lifetime costs."""
LEAST_SHARE = 0.01
"""Of the requests; 1.5 % to 40 % were measured with database/sql's default."""
LEAST_SECONDS = 5.0
DEFAULT_IDLE = 2

CLOSED, IDLE_LIMIT = "go_sql_max_idle_closed_total", "go_sql_max_idle_connections"
LOGINS = "mysql_global_status_connections"

KIND = Kind(
    id="pool-churn",
    severity=Severity.WARNING,
    title=Words("Connections closed and dialled anew", "接続の頻繁な切断と再接続"),
    explanation=Words(
        "The pool keeps fewer idle connections than requests give back at once. What is too many is closed, and the "
        "next request dials a new one: a TCP handshake and a login in its answer's time, a thread at the database, and "
        "a socket in TIME-WAIT. No error tells of it.",
        "プールが保持できるアイドル接続が、同時に返却される接続より少ない。余った接続は閉じられ、次のリクエストが"
        "新たに接続する。その分、応答時間にハンドシェイクとログインが加わり、TIME-WAITも増える。エラーは出ない。",
    ),
    rule=Rule(
        text=Words(
            f"Set MaxIdle as high as MaxOpen; database/sql keeps {DEFAULT_IDLE} idle ones by default.",
            f"MaxIdleはMaxOpenと同じにする。database/sqlの既定値は{DEFAULT_IDLE}。",
        ),
        source="Go, package database/sql, func (*DB) SetMaxIdleConns",
    ),
    refuted_by=Words(
        "MaxIdleClosed that stands still under load, or as many logins at the database with a higher MaxIdle.",
        "負荷中にMaxIdleClosedが増えないこと、またはMaxIdleを上げてもDBへのログインが減らないこと。",
    ),
)


def look(window: Window) -> Look:
    """A finding for each pool that closes connections at the rate of its requests."""
    findings: list[Finding] = []
    clear: list[Words] = []
    for pool in pools(window):
        table = of_pool(window, CLOSED, pool.labels)
        closed = table.rate
        if not np.isfinite(window.inside(closed)).any():
            continue
        asked = requests_of(window, pool.labels)
        least = np.maximum(LEAST_RATE, LEAST_SHARE * np.nan_to_num(asked))
        long_enough = least_instants(window.grid, table.slowest_ms, seconds=LEAST_SECONDS)
        found = episodes(focused(window, closed >= least), least=long_enough, gap=long_enough)
        if found:
            kept = of_pool(window, IDLE_LIMIT, pool.labels).max
            episode = window.one_of(found, kept, lives(window, pool.labels))
            findings.append(_finding(window.during(episode), pool, closed, asked, episode))
            continue
        clear.append(
            Words(
                f"The pool of {pool.name} closed {count(window.total(closed))} connections for MaxIdle.",
                f"{pool.name}のプールがMaxIdleで閉じた接続は{count(window.total(closed))}。",
            )
        )
    return Look(findings=findings, clear=together(clear))


def _finding(window: Window, pool: Pool, closed: FloatArray, asked: FloatArray, episode: Episode) -> Finding:
    times, requests = window.total(closed, episode.span), window.total(asked, episode.span)
    kept = largest(of_pool(window, IDLE_LIMIT, pool.labels).max, window.focus)
    keeps = Words(
        f"because it keeps only {count(kept)} idle ones"
        if math.isfinite(kept)
        else "because it keeps too few idle ones",
        f"アイドル接続を{count(kept)}しか保持しないため" if math.isfinite(kept) else "保持するアイドル接続が少ないため",
    )
    each = times / requests if requests > 0 else math.nan
    return Finding(
        kind=KIND,
        sentence=Words(
            f"The pool of {pool.name} closed {count(times)} connections {keeps.en} (SetMaxIdleConns) and dialled as "
            "many anew" + (f": {share(each)} of {count(requests)} requests." if math.isfinite(each) else "."),
            f"{pool.name}のプールは{keeps.ja}(SetMaxIdleConns)、{count(times)}接続を閉じ、同数を張り直した"
            + (f"。リクエスト{count(requests)}件の{share(each)}にあたる。" if math.isfinite(each) else "。"),
        ),
        from_ms=window.grid.time_ms(episode.first),
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=pool.labels,
        evidence=_evidence(window, pool, closed, episode),
        steps=_steps(window, pool),
    )


def _evidence(window: Window, pool: Pool, closed: FloatArray, episode: Episode) -> list[Evidence]:
    chosen, most = selector(pool.labels), largest(closed, episode.span)
    found = [
        show(
            window,
            Words(
                f"Up to {figure(most)} connections a second closed for MaxIdle.",
                f"MaxIdleによる切断は最大毎秒{figure(most)}接続。",
            ),
            link=Link.LIMIT,
            expression=f"rate({CLOSED}{chosen}[5s])",
            unit=Unit.PER_SECOND,
            values=closed,
        )
    ]
    logins = window[LOGINS].rate
    opened = window.total(logins, episode.span)
    if opened >= 0.5 * window.total(closed, episode.span):
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


def _steps(window: Window, pool: Pool) -> list[Step]:
    bound = largest(pool.limit, window.focus)
    most = largest(pool.open, window.focus)
    size = round(bound) if bound > 0 else math.ceil(most) if most > DEFAULT_IDLE else 0
    if not size:
        return []
    limit = "" if bound > 0 else f"db.SetMaxOpenConns({size})\n"
    return [
        Step(
            text=Words(
                f"Keep {size} idle connections, as many as may be open.",
                f"アイドル接続を、最大接続数と同じ{size}まで保持する。",
            )
            if bound > 0
            else Words(
                f"Bound the pool, and keep as many idle: {size} were open at most.",
                f"プールに上限を設け、同数のアイドル接続を保持する(最大{size}接続が開いていた)。",
            ),
            code=f"{limit}db.SetMaxIdleConns({size})",
        ),
        Step(
            text=Words(
                "To let connections go at night, bound their idle time instead.",
                "夜間に接続を減らしたい場合は、アイドル時間で制限する。",
            ),
            code="db.SetConnMaxIdleTime(5 * time.Minute)",
        ),
    ]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(CLOSED,),
    reads=(
        "go_sql_in_use_connections",
        "go_sql_open_connections",
        "go_sql_max_open_connections",
        IDLE_LIMIT,
        *LIFE_METRICS,
        LOGINS,
        "ingest_accepted_total",
    ),
    follows=("pool-unlimited",),
    switched_on_by="dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats",
)
