"""The database's disk does as many operations as it may, and more of them wait."""

from collections.abc import Mapping

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.cloud import (
    BY_MINUTE,
    SWITCHED_ON_BY,
    CloudDatabase,
    cloud_databases,
    for_minutes,
)
from loadwatch_backend.findings.seen.databases import CONNECTED
from loadwatch_backend.findings.seen.demand import unmet
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import added, felt, focused, largest, selector, since_start, together, usual
from loadwatch_backend.findings.seen.hosts import HOST_METRICS, instance_of_host
from loadwatch_backend.findings.seen.numbers import count, figure, share
from loadwatch_backend.findings.window import Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

FULL = 0.95
BUSY = 0.95
"""Share of the time in which the disk had work; alone it says little of a disk that does many things at once."""
QUEUE = 4.0
CLOUD_QUEUE = 10.0
OWN = 0.5
"""Share of the disk's bytes that are InnoDB's: with less, somebody else keeps the disk busy."""
LEAST_SECONDS = 5.0

READS, WRITES, PROVISIONED, DEPTH = (
    "aws_rds_read_iops_average",
    "aws_rds_write_iops_average",
    "aws_rds_provisioned_iops",
    "aws_rds_disk_queue_depth_average",
)
BUSY_TIME, QUEUE_TIME = "node_disk_io_time_seconds_total", "node_disk_io_time_weighted_seconds_total"
DISK_BYTES = ("node_disk_read_bytes_total", "node_disk_written_bytes_total")
OWN_BYTES = (
    "mysql_global_status_innodb_data_read",
    "mysql_global_status_innodb_data_written",
    "mysql_global_status_innodb_os_log_written",
)

KIND = Kind(
    id="database-iops-full",
    severity=Severity.CRITICAL,
    title=Words("The database's disk is full of work", "DBのディスクI/O飽和"),
    explanation=Words(
        "Reads and commits wait for the disk: each statement takes longer, holds its connection for longer, and more "
        "clients do not bring more throughput. CPU to spare does not help.",
        "読み取りとコミットがディスクを待っている。各文が遅くなり接続も長く保持される。クライアントを増やしても"
        "スループットは伸びず、CPUの余裕も役に立たない。",
    ),
    rule=Rule(
        text=Words(
            "IOPS = reads + writes per second; the queue grows once they reach what is provisioned.",
            "IOPS = 毎秒の読み取り + 書き込み。プロビジョニング値に達すると待ち行列が伸びる。",
        ),
        source="Amazon RDS User Guide, Amazon RDS DB instance storage",
    ),
    refuted_by=Words(
        "Operations per second that still rise with the load, or statements that wait for CPU or locks instead.",
        "負荷とともに毎秒のI/O数がまだ増えること、または文がCPUやロックを待っていること。",
    ),
)


def look(window: Window) -> Look:
    """One finding for each database whose disk was full while operations waited."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for database in cloud_databases(window, READS):
        used = added([database.values(window, READS), database.values(window, WRITES)])
        bound, most = database.fact(window, PROVISIONED), largest(used, window.focus)
        if not np.isfinite(bound + most) or bound <= 0:
            continue
        finding = _of_cloud(window, database, used, bound)
        words = Words(
            f"{database.name} did {count(most)} of {count(bound)} operations a second at most ({BY_MINUTE.en}).",
            f"{database.name}のI/Oは最大毎秒{count(most)}({BY_MINUTE.ja}、上限{count(bound)})。",
        )
        if finding is not None:
            findings.append(finding)
        else:
            (observations if most >= FULL * bound else clear).append(words)
    for labels, _ in window[CONNECTED].by("job", "instance"):
        _of_disks(window, labels, findings, clear, observations)
    return Look(findings=findings, clear=together(clear), observations=observations)


def _of_cloud(window: Window, database: CloudDatabase, used: FloatArray, bound: float) -> Finding | None:
    episode = for_minutes(window, used >= FULL * bound)
    if episode is None:
        return None
    depth = database.values(window, DEPTH)
    queued, level = usual(depth, episode.span), usual(used, episode.span)
    demand: list[Evidence] = []
    if queued >= CLOUD_QUEUE:
        demand.append(
            show(
                window,
                Words(
                    f"{figure(queued)} operations waited for the disk ({BY_MINUTE.en}).",
                    f"ディスク待ちのI/Oは{figure(queued)}件({BY_MINUTE.ja})。",
                ),
                link=Link.DEMAND,
                expression=f"{DEPTH}{selector(database.key)}",
                unit=Unit.COUNT,
                values=depth,
            )
        )
    asked, effects = unmet(window, episode), felt(window, episode)
    demand += [] if asked is None else [asked]
    if not demand:
        return None
    consequence = [*demand, *effects][-1].text
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{database.name} did {count(level)} of its {count(bound)} provisioned disk operations a second "
            f"({BY_MINUTE.en}). {consequence.en}",
            f"{database.name}のディスクI/Oは毎秒{count(level)}で、プロビジョンド値{count(bound)}に達した"
            f"({BY_MINUTE.ja})。{consequence.ja}",
        ),
        from_ms=window.grid.time_ms(episode.first),
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=database.labels,
        evidence=[
            show(
                window,
                Words(
                    f"{count(level)} of {count(bound)} operations a second ({BY_MINUTE.en}).",
                    f"毎秒{count(level)}件、上限{count(bound)}({BY_MINUTE.ja})。",
                ),
                link=Link.LIMIT,
                expression=f"{READS}{selector(database.key)} + {WRITES}{selector(database.key)}",
                unit=Unit.PER_SECOND,
                values=used,
                limit=bound,
            ),
            *demand,
            *effects,
        ],
        steps=[
            Step(
                text=Words(
                    f"Write in batches and commit less often, or provision {count(bound * 2)} operations a second.",
                    f"まとめて書き込みコミットを減らすか、プロビジョンドIOPSを{count(bound * 2)}に増やす。",
                ),
                code=f"aws rds modify-db-instance --db-instance-identifier {database.name} --iops {round(bound * 2)} "
                "--apply-immediately",
            )
        ],
    )


def _of_disks(
    window: Window,
    labels: Mapping[str, str],
    findings: list[Finding],
    clear: list[Words],
    observations: list[Words],
) -> None:
    """The busiest disk of the host that a database runs on."""
    place, name = instance_of_host(window, labels), labels.get("instance", "the database")
    seen = (
        []
        if place is None
        else [
            (group.get("device", ""), table.rate, table.slowest_ms)
            for group, table in window[BUSY_TIME].where(instance=place or "").by("device")
        ]
    )
    seen = [one for one in seen if np.isfinite(largest(one[1], window.focus))]
    if place is None or not seen:
        return
    device, busy, interval_ms = max(seen, key=lambda one: float(np.nansum(window.inside(one[1]))))
    on_disk = {"instance": place, "device": device}
    queue = window[QUEUE_TIME].where(**on_disk).rate
    least = least_instants(window.grid, interval_ms, seconds=LEAST_SECONDS)
    found = episodes(focused(window, (busy >= BUSY) & (queue >= QUEUE)), least=least, gap=5)
    words = Words(
        f"The disk {device} of {name} was busy {share(min(largest(busy, window.focus), 1.0))} of the time at most.",
        f"{name}のディスク{device}の稼働率は最大{share(min(largest(busy, window.focus), 1.0))}。",
    )
    if not found:
        clear.append(words)
        return
    episode = window.one_of(found)
    moved = sum(window.total(window[metric].where(**on_disk).rate, episode.span) for metric in DISK_BYTES)
    own = sum(window.total(window[metric].where(**labels).rate, episode.span) for metric in OWN_BYTES)
    effects = felt(window, episode)
    if moved <= 0 or own < OWN * moved or not effects:
        observations.append(words)
        return
    part = share(min(own / moved, 1.0))
    from_ms = window.grid.time_ms(episode.first)
    when, queued = since_start(window, from_ms), usual(queue, episode.span)
    chosen = selector(on_disk)
    findings.append(
        Finding(
            kind=KIND,
            sentence=Words(
                f"The disk {device} of {name} had work all the time from {when.en}, and {figure(queued)} operations "
                f"waited for it on average. {effects[0].text.en}",
                f"{when.ja}から{name}のディスク{device}は常に稼働し、平均{figure(queued)}件のI/Oが待っていた。"
                f"{effects[0].text.ja}",
            ),
            from_ms=from_ms,
            to_ms=window.grid.time_ms(episode.end - 1),
            labels=labels,
            evidence=[
                show(
                    window,
                    Words(
                        f"The disk was busy {share(min(usual(busy, episode.span), 1.0))} of the time.",
                        f"ディスク稼働率{share(min(usual(busy, episode.span), 1.0))}。",
                    ),
                    link=Link.LIMIT,
                    expression=f"rate({BUSY_TIME}{chosen}[5s])",
                    unit=Unit.RATIO,
                    values=busy,
                    limit=1.0,
                ),
                show(
                    window,
                    Words(
                        f"{figure(queued)} operations under way or waiting; {part} of the bytes are the database's.",
                        f"処理中・待機中のI/Oは{figure(queued)}件。転送量の{part}がDBによるもの。",
                    ),
                    link=Link.DEMAND,
                    expression=f"rate({QUEUE_TIME}{chosen}[5s])",
                    unit=Unit.COUNT,
                    values=queue,
                ),
                *effects,
            ],
            steps=[
                Step(
                    text=Words(
                        "Write in batches: each commit waits for the disk once, however many rows it has.",
                        "まとめて書き込む。コミットごとに1回ディスクを待つため、行数が多いほど効率がよい。",
                    )
                ),
                Step(
                    text=Words(
                        "Where losing the last second in a crash is acceptable, flush the log once a second.",
                        "障害時に直近1秒の損失を許容できるなら、ログの書き出しを1秒ごとにする。",
                    ),
                    code="SET GLOBAL innodb_flush_log_at_trx_commit = 2;",
                ),
            ],
        )
    )


DETECTOR = Detector(
    kind=KIND,
    look=look,
    least_seconds=LEAST_SECONDS,
    needs=(READS, BUSY_TIME),
    reads=(WRITES, PROVISIONED, DEPTH, QUEUE_TIME, *DISK_BYTES, *OWN_BYTES, CONNECTED, *HOST_METRICS),
    follows=("database-memory-low",),
    usual=False,
    switched_on_by=SWITCHED_ON_BY,
)
