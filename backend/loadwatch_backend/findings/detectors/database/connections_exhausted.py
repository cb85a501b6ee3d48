"""The database has as many connections as max_connections allows, and refuses further ones."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Finding, Kind, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.databases import (
    CONNECTED,
    DATABASE_METRICS,
    SWITCHED_ON_BY,
    Database,
    databases,
    holders_of,
    level_shown,
    refusals,
    refusals_shown,
    steps_for_growth,
)
from loadwatch_backend.findings.seen.facts import felt, focused, largest, since_start, together
from loadwatch_backend.findings.seen.numbers import count
from loadwatch_backend.findings.window import Episode, Window
from loadwatch_backend.texts.words import Words

FULL = 0.98

KIND = Kind(
    id="database-connections-exhausted",
    resource="db_connections",
    severity=Severity.CRITICAL,
    title=Words("The database's connections are exhausted", "DB接続数の枯渇"),
    explanation=Words(
        "max_connections is shared by all clients of the database. At the limit a login is refused with error 1040 "
        "(Too many connections): whoever comes next fails, whether it is the application, a report or you.",
        "max_connectionsはDBの全クライアントで共有される。上限に達するとログインはエラー1040(Too many connections)で"
        "拒否され、アプリに限らず次に来たクライアントがすべて失敗する。",
    ),
    rule=Rule(
        text=Words(
            "The sum of all pools' MaxOpenConns, over all instances, and what other clients hold has to stay below "
            "max_connections, with a few left for people.",
            "全インスタンスのMaxOpenConnsの合計と他クライアントの接続数の和を、人が使う分を残してmax_connections未満にする。",
        ),
        source="MySQL Reference Manual, Too many connections",
    ),
    refuted_by=Words(
        "Refused logins that have another reason: a wrong password also counts as Aborted_connects.",
        "ログイン拒否の理由が別にあること。誤ったパスワードもAborted_connectsに数えられる。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each database that refused logins at its limit."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for database in databases(window):
        most = largest(database.connected, window.focus)
        if not np.isfinite(database.bound + most) or database.bound <= 0:
            continue
        episode = refusals(window, database, focused(window, database.refusing))
        if episode is not None:
            findings.append(_finding(window.during(episode), database.during(episode), episode))
            continue
        words = Words(
            f"{database.name} had {count(most)} of {count(database.bound)} connections at most and refused none.",
            f"{database.name}の接続は最大{count(database.bound)}中{count(most)}で、拒否はなかった。",
        )
        (observations if most >= FULL * database.bound else clear).append(words)
    return Look(
        findings=findings,
        clear=together(clear),
        observations=observations,
    )


def _finding(window: Window, database: Database, episode: Episode) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, times = since_start(window, from_ms, "at "), window.total(database.refused, episode.span)
    bound, holders = database.bound, holders_of(window, database, episode.span)[:3]
    who = f" ({', '.join(f'{user} {count(held)}' for user, held in holders)})" if holders else ""
    return Finding(
        kind=KIND,
        sentence=Words(
            f"All {count(bound)} connections of {database.name} were taken {when.en}{who}; it refused {count(times)} "
            "logins.",
            f"{database.name}の{count(bound)}接続が{when.ja}にすべて使用中{who}となり、ログイン{count(times)}件を"
            "拒否した。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=database.labels,
        evidence=[level_shown(window, database), refusals_shown(window, database), *felt(window, episode)],
        steps=[
            *steps_for_growth(window, database, episode),
            Step(
                text=Words(
                    f"Bound all pools, over all instances together, below {count(bound * 0.8)}, so that "
                    f"{count(bound * 0.2)} stay for others.",
                    f"全プールを、全インスタンス合計{count(bound * 0.8)}未満に制限し、{count(bound * 0.2)}接続を"
                    "他のために残す。",
                )
            ),
            Step(
                text=Words(
                    "Raise max_connections only where the memory of the database allows it.",
                    "max_connectionsを上げるのは、DBのメモリが許す場合だけにする。",
                ),
                code=f"SET GLOBAL max_connections = {round(bound * 2)};",
            ),
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(CONNECTED,),
    reads=DATABASE_METRICS,
    follows=("pool-per-request", "pool-unlimited", "pool-exceeds-server", "database-cpu-full", "database-lock-waits"),
    switched_on_by=SWITCHED_ON_BY,
)
