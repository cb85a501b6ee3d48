"""Which facts are watched: data. To add something: one entry here; its series come from agents, or from exporters."""

from collections.abc import Mapping
from dataclasses import dataclass

APPLICATION = "app"
MOMENT_SECONDS = 10.0
"""A host's clock that is set moves the times at which its processes started by so much, and no process was started."""
COUNT_METRIC = "aws_discovered_resources"
"""Says that an agent has listed the resources of a `kind` in full: what is not among them is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A label of an info series, or the value of a number.

    Attributes:
        label: name of the label; empty for the value of the series.
        words: what it is called in a sentence.
        tag: tag of the annotation.
        fall_tag: tag when a number falls; `tag` without it.
        only_to: only a change to this value is told: of two that swap, one is enough.
        unless: a label whose presence says that the change is told elsewhere.
        moment: the value is a time, in seconds since the epoch; only one that is later by more than `MOMENT_SECONDS`
            is a change, and it is told at that time.
    """

    label: str
    words: str
    tag: str
    fall_tag: str = ""
    only_to: str = ""
    unless: str = ""
    moment: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """One metric.

    Attributes:
        metric: name of the series.
        kind: the resource's kind in `aws_discovered_resources`.
        noun: what one is called.
        nouns: what several are called.
        title: labels whose values, joined by `/`, name the resource for people.
        fields: what is compared.
        presence: whether coming and going is told; `unless` as of a field.
        key: labels that identify the resource beside account, region and name.
        scales: a label; where it is there, coming and going is scaling out and in.
        origin: who tells it, as author and tag of the annotation.
        often: its samples come each second or so, and are looked at less often than they come.
    """

    metric: str
    kind: str
    noun: str
    title: tuple[str, ...]
    fields: tuple[Field, ...]
    nouns: str = ""
    presence: bool = False
    unless: str = ""
    key: tuple[str, ...] = ()
    scales: str = ""
    origin: str = "aws"
    often: bool = False


def _parameters(words: Mapping[str, str]) -> tuple[Field, ...]:
    return tuple(Field(label=label, words=text, tag="parameter") for label, text in words.items())


def _number(metric: str, kind: str, noun: str, title: tuple[str, ...], words: str, tag: str, fall: str = "") -> Watch:
    field = Field(label="", words=words, tag=tag, fall_tag=fall)
    return Watch(metric=metric, kind=kind, noun=noun, title=title, fields=(field,))


_INSTANCE = ("dimension_DBInstanceIdentifier",)
_SERVICE = ("dimension_ClusterName", "dimension_ServiceName")
_GROUP = ("dimension_AutoScalingGroupName",)
_UPGRADE = Field(label="engine_version", words="engine version", tag="upgrade")

WATCHED: tuple[Watch, ...] = (
    Watch(
        metric="aws_rds_cluster_info",
        kind="rds_cluster",
        noun="Aurora cluster",
        nouns="Aurora clusters",
        title=("cluster",),
        presence=True,
        fields=(
            Field(label="writer", words="writer", tag="failover"),
            _UPGRADE,
            *_parameters({"parameter_group": "parameter group"}),
        ),
    ),
    _number(
        "aws_rds_cluster_max_capacity_units",
        "rds_cluster",
        "Aurora cluster",
        ("dimension_DBClusterIdentifier",),
        "most capacity units",
        "parameter",
    ),
    Watch(
        metric="aws_rds_info",
        kind="rds",
        noun="RDS instance",
        nouns="RDS instances",
        title=("identifier",),
        presence=True,
        scales="cluster",
        fields=(
            Field(label="role", words="role", tag="failover", unless="cluster"),
            # An instance of RDS with a standby goes to the other zone; Aurora's are told by their cluster.
            Field(label="availability_zone", words="availability zone", tag="failover", unless="cluster"),
            Field(label="class", words="class", tag="resize"),
            Field(label="storage_type", words="storage type", tag="resize"),
            _UPGRADE,
            *_parameters(
                {"max_connections": "max_connections", "parameter_group": "parameter group", "multi_az": "Multi-AZ"}
            ),
        ),
    ),
    _number("aws_rds_allocated_storage_bytes", "rds", "RDS instance", _INSTANCE, "allocated storage (bytes)", "resize"),
    _number("aws_rds_provisioned_iops", "rds", "RDS instance", _INSTANCE, "provisioned IOPS", "resize"),
    Watch(
        metric="aws_applicationelb_info",
        kind="alb",
        noun="load balancer",
        nouns="load balancers",
        title=("load_balancer",),
        presence=True,
        fields=_parameters(
            {
                "idle_timeout_seconds": "idle timeout (seconds)",
                "client_keep_alive_seconds": "client keep-alive (seconds)",
                "http2": "HTTP/2",
                "cross_zone": "balancing across zones",
            }
        ),
    ),
    Watch(
        metric="aws_networkelb_info",
        kind="nlb",
        noun="load balancer",
        nouns="load balancers",
        title=("load_balancer",),
        presence=True,
        fields=_parameters({"cross_zone": "balancing across zones"}),
    ),
    Watch(
        metric="aws_target_group_info",
        kind="target_group",
        noun="target group",
        nouns="target groups",
        title=("target_group",),
        presence=True,
        fields=_parameters(
            {
                "load_balancer": "load balancer",
                "health_check_path": "path of health checks",
                "health_check_interval_seconds": "seconds between health checks",
                "health_check_timeout_seconds": "timeout of health checks (seconds)",
                "unhealthy_threshold": "failed health checks until unhealthy",
            }
        ),
    ),
    Watch(
        metric="aws_ecs_service_info",
        kind="ecs_service",
        noun="ECS service",
        nouns="ECS services",
        title=("cluster", "service"),
        presence=True,
        fields=(
            Field(label="task_definition", words="task definition", tag="deploy"),
            *_parameters({"launch_type": "launch type"}),
        ),
    ),
    _number(
        "aws_ecs_service_desired_tasks",
        "ecs_service",
        "ECS service",
        _SERVICE,
        "number of wanted tasks",
        "scale-out",
        "scale-in",
    ),
    Watch(
        metric="aws_autoscaling_group_info",
        kind="autoscaling_group",
        noun="Auto Scaling group",
        nouns="Auto Scaling groups",
        title=("group",),
        presence=True,
        fields=(Field(label="launch_template", words="launch template", tag="deploy"),),
    ),
    _number(
        "aws_autoscaling_group_desired_instances",
        "autoscaling_group",
        "Auto Scaling group",
        _GROUP,
        "number of wanted instances",
        "scale-out",
        "scale-in",
    ),
    _number(
        "aws_autoscaling_group_max_instances", "autoscaling_group", "Auto Scaling group", _GROUP, "maximum", "parameter"
    ),
    Watch(
        metric="aws_ec2_info",
        kind="ec2",
        noun="EC2 instance",
        nouns="EC2 instances",
        title=("instance_name", "instance_id"),
        presence=True,
        unless="autoscaling_group",
        fields=(Field(label="type", words="type", tag="resize"),),
    ),
    Watch(
        metric="aws_elasticache_info",
        kind="elasticache",
        noun="ElastiCache node",
        nouns="ElastiCache nodes",
        title=("identifier", "node"),
        presence=True,
        key=("node",),
        scales="replication_group",
        fields=(
            Field(label="role", words="role", tag="failover", only_to="primary"),
            Field(label="node_type", words="node type", tag="resize"),
            _UPGRADE,
            *_parameters({"parameter_group": "parameter group"}),
        ),
    ),
    Watch(
        metric="aws_lambda_info",
        kind="lambda",
        noun="Lambda function",
        nouns="Lambda functions",
        title=("function",),
        presence=True,
        fields=(
            Field(label="code", words="code", tag="deploy"),
            *_parameters({"runtime": "runtime", "memory_mib": "memory (MiB)", "timeout_seconds": "timeout (seconds)"}),
        ),
    ),
    Watch(
        metric="aws_sqs_info",
        kind="sqs",
        noun="SQS queue",
        nouns="SQS queues",
        title=("queue",),
        presence=True,
        fields=(),
    ),
    Watch(
        metric="process_start_time_seconds",
        kind="process",
        noun="application",
        title=("job", "instance"),
        # Several processes of one search are told apart by `name` and `pid`: a worker that comes is no restart.
        key=("job", "instance", "name", "pid"),
        origin=APPLICATION,
        often=True,
        fields=(Field(label="", words="start", tag="restart", moment=True),),
    ),
    *(
        Watch(
            metric=metric,
            kind="build",
            noun="application",
            title=("job", "instance"),
            key=("job", "instance", "path"),
            origin=APPLICATION,
            often=True,
            fields=(
                Field(label="version", words="version", tag="deploy"),
                Field(label="revision", words="commit", tag="deploy"),
                Field(label="checksum", words="checksum", tag="deploy"),
            ),
        )
        for metric in ("go_build_info", "build_info")
    ),
)

METRICS = frozenset(watch.metric for watch in WATCHED if not watch.often)
OFTEN = frozenset(watch.metric for watch in WATCHED if watch.often)
