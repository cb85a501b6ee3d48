"""NAT gateways: what instances of private networks reach others through."""

from collections.abc import Iterator

from loadwatch_collectors.sources.aws.discovery.facts import arn_of, info, number
from loadwatch_collectors.sources.aws.discovery.part import Item, Look, Part, Permission, listed, tag_pairs
from loadwatch_collectors.sources.aws.model import Resource

_LIVE = [{"Name": "state", "Values": ["pending", "available", "deleting"]}]


def read_nat_gateways(look: Look) -> Iterator[Item]:
    """Gateways that work, or are about to begin or end."""
    parameters = {"Filter": _LIVE, "MaxResults": 1000}
    for row in look.rows("ec2", "describe_nat_gateways", "NatGateways", parameters):
        identifier, tags, place = row["NatGatewayId"], tag_pairs(row.get("Tags")), look.place
        arn = arn_of(place, "ec2", f"natgateway/{identifier}")
        name = dict(tags).get("Name", "")
        presets = look.choose("nat_gateway", tuple(filter(None, (identifier, name))), arn, tags)
        if not presets:
            continue
        dimensions = (("NatGatewayId", identifier),)
        yield Item(
            resource=Resource(
                kind="nat_gateway", name=arn, place=place, dimensions=dimensions, tags=tags, presets=presets
            ),
            facts=(
                info(
                    "aws_natgateway_info",
                    place,
                    arn,
                    gateway=identifier,
                    gateway_name=name,
                    vpc=row.get("VpcId"),
                    subnet=row.get("SubnetId"),
                    connectivity=row.get("ConnectivityType"),
                    state=row.get("State"),
                ),
                *number("aws_natgateway_addresses", place, arn, len(listed(row, "NatGatewayAddresses")), dimensions),
            ),
        )


NAT_GATEWAYS = Part(
    name="nat_gateways",
    kinds=("nat_gateway",),
    read=read_nat_gateways,
    permissions=(
        Permission(action="ec2:DescribeNatGateways", lost="NAT gateways are not found: none of their metrics is read"),
    ),
)
