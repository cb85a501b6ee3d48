"""Tags of what describe calls do not tell the tags of: one tag:GetResources instead of a call for each resource."""

from collections.abc import Mapping, Sequence
from typing import Any

from loadwatch_collectors.sources.aws.client.client import AwsClient
from loadwatch_collectors.sources.aws.discovery.part import Permission, has_wildcard, tag_pairs
from loadwatch_collectors.sources.aws.model import Pairs

TAGGED = Permission(
    action="tag:GetResources",
    lost="what is chosen by tags among load balancers, target groups, ECS clusters, RDS proxies, ElastiCache, Lambda "
    "and SQS",
)

_TYPES = {
    "alb": ("elasticloadbalancing:loadbalancer",),
    "nlb": ("elasticloadbalancing:loadbalancer",),
    "target_group": ("elasticloadbalancing:targetgroup",),
    "ecs_cluster": ("ecs:cluster",),
    "rds_proxy": ("rds:db-proxy",),
    "elasticache": ("elasticache:cluster",),
    "lambda": ("lambda:function",),
    "sqs": ("sqs",),
}
"""Resource types of the Resource Groups Tagging API by kind."""
LOOKED_UP = frozenset(_TYPES) - {"ecs_cluster"}
"""Kinds whose tags are read by it. Of clusters it is asked only where they may not be described."""


def tag_filters(wanted: Mapping[str, str]) -> list[dict[str, Any]]:
    """`TagFilters` that find at least what is wanted; wildcards are matched afterwards."""
    return [
        {"Key": key} if has_wildcard(value) else {"Key": key, "Values": [value]}
        for key, value in sorted(wanted.items())
    ]


class TagLookup:
    """Tags by ARN, asked for once in a look for each kind and set of tags."""

    def __init__(self, client: AwsClient, deadline: float) -> None:
        self._client = client
        self._deadline = deadline
        self._found: dict[str, Mapping[str, Pairs]] = {}

    def __call__(self, kind: str, wanted: Sequence[Mapping[str, str]]) -> Mapping[str, Pairs]:
        """The tags of resources of a kind that have any of the wanted sets.

        Raises:
            AwsError: they cannot be read.
        """
        if kind not in self._found:
            found: dict[str, Pairs] = {}
            for tags in wanted:
                parameters = {
                    "ResourceTypeFilters": list(_TYPES[kind]),
                    "TagFilters": tag_filters(tags),
                    "ResourcesPerPage": 100,
                }
                pages = self._client.pages(
                    "resourcegroupstaggingapi", "get_resources", parameters, deadline=self._deadline
                )
                for page in pages:
                    for row in page.get("ResourceTagMappingList") or ():
                        found[row["ResourceARN"]] = tag_pairs(row.get("Tags"))
            self._found[kind] = found
        return self._found[kind]
