"""Transactions block each other in a circle, and the database rolls some of them back."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.cloud import BY_MINUTE, CloudDatabase, cloud_databases
from loadwatch_backend.findings.seen.databases import SWITCHED_ON_BY
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together
from loadwatch_backend.findings.seen.numbers import count, counted, figure
from loadwatch_backend.findings.window import Episode, Window, episodes
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

LEAST = 3.0
"""One or two are an accident that a retry mends."""

DEADLOCKS, CLOUD_DEADLOCKS = "mysql_global_status_innodb_deadlocks", "aws_rds_deadlocks_average"
LOCK_WAITS = "mysql_global_status_innodb_row_lock_waits"

KIND = Kind(
    id="database-deadlocks",
    severity=Severity.WARNING,
    title=Words("Deadlocks", "デッドロック"),
    explanation=Words(
        "Two transactions each wait for a row that the other has locked. The database ends it by rolling one of them "
        "back (error 1213): its work is lost unless the application tries again, and until then both, and all who wait "
        "behind them, stood still.",
        "2つのトランザクションが互いに相手のロックを待っている。DBは一方をロールバックして解消し(エラー1213)、アプリが"
        "再試行しなければその処理は失われる。それまでは双方と後続の待ちが止まる。",
    ),
    rule=Rule(
        text=Words(
            "Always lock rows in the same order, keep transactions small, and be prepared to try again.",
            "行は常に同じ順序でロックし、トランザクションを小さくし、再試行できるようにしておく。",
        ),
        source="MySQL Reference Manual, How to Minimize and Handle Deadlocks",
    ),
    refuted_by=Words(
        "Deadlocks of another application on the same server: SHOW ENGINE INNODB STATUS names the statements.",
        "同じサーバー上の別アプリのデッドロックであること(SHOW ENGINE INNODB STATUSで文を確認できる)。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each database with several deadlocks."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    seen: list[tuple[str, Mapping[str, str], FloatArray, str, Words]] = [
        (
            labels.get("instance", "the database"),
            labels,
            table.rate,
            f"rate({DEADLOCKS}{selector(labels)}[5s])",
            _NOTHING,
        )
        for labels, table in window[DEADLOCKS].by("job", "instance")
    ]
    seen += [_of_cloud(window, database) for database in cloud_databases(window, CLOUD_DEADLOCKS)]
    for name, labels, rate, expression, source in seen:
        if not np.isfinite(window.inside(rate)).any():
            continue
        found = episodes(focused(window, rate > 0))
        during = window.during(window.one_of(found)) if found else window
        times = during.total(rate)
        words = Words(
            f"{counted(times, 'deadlock', 'deadlocks')} at {name}{source.en}.",
            f"{name}のデッドロックは{count(times)}件{source.ja}。",
        )
        if times < LEAST:
            (clear if round(times) < 1 else observations).append(words)
            continue
        findings.append(_finding(during, name, labels, rate, expression, source))
    return Look(findings=findings, clear=together(clear), observations=observations)


_NOTHING = Words("", "")


def _of_cloud(window: Window, database: CloudDatabase) -> tuple[str, Mapping[str, str], FloatArray, str, Words]:
    source = Words(f" ({BY_MINUTE.en})", f"({BY_MINUTE.ja})")
    rate = database.values(window, CLOUD_DEADLOCKS)
    return database.name, database.labels, rate, f"{CLOUD_DEADLOCKS}{selector(database.key)}", source


def _finding(
    window: Window, name: str, labels: Mapping[str, str], rate: FloatArray, expression: str, source: Words
) -> Finding:
    places = np.flatnonzero(focused(window, rate > 0))
    episode = Episode(int(places[0]), int(places[-1]) + 1)
    from_ms, times = window.grid.time_ms(episode.first), window.total(rate)
    when, effects = since_start(window, from_ms, "at "), felt(window, episode)
    consequence = effects[0].text if effects else _NOTHING
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name} rolled {count(times)} transactions back for deadlocks, the first one {when.en}{source.en}. "
            f"{consequence.en}".rstrip(),
            f"{name}はデッドロックで{count(times)}トランザクションをロールバックした(最初は{when.ja}){source.ja}。"
            f"{consequence.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=labels,
        evidence=[*_evidence(window, labels, rate, expression, times), *effects],
        steps=[
            Step(
                text=Words("See the two statements of the latest one.", "最新のデッドロックの2つの文を確認する。"),
                code="SHOW ENGINE INNODB STATUS\\G",
            ),
            Step(
                text=Words(
                    "Lock rows in one order (by primary key, say) in all transactions, and try a transaction again "
                    "after error 1213.",
                    "全トランザクションで行を同じ順序(主キー順など)でロックし、エラー1213では再試行する。",
                )
            ),
        ],
    )


def _evidence(
    window: Window, labels: Mapping[str, str], rate: FloatArray, expression: str, times: float
) -> list[Evidence]:
    found = [
        show(
            window,
            Words(
                f"{count(times)} deadlocks, up to {figure(largest(rate, window.focus))} a second.",
                f"デッドロック{count(times)}件、最大毎秒{figure(largest(rate, window.focus))}件。",
            ),
            link=Link.LIMIT,
            expression=expression,
            unit=Unit.PER_SECOND,
            values=rate,
        )
    ]
    waits = window[LOCK_WAITS].where(**labels).rate
    began = window.total(waits)
    if began >= times:
        found.append(
            show(
                window,
                Words(f"{count(began)} waits for row locks began.", f"行ロック待ち{count(began)}件。"),
                link=Link.DEMAND,
                expression=f"rate({LOCK_WAITS}{selector(labels)}[5s])",
                unit=Unit.PER_SECOND,
                values=waits,
            )
        )
    return found


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(DEADLOCKS, CLOUD_DEADLOCKS),
    reads=(LOCK_WAITS,),
    switched_on_by=SWITCHED_ON_BY,
)
