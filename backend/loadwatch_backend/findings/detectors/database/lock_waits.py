"""Statements wait for rows that others have locked."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.databases import SWITCHED_ON_BY
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure
from loadwatch_backend.findings.window import Episode, Table, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LEAST_WAITING = 3.0
"""Statements that wait at once; waits of two come and go under any load."""
LEAST_SECONDS = 5.0

WAITING = "mysql_global_status_innodb_row_lock_current_waits"
WAITED_MS = "mysql_global_status_innodb_row_lock_time"
WAITS = "mysql_global_status_innodb_row_lock_waits"

KIND = Kind(
    id="database-lock-waits",
    severity=Severity.CRITICAL,
    title=Words("Statements wait for row locks", "行ロック待ち"),
    explanation=Words(
        "Transactions queue for the same rows: only one of them goes on at a time, however many cores and connections "
        "there are. Each one that waits holds its connection, so the pool runs out behind it. Some answers are as "
        "quick as ever, others take seconds.",
        "トランザクションが同じ行を待って並んでいる。コアや接続がいくらあっても同時に進めるのは1つだけで、待つ側も接続を"
        "保持するためプールも枯渇する。速い応答と数秒かかる応答が混在する。",
    ),
    rule=Rule(
        text=Words(
            "A row that each request updates carries at most one transaction at a time: 1 / (seconds that each holds "
            "the lock) a second.",
            "全リクエストが更新する行では、処理できるトランザクションは毎秒 1 / (ロック保持秒数) が上限。",
        ),
        source="MySQL Reference Manual, InnoDB Locking",
    ),
    refuted_by=Words(
        "Innodb_row_lock_waits that stands still, or answers as slow after the hot row has been spread.",
        "Innodb_row_lock_waitsが増えないこと、または競合する行を分散しても応答が同じだけ遅いこと。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each database in which several statements waited for locks all the time."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for labels, table in window[WAITS].by("job", "instance"):
        if not np.isfinite(window.inside(table.rate)).any():
            continue
        waiting = _waiting(window, labels, table)
        least = least_instants(window.grid, table.slowest_ms, seconds=LEAST_SECONDS)
        found = episodes(focused(window, waiting >= LEAST_WAITING), least=least, gap=5)
        most, waits = largest(waiting, window.focus), window.total(table.rate)
        name = labels.get("instance", "The database")
        words = Words(
            f"At most {figure(most)} statements of {name} waited for row locks at once; {count(waits)} waits began.",
            f"{name}で同時に行ロックを待った文は最大{figure(most)}、待ちは{count(waits)}件。",
        )
        if not found:
            clear.append(words)
            continue
        episode = window.one_of(found)
        effects = felt(window, episode)
        if window.load is not None and not effects:
            observations.append(words)
            continue
        findings.append(_finding(window.during(episode), labels, waiting, table.rate, episode, effects))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _waiting(window: Window, labels: Mapping[str, str], waits: Table) -> FloatArray:
    """Statements that wait at each instant: as counted, or where nobody counts them by the time that waits took."""
    now = window[WAITING].where(**labels).max
    # A known fault of InnoDB: the gauge can stay up for ever. Where no wait has begun at all, nobody waits.
    begun = np.cumsum(np.nan_to_num(waits.rate)) > 0
    # A wait is timed when it ends: one second can hold the time of many.
    ended = window[WAITED_MS].where(**labels).rate / 1_000
    return np.where(np.isfinite(now), np.where(begun, now, 0.0), ended)


def _finding(
    window: Window,
    labels: Mapping[str, str],
    waiting: FloatArray,
    waits: FloatArray,
    episode: Episode,
    effects: list[Evidence],
) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when, name = since_start(window, from_ms), labels.get("instance", "the database")
    most, times = largest(waiting, episode.span), window.total(waits, episode.span)
    took = window.total(window[WAITED_MS].where(**labels).rate, episode.span) / 1_000
    each = Words(
        f", {duration(took / times)} each" if times >= 1 and took > 0 else "",
        f"(1件あたり{duration_ja(took / times)})" if times >= 1 and took > 0 else "",
    )
    consequence = effects[0].text if effects else Words("", "")
    chosen = selector(labels)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"Up to {figure(most)} statements of {name} waited for row locks at once from {when.en}: {count(times)} "
            f"waits{each.en}. {consequence.en}".rstrip(),
            f"{name}では{when.ja}から同時に最大{figure(most)}文が行ロックを待った。待ち{count(times)}件{each.ja}。"
            f"{consequence.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[
            show(
                window,
                Words(
                    f"Up to {figure(most)} statements waited for a lock at once.",
                    f"同時に最大{figure(most)}文がロック待ち。",
                ),
                link=Link.LIMIT,
                expression=f"{WAITING}{chosen}",
                unit=Unit.COUNT,
                values=waiting,
            ),
            show(
                window,
                Words(
                    f"{count(times)} waits for row locks began{each.en}.", f"行ロック待ち{count(times)}件{each.ja}。"
                ),
                link=Link.DEMAND,
                expression=f"rate({WAITS}{chosen}[5s])",
                unit=Unit.PER_SECOND,
                values=waits,
            ),
            *effects,
        ],
        steps=[
            Step(
                text=Words("See who holds the rows, and who waits.", "誰が行を保持し、誰が待っているかを確認する。"),
                code=(
                    "-- MySQL\nSELECT * FROM sys.innodb_lock_waits\\G\n"
                    "-- MariaDB\nSELECT * FROM information_schema.innodb_lock_waits;\n"
                    "SELECT trx_id, trx_started, trx_query FROM information_schema.innodb_trx "
                    "ORDER BY trx_started LIMIT 5;"
                ),
            ),
            Step(
                text=Words(
                    "Spread a hot row over several and add them up when reading, or collect increments in memory and "
                    "write them together.",
                    "競合する行を複数に分けて読むときに合計するか、加算をメモリでまとめて書き込む。",
                )
            ),
            Step(
                text=Words(
                    "Take locks last and keep transactions short: no call to anything else while one is open.",
                    "ロックは最後に取り、トランザクションを短くする。途中で外部を呼び出さない。",
                )
            ),
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(WAITS,),
    reads=(WAITING, WAITED_MS),
    follows=("database-deadlocks", "database-cpu-full", "database-iops-full"),
    switched_on_by=SWITCHED_ON_BY,
)
