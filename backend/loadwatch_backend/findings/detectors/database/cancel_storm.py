"""Clients give up while their statements run: the connections are dropped, and dialled anew for the next ones."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.databases import DATABASE_METRICS, SWITCHED_ON_BY, Database, databases
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import (
    failures,
    felt,
    focused,
    largest,
    pools,
    selector,
    since_start,
    together,
)
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LEAST_RATE = 1.0
LEAST_SHARE = 0.01
LEAST_SECONDS = 4.0
"""A process that is killed drops all its connections too, but at once."""
LEAST_DIALLED = 0.5
"""Of the dropped connections, that are dialled anew: they are missed."""

ABORTED = "mysql_global_status_aborted_clients"

KIND = Kind(
    id="cancel-storm",
    severity=Severity.CRITICAL,
    title=Words("Statements are cancelled by the hundred", "文のキャンセル多発"),
    explanation=Words(
        "A client gives up, the request's context ends, and the driver drops the connection in the middle of the "
        "statement. The database learns of it when it answers, so it works on for nobody; the next request has to dial "
        "and log in. What is slow becomes slower by that: more requests run into their timeout.",
        "クライアントが諦めるとリクエストのcontextが終わり、ドライバーは実行中の文ごと接続を切る。DBは応答するまで気づかず"
        "無駄な処理を続け、次のリクエストは接続とログインからやり直す。遅い状態がさらに悪化し、タイムアウトが増える。",
    ),
    rule=Rule(
        text=Words(
            "Timeouts get shorter from the outside in: client > application > database; and who cannot be served in "
            "time is refused before a statement is begun.",
            "タイムアウトは外側ほど長くする(クライアント > アプリ > DB)。間に合わないリクエストは文を始める前に断る。",
        ),
        source="MySQL Reference Manual, Communication Errors and Aborted Connections; go-sql-driver/mysql, "
        "context.Context support",
    ),
    refuted_by=Words(
        "Aborted_clients of another client, by the database's error log, or a killed process whose connections end all "
        "at once.",
        "Aborted_clientsが別のクライアントのものであること(DBのエラーログで確認)、またはプロセスの強制終了で一斉に"
        "切れたこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each database whose clients dropped connections at the rate of failing requests."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for database in databases(window):
        table = window[ABORTED].where(**database.labels)
        aborted = table.rate
        if not np.isfinite(window.inside(aborted)).any():
            continue
        words = Words(
            f"{count(window.total(aborted))} clients left {database.name} in the middle of a session.",
            f"{database.name}で途中切断したクライアントは{count(window.total(aborted))}件。",
        )
        asked = np.nan_to_num(window.load.rate) if window.load is not None else np.zeros(window.grid.count)
        holds = focused(window, aborted >= np.maximum(LEAST_RATE, LEAST_SHARE * asked))
        least = least_instants(window.grid, table.slowest_ms, seconds=LEAST_SECONDS)
        found = episodes(holds, least=least, gap=max(least, 5))
        if not found:
            clear.append(words)
            continue
        episode = window.one_of(found)
        dialled = _dialled(window, database, aborted, episode)
        gave_up = failures(window, episode)
        if not dialled or (window.load is not None and gave_up < LEAST_SHARE * window.total(asked, episode.span)):
            observations.append(words)
            continue
        findings.append(_finding(window.during(episode), database, aborted, episode))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _dialled(window: Window, database: Database, aborted: FloatArray, episode: Episode) -> bool:
    """Whether the connections were missed: others were opened in their place, by pools that are in use."""
    opened = window.total(database.logins, episode.span)
    used = [largest(pool.in_use, episode.span) for pool in pools(window)]
    idle = bool(used) and not any(most > 0 for most in used)
    return not idle and opened >= LEAST_DIALLED * window.total(aborted, episode.span)


def _finding(window: Window, database: Database, aborted: FloatArray, episode: Episode) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, effects = since_start(window, from_ms), felt(window, episode)
    dropped = window.total(aborted, episode.span)
    opened = window.total(database.logins, episode.span)
    patience = largest(window.load.p99, episode.span) if window.load is not None else float("nan")
    after = Words(
        f" after {duration(patience)}" if np.isfinite(patience) else "",
        f"{duration_ja(patience)}で" if np.isfinite(patience) else "",
    )
    return Finding(
        kind=KIND,
        sentence=Words(
            f"From {when.en} clients gave up{after.en} while their statements ran: {count(dropped)} connections to "
            f"{database.name} were dropped and {count(opened)} dialled anew; the database worked on for nobody.",
            f"{when.ja}から、クライアントが{after.ja}諦めて実行中の文がキャンセルされた。{database.name}への接続"
            f"{count(dropped)}本が切られ、{count(opened)}本が張り直された。DBは無駄な処理を続けた。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=database.labels,
        evidence=[*_evidence(window, database, aborted, dropped, opened), *effects],
        steps=_steps(patience),
    )


def _evidence(window: Window, database: Database, aborted: FloatArray, dropped: float, opened: float) -> list[Evidence]:
    chosen, most = selector(database.labels), figure(largest(aborted, window.focus))
    return [
        show(
            window,
            Words(
                f"{count(dropped)} connections dropped by their clients, up to {most} a second (Aborted_clients).",
                f"クライアントによる切断{count(dropped)}件、最大毎秒{most}件(Aborted_clients)。",
            ),
            link=Link.LIMIT,
            expression=f"rate({ABORTED}{chosen}[5s])",
            unit=Unit.PER_SECOND,
            values=aborted,
        ),
        show(
            window,
            Words(f"{count(opened)} new connections in their place.", f"代わりの新規接続{count(opened)}件。"),
            link=Link.DEMAND,
            expression=f"rate(mysql_global_status_connections{chosen}[5s])",
            unit=Unit.PER_SECOND,
            values=database.logins,
        ),
    ]


def _steps(patience: float) -> list[Step]:
    seconds = max(patience / 2, 0.1) if np.isfinite(patience) else 1.0
    return [
        Step(
            text=Words(
                f"Give up waiting for a connection early ({duration(seconds)}), and answer 503: then no statement is "
                "begun that nobody waits for.",
                f"接続待ちを早めに({duration_ja(seconds)})打ち切って503を返す。無駄な文を始めずに済む。",
            ),
            code=(
                f"wait, cancel := context.WithTimeout(r.Context(), {round(seconds * 1_000)}*time.Millisecond)\n"
                "conn, err := db.Conn(wait)\ncancel()\n// err != nil: http.StatusServiceUnavailable"
            ),
        ),
        Step(
            text=Words(
                "Let the database end what takes too long itself (MariaDB; MySQL has max_execution_time for SELECT).",
                "長すぎる文はDB側で打ち切る(MariaDB。MySQLではSELECTのみmax_execution_time)。",
            ),
            code=f"SET GLOBAL max_statement_time = {figure(seconds)};",
        ),
    ]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(ABORTED,),
    reads=(*DATABASE_METRICS, "go_sql_in_use_connections"),
    follows=(
        "pool-exhausted",
        "database-cpu-full",
        "database-lock-waits",
        "database-iops-full",
        "app-cpu-full",
        "app-lock-stall",
    ),
    switched_on_by=SWITCHED_ON_BY,
)
