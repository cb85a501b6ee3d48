"""ECS: clusters, and services with their task counts and task definition."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.discovery.facts import attributes, info, number
from loadwatch_collectors.sources.aws.discovery.part import Item, Look, Part, Permission, listed, tag_pairs
from loadwatch_collectors.sources.aws.model import Pairs, Resource

_T = TypeVar("_T")
_CLUSTERS_OF_A_CALL = 100
_SERVICES_OF_A_CALL = 10
_ARNS_OF_A_PAGE = 100


def chunks(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """The items in runs of at most `size`."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def read_ecs(look: Look) -> Iterator[Item]:
    """Clusters, and the services of each."""
    arns = list(look.rows("ecs", "list_clusters", "clusterArns"))
    described = look.optional(lambda: _describe_clusters(look, arns), dict[str, Document]())
    for arn in arns:
        name = str(arn).rpartition("/")[2]
        cluster = described.get(str(arn), {})
        presets = look.choose("ecs_cluster", (name,), str(arn), _tags(cluster) if cluster else None)
        if presets:
            yield _cluster_item(look, str(arn), name, cluster, presets)
        if look.selection.wants("ecs_service"):
            yield from _services(look, str(arn), name, _insights(cluster))


def _describe_clusters(look: Look, arns: Sequence[object]) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for some in chunks(arns, _CLUSTERS_OF_A_CALL):
        answer = look.call("ecs", "describe_clusters", {"clusters": list(some), "include": ["SETTINGS", "TAGS"]})
        found |= {row["clusterArn"]: row for row in listed(answer, "clusters")}
    return found


def _cluster_item(look: Look, arn: str, name: str, cluster: Document, presets: tuple[str, ...]) -> Item:
    return Item(
        resource=Resource(
            kind="ecs_cluster",
            name=arn,
            place=look.place,
            dimensions=(("ClusterName", name),),
            tags=_tags(cluster),
            presets=presets,
            attributes=attributes(
                container_insights=_insights(cluster),
                container_instances=int(cluster.get("registeredContainerInstancesCount") or 0) > 0,
            ),
        ),
        facts=(
            info(
                "aws_ecs_cluster_info",
                look.place,
                arn,
                cluster=name,
                container_insights=_insights(cluster),
            ),
        ),
    )


def _insights(cluster: Document) -> str:
    """Whether Container Insights is on: `enabled`, `enhanced`, `disabled`, or empty when it is not known."""
    settings: dict[str, str] = {entry["name"]: entry["value"] for entry in listed(cluster, "settings")}
    return settings.get("containerInsights", "")


def _listing(cluster_arn: str) -> dict[str, object]:
    # Without a number it gives ten at a time.
    return {"cluster": cluster_arn, "maxResults": _ARNS_OF_A_PAGE}


def _services(look: Look, cluster_arn: str, cluster: str, insights: str) -> Iterator[Item]:
    arns = [str(arn) for arn in look.rows("ecs", "list_services", "serviceArns", _listing(cluster_arn))]
    for some in chunks(arns, _SERVICES_OF_A_CALL):
        parameters = {"cluster": cluster_arn, "services": list(some), "include": ["TAGS"]}
        for row in listed(look.call("ecs", "describe_services", parameters), "services"):
            if row.get("status") == "INACTIVE":
                continue
            presets = look.choose("ecs_service", (row["serviceName"], cluster), row["serviceArn"], _tags(row))
            if presets:
                yield _service_item(look, row, cluster, insights, presets)


def _service_item(look: Look, row: Document, cluster: str, insights: str, presets: tuple[str, ...]) -> Item:
    arn, place = row["serviceArn"], look.place
    dimensions = (("ClusterName", cluster), ("ServiceName", row["serviceName"]))
    providers = [entry["capacityProvider"] for entry in listed(row, "capacityProviderStrategy")]
    described = info(
        "aws_ecs_service_info",
        place,
        arn,
        cluster=cluster,
        service=row["serviceName"],
        task_definition=str(row.get("taskDefinition") or "").rpartition("/")[2],
        launch_type=row.get("launchType") or ",".join(providers),
        target_groups=",".join(
            str(entry["targetGroupArn"]).split("/")[1]
            for entry in listed(row, "loadBalancers")
            if entry.get("targetGroupArn")
        ),
    )
    return Item(
        resource=Resource(
            kind="ecs_service",
            name=arn,
            place=place,
            dimensions=dimensions,
            tags=_tags(row),
            presets=presets,
            attributes=attributes(container_insights=insights, launch_type=row.get("launchType")),
        ),
        facts=(
            described,
            *number("aws_ecs_service_desired_tasks", place, arn, row.get("desiredCount"), dimensions),
            *number("aws_ecs_service_running_tasks", place, arn, row.get("runningCount"), dimensions),
            *number("aws_ecs_service_pending_tasks", place, arn, row.get("pendingCount"), dimensions),
        ),
    )


def _tags(row: Document) -> Pairs:
    return tag_pairs(listed(row, "tags"), "key", "value")


ECS = Part(
    name="ecs",
    kinds=("ecs_cluster", "ecs_service"),
    read=read_ecs,
    often=True,
    permissions=(
        Permission(action="ecs:ListClusters", lost="ECS is not seen: no clusters, services or tasks"),
        Permission(action="ecs:DescribeClusters", lost="tags of ECS clusters, and whether Container Insights is on"),
        Permission(action="ecs:ListServices", lost="ECS services are not found: none of their metrics is read"),
        Permission(action="ecs:DescribeServices", lost="task counts and task definitions of ECS services"),
    ),
)
