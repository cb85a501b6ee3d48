"""Requests use the database, and the pool that is watched is never used: each request opens its own."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, pools
from loadwatch_backend.findings.seen.numbers import count, figure
from loadwatch_backend.findings.window import Window, episodes
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LEAST_LOGINS = 1.0
"""New connections to the database per second from which they are more than a start-up."""
LOGINS_SHARE = 0.3
"""Connections opened for each request: a pool that is kept opens far fewer."""

KIND = Kind(
    id="pool-per-request",
    severity=Severity.CRITICAL,
    title=Words("A pool for each request", "リクエストごとのプール生成"),
    explanation=Words(
        "The application calls sql.Open for each request. Its pool's figures stay at zero, each request pays for a "
        "handshake and a login, and nothing bounds how many connections there are: at some rate the database refuses.",
        "リクエストごとにsql.Openを呼んでいる。プールの値は0のままで、毎回ハンドシェイクとログインが必要になり、"
        "接続数に上限がないため、ある負荷でDBが拒否する。",
    ),
    rule=Rule(
        text=Words(
            "Open one sql.DB when the program starts, and share it; it is safe for use by many goroutines.",
            "sql.DBは起動時に1つ開いて共有する。複数のgoroutineから安全に使える。",
        ),
        source="Go, package database/sql, func Open",
    ),
    refuted_by=Words(
        "Another pool of the same process that is in use, or new connections that come from another client.",
        "同じプロセスに使用中の別のプールがあること、または新しい接続が別のクライアントのものであること。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each instance whose pools stand at zero while it works and connections come and go."""
    logins = window["mysql_global_status_connections"].rate
    findings: list[Finding] = []
    used: list[str] = []
    for pool in pools(window):
        seen = window.inside(pool.open + pool.in_use)
        if not np.isfinite(seen).any():
            continue
        if float(np.nanmax(seen)) > 0 or window.total(pool.waits) > 0:
            used.append(pool.name)
            continue
        labels = {name: value for name, value in pool.labels.items() if name != "db_name"}
        asked = window["ingest_accepted_total"].where(**labels).rate
        if not np.isfinite(asked).any() and window.load is not None:
            asked = window.load.rate
        often = logins >= np.maximum(LEAST_LOGINS, LOGINS_SHARE * asked)
        busy = focused(window, (asked >= LEAST_LOGINS) & often)
        if int(busy.sum()) * window.step_seconds < 3:
            continue
        episode = window.one_of(episodes(busy))
        opened, requests = window.total(logins, episode.span), window.total(asked, episode.span)
        findings.append(
            Finding(
                kind=KIND,
                sentence=Words(
                    f"{pool.labels.get('instance', 'The application')} opens a pool for each request: "
                    f"{count(opened)} connections for {count(requests)} requests; its shared pool was never used.",
                    f"{pool.labels.get('instance', 'アプリ')}はリクエストごとにプールを開いている。"
                    f"{count(requests)}件に対し{count(opened)}接続を開始し、共有プールは一度も使われなかった。",
                ),
                from_ms=window.grid.time_ms(episode.first),
                to_ms=window.grid.time_ms(episode.end - 1),
                labels=labels,
                evidence=[
                    show(
                        window,
                        Words("The shared pool: all zeros under load.", "共有プールは負荷中もすべて0。"),
                        link=Link.LIMIT,
                        expression="go_sql_open_connections",
                        unit=Unit.COUNT,
                        values=pool.open,
                    ),
                    show(
                        window,
                        Words(
                            f"Up to {figure(largest(logins, episode.span))} new connections a second at the database.",
                            f"DBへの新規接続は最大毎秒{figure(largest(logins, episode.span))}件。",
                        ),
                        link=Link.DEMAND,
                        expression="sum(rate(mysql_global_status_connections[5s]))",
                        unit=Unit.PER_SECOND,
                        values=logins,
                    ),
                    *felt(window, episode),
                ],
                steps=[
                    Step(
                        text=Words(
                            "Open one pool at the start of the program, with a limit, and pass it to the handlers.",
                            "起動時に上限付きのプールを1つ開き、ハンドラーに渡す。",
                        ),
                        code=(
                            'db, err := sql.Open("mysql", dsn) // once, in main\n'
                            "db.SetMaxOpenConns(30)\ndb.SetMaxIdleConns(30)"
                        ),
                    )
                ],
            )
        )
    names = ", ".join(used)
    clear = Words(f"The shared pool of {names} was in use.", f"{names}の共有プールは使われていた。") if used else None
    return Look(findings=findings, clear=clear)


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=("go_sql_open_connections",),
    reads=(
        "go_sql_in_use_connections",
        "go_sql_idle_connections",
        "go_sql_max_open_connections",
        "go_sql_wait_count_total",
        "go_sql_wait_duration_seconds_total",
        "mysql_global_status_connections",
        "ingest_accepted_total",
    ),
    switched_on_by="dbstats:\n  url: http://127.0.0.1:8080/debug/dbstats",
)
