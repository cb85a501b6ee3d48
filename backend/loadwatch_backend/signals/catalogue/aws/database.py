"""RDS and Aurora, as CloudWatch sees them."""

from functools import partial

from loadwatch_backend.signals.catalogue.aws.database_load import DATABASE_LOAD, STATEMENTS_BY_LOAD
from loadwatch_backend.signals.catalogue.aws.parts import DATABASE, ROLES, Family, by_resource, cloudwatch
from loadwatch_backend.signals.catalogue.aws.resources import CPU, IOPS, IOPS_LIMIT, whole
from loadwatch_backend.signals.model import Group, Orientation, Panel, Signal, Total, Unit
from loadwatch_backend.texts.words import Words

INSTANCES = Family(prefix="aws_rds", dimension=DATABASE, facts=ROLES)


def _panel(id: str, title: tuple[str, str], *signals: Signal) -> Panel:
    return Panel(id=id, title=Words(*title), signals=signals, split="role")


_share = partial(cloudwatch, legend=INSTANCES.legend, unit=Unit.RATIO, total=Total.HIGHEST, facts=ROLES)

LIMITS = _panel(
    "aws-db-limits",
    ("CPU and I/O against their limits", "CPUとI/Oの上限に対する割合"),
    _share(
        "aws_db_cpu_share",
        ("CPU", "CPU"),
        ("CPUUtilization: of all cores.", "CPUUtilization。全コアに対する割合。"),
        CPU,
    ),
    _share(
        "aws_db_iops_share",
        ("I/O operations", "I/O回数"),
        (
            "ReadIOPS and WriteIOPS of the provisioned ones. Not drawn where storage has no such limit (Aurora) or "
            "discovery has not found it.",
            "プロビジョンドIOPSに対するReadIOPSとWriteIOPSの合計。上限がない(Aurora)か未発見なら描かない。",
        ),
        f"({IOPS}) / ({IOPS_LIMIT})",
    ),
    _share(
        "aws_db_share_limit",
        ("Limit", "上限"),
        ("All cores, all provisioned operations.", "全コア、プロビジョンドIOPSの全量。"),
        whole(CPU),
        limit=True,
        orientation=Orientation.NEUTRAL,
    ),
)

PANELS = (
    LIMITS,
    _panel(
        "aws-db-connections",
        ("Connections", "接続数"),
        INSTANCES.signal(
            "aws_db_connections",
            ("Connections", "接続数"),
            (
                "DatabaseConnections, the highest of each minute; its limit is in the headroom strip.",
                "DatabaseConnections。1分間の最大値。上限は余裕の欄にある。",
            ),
            "database_connections_maximum",
        ),
    ),
    _panel(
        "aws-db-cpu",
        ("CPU", "CPU"),
        INSTANCES.signal(
            "aws_db_cpu",
            ("CPU", "CPU"),
            ("CPUUtilization of the instance, all cores together.", "インスタンス全体(全コア)のCPUUtilization。"),
            "cpuutilization_average",
            scale=" / 100",
            unit=Unit.RATIO,
            total=Total.MEAN,
        ),
    ),
    _panel(
        "aws-db-memory",
        ("Freeable memory", "解放可能メモリ"),
        INSTANCES.signal(
            "aws_db_freeable_memory",
            ("Freeable", "解放可能"),
            (
                "FreeableMemory, the lowest of each minute; near zero the instance swaps.",
                "FreeableMemory。1分間の最小値。ゼロに近づくとスワップが始まる。",
            ),
            "freeable_memory_minimum",
            unit=Unit.BYTES,
            orientation=Orientation.MORE_IS_BETTER,
            total=Total.LOWEST,
        ),
    ),
    _panel(
        "aws-db-read-iops",
        ("Reads from storage", "ストレージ読み取り回数"),
        INSTANCES.signal(
            "aws_db_read_iops",
            ("Reads", "読み取り"),
            ("ReadIOPS, the mean of each minute.", "ReadIOPS。1分間の平均。"),
            "read_iops_average",
            unit=Unit.PER_SECOND,
            orientation=Orientation.NEUTRAL,
        ),
    ),
    _panel(
        "aws-db-write-iops",
        ("Writes to storage", "ストレージ書き込み回数"),
        INSTANCES.signal(
            "aws_db_write_iops",
            ("Writes", "書き込み"),
            ("WriteIOPS, the mean of each minute.", "WriteIOPS。1分間の平均。"),
            "write_iops_average",
            unit=Unit.PER_SECOND,
            orientation=Orientation.NEUTRAL,
        ),
    ),
    _panel(
        "aws-db-write-latency",
        ("Write latency", "書き込みレイテンシー"),
        INSTANCES.signal(
            "aws_db_write_latency",
            ("Write", "書き込み"),
            (
                "WriteLatency: the mean time of one write to the storage.",
                "WriteLatency。ストレージ書き込み1回の平均時間。",
            ),
            "write_latency_average",
            unit=Unit.SECONDS,
            total=Total.HIGHEST,
        ),
    ),
    _panel(
        "aws-db-read-latency",
        ("Read latency", "読み取りレイテンシー"),
        INSTANCES.signal(
            "aws_db_read_latency",
            ("Read", "読み取り"),
            (
                "ReadLatency: the mean time of one read from the storage.",
                "ReadLatency。ストレージ読み取り1回の平均時間。",
            ),
            "read_latency_average",
            unit=Unit.SECONDS,
            total=Total.HIGHEST,
        ),
    ),
    _panel(
        "aws-db-queue",
        ("Storage queue", "ストレージの待ち行列"),
        INSTANCES.signal(
            "aws_db_queue_depth",
            ("Waiting", "待機中"),
            (
                "DiskQueueDepth: requests that wait for the storage; a growing queue is a full disk path.",
                "DiskQueueDepth。ストレージを待つ要求数。伸び続けるならディスク経路が飽和している。",
            ),
            "disk_queue_depth_average",
        ),
    ),
    _panel(
        "aws-db-commit",
        ("Commit latency", "コミットのレイテンシー"),
        INSTANCES.signal(
            "aws_db_commit_latency",
            ("Commit", "コミット"),
            ("CommitLatency of Aurora, the mean of each minute.", "AuroraのCommitLatency。1分間の平均。"),
            "commit_latency_average",
            scale=" / 1000",
            unit=Unit.SECONDS,
            total=Total.HIGHEST,
        ),
    ),
    Panel(
        id="aws-db-replica-lag",
        title=Words("Replica lag", "レプリカラグ"),
        signals=(
            cloudwatch(
                "aws_db_replica_lag",
                ("Behind the writer", "ライターからの遅れ"),
                (
                    "AuroraReplicaLag, or ReplicaLag of RDS: the highest of each minute. Rows read there are that old.",
                    "AuroraReplicaLag(RDSではReplicaLag)。1分間の最大値。読み取る行はその分だけ古い。",
                ),
                f"({by_resource('aws_rds_aurora_replica_lag_maximum', DATABASE, scale=' / 1000')})"
                f" or ({by_resource('aws_rds_replica_lag_maximum', DATABASE)})",
                INSTANCES.legend,
                unit=Unit.SECONDS,
                total=Total.HIGHEST,
            ),
        ),
    ),
    _panel(
        "aws-db-deadlocks",
        ("Deadlocks", "デッドロック"),
        INSTANCES.signal(
            "aws_db_deadlocks",
            ("Deadlocks", "デッドロック"),
            ("Deadlocks of Aurora each second.", "Auroraのデッドロック(毎秒)。"),
            "deadlocks_average",
            unit=Unit.PER_SECOND,
        ),
    ),
    _panel(
        "aws-db-load",
        ("Sessions at work", "活動中のセッション"),
        INSTANCES.signal(
            "aws_db_load",
            ("Sessions", "セッション"),
            (
                "DBLoad of Performance Insights: sessions that work or wait. More than the cores there are queue up.",
                "Performance InsightsのDBLoad。処理中・待機中のセッション数。コア数を超えると待ちになる。",
            ),
            "dbload_average",
        ),
    ),
    _panel(
        "aws-db-load-per-vcpu",
        ("Sessions for each core", "コアあたりのセッション"),
        INSTANCES.signal(
            "aws_db_load_per_vcpu",
            ("Sessions per vCPU", "vCPUあたり"),
            (
                "DBLoadRelativeToNumVCPUs of Performance Insights: above 1 there are more sessions at work than cores.",
                "Performance InsightsのDBLoadRelativeToNumVCPUs。1を超えると活動中のセッションがコア数より多い。",
            ),
            "dbload_relative_to_num_vcpus_average",
            total=Total.HIGHEST,
        ),
    ),
    DATABASE_LOAD,
    STATEMENTS_BY_LOAD,
    Panel(
        id="aws-db-credits",
        title=Words("CPU credits left", "CPUクレジット残高"),
        signals=(
            cloudwatch(
                "aws_db_cpu_credits",
                ("Credits", "クレジット"),
                (
                    "CPUCreditBalance of burstable classes; at zero the CPU is throttled. A value each five minutes.",
                    "バースト可能クラスのCPUCreditBalance。ゼロになるとCPUが制限される。5分ごとの値。",
                ),
                by_resource("aws_rds_cpucredit_balance_average", DATABASE),
                INSTANCES.legend,
                orientation=Orientation.MORE_IS_BETTER,
                total=Total.LOWEST,
            ),
        ),
    ),
    Panel(
        id="aws-db-burst",
        title=Words("Disk burst balance", "ディスクのバースト残量"),
        signals=(
            cloudwatch(
                "aws_db_burst_balance",
                ("Balance", "残量"),
                (
                    "BurstBalance of gp2 storage; at zero the disk falls back to its base rate.",
                    "gp2ストレージのBurstBalance。ゼロになると基本性能に落ちる。",
                ),
                by_resource("aws_rds_burst_balance_minimum", DATABASE, scale=" / 100"),
                INSTANCES.legend,
                unit=Unit.RATIO,
                orientation=Orientation.MORE_IS_BETTER,
                total=Total.LOWEST,
            ),
        ),
    ),
)

GROUP = Group(id="aws_database", title=Words("AWS databases", "AWS データベース"), panels=PANELS, optional=True)
