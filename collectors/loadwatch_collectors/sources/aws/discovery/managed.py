"""ElastiCache nodes with their role, Lambda functions, and SQS queues."""

from collections.abc import Iterator

from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.discovery.facts import arn_of, attributes, info, number
from loadwatch_collectors.sources.aws.discovery.part import Item, Look, Part, Permission, inner, listed
from loadwatch_collectors.sources.aws.model import Resource

_SHOWN_HASH = 12


def read_elasticache(look: Look) -> Iterator[Item]:
    """Nodes of Redis, Valkey and Memcached."""
    roles = look.optional(lambda: _roles(look), dict[str, str]())
    parameters = {"ShowCacheNodeInfo": True, "MaxRecords": 100}
    for row in look.rows("elasticache", "describe_cache_clusters", "CacheClusters", parameters):
        name, arn, group = row["CacheClusterId"], row.get("ARN") or "", row.get("ReplicationGroupId") or ""
        presets = look.choose("elasticache", tuple(filter(None, (name, group))), arn, None)
        if presets:
            yield from _nodes(look, row, roles, presets)


def _roles(look: Look) -> dict[str, str]:
    """`primary` or `replica` by cache cluster; AWS does not tell it where cluster mode is enabled."""
    found: dict[str, str] = {}
    for row in look.rows("elasticache", "describe_replication_groups", "ReplicationGroups", {"MaxRecords": 100}):
        for group in listed(row, "NodeGroups"):
            for member in listed(group, "NodeGroupMembers"):
                if member.get("CurrentRole"):
                    found[member["CacheClusterId"]] = member["CurrentRole"]
    return found


def _replica(row: Document, role: str | None) -> bool | None:
    """Whether a node follows a primary; None where AWS does not tell."""
    if role:
        return role == "replica"
    return None if row.get("ReplicationGroupId") else False


def _nodes(look: Look, row: Document, roles: dict[str, str], presets: tuple[str, ...]) -> Iterator[Item]:
    name, arn = row["CacheClusterId"], row.get("ARN") or row["CacheClusterId"]
    nodes = [node["CacheNodeId"] for node in listed(row, "CacheNodes")] or ["0001"]
    for node in nodes:
        described = info(
            "aws_elasticache_info",
            look.place,
            arn,
            identifier=name,
            node=node if len(nodes) > 1 else None,
            replication_group=row.get("ReplicationGroupId"),
            role=roles.get(name),
            engine=row.get("Engine"),
            engine_version=row.get("EngineVersion"),
            node_type=row.get("CacheNodeType"),
            parameter_group=inner(row, "CacheParameterGroup").get("CacheParameterGroupName"),
        )
        yield Item(
            resource=Resource(
                kind="elasticache",
                name=arn,
                place=look.place,
                dimensions=(("CacheClusterId", name), ("CacheNodeId", node)),
                presets=presets,
                attributes=attributes(
                    **{"class": row.get("CacheNodeType")},
                    engine=row.get("Engine"),
                    role=roles.get(name),
                    replica=_replica(row, roles.get(name)),
                ),
            ),
            facts=(described,),
        )


def read_lambda(look: Look) -> Iterator[Item]:
    """Functions with memory, timeout and code."""
    for row in look.rows("lambda", "list_functions", "Functions", {"MaxItems": 50}):
        name, arn = row["FunctionName"], row["FunctionArn"]
        presets = look.choose("lambda", (name,), arn, None)
        if not presets:
            continue
        dimensions = (("FunctionName", name),)
        yield Item(
            resource=Resource(kind="lambda", name=arn, place=look.place, dimensions=dimensions, presets=presets),
            facts=(
                info(
                    "aws_lambda_info",
                    look.place,
                    arn,
                    function=name,
                    runtime=row.get("Runtime"),
                    memory_mib=row.get("MemorySize"),
                    timeout_seconds=row.get("Timeout"),
                    # No environment variables: they may hold secrets.
                    code=str(row.get("CodeSha256") or "")[:_SHOWN_HASH],
                ),
                *number("aws_lambda_timeout_seconds", look.place, arn, row.get("Timeout"), dimensions),
            ),
        )


def read_sqs(look: Look) -> Iterator[Item]:
    """Queues by name; what else is known of one costs a billed request each."""
    for url in look.rows("sqs", "list_queues", "QueueUrls", {"MaxResults": 1000}):
        account, _, name = str(url).rstrip("/").rpartition("/")
        arn = arn_of(look.place, "sqs", name, account.rpartition("/")[2])
        presets = look.choose("sqs", (name,), arn, None)
        if presets:
            yield Item(
                resource=Resource(
                    kind="sqs", name=arn, place=look.place, dimensions=(("QueueName", name),), presets=presets
                ),
                facts=(info("aws_sqs_info", look.place, arn, queue=name, fifo=name.endswith(".fifo")),),
            )


ELASTICACHE = Part(
    name="elasticache",
    kinds=("elasticache",),
    read=read_elasticache,
    often=True,
    permissions=(
        Permission(
            action="elasticache:DescribeCacheClusters",
            lost="ElastiCache nodes are not found: none of their metrics is read",
        ),
        Permission(
            action="elasticache:DescribeReplicationGroups",
            lost="roles of ElastiCache nodes: failovers are not seen",
        ),
    ),
)

LAMBDA = Part(
    name="lambda",
    kinds=("lambda",),
    read=read_lambda,
    permissions=(
        Permission(action="lambda:ListFunctions", lost="Lambda functions are not found: none of their metrics is read"),
    ),
)

SQS = Part(
    name="sqs",
    kinds=("sqs",),
    read=read_sqs,
    permissions=(Permission(action="sqs:ListQueues", lost="SQS queues are not found: none of their metrics is read"),),
)
