"""The database has as many connections as max_connections allows, and refuses further ones."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.findings.evidence import show
from loadwatch_backend.findings.facts import felt, focused, largest, selector, since_start, together
from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.numbers import count, figure
from loadwatch_backend.findings.window import Episode, Table, Window, episodes
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

FULL = 0.98
NEAR = 0.7
"""While logins are refused, Threads_connected read each second shows 44 to 61 of 60."""
LEAST_REFUSED = 3

CONNECTED = "mysql_global_status_threads_connected"
LIMIT = "mysql_global_variables_max_connections"
REFUSED = "mysql_global_status_aborted_connects"
BY_USER = "mysql_info_schema_processlist_processes_by_user"
MOST_USED = "mysql_global_status_max_used_connections"

KIND = Kind(
    id="database-connections-exhausted",
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
    for labels, connected in window[CONNECTED].by("job", "instance"):
        bound = largest(window[LIMIT].where(**labels).max, window.focus)
        most = largest(connected.max, window.focus)
        if not np.isfinite(bound + most) or bound <= 0:
            continue
        refused = window[REFUSED].where(**labels).rate
        episode = _refusals(window, connected.max, refused, bound)
        name = labels.get("instance", labels.get("job", ""))
        if episode is not None:
            findings.append(_finding(window, labels, connected, refused, bound, episode))
            continue
        words = Words(
            f"{name} had {count(most)} of {count(bound)} connections at most and refused none.",
            f"{name}の接続は最大{count(bound)}中{count(most)}で、拒否はなかった。",
        )
        (observations if most >= FULL * bound else clear).append(words)
    return Look(
        findings=findings,
        clear=together(clear),
        observations=observations,
    )


def _refusals(window: Window, connected: FloatArray, refused: FloatArray, bound: float) -> Episode | None:
    holds = focused(window, refused > 0)
    found = episodes(holds, gap=5)
    if not found or window.total(np.where(holds, refused, 0.0)) < LEAST_REFUSED:
        return None
    whole = found[0].joined(found[-1])
    around = slice(max(whole.first - 3, 0), min(whole.end + 3, window.grid.count))
    # A counter that only one of several collectors fills says nothing of when; the level has to be near as well.
    return whole if largest(connected, around) >= NEAR * bound else None


def _finding(
    window: Window,
    labels: Mapping[str, str],
    connected: Table,
    refused: FloatArray,
    bound: float,
    episode: Episode,
) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, times = since_start(window, from_ms), window.total(refused, episode.span)
    holders = _holders(window, labels, episode)
    who = f" ({', '.join(f'{user} {count(held)}' for user, held in holders)})" if holders else ""
    name = labels.get("instance", "The database")
    share = f"{holders[0][0]}" if holders else ""
    return Finding(
        kind=KIND,
        sentence=Words(
            f"All {count(bound)} connections of {name} were taken {when.en}{who}; it refused {count(times)} logins.",
            f"{name}の{count(bound)}接続が{when.ja}にすべて使用中{who}となり、ログイン{count(times)}件を拒否した。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[*_evidence(window, labels, connected, refused, bound), *felt(window, episode)],
        steps=[
            Step(
                text=Words(
                    f"Bound the pools of {share or 'the applications'}: all instances together below "
                    f"{count(bound * 0.8)}, so that {count(bound * 0.2)} stay for others.",
                    f"{share or 'アプリ'}のプールを、全インスタンス合計{count(bound * 0.8)}未満に制限し、"
                    f"{count(bound * 0.2)}接続を他のために残す。",
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


def _evidence(
    window: Window, labels: Mapping[str, str], connected: Table, refused: FloatArray, bound: float
) -> list[Evidence]:
    chosen = selector(labels)
    most = largest(connected.max, window.focus)
    return [
        show(
            window,
            Words(f"{count(most)} of {count(bound)} connections.", f"{count(bound)}中{count(most)}接続。"),
            link=Link.LIMIT,
            expression=f"{CONNECTED}{chosen}",
            unit=Unit.COUNT,
            values=connected.max,
            limit=bound,
        ),
        show(
            window,
            Words(
                f"Up to {figure(largest(refused, window.focus))} logins refused a second (Aborted_connects).",
                f"最大毎秒{figure(largest(refused, window.focus))}件のログイン拒否(Aborted_connects)。",
            ),
            link=Link.DEMAND,
            expression=f"rate({REFUSED}{chosen}[5s])",
            unit=Unit.PER_SECOND,
            values=refused,
        ),
    ]


def _holders(window: Window, labels: Mapping[str, str], episode: Episode) -> list[tuple[str, float]]:
    """Who held most connections meanwhile, at most three; empty where nothing tells."""
    table = window[BY_USER].where(**labels)
    held = [
        (one.get("mysql_user", "?"), largest(table.held[row], episode.span)) for row, one in enumerate(table.labels)
    ]
    return sorted((one for one in held if np.isfinite(one[1]) and one[1] >= 1), key=lambda one: (-one[1], one[0]))[:3]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(CONNECTED,),
    reads=(LIMIT, REFUSED, BY_USER, MOST_USED),
    follows=("pool-per-request", "pool-unlimited", "pool-exceeds-server", "database-cpu-full", "database-lock-waits"),
    switched_on_by="mysql:\n  host: 127.0.0.1\n  user: loadwatch\n  password_file: /etc/loadwatch/mysql-password",
)
