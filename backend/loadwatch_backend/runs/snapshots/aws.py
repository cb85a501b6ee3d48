"""What agents have discovered at AWS, as settings; one target's keys name the resource after the fact."""

from loadwatch_backend.runs.snapshots.query import Form, Section, SettingQuery

_RDS = "{identifier}"
_SERVICE = "{dimension_ClusterName}/{dimension_ServiceName}"
_GROUP = "{dimension_AutoScalingGroupName}"
_INSTANCE = "{dimension_DBInstanceIdentifier}"
_CLUSTER = "{dimension_DBClusterIdentifier}"


def _text(
    key: str,
    metric: str,
    *labels: str,
    unit: str = "",
    deliberate: bool = True,
    important: bool = True,
) -> SettingQuery:
    return SettingQuery(
        section=Section.CLOUD,
        key=key,
        expression=metric,
        form=Form.TEXT,
        text=labels,
        unit=unit,
        deliberate=deliberate,
        important=important,
    )


def _number(key: str, expression: str, *, unit: str = "", deliberate: bool = True) -> SettingQuery:
    return SettingQuery(section=Section.CLOUD, key=key, expression=expression, unit=unit, deliberate=deliberate)


DATABASES = (
    _text(f"class {_RDS}", "aws_rds_info", "class"),
    _text(f"engine {_RDS}", "aws_rds_info", "engine", "engine_version"),
    _text(f"max_connections {_RDS}", "aws_rds_info", "max_connections"),
    _text(f"parameter_group {_RDS}", "aws_rds_info", "parameter_group"),
    _text(f"storage_type {_RDS}", "aws_rds_info", "storage_type"),
    _text(f"multi_az {_RDS}", "aws_rds_info", "multi_az"),
    # A failover needs nobody; that the run began on another writer matters all the same.
    _text(f"role {_RDS}", "aws_rds_info", "role", deliberate=False),
    _text(f"availability_zone {_RDS}", "aws_rds_info", "availability_zone", deliberate=False, important=False),
    _number(f"storage {_INSTANCE}", "aws_rds_allocated_storage_bytes", unit="bytes"),
    _number(f"provisioned_iops {_INSTANCE}", "aws_rds_provisioned_iops"),
    _text("writer {cluster}", "aws_rds_cluster_info", "writer", deliberate=False),
    _number(f"readers {_CLUSTER}", "aws_rds_cluster_readers"),
    _number(f"min_capacity_units {_CLUSTER}", "aws_rds_cluster_min_capacity_units"),
    _number(f"max_capacity_units {_CLUSTER}", "aws_rds_cluster_max_capacity_units"),
)

BALANCERS = (
    _text("idle_timeout {load_balancer}", "aws_applicationelb_info", "idle_timeout_seconds", unit="seconds"),
    _text("client_keep_alive {load_balancer}", "aws_applicationelb_info", "client_keep_alive_seconds", unit="seconds"),
    _text("http2 {load_balancer}", "aws_applicationelb_info", "http2", important=False),
    _text("cross_zone {load_balancer}", "aws_applicationelb_info", "cross_zone", important=False),
    _text("cross_zone {load_balancer}", "aws_networkelb_info", "cross_zone", important=False),
    _text("health_check_path {target_group}", "aws_target_group_info", "health_check_path", important=False),
    _text(
        "health_check_interval {target_group}",
        "aws_target_group_info",
        "health_check_interval_seconds",
        unit="seconds",
        important=False,
    ),
    _number("targets {target_group}", "count by (job, instance, target_group) (aws_target_health)"),
    _number(
        "healthy_targets {target_group}",
        'count by (job, instance, target_group) (aws_target_health{state="healthy"})',
        deliberate=False,
    ),
)

COMPUTE = (
    _text("task_definition {cluster}/{service}", "aws_ecs_service_info", "task_definition"),
    _text("launch_type {cluster}/{service}", "aws_ecs_service_info", "launch_type", important=False),
    _number(f"desired_tasks {_SERVICE}", "aws_ecs_service_desired_tasks"),
    _number(f"running_tasks {_SERVICE}", "aws_ecs_service_running_tasks", deliberate=False),
    _text("launch_template {group}", "aws_autoscaling_group_info", "launch_template"),
    _number(f"desired_instances {_GROUP}", "aws_autoscaling_group_desired_instances"),
    _number(f"min_instances {_GROUP}", "aws_autoscaling_group_min_instances"),
    _number(f"max_instances {_GROUP}", "aws_autoscaling_group_max_instances"),
    _number("ec2_instances {type}", "count by (job, instance, type) (aws_ec2_info)"),
)

OTHERS = (
    _text("node_type {identifier} {node}", "aws_elasticache_info", "node_type"),
    _text("engine {identifier} {node}", "aws_elasticache_info", "engine", "engine_version"),
    _text("role {identifier} {node}", "aws_elasticache_info", "role", deliberate=False),
    _text("code {function}", "aws_lambda_info", "code"),
    _text("memory {function}", "aws_lambda_info", "memory_mib", unit="MiB"),
    _text("timeout {function}", "aws_lambda_info", "timeout_seconds", unit="seconds"),
    _text("runtime {function}", "aws_lambda_info", "runtime"),
)

CLOUD = (*DATABASES, *BALANCERS, *COMPUTE, *OTHERS)
