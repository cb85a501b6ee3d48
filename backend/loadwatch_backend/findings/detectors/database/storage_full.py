"""The database has no room left to write to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.cloud import BY_MINUTE, PERIOD_MS, cloud_databases
from loadwatch_backend.findings.seen.databases import CONNECTED
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import felt, focused, largest, selector, since_start, together
from loadwatch_backend.findings.seen.hosts import HOST_METRICS, instance_of_host
from loadwatch_backend.findings.seen.numbers import count, share, size
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

FULL = 0.01
LOW = 0.05
LEAST_FAILED = 3

FREE, WHOLE = "aws_rds_free_storage_space_minimum", "aws_rds_allocated_storage_bytes"
DISK_FREE, DISK_WHOLE = "node_filesystem_avail_bytes", "node_filesystem_size_bytes"
NOT_STORED = "ingest_failed_total"

KIND = Kind(
    id="database-storage-full",
    severity=Severity.CRITICAL,
    title=Words("The database's storage is full", "DBのストレージ満杯"),
    explanation=Words(
        "Without room the database cannot write: inserts fail (error 1114 or 1021) or wait until somebody makes room. "
        "Binary logs and temporary tables of a load test fill a disk soonest.",
        "空きがないとDBは書き込めず、INSERTは失敗する(エラー1114、1021)か、空きができるまで待つ。負荷試験では"
        "バイナリログと一時テーブルが最も早くディスクを埋める。",
    ),
    rule=Rule(
        text=Words(
            "When a disk is full, the server waits for room and looks once a minute whether there is any.",
            "ディスクが満杯になると、サーバーは空きを待って1分ごとに再試行する。",
        ),
        source="MySQL Reference Manual, How MySQL Handles a Full Disk",
    ),
    refuted_by=Words(
        "Inserts that fail for another reason, or a data directory on another file system.",
        "INSERTの失敗に別の理由があること、またはデータディレクトリが別のファイルシステムにあること。",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Storage:
    labels: Mapping[str, str]
    name: str
    free: FloatArray
    whole: float
    interval_ms: int
    expression: str
    source: Words


def look(window: Window) -> Look:
    """One finding for each database that failed to write for lack of room; little room is an observation."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for storage in _storages(window):
        least, before = -largest(-storage.free, window.focus), largest(storage.free, slice(None))
        # What never moves is no file system that a database writes to: a mounted image is always full.
        if not np.isfinite(least + storage.whole) or storage.whole <= 0 or before <= least:
            continue
        full = focused(window, storage.free <= FULL * storage.whole)
        found = episodes(full, least=least_instants(window.grid, storage.interval_ms, samples=2), gap=5)
        if found:
            episode = window.one_of(found)
            if harm := _harm(window, episode):
                findings.append(_finding(window.during(episode), storage, episode, least, harm))
                continue
        words = Words(
            f"{storage.name} had {size(least)} of {size(storage.whole)} of storage free at least{storage.source.en}.",
            f"{storage.name}の空きストレージは最小{size(least)} / {size(storage.whole)}{storage.source.ja}。",
        )
        (observations if least < LOW * storage.whole else clear).append(words)
    return Look(findings=findings, clear=together(clear), observations=observations)


def _storages(window: Window) -> Iterator[_Storage]:
    for database in cloud_databases(window, FREE):
        yield _Storage(
            labels=database.labels,
            name=database.name,
            free=database.values(window, FREE),
            whole=database.fact(window, WHOLE),
            interval_ms=PERIOD_MS,
            expression=f"{FREE}{selector(database.key)}",
            source=Words(f" ({BY_MINUTE.en})", f"({BY_MINUTE.ja})"),
        )
    for labels, _ in window[CONNECTED].by("job", "instance"):
        place = instance_of_host(window, labels)
        if place is None:
            continue
        for disk, table in window[DISK_FREE].where(instance=place).by("device", "mountpoint"):
            at = Words(f" ({disk.get('mountpoint', '?')})", f"({disk.get('mountpoint', '?')})")
            yield _Storage(
                labels={**labels, **{name: disk[name] for name in ("mountpoint",) if name in disk}},
                name=labels.get("instance", "The database"),
                free=table.max,
                whole=largest(window[DISK_WHOLE].where(instance=place, **disk).held, slice(None)),
                interval_ms=table.slowest_ms,
                expression=f"{DISK_FREE}{selector({'instance': place, **disk})}",
                source=at,
            )


def _harm(window: Window, episode: Episode) -> list[Evidence]:
    """Rows that could not be stored, and what the load felt; both are wanted: a full disk may be anybody's."""
    lost = window[NOT_STORED].rate
    failed, effects = window.total(lost, episode.span), felt(window, episode)
    if failed < LEAST_FAILED or not np.isfinite(failed):
        return []
    shown = show(
        window,
        Words(f"{count(failed)} rows could not be stored.", f"{count(failed)}行を保存できなかった。"),
        link=Link.DEMAND,
        expression=f"sum(rate({NOT_STORED}[5s]))",
        unit=Unit.PER_SECOND,
        values=lost,
    )
    return [shown, *effects]


def _finding(window: Window, storage: _Storage, episode: Episode, least: float, harm: list[Evidence]) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when = since_start(window, from_ms)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{storage.name} had {size(least)} of {size(storage.whole)} of storage left from {when.en}"
            f"{storage.source.en}. {harm[0].text.en}",
            f"{when.ja}から{storage.name}の空きストレージは{size(storage.whole)}中{size(least)}だった"
            f"{storage.source.ja}。{harm[0].text.ja}",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=storage.labels,
        evidence=[
            show(
                window,
                Words(
                    f"{share(least / storage.whole)} of the storage left{storage.source.en}.",
                    f"空きストレージ{share(least / storage.whole)}{storage.source.ja}。",
                ),
                link=Link.LIMIT,
                expression=storage.expression,
                unit=Unit.BYTES,
                values=storage.free,
                value=least,
                at=episode.first,
                limit=storage.whole,
            ),
            *harm,
        ],
        steps=[
            Step(
                text=Words(
                    "Remove binary logs that no replica needs any more, and keep fewer of them.",
                    "レプリカが必要としないバイナリログを削除し、保持期間を短くする。",
                ),
                code="PURGE BINARY LOGS BEFORE NOW() - INTERVAL 1 DAY;\nSET GLOBAL binlog_expire_logs_seconds = 86400;",
            ),
            Step(
                text=Words(
                    f"Give it {size(storage.whole * 2)}, and let RDS grow by itself (max-allocated-storage).",
                    f"{size(storage.whole * 2)}に増やす。RDSでは自動拡張(max-allocated-storage)を有効にする。",
                )
            ),
        ],
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(FREE, DISK_FREE),
    reads=(WHOLE, DISK_WHOLE, NOT_STORED, CONNECTED, *HOST_METRICS),
    switched_on_by="host: {}",
)
