"""A process holds more memory than before the baseline, and the host has little left."""

import numpy as np

from loadwatch_backend.findings.model import Detector, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.against import labels_of, pairs
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import largest, selector, together
from loadwatch_backend.findings.seen.hosts import HOST_METRICS, host_of
from loadwatch_backend.findings.seen.numbers import share, size
from loadwatch_backend.findings.window import Table, Window
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

RESIDENT = "process_resident_memory_bytes"
AVAILABLE, TOTAL = "node_memory_MemAvailable_bytes", "node_memory_MemTotal_bytes"
SWAPPED = "node_vmstat_pswpout"
GROWN = 1.2
LEAST_BYTES = 50 * 1024.0**2
LITTLE = 0.15
EXPLAINS = 0.05
"""Of the host's memory, that the process must have grown by: less is not what the host is short of."""
SWAPPING_PAGES = 10.0
"""Pages a second that are written to swap: fewer are old pages that nobody needs."""

KIND = Kind(
    id="memory-grown",
    severity=Severity.WARNING,
    title=Words("Memory grows from run to run", "試験ごとにメモリーが増加"),
    explanation=Words(
        "The process began this run with more memory than the one before: it keeps what the last run left. Sooner or "
        "later the host swaps, and each run is slower than the one before.",
        "プロセスは前回より多くのメモリーを持って開始した。前回の分を手放していない。やがてスワップが始まり、試験のたびに"
        "遅くなる。",
    ),
    rule=Rule(
        text=Words(
            "A process that has no leak comes back to the same memory after the same load.",
            "リークのないプロセスは、同じ負荷の後に同じメモリー量に戻る。",
        ),
        source="B. Gregg, Systems Performance, 2nd edition (2020), chapter 7: memory growth and leak detection",
    ),
    refuted_by=Words(
        "Memory that stays level over the next runs: caches fill once.",
        "次の試験以降は増えないこと。キャッシュが一度満ちただけの場合。",
    ),
)


def look(window: Window) -> Look:
    """A finding for each process that began with more, on a host with little left or that swaps."""
    baseline = window.baseline
    if baseline is None:
        return Look()
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for target, name, before, now in pairs(baseline, "resident_memory"):
        labels = labels_of(target)
        called = name or labels.get("instance", target)
        words = Words(
            f"{called} held {size(now)} before the load ({size(before)} before {baseline.name}).",
            f"{called}は負荷前に{size(now)}({baseline.name}では{size(before)})。",
        )
        if now < GROWN * before or now - before < LEAST_BYTES:
            clear.append(words)
            continue
        found = _finding(window, labels, called, words, now, before)
        if found is None:
            observations.append(words)
        else:
            findings.append(found)
    return Look(findings=findings, clear=together(clear), observations=observations)


def _finding(
    window: Window, labels: dict[str, str], name: str, words: Words, now: float, before: float
) -> Finding | None:
    host = host_of(window, labels)
    if host is None:
        return None

    def of(metric: str) -> Table:
        return window[metric].where(**host.labels)

    total, available = largest(of(TOTAL).max, window.focus), of(AVAILABLE).max
    least = -largest(-available, window.focus)
    swapped: FloatArray = of(SWAPPED).rate
    swapping = window.total(swapped) >= SWAPPING_PAGES * (window.focus.stop - window.focus.start) * window.step_seconds
    little = total > 0 and least < LITTLE * total
    if not (little or swapping) or now - before < EXPLAINS * total:
        return None
    chosen = selector(labels)
    left = f"{size(least)} of {size(total)} were left" if np.isfinite(least + total) else "the host swapped"
    left_ja = f"残りは{size(total)}中{size(least)}" if np.isfinite(least + total) else "スワップが発生"
    evidence = [
        show(
            window,
            words,
            link=Link.DEMAND,
            expression=f"{RESIDENT}{chosen}",
            unit=Unit.BYTES,
            values=window[RESIDENT].where(**labels).max,
            value=now,
            limit=before,
        )
    ]
    if little:
        evidence.append(
            show(
                window,
                Words(
                    f"At least {share(least / total)} of memory was left.",
                    f"メモリーの残りは最小{share(least / total)}。",
                ),
                link=Link.LIMIT,
                expression=f"{AVAILABLE}{selector(host.labels)}",
                unit=Unit.BYTES,
                values=available,
                value=least,
                limit=total,
            )
        )
    if swapping:
        evidence.append(
            show(
                window,
                Words("Pages were written to swap.", "スワップへの書き出しが発生。"),
                link=Link.EFFECT,
                expression=f"rate({SWAPPED}{selector(host.labels)}[5s])",
                unit=Unit.PER_SECOND,
                values=swapped,
            )
        )
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{name} began with {size(now)} of memory, {size(before)} at the baseline; {left}.",
            f"{name}は{size(now)}のメモリーを持って開始した(基準では{size(before)})。{left_ja}。",
        ),
        from_ms=window.grid.time_ms(window.focus.start),
        to_ms=window.grid.time_ms(window.focus.stop - 1),
        labels=labels,
        evidence=evidence,
        steps=[
            Step(
                text=Words(
                    "Compare two heap profiles, after the last run and after this one.",
                    "前回の後と今回の後のヒーププロファイルを比べる。",
                ),
                code="go tool pprof -base heap1.pb.gz heap2.pb.gz",
            )
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(RESIDENT,),
    reads=(AVAILABLE, TOTAL, SWAPPED, *HOST_METRICS),
    usual=False,
    switched_on_by="process:\n  port: 8080\nhost: {}",
)
