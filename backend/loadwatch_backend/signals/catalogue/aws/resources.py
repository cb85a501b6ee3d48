"""What can run out in AWS. `$window` is how far back a discovered number holds."""

from collections.abc import Sequence

from loadwatch_backend.signals.catalogue.aws.parts import (
    CACHE,
    CLOUDWATCH,
    DATABASE,
    PROXY,
    by_balancer,
    by_resource,
    discovered,
)
from loadwatch_backend.signals.model import NEAR, Resource, Unit
from loadwatch_backend.texts.words import Words

TARGETS = "dimension_TargetGroup"


def _resource(
    id: str,
    title: tuple[str, str],
    help: tuple[str, str],
    unit: Unit,
    used: str,
    limit: str,
    legend: str,
    group: str,
    *,
    rule: str,
    near: float = NEAR,
) -> Resource:
    return Resource(
        id=id,
        title=Words(*title),
        help=Words(*help),
        unit=unit,
        used=used,
        limit=limit,
        legend=legend,
        group=group,
        cadence=CLOUDWATCH,
        rule=rule,
        near=near,
    )


def _database(
    id: str,
    title: tuple[str, str],
    help: tuple[str, str],
    unit: Unit,
    used: str,
    limit: str,
    *,
    rule: str,
    near: float = NEAR,
) -> Resource:
    legend = "{{dimension_DBInstanceIdentifier}}"
    return _resource(id, title, help, unit, used, limit, legend, "aws_database", rule=rule, near=near)


def whole(share: str) -> str:
    """The limit of a share, wherever there is one."""
    return f"{share} * 0 + 1"


CPU = by_resource("aws_rds_cpuutilization_average", DATABASE, scale=" / 100")
IOPS = f"{by_resource('aws_rds_read_iops_average', DATABASE)} + {by_resource('aws_rds_write_iops_average', DATABASE)}"
IOPS_LIMIT = discovered("aws_rds_provisioned_iops", DATABASE, scale=" > 0")
ENGINE_CPU = by_resource("aws_elasticache_engine_cpuutilization_maximum", CACHE, scale=" / 100")
UNHEALTHY = by_balancer("aws_applicationelb_un_healthy_host_count_maximum", TARGETS)
HEALTHY = by_balancer("aws_applicationelb_healthy_host_count_minimum", TARGETS)

RESOURCES: Sequence[Resource] = (
    _database(
        "aws_db_connections",
        ("RDS connections", "RDS接続数"),
        (
            "DatabaseConnections against max_connections of the parameter group.",
            "DatabaseConnectionsとパラメータグループのmax_connections。",
        ),
        Unit.COUNT,
        by_resource("aws_rds_database_connections_maximum", DATABASE),
        discovered("aws_rds_max_connections", DATABASE, scale=" > 0"),
        rule="RdsConnectionsHigh",
    ),
    _database(
        "aws_db_cpu",
        ("RDS CPU", "RDSのCPU"),
        ("CPUUtilization, all cores together.", "CPUUtilization(全コア)。"),
        Unit.RATIO,
        CPU,
        whole(CPU),
        rule="DatabaseCpuHigh",
    ),
    _database(
        "aws_db_memory",
        ("RDS memory", "RDSのメモリ"),
        (
            "Memory of the class without FreeableMemory. The buffer pool takes three quarters of it on purpose.",
            "インスタンスクラスのメモリからFreeableMemoryを引いた量。4分の3はバッファプールが占めるのが普通。",
        ),
        Unit.BYTES,
        f"{discovered('aws_rds_memory_bytes', DATABASE)} - {by_resource('aws_rds_freeable_memory_minimum', DATABASE)}",
        discovered("aws_rds_memory_bytes", DATABASE),
        rule="RdsMemoryLow",
        near=0.9,
    ),
    _database(
        "aws_db_iops",
        ("RDS IOPS", "RDSのIOPS"),
        ("ReadIOPS and WriteIOPS against the provisioned ones.", "ReadIOPSとWriteIOPSの合計とプロビジョンドIOPS。"),
        Unit.COUNT,
        IOPS,
        IOPS_LIMIT,
        rule="RdsIopsHigh",
    ),
    _database(
        "aws_db_storage",
        ("RDS storage", "RDSのストレージ"),
        ("Allocated storage without FreeStorageSpace.", "割り当てストレージからFreeStorageSpaceを引いた量。"),
        Unit.BYTES,
        f"{discovered('aws_rds_allocated_storage_bytes', DATABASE)}"
        f" - {by_resource('aws_rds_free_storage_space_minimum', DATABASE)}",
        discovered("aws_rds_allocated_storage_bytes", DATABASE),
        rule="RdsStorageLow",
    ),
    _resource(
        "aws_proxy_borrowed",
        ("RDS Proxy connections", "RDS Proxy接続数"),
        (
            "Connections to databases that clients have borrowed, against those that the proxy may open.",
            "クライアントが借用中のデータベース接続とプロキシの許容数。",
        ),
        Unit.COUNT,
        by_resource("aws_rds_database_connections_currently_borrowed_sum", PROXY),
        by_resource("aws_rds_max_database_connections_allowed_sum", PROXY, scale=" > 0"),
        "{{dimension_ProxyName}}",
        "aws_proxies",
        rule="RdsProxyConnectionsHigh",
    ),
    _resource(
        "aws_cache_engine_cpu",
        ("ElastiCache engine CPU", "ElastiCacheエンジンCPU"),
        ("One core runs all commands: 100 % of it is full.", "1コアで全コマンドを処理する。その100%で満杯。"),
        Unit.RATIO,
        ENGINE_CPU,
        whole(ENGINE_CPU),
        "{{dimension_CacheClusterId}}",
        "aws_caches",
        rule="CacheEngineCpuHigh",
    ),
    _resource(
        "aws_lb_unhealthy_targets",
        ("Unhealthy targets", "異常なターゲット"),
        ("Unhealthy targets of all targets of a target group.", "ターゲットグループの全ターゲットのうち異常なもの。"),
        Unit.COUNT,
        UNHEALTHY,
        f"{HEALTHY} + {UNHEALTHY}",
        "{{load_balancer}} {{target_group}}",
        "aws_balancer",
        rule="TargetsUnhealthy",
    ),
)
