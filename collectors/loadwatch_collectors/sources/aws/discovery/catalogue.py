"""What every series of discovery means; all have `account_id`, `region` and `name`, the resource's ARN or id."""

from loadwatch_collectors.collector import MetricInfo


def _info(name: str, what: str) -> MetricInfo:
    return MetricInfo(name=name, type="gauge", help=f"1, with what is known of {what} as labels.")


def _number(name: str, text: str, unit: str = "") -> MetricInfo:
    return MetricInfo(name=name, type="gauge", help=text, unit=unit)


FACT_METRICS: tuple[MetricInfo, ...] = (
    _info("aws_rds_info", "an RDS or Aurora instance"),
    _number("aws_rds_max_connections", "Connections that the instance's parameter group lets it take."),
    _number("aws_rds_memory_bytes", "Memory of the instance's class.", "bytes"),
    _number("aws_rds_allocated_storage_bytes", "Storage that was asked for; not of Aurora, which grows.", "bytes"),
    _number("aws_rds_provisioned_iops", "I/O operations a second that the storage is provisioned for."),
    _number("aws_rds_provisioned_throughput_bytes", "Bytes a second that the storage is provisioned for.", "bytes"),
    _number("aws_rds_available", "1 while RDS says that the instance is available."),
    _info("aws_rds_cluster_info", "an Aurora cluster"),
    _number("aws_rds_cluster_readers", "Readers of the cluster."),
    _number("aws_rds_cluster_min_capacity_units", "Least capacity of Aurora Serverless v2, in units of 2 GiB."),
    _number("aws_rds_cluster_max_capacity_units", "Most capacity of Aurora Serverless v2, in units of 2 GiB."),
    _info("aws_rds_proxy_info", "an RDS proxy"),
    _number(
        "aws_rds_proxy_max_connections_percent",
        "Share of max_connections that the proxy may open of each database, in percent.",
    ),
    _number(
        "aws_rds_proxy_max_idle_connections_percent",
        "Share of max_connections that the proxy keeps open while idle, in percent.",
    ),
    _number(
        "aws_rds_proxy_borrow_timeout_seconds", "How long the proxy lets a client wait for a connection.", "seconds"
    ),
    _number(
        "aws_rds_proxy_idle_client_timeout_seconds",
        "How long the proxy keeps an idle connection of a client.",
        "seconds",
    ),
    _number("aws_rds_proxy_targets", "Databases behind the proxy."),
    _number("aws_rds_proxy_available_targets", "Databases behind the proxy that answer it."),
    _info("aws_applicationelb_info", "an Application Load Balancer"),
    _number(
        "aws_applicationelb_idle_timeout_seconds", "How long the balancer keeps an idle connection open.", "seconds"
    ),
    _number(
        "aws_applicationelb_client_keep_alive_seconds",
        "How long the balancer keeps a client's connection at most.",
        "seconds",
    ),
    _info("aws_networkelb_info", "a Network Load Balancer"),
    _info("aws_target_group_info", "a target group"),
    _info("aws_target_health", "one target's health"),
    _info("aws_ecs_cluster_info", "an ECS cluster"),
    _info("aws_ecs_service_info", "an ECS service"),
    _number("aws_ecs_service_desired_tasks", "Tasks that the service wants."),
    _number("aws_ecs_service_running_tasks", "Tasks of the service that run."),
    _number("aws_ecs_service_pending_tasks", "Tasks of the service that are about to run."),
    _info("aws_autoscaling_group_info", "an Auto Scaling group"),
    _number("aws_autoscaling_group_desired_instances", "Instances that the group wants."),
    _number("aws_autoscaling_group_in_service_instances", "Instances of the group that are in service."),
    _number("aws_autoscaling_group_unhealthy_instances", "Instances of the group that are unhealthy."),
    _number("aws_autoscaling_group_min_instances", "Least size of the group."),
    _number("aws_autoscaling_group_max_instances", "Greatest size of the group."),
    _info("aws_ec2_info", "an EC2 instance"),
    _info("aws_ebs_info", "an EBS volume at an instance"),
    _number("aws_ebs_size_bytes", "Size of the volume.", "bytes"),
    _number("aws_ebs_provisioned_iops", "I/O operations a second that the volume is provisioned for."),
    _info("aws_natgateway_info", "a NAT gateway"),
    _number("aws_natgateway_addresses", "Addresses of the gateway; each takes 55,000 connections to one destination."),
    _info("aws_elasticache_info", "an ElastiCache node"),
    _info("aws_lambda_info", "a Lambda function"),
    _number("aws_lambda_timeout_seconds", "How long one run of the function may take.", "seconds"),
    _info("aws_sqs_info", "an SQS queue"),
    _number(
        "aws_discovery_age_seconds", "Time since the resources of one service were last listed in full.", "seconds"
    ),
    _number("aws_discovered_resources", "Resources that were found, by kind."),
)
