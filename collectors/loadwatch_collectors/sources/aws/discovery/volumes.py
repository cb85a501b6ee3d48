"""EBS volumes, each with the instances that it is attached to."""

from collections.abc import Iterator

from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.discovery.facts import GIB, arn_of, attributes, info, number
from loadwatch_collectors.sources.aws.discovery.part import Item, Look, Part, Permission, listed, tag_pairs
from loadwatch_collectors.sources.aws.model import Pairs, Resource

_ATTACHED = [{"Name": "attachment.status", "Values": ["attached"]}]


def read_volumes(look: Look) -> Iterator[Item]:
    """A resource for each attachment, since CloudWatch's checks are of one volume at one instance."""
    for row in look.rows("ec2", "describe_volumes", "Volumes", {"Filters": _ATTACHED, "MaxResults": 500}):
        tags = tag_pairs(row.get("Tags"))
        for attachment in listed(row, "Attachments"):
            instance = attachment.get("InstanceId")
            if instance and attachment.get("State") == "attached":
                yield from _attached(look, row, instance, attachment.get("Device"), tags)


def _attached(look: Look, row: Document, instance: str, device: str | None, tags: Pairs) -> Iterator[Item]:
    identifier, place = row["VolumeId"], look.place
    arn = arn_of(place, "ec2", f"volume/{identifier}")
    name = dict(tags).get("Name", "")
    presets = look.choose("ebs", tuple(filter(None, (identifier, name, instance))), arn, tags)
    if not presets:
        return
    dimensions = (("InstanceId", instance), ("VolumeId", identifier))
    size = row.get("Size")
    yield Item(
        resource=Resource(
            kind="ebs",
            name=arn,
            place=place,
            dimensions=dimensions,
            tags=tags,
            presets=presets,
            attributes=attributes(storage_type=row.get("VolumeType")),
        ),
        facts=(
            info(
                "aws_ebs_info",
                place,
                arn,
                volume=identifier,
                volume_name=name,
                instance_id=instance,
                device=device,
                type=row.get("VolumeType"),
                availability_zone=row.get("AvailabilityZone"),
            ),
            *number("aws_ebs_size_bytes", place, arn, None if size is None else size * GIB, dimensions),
            *number("aws_ebs_provisioned_iops", place, arn, row.get("Iops"), dimensions),
        ),
    )


VOLUMES = Part(
    name="volumes",
    kinds=("ebs",),
    read=read_volumes,
    permissions=(
        Permission(action="ec2:DescribeVolumes", lost="EBS volumes are not found: none of their checks is read"),
    ),
)
