"""The database's buffer pool was emptier than before the baseline, and reads went to disk."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.against import labels_of, pairs, worse
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import selector, together, usual
from loadwatch_backend.findings.seen.numbers import share
from loadwatch_backend.findings.window import Window
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

READS, REQUESTS = (
    "mysql_global_status_innodb_buffer_pool_reads",
    "mysql_global_status_innodb_buffer_pool_read_requests",
)
EMPTIER = 0.5
MISSES = 0.01
WARMER = 0.8
"""Answers that are no quicker with a warm cache were not slow for a cold one."""
LEAST_REQUESTS = 1_000.0

KIND = Kind(
    id="cold-cache",
    severity=Severity.WARNING,
    title=Words("Cold buffer pool", "バッファプールが冷えている"),
    explanation=Words(
        "After a restart the database's cache is empty: pages come from disk until it is warm. Two equal runs differ "
        "by that alone.",
        "再起動直後はキャッシュが空で、温まるまでページをディスクから読む。それだけで同じ試験の結果が変わる。",
    ),
    rule=Rule(
        text=Words(
            "Warm the buffer pool before you measure, or let the server load what it dumped when it was shut down.",
            "計測前にバッファプールを温めるか、停止時に保存した内容を起動時に読み込ませる。",
        ),
        source="MySQL Reference Manual, Saving and Restoring the Buffer Pool State",
    ),
    refuted_by=Words(
        "A second run at once that is as slow with a warm cache.",
        "キャッシュが温まった直後の再試験でも同じく遅いこと。",
    ),
)


def look(window: Window) -> Look:
    """A finding for each database whose cache was cold, and whose run went worse than the baseline."""
    baseline = window.baseline
    if baseline is None:
        return Look()
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    effects = worse(window, baseline)
    for target, _, before, now in pairs(baseline, "buffer_pool_filled"):
        labels = labels_of(target)
        misses = _misses(window, labels)
        words = Words(
            f"The buffer pool of {labels.get('instance', target)} was {share(now)} full before the load "
            f"({share(before)} before the baseline).",
            f"{labels.get('instance', target)}のバッファプールは負荷前に{share(now)}(基準では{share(before)})。",
        )
        if now > EMPTIER * before:
            clear.append(words)
        elif misses is None or not effects:
            observations.append(words)
        else:
            findings.append(_finding(window, labels, words, now, before, misses, effects))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _misses(window: Window, labels: dict[str, str]) -> float | None:
    """Share of reads that went to disk in the first third of the run, where it is high and then falls as p95 does."""
    reads, asked = window[READS].where(**labels).rate, window[REQUESTS].where(**labels).rate
    third = max((window.focus.stop - window.focus.start) // 3, 1)
    first = slice(window.focus.start, window.focus.start + third)
    last = slice(window.focus.stop - third, window.focus.stop)
    parts: list[float] = []
    for span in (first, last):
        whole = window.total(asked, span)
        if whole < LEAST_REQUESTS:
            return None
        parts.append(window.total(reads, span) / whole)
    warmed = parts[0] >= MISSES and parts[1] <= 0.5 * parts[0]
    quicker = window.load is not None and usual(window.load.p95, last) <= WARMER * usual(window.load.p95, first)
    return parts[0] if warmed and quicker else None


def _finding(
    window: Window,
    labels: dict[str, str],
    words: Words,
    now: float,
    before: float,
    misses: float,
    effects: list[Evidence],
) -> Finding:
    reads, asked = window[READS].where(**labels).rate, window[REQUESTS].where(**labels).rate
    chosen = selector(labels)
    name = labels.get("instance", "the database")
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name} began with a cold cache ({share(now)} full, {share(before)} before the baseline), and "
            f"{share(misses)} of its reads went to disk at first. {effects[0].text.en}",
            f"{name}は冷えたキャッシュで始まり({share(now)}、基準では{share(before)})、最初は読み込みの"
            f"{share(misses)}がディスクに向かった。{effects[0].text.ja}",
        ),
        from_ms=window.grid.time_ms(window.focus.start),
        to_ms=window.grid.time_ms(window.focus.stop - 1),
        labels=labels,
        evidence=[
            show(
                window,
                words,
                link=Link.LIMIT,
                expression="mysql_global_status_innodb_buffer_pool_bytes_data"
                f"{chosen} / mysql_global_variables_innodb_buffer_pool_size{chosen}",
                unit=Unit.RATIO,
                values=np.full(window.grid.count, np.nan),
                value=now,
                limit=before,
            ),
            show(
                window,
                Words(
                    f"{share(misses)} of the reads went to disk at first.",
                    f"最初は読み込みの{share(misses)}がディスク。",
                ),
                link=Link.DEMAND,
                expression=f"rate({READS}{chosen}[5s]) / rate({REQUESTS}{chosen}[5s])",
                unit=Unit.RATIO,
                values=np.where(asked > 0, reads / np.where(asked > 0, asked, 1.0), np.nan),
                value=misses,
            ),
            *effects,
        ],
        steps=[
            Step(
                text=Words(
                    "Run a few minutes of load before you measure, and after each restart of the database.",
                    "計測前、またDBの再起動後は数分間負荷をかけて温める。",
                ),
                code="innodb_buffer_pool_dump_at_shutdown = ON\ninnodb_buffer_pool_load_at_startup = ON",
            )
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(READS, REQUESTS),
    usual=False,
    switched_on_by="mysql:\n  host: 127.0.0.1\n  user: loadwatch",
)
