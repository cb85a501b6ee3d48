"""A process has as many files open as it may, and cannot accept connections."""

from collections.abc import Sequence

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import (
    felt,
    focused,
    largest,
    pools,
    program_name,
    selector,
    since_start,
    together,
    usual,
)
from loadwatch_backend.findings.seen.lives import LIFE_METRICS, lives
from loadwatch_backend.findings.seen.numbers import count
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

FULL = 0.98
WAITERS = 0.3
"""Share of the files that waiting requests have to hold to be why there are no more."""
FOLLOWS = ("keep-alive-off", "pool-exhausted", "database-cpu-full", "database-lock-waits", "app-lock-stall")
OPEN, LIMIT = "process_open_fds", "process_max_fds"
ACCEPT_ERRORS, ACCEPT_QUEUE = "http_accept_errors_total", "tcp_accept_queue"
HARD_LIMIT = "kernel_nr_open"
UNIT_LIMIT = "process_unit_max_fds"

KIND = Kind(
    id="file-descriptors-exhausted",
    resource="process_fds",
    severity=Severity.CRITICAL,
    title=Words("File descriptors exhausted", "ファイル記述子の枯渇"),
    explanation=Words(
        "Every connection is an open file. At the limit of the process accept() fails (too many open files): clients "
        "wait in the kernel's queue until they time out, and the process can open neither log files nor connections "
        "to its database.",
        "接続1本ごとにファイル記述子が1つ必要。プロセスの上限に達するとaccept()が失敗し(too many open files)、"
        "クライアントはカーネルのキューでタイムアウトまで待つ。ログファイルやDB接続も開けない。",
    ),
    rule=Rule(
        text=Words(
            "The limit of the process counts, not that of a login shell: for a service it is LimitNOFILE of its unit.",
            "効くのはログインシェルではなくプロセス自身の上限。サービスではユニットのLimitNOFILE。",
        ),
        source="systemd.exec(5), LimitNOFILE; getrlimit(2)",
    ),
    refuted_by=Words(
        "Connections that are accepted while all descriptors are open, or a higher limit in /proc/<pid>/limits.",
        "全記述子が使用中でも接続が受け付けられること、または/proc/<pid>/limitsの値がより大きいこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each process that was at its limit while connections waited."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for labels, opened in window[OPEN].by("job", "instance", "name"):
        limit = window[LIMIT].where(**{name: labels.get(name, "") for name in ("job", "instance", "name")}).max
        bound, most = largest(limit, window.focus), largest(opened.max, window.focus)
        if not np.isfinite(bound + most) or bound <= 0:
            continue
        name = program_name(window, labels)
        full = focused(window, opened.max >= FULL * limit)
        found = episodes(full, least=least_instants(window.grid, opened.slowest_ms, samples=2, seconds=2), gap=5)
        if found:
            episode = window.one_of(found, limit, lives(window, labels))
            bound = largest(limit, episode.span)
            if demand := _demand(window, episode):
                findings.append(_finding(window.during(episode), dict(labels), opened.max, bound, episode, demand))
                continue
        words = Words(
            f"{name} had {count(most)} of {count(bound)} files open at most.",
            f"{name}は最大{count(bound)}中{count(most)}ファイルを使用。",
        )
        (observations if found else clear).append(words)
    return Look(
        findings=findings,
        clear=together(clear),
        observations=observations,
    )


def _causes(window: Window, bound: float, episode: Episode) -> Sequence[str]:
    """A pool is the cause where those who wait for it hold a good part of the files."""
    waiting = sum(float(np.nan_to_num(usual(pool.waiting, episode.span))) for pool in pools(window))
    return [id for id in FOLLOWS if id != "pool-exhausted" or waiting >= WAITERS * bound]


def _demand(window: Window, episode: Episode) -> list[Evidence]:
    """Signs that connections could not be accepted."""
    around = slice(max(episode.first - 2, 0), min(episode.end + 2, window.grid.count))
    found: list[Evidence] = []
    errors = window[ACCEPT_ERRORS].rate
    failed = window.total(errors, around)
    if failed >= 1:
        found.append(
            show(
                window,
                Words(f"{count(failed)} accepts failed.", f"accept失敗{count(failed)}件。"),
                link=Link.DEMAND,
                expression=f"sum(rate({ACCEPT_ERRORS}[5s]))",
                unit=Unit.PER_SECOND,
                values=errors,
            )
        )
    queue = window[ACCEPT_QUEUE].max
    waiting = largest(queue, around)
    if waiting >= 1:
        found.append(
            show(
                window,
                Words(
                    f"Up to {count(waiting)} connections waited to be accepted.",
                    f"最大{count(waiting)}接続がaccept待ち。",
                ),
                link=Link.DEMAND,
                expression=f"max({ACCEPT_QUEUE})",
                unit=Unit.COUNT,
                values=queue,
            )
        )
    return found


def _finding(
    window: Window,
    labels: dict[str, str],
    opened: FloatArray,
    bound: float,
    episode: Episode,
    demand: list[Evidence],
) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, effects = since_start(window, from_ms), felt(window, episode)
    name = program_name(window, labels)
    most, higher = largest(opened, episode.span), 65_536 if bound < 65_536 else round(bound * 4)
    nr_open = largest(window[HARD_LIMIT].max, window.focus)
    consequence = effects[0].text if effects else demand[0].text
    unit = window[UNIT_LIMIT].where(**{one: labels.get(one, "") for one in ("job", "instance")}, bound="soft")
    allowed = largest(unit.max, window.focus)
    restart = Step(
        text=Words(
            f"LimitNOFILE of its unit is {count(allowed)} by now and not in force: restart the service.",
            f"ユニットのLimitNOFILEは{count(allowed)}に変更済みだが反映されていない。サービスを再起動する。",
        )
    )
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name} ran out of file descriptors {when.en} ({count(most)} of {count(bound)} open). {consequence.en}",
            f"{name}のファイル記述子が{when.ja}に枯渇({count(bound)}中{count(most)}使用)。{consequence.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        follows=_causes(window, bound, episode),
        evidence=[
            show(
                window,
                Words(f"{count(most)} of {count(bound)} files open.", f"{count(bound)}中{count(most)}ファイル使用。"),
                link=Link.LIMIT,
                expression=f"{OPEN}{selector(labels)}",
                unit=Unit.COUNT,
                values=opened,
                limit=bound,
            ),
            *demand,
            *effects,
        ],
        steps=[
            restart
            if allowed > bound
            else Step(
                text=Words(
                    f"Raise the limit of the service to {higher}"
                    + (f" (the kernel allows {count(nr_open)}, fs.nr_open)." if nr_open >= higher else "."),
                    f"サービスの上限を{higher}に上げる"
                    + (f"(カーネルの上限fs.nr_openは{count(nr_open)})。" if nr_open >= higher else "。"),
                ),
                code=f"# systemctl edit <unit>\n[Service]\nLimitNOFILE={higher}",
            ),
            Step(
                text=Words(
                    "Then look at the limit in force, not at the file.", "設定後は、実際に効いている上限を確認する。"
                ),
                code="grep 'Max open files' /proc/<pid>/limits",
            ),
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(OPEN,),
    reads=(LIMIT, ACCEPT_ERRORS, ACCEPT_QUEUE, HARD_LIMIT, UNIT_LIMIT, *LIFE_METRICS),
    follows=FOLLOWS,
    switched_on_by="process:\n  port: 8080",
)
