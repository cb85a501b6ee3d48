"""What the collector `cloudwatch` tells of itself and of the resources that it finds.

All facts have `account_id`, `region` and `name`, the resource's ARN or id. The series of CloudWatch's own metrics are
named by the presets of the agent.
"""

from loadwatch_formats.metrics.model import describe

HEALTH = describe(
    aws_api_requests_total="Requests to AWS, by how they ended: ok, throttled, forbidden, credentials, expired, "
    "clock, unreachable, failed or refused.",
    aws_api_throttled_total="Requests to AWS that were throttled.",
    aws_api_request_duration_seconds_total="Time that requests to AWS took.",
    aws_metrics_requested_total="Metrics asked for by GetMetricData, as CloudWatch bills them: up to five "
    "statistics of one are one.",
    aws_query_states_total="Answers to single queries of GetMetricData: Complete, PartialData, InternalError or "
    "Forbidden.",
    aws_place_up="1 while an account in a region can be read, else 0.",
    aws_place_error_info="1 while something of a place fails, with the error as label.",
    aws_wanted_metrics="Metrics of CloudWatch that are to be read.",
    aws_unread_metrics="Metrics that were due at the last poll and could not be read whole; they are asked for again.",
    aws_poll_duration_seconds="Time that one poll of one place took.",
    aws_newest_point_age_seconds="How far CloudWatch is behind: time since the end of the newest point that it "
    "has delivered.",
    aws_clock_offset_seconds="By how much this host's clock is ahead of AWS's, by the Date of the last answer; "
    "known to a second.",
    aws_missing_permissions="1 for each permission that the collector lacks.",
)

BUDGET = describe(
    aws_cost_usd_total="What the collector has cost since its start, by AWS's list prices: metrics "
    "(GetMetricData), requests (others to CloudWatch) and insights (Performance Insights).",
    aws_cost_usd_per_month_estimate="What the collector will cost in 30 days, by AWS's list prices.",
    aws_budget_usd_per_month="What the collector may cost in 30 days.",
    aws_budget_slowdown_factor="How much less often a preset's metrics are read to stay within the budget; 1 is "
    "not at all less often, infinity that they are not read.",
)

FACTS = describe(
    aws_rds_info="1, with what is known of an RDS or Aurora instance as labels.",
    aws_rds_max_connections="Connections that the instance's parameter group lets it take.",
    aws_rds_memory_bytes="Memory of the instance's class.",
    aws_rds_allocated_storage_bytes="Storage that was asked for; not of Aurora, which grows.",
    aws_rds_provisioned_iops="I/O operations a second that the storage is provisioned for.",
    aws_rds_provisioned_throughput_bytes="Bytes a second that the storage is provisioned for.",
    aws_rds_available="1 while RDS says that the instance is available.",
    aws_rds_cluster_info="1, with what is known of an Aurora cluster as labels.",
    aws_rds_cluster_readers="Readers of the cluster.",
    aws_rds_cluster_min_capacity_units="Least capacity of Aurora Serverless v2, in units of 2 GiB.",
    aws_rds_cluster_max_capacity_units="Most capacity of Aurora Serverless v2, in units of 2 GiB.",
    aws_rds_proxy_info="1, with what is known of an RDS proxy as labels.",
    aws_rds_proxy_max_connections_percent="Share of max_connections that the proxy may open of each database, in "
    "percent.",
    aws_rds_proxy_max_idle_connections_percent="Share of max_connections that the proxy keeps open while idle, in "
    "percent.",
    aws_rds_proxy_borrow_timeout_seconds="How long the proxy lets a client wait for a connection.",
    aws_rds_proxy_idle_client_timeout_seconds="How long the proxy keeps an idle connection of a client.",
    aws_rds_proxy_targets="Databases behind the proxy.",
    aws_rds_proxy_available_targets="Databases behind the proxy that answer it.",
    aws_applicationelb_info="1, with what is known of an Application Load Balancer as labels.",
    aws_applicationelb_idle_timeout_seconds="How long the balancer keeps an idle connection open.",
    aws_applicationelb_client_keep_alive_seconds="How long the balancer keeps a client's connection at most.",
    aws_networkelb_info="1, with what is known of a Network Load Balancer as labels.",
    aws_target_group_info="1, with what is known of a target group as labels.",
    aws_target_health="1, with what is known of one target's health as labels.",
    aws_ecs_cluster_info="1, with what is known of an ECS cluster as labels.",
    aws_ecs_service_info="1, with what is known of an ECS service as labels.",
    aws_ecs_service_desired_tasks="Tasks that the service wants.",
    aws_ecs_service_running_tasks="Tasks of the service that run.",
    aws_ecs_service_pending_tasks="Tasks of the service that are about to run.",
    aws_autoscaling_group_info="1, with what is known of an Auto Scaling group as labels.",
    aws_autoscaling_group_desired_instances="Instances that the group wants.",
    aws_autoscaling_group_in_service_instances="Instances of the group that are in service.",
    aws_autoscaling_group_unhealthy_instances="Instances of the group that are unhealthy.",
    aws_autoscaling_group_min_instances="Least size of the group.",
    aws_autoscaling_group_max_instances="Greatest size of the group.",
    aws_ec2_info="1, with what is known of an EC2 instance as labels.",
    aws_ebs_info="1, with what is known of an EBS volume at an instance as labels.",
    aws_ebs_size_bytes="Size of the volume.",
    aws_ebs_provisioned_iops="I/O operations a second that the volume is provisioned for.",
    aws_natgateway_info="1, with what is known of a NAT gateway as labels.",
    aws_natgateway_addresses="Addresses of the gateway; each takes 55,000 connections to one destination.",
    aws_elasticache_info="1, with what is known of an ElastiCache node as labels.",
    aws_lambda_info="1, with what is known of a Lambda function as labels.",
    aws_lambda_timeout_seconds="How long one run of the function may take.",
    aws_sqs_info="1, with what is known of an SQS queue as labels.",
    aws_discovery_age_seconds="Time since the resources of one service were last listed in full.",
    aws_discovered_resources="Resources that were found, by kind.",
)

METRICS = (*HEALTH, *BUDGET, *FACTS)
