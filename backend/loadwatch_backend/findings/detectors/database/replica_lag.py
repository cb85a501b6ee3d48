"""A replica is so far behind its primary that its readers see old rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from loadwatch_backend.findings.model import Detector, Evidence, Finding, Kind, Link, Look, Rule, Severity, Step
from loadwatch_backend.findings.seen.cloud import BY_MINUTE, PERIOD_MS, SWITCHED_ON_BY, cloud_databases
from loadwatch_backend.findings.seen.evidence import show
from loadwatch_backend.findings.seen.facts import focused, largest, selector, since_start, together
from loadwatch_backend.findings.seen.numbers import count, duration, duration_ja, figure
from loadwatch_backend.findings.window import Episode, Window, episodes, least_instants
from loadwatch_backend.records.model import FloatArray
from loadwatch_backend.signals.model import Unit
from loadwatch_backend.texts.words import Words

FAR_SECONDS = 5.0
AURORA_FAR_SECONDS = 1.0
"""Aurora's readers share the writer's storage: below 0.1 s is usual."""
GREW = 2.0

BEHIND = ("mysql_slave_status_seconds_behind_master", "mysql_slave_status_seconds_behind_source")
CLOUD_LAG, AURORA_LAG = "aws_rds_replica_lag_average", "aws_rds_aurora_replica_lag_average"
WRITES = "mysql_global_status_handlers_total"

KIND = Kind(
    id="replica-lag",
    severity=Severity.WARNING,
    title=Words("A replica is behind", "レプリカの遅延"),
    explanation=Words(
        "The replica applies changes more slowly than the primary makes them. Whoever reads from it does not see what "
        "was just written, and after a failover it first has to catch up.",
        "レプリカの適用がプライマリの更新に追いついていない。レプリカを読む側には書き込んだばかりの内容が見えず、"
        "フェイルオーバー時は追いつくまで待つことになる。",
    ),
    rule=Rule(
        text=Words(
            "By default few threads apply what many have written: let several apply in parallel.",
            "既定では、多数のスレッドの書き込みを少数のスレッドが適用する。並列適用を有効にする。",
        ),
        source="MySQL Reference Manual, Replica Server Options and Variables, replica_parallel_workers",
    ),
    refuted_by=Words(
        "A replica that is delayed on purpose, or a lag that was as high before the load.",
        "意図的な遅延レプリカであること、または負荷前から同じだけ遅れていたこと。",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replica:
    labels: Mapping[str, str]
    name: str
    lag: FloatArray
    """[instant], seconds."""
    far: float
    interval_ms: int
    expression: str
    source: Words


def look(window: Window) -> Look:
    """One finding for each replica that fell behind under load."""
    findings: list[Finding] = []
    clear: list[Words] = []
    observations: list[Words] = []
    for replica in _replicas(window):
        most = largest(replica.lag, window.focus)
        if not np.isfinite(most):
            continue
        words = Words(
            f"{replica.name} was {duration(most)} behind at most{replica.source.en}.",
            f"{replica.name}の遅延は最大{duration_ja(most)}{replica.source.ja}。",
        )
        far = focused(window, replica.lag >= replica.far)
        found = episodes(far, least=least_instants(window.grid, replica.interval_ms), gap=5)
        if not found:
            clear.append(words)
            continue
        episode = window.one_of(found)
        before = -largest(-replica.lag, slice(0, episode.first + 1))
        if most < GREW * before:
            observations.append(words)
            continue
        findings.append(_finding(window.during(episode), replica, episode, largest(replica.lag, episode.span)))
    return Look(findings=findings, clear=together(clear), observations=observations)


def _replicas(window: Window) -> Iterator[_Replica]:
    for metric in BEHIND:
        for labels, table in window[metric].by("job", "instance"):
            yield _Replica(
                labels=labels,
                name=labels.get("instance", "The replica"),
                lag=table.max,
                far=FAR_SECONDS,
                interval_ms=table.slowest_ms,
                expression=f"{metric}{selector(labels)}",
                source=Words("", ""),
            )
    for metric, far, scale in ((CLOUD_LAG, FAR_SECONDS, 1.0), (AURORA_LAG, AURORA_FAR_SECONDS, 1_000.0)):
        for database in cloud_databases(window, metric):
            yield _Replica(
                labels=database.labels,
                name=database.name,
                lag=database.values(window, metric) / scale,
                far=far,
                interval_ms=PERIOD_MS,
                expression=f"{metric}{selector(database.key)} / {scale:g}",
                source=Words(f" ({BY_MINUTE.en})", f"({BY_MINUTE.ja})"),
            )


def _finding(window: Window, replica: _Replica, episode: Episode, most: float) -> Finding:
    from_ms = window.grid.time_ms(episode.first)
    when = since_start(window, from_ms)
    return Finding(
        kind=KIND,
        sentence=Words(
            f"{replica.name} fell behind from {when.en}, by up to {duration(most)}{replica.source.en}: what it answers "
            "is that old.",
            f"{replica.name}が{when.ja}から遅れ、最大{duration_ja(most)}前の内容を返していた{replica.source.ja}。",
        ),
        from_ms=from_ms,
        to_ms=window.grid.time_ms(episode.end - 1),
        labels=replica.labels,
        evidence=[
            show(
                window,
                Words(
                    f"{duration(most)} behind at most{replica.source.en}.",
                    f"遅延は最大{duration_ja(most)}{replica.source.ja}。",
                ),
                link=Link.EFFECT,
                expression=replica.expression,
                unit=Unit.SECONDS,
                values=replica.lag,
                limit=replica.far,
            ),
            *_written(window, episode),
        ],
        steps=[
            Step(
                text=Words("Let the replica apply in parallel.", "レプリカの並列適用を有効にする。"),
                code="SET GLOBAL replica_parallel_workers = 8; -- MariaDB: slave_parallel_threads",
            ),
            Step(
                text=Words(
                    "Read what must be fresh from the primary, and end reports that hold up the applier.",
                    "最新であるべき読み取りはプライマリに向け、適用を妨げるレポートは止める。",
                )
            ),
        ],
    )


def _written(window: Window, episode: Episode) -> list[Evidence]:
    writes = window[WRITES].where(handler="write").rate
    rate = window.total(writes, episode.span) / (len(episode) * window.step_seconds)
    if rate < 1:
        return []
    return [
        show(
            window,
            Words(
                f"{figure(rate)} rows were written a second, {count(rate * 60)} a minute.",
                f"毎秒{figure(rate)}行の書き込み。",
            ),
            link=Link.DEMAND,
            expression=f'sum(rate({WRITES}{{handler="write"}}[5s]))',
            unit=Unit.PER_SECOND,
            values=writes,
        )
    ]


DETECTOR = Detector(
    kind=KIND,
    look=look,
    needs=(*BEHIND, CLOUD_LAG, AURORA_LAG),
    reads=(WRITES,),
    follows=("database-cpu-full", "database-iops-full", "read-write-imbalance", "database-lock-waits"),
    usual=False,
    switched_on_by=SWITCHED_ON_BY,
)
