"""Auto Scaling groups and EC2 instances."""

from collections.abc import Iterator

from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.discovery.facts import arn_of, attributes, info, number
from loadwatch_collectors.sources.aws.discovery.part import Item, Look, Part, Permission, inner, listed, tag_pairs
from loadwatch_collectors.sources.aws.model import Resource

_LIVE = [{"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "shutting-down"]}]


def read_autoscaling(look: Look) -> Iterator[Item]:
    """Auto Scaling groups with wanted and real sizes."""
    for row in look.rows("autoscaling", "describe_auto_scaling_groups", "AutoScalingGroups", {"MaxRecords": 100}):
        name, arn, tags = row["AutoScalingGroupName"], row["AutoScalingGroupARN"], tag_pairs(row.get("Tags"))
        presets = look.choose("autoscaling_group", (name,), arn, tags)
        if not presets:
            continue
        dimensions = (("AutoScalingGroupName", name),)
        instances = listed(row, "Instances")
        in_service = sum(1 for instance in instances if instance.get("LifecycleState") == "InService")
        unhealthy = sum(1 for instance in instances if instance.get("HealthStatus", "").lower() == "unhealthy")
        yield Item(
            resource=Resource(
                kind="autoscaling_group",
                name=arn,
                place=look.place,
                dimensions=dimensions,
                tags=tags,
                presets=presets,
                attributes=attributes(group_metrics=bool(row.get("EnabledMetrics"))),
            ),
            facts=(
                info(
                    "aws_autoscaling_group_info",
                    look.place,
                    arn,
                    group=name,
                    launch_template=_template(row),
                    target_groups=",".join(str(one).split("/")[1] for one in row.get("TargetGroupARNs") or ()),
                ),
                *number(
                    "aws_autoscaling_group_desired_instances", look.place, arn, row.get("DesiredCapacity"), dimensions
                ),
                *number("aws_autoscaling_group_in_service_instances", look.place, arn, in_service, dimensions),
                *number("aws_autoscaling_group_unhealthy_instances", look.place, arn, unhealthy, dimensions),
                *number("aws_autoscaling_group_min_instances", look.place, arn, row.get("MinSize"), dimensions),
                *number("aws_autoscaling_group_max_instances", look.place, arn, row.get("MaxSize"), dimensions),
            ),
        )


def _template(row: Document) -> str:
    template = inner(row, "LaunchTemplate")
    policy = inner(inner(row, "MixedInstancesPolicy"), "LaunchTemplate")
    template = template or inner(policy, "LaunchTemplateSpecification")
    if template:
        name = template.get("LaunchTemplateName") or template.get("LaunchTemplateId") or ""
        return f"{name}:{template.get('Version') or '$Default'}"
    return row.get("LaunchConfigurationName") or ""


def read_ec2(look: Look) -> Iterator[Item]:
    """Instances that run, or are about to begin or end."""
    parameters = {"Filters": _LIVE, "MaxResults": 1000}
    for reservation in look.rows("ec2", "describe_instances", "Reservations", parameters):
        owner = reservation.get("OwnerId") or look.place.account_id
        for row in listed(reservation, "Instances"):
            identifier, tags = row["InstanceId"], tag_pairs(row.get("Tags"))
            arn = arn_of(look.place, "ec2", f"instance/{identifier}", owner)
            named = dict(tags)
            names = tuple(filter(None, (identifier, named.get("Name"))))
            presets = look.choose("ec2", names, arn, tags)
            if presets:
                yield _instance_item(look, row, arn, named, presets)


def _instance_item(look: Look, row: Document, arn: str, named: dict[str, str], presets: tuple[str, ...]) -> Item:
    identifier = row["InstanceId"]
    return Item(
        resource=Resource(
            kind="ec2",
            name=arn,
            place=look.place,
            dimensions=(("InstanceId", identifier),),
            tags=tuple(sorted(named.items())),
            presets=presets,
            attributes=attributes(
                **{"class": row.get("InstanceType")},
                monitoring=inner(row, "Monitoring").get("State"),
                hypervisor=row.get("Hypervisor"),
            ),
        ),
        facts=(
            info(
                "aws_ec2_info",
                look.place,
                arn,
                instance_id=identifier,
                instance_name=named.get("Name"),
                type=row.get("InstanceType"),
                availability_zone=inner(row, "Placement").get("AvailabilityZone"),
                image=row.get("ImageId"),
                private_address=row.get("PrivateIpAddress"),
                autoscaling_group=named.get("aws:autoscaling:groupName"),
                monitoring=inner(row, "Monitoring").get("State"),
                state=inner(row, "State").get("Name"),
            ),
        ),
    )


AUTOSCALING = Part(
    name="autoscaling",
    kinds=("autoscaling_group",),
    read=read_autoscaling,
    often=True,
    permissions=(
        Permission(
            action="autoscaling:DescribeAutoScalingGroups",
            lost="Auto Scaling groups: scaling out and in is not noted on the charts",
        ),
    ),
)

EC2 = Part(
    name="ec2",
    kinds=("ec2",),
    read=read_ec2,
    permissions=(
        Permission(action="ec2:DescribeInstances", lost="EC2 instances are not found: none of their metrics is read"),
    ),
)
