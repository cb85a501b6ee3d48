"""What can run out in AWS. `$window` is how far back a discovered number holds."""

from collections.abc import Sequence

from loadwatch_backend.signals.catalogue.aws_parts import (
    CACHE,
    CLOUDWATCH,
    DATABASE,
    by_balancer,
    by_resource,
    discovered,
)
from loadwatch_backend.signals.model import Resource, Unit, Words

TARGETS = "dimension_TargetGroup"


def _resource(
    id: str, title: tuple[str, str], help: tuple[str, str], unit: Unit, used: str, limit: str, legend: str, group: str
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
        delivery=CLOUDWATCH,
    )


def _database(id: str, title: tuple[str, str], help: tuple[str, str], unit: Unit, used: str, limit: str) -> Resource:
    return _resource(id, title, help, unit, used, limit, "{{dimension_DBInstanceIdentifier}}", "aws_database")


def _whole(expression: str) -> str:
    return f"{expression} * 0 + 1"


CPU = by_resource("aws_rds_cpuutilization_average", DATABASE, scale=" / 100")
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
    ),
    _database(
        "aws_db_cpu",
        ("RDS CPU", "RDSのCPU"),
        ("CPUUtilization, all cores together.", "CPUUtilization(全コア)。"),
        Unit.RATIO,
        CPU,
        _whole(CPU),
    ),
    _database(
        "aws_db_memory",
        ("RDS memory", "RDSのメモリ"),
        (
            "Memory of the class without FreeableMemory.",
            "インスタンスクラスのメモリからFreeableMemoryを引いた量。",
        ),
        Unit.BYTES,
        f"{discovered('aws_rds_memory_bytes', DATABASE)} - {by_resource('aws_rds_freeable_memory_minimum', DATABASE)}",
        discovered("aws_rds_memory_bytes", DATABASE),
    ),
    _database(
        "aws_db_iops",
        ("RDS IOPS", "RDSのIOPS"),
        ("ReadIOPS and WriteIOPS against the provisioned ones.", "ReadIOPSとWriteIOPSの合計とプロビジョンドIOPS。"),
        Unit.COUNT,
        f"{by_resource('aws_rds_read_iops_average', DATABASE)} + {by_resource('aws_rds_write_iops_average', DATABASE)}",
        discovered("aws_rds_provisioned_iops", DATABASE, scale=" > 0"),
    ),
    _database(
        "aws_db_storage",
        ("RDS storage", "RDSのストレージ"),
        ("Allocated storage without FreeStorageSpace.", "割り当てストレージからFreeStorageSpaceを引いた量。"),
        Unit.BYTES,
        f"{discovered('aws_rds_allocated_storage_bytes', DATABASE)}"
        f" - {by_resource('aws_rds_free_storage_space_minimum', DATABASE)}",
        discovered("aws_rds_allocated_storage_bytes", DATABASE),
    ),
    _resource(
        "aws_cache_engine_cpu",
        ("ElastiCache engine CPU", "ElastiCacheエンジンCPU"),
        ("One core runs all commands: 100 % of it is full.", "1コアで全コマンドを処理する。その100%で満杯。"),
        Unit.RATIO,
        ENGINE_CPU,
        _whole(ENGINE_CPU),
        "{{dimension_CacheClusterId}}",
        "aws_caches",
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
    ),
)
