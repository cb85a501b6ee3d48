"""RDS and Aurora: instances with role, engine, class and limit of connections; clusters with their members."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.discovery.facts import GIB, attributes, info, number
from loadwatch_collectors.sources.aws.discovery.formula import FormulaError, evaluate, is_formula
from loadwatch_collectors.sources.aws.discovery.instance_classes import memory_bytes
from loadwatch_collectors.sources.aws.discovery.part import Item, Look, Part, Permission, inner, listed, tag_pairs
from loadwatch_collectors.sources.aws.model import AccountRegion, Pairs, Resource

_OTHER_PRODUCTS = frozenset({"docdb", "neptune"})
"""Amazon's other databases whose instances the RDS API lists too; they have namespaces of their own."""
_MIB = 1024**2
_SERVERLESS_LIMIT = 2000
"""Aurora PostgreSQL that may shrink to half a unit or less takes no more connections ("Performance and scaling for
Aurora Serverless v2")."""
_INSTANCE_PARAMETERS = "rds:DescribeDBParameters"
_CLUSTER_PARAMETERS = "rds:DescribeDBClusterParameters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """An Aurora cluster, or one of RDS with two readable standbys."""

    identifier: str
    arn: str
    engine: str
    engine_version: str
    status: str
    parameter_group: str
    writers: Mapping[str, bool]
    """Members by identifier: whether each is the writer."""
    iam_login: bool
    min_capacity: float | None
    max_capacity: float | None
    tags: Pairs

    @property
    def writer(self) -> str:
        """The member that takes writes; empty in the middle of a failover."""
        return next((member for member, is_writer in self.writers.items() if is_writer), "")

    @property
    def readers(self) -> int:
        """How many members do not take writes."""
        return sum(1 for is_writer in self.writers.values() if not is_writer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A database instance as DescribeDBInstances tells, with its role."""

    identifier: str
    arn: str
    resource_id: str
    cluster: str
    role: str
    """`writer`, `reader`, or empty for one that stands alone or is not known."""
    replica: bool | None
    """Whether it follows another one; None where its cluster is not known."""
    engine: str
    engine_version: str
    instance_class: str
    status: str
    host: str
    port: int
    iam_login: bool | None
    """Whether IAM database authentication is on: for the cluster where it is in one; None where that is not known."""
    multi_az: bool
    zone: str
    parameter_group: str
    parameter_status: str
    storage_type: str
    storage_gib: float | None
    iops: float | None
    throughput_mib: float | None
    monitoring_seconds: int
    performance_insights: bool
    tags: Pairs


def parse_cluster(document: Document) -> Cluster:
    """One entry of DescribeDBClusters."""
    scaling = inner(document, "ServerlessV2ScalingConfiguration")
    return Cluster(
        identifier=document["DBClusterIdentifier"],
        arn=document.get("DBClusterArn", ""),
        engine=document.get("Engine", ""),
        engine_version=document.get("EngineVersion", ""),
        status=document.get("Status", ""),
        parameter_group=document.get("DBClusterParameterGroup") or "",
        writers={
            member["DBInstanceIdentifier"]: bool(member.get("IsClusterWriter"))
            for member in listed(document, "DBClusterMembers")
        },
        iam_login=bool(document.get("IAMDatabaseAuthenticationEnabled")),
        min_capacity=scaling.get("MinCapacity"),
        max_capacity=scaling.get("MaxCapacity"),
        tags=tag_pairs(document.get("TagList")),
    )


def parse_instance(document: Document, clusters: Mapping[str, Cluster]) -> Instance:
    """One entry of DescribeDBInstances; roles come from the clusters and from replication."""
    endpoint = inner(document, "Endpoint")
    groups = listed(document, "DBParameterGroups")
    group = groups[0] if groups else dict[str, str]()
    return Instance(
        identifier=document["DBInstanceIdentifier"],
        arn=document.get("DBInstanceArn", ""),
        resource_id=document.get("DbiResourceId") or "",
        cluster=document.get("DBClusterIdentifier") or "",
        role=_role(document, clusters),
        replica=_replica(document, clusters),
        engine=document.get("Engine", ""),
        engine_version=document.get("EngineVersion", ""),
        instance_class=document.get("DBInstanceClass", ""),
        status=document.get("DBInstanceStatus", ""),
        host=endpoint.get("Address") or "",
        port=int(endpoint.get("Port") or 0),
        iam_login=_iam_login(document, clusters),
        multi_az=bool(document.get("MultiAZ")),
        zone=document.get("AvailabilityZone") or "",
        parameter_group=group.get("DBParameterGroupName") or "",
        parameter_status=group.get("ParameterApplyStatus") or "",
        storage_type=document.get("StorageType") or "",
        storage_gib=document.get("AllocatedStorage"),
        iops=document.get("Iops"),
        throughput_mib=document.get("StorageThroughput"),
        monitoring_seconds=int(document.get("MonitoringInterval") or 0),
        performance_insights=bool(document.get("PerformanceInsightsEnabled")),
        tags=tag_pairs(document.get("TagList")),
    )


def _role(document: Document, clusters: Mapping[str, Cluster]) -> str:
    cluster = clusters.get(document.get("DBClusterIdentifier") or "")
    if cluster is not None:
        is_writer = cluster.writers.get(document["DBInstanceIdentifier"])
        return "" if is_writer is None else "writer" if is_writer else "reader"
    if document.get("ReadReplicaSourceDBInstanceIdentifier") or document.get("ReadReplicaSourceDBClusterIdentifier"):
        return "reader"
    return "writer" if document.get("ReadReplicaDBInstanceIdentifiers") else ""


def _replica(document: Document, clusters: Mapping[str, Cluster]) -> bool | None:
    if document.get("DBClusterIdentifier"):
        role = _role(document, clusters)
        return role == "reader" if role else None
    # StatusInfos tell of replication, which may also come from outside of RDS.
    return _role(document, clusters) == "reader" or bool(listed(document, "StatusInfos"))


def _iam_login(document: Document, clusters: Mapping[str, Cluster]) -> bool | None:
    """AWS sets it for a whole cluster, and the members' own flags stay as they were."""
    own = bool(document.get("IAMDatabaseAuthenticationEnabled"))
    if not document.get("DBClusterIdentifier"):
        return own
    cluster = clusters.get(document["DBClusterIdentifier"])
    return (own or None) if cluster is None else cluster.iam_login


def read_clusters(look: Look) -> dict[str, Cluster]:
    """The clusters by identifier."""
    rows = look.rows("rds", "describe_db_clusters", "DBClusters", {"MaxRecords": 100})
    return {row["DBClusterIdentifier"]: parse_cluster(row) for row in rows if row.get("Engine") not in _OTHER_PRODUCTS}


def read_instances(look: Look, clusters: Mapping[str, Cluster]) -> Iterator[Instance]:
    """The instances of RDS and Aurora."""
    for row in look.rows("rds", "describe_db_instances", "DBInstances", {"MaxRecords": 100}):
        if row.get("Engine") not in _OTHER_PRODUCTS:
            yield parse_instance(row, clusters)


def read_rds(look: Look) -> Iterator[Item]:
    """Instances and clusters with their facts; a cluster is chosen by itself, or by one of its instances."""
    clusters = look.optional(lambda: read_clusters(look), dict[str, Cluster]())
    followed: set[str] = set()
    for instance in read_instances(look, clusters):
        presets = look.choose("rds", _names(instance), instance.arn, instance.tags)
        if presets:
            followed.add(instance.cluster)
            yield _instance_item(look, instance, clusters.get(instance.cluster), presets)
    for cluster in clusters.values():
        presets = look.choose("rds_cluster", (cluster.identifier,), cluster.arn, cluster.tags)
        if presets or cluster.identifier in followed:
            yield _cluster_item(look.place, cluster, presets)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimit:
    """max_connections of an instance. `source` is `number`, or `formula` where it is computed from the memory."""

    value: int
    source: str


def connection_limit(text: str, instance: Instance, cluster: Cluster | None) -> ConnectionLimit | None:
    """max_connections from the text of the parameter; None when it needs what is not known.

    A formula's result is a little too high: RDS takes memory for itself before it is evaluated, and does not tell how
    much. The mysql collector reads the exact number from the server.
    """
    if not text:
        return None
    if not is_formula(text):
        return ConnectionLimit(value=int(text), source="number")
    memory = memory_bytes(instance.instance_class, max_capacity=cluster.max_capacity if cluster else None)
    variables = {"AllocatedStorage": instance.storage_gib * GIB} if instance.storage_gib else {}
    if memory is not None:
        variables["DBInstanceClassMemory"] = float(memory)
    try:
        value = evaluate(text, variables)
    except FormulaError:
        return None
    small = cluster is not None and cluster.min_capacity is not None and cluster.min_capacity <= 0.5
    if small and instance.instance_class == "db.serverless" and instance.engine == "aurora-postgresql":
        value = min(value, _SERVERLESS_LIMIT)
    return ConnectionLimit(value=value, source="formula")


def _resource(instance: Instance, place: AccountRegion, presets: tuple[str, ...]) -> Resource:
    return Resource(
        kind="rds",
        name=instance.arn,
        place=place,
        dimensions=(("DBInstanceIdentifier", instance.identifier),),
        tags=instance.tags,
        presets=presets,
        attributes=attributes(
            identifier=instance.identifier,
            cluster=instance.cluster,
            role=instance.role,
            replica=instance.replica,
            engine=instance.engine,
            resource_id=instance.resource_id,
            storage_type=instance.storage_type,
            performance_insights=instance.performance_insights,
            enhanced_monitoring=instance.monitoring_seconds > 0,
            host=instance.host,
            port=instance.port or None,
            iam_login=instance.iam_login,
            status=instance.status,
            **{"class": instance.instance_class},
        ),
    )


def read_databases(look: Look) -> Iterator[Item]:
    """Instances alone, without their parameters: what a collector that logs in to them needs."""
    clusters = look.optional(lambda: read_clusters(look), dict[str, Cluster]())
    for instance in read_instances(look, clusters):
        presets = look.choose("rds", _names(instance), instance.arn, instance.tags)
        if presets:
            yield Item(resource=_resource(instance, look.place, presets))


def _names(instance: Instance) -> tuple[str, ...]:
    return tuple(filter(None, (instance.identifier, instance.cluster)))


def _limit(look: Look, instance: Instance, cluster: Cluster | None) -> ConnectionLimit | None:
    own = instance.parameter_group
    text = look.detail(f"{_INSTANCE_PARAMETERS} {own}", lambda: _parameter(look, own), "") if own else ""
    if not text and cluster is not None and cluster.parameter_group:
        # A parameter that the instance's group leaves alone comes from the cluster's.
        group = cluster.parameter_group
        text = look.detail(f"{_CLUSTER_PARAMETERS} {group}", lambda: _cluster_parameter(look, group), "")
    return connection_limit(text, instance, cluster)


_ONLY = {"Filters": [{"Name": "parameter-name", "Values": ["max_connections"]}]}


def _parameter(look: Look, group: str) -> str:
    rows = look.rows("rds", "describe_db_parameters", "Parameters", {"DBParameterGroupName": group, **_ONLY})
    return _max_connections(rows)


def _cluster_parameter(look: Look, group: str) -> str:
    parameters = {"DBClusterParameterGroupName": group, **_ONLY}
    return _max_connections(look.rows("rds", "describe_db_cluster_parameters", "Parameters", parameters))


def _max_connections(rows: Iterable[Document]) -> str:
    return next((str(row.get("ParameterValue") or "") for row in rows if row["ParameterName"] == "max_connections"), "")


def _instance_item(look: Look, instance: Instance, cluster: Cluster | None, presets: tuple[str, ...]) -> Item:
    place, arn = look.place, instance.arn
    dimensions = (("DBInstanceIdentifier", instance.identifier),)
    limit = _limit(look, instance, cluster)
    memory = memory_bytes(instance.instance_class)
    is_aurora = instance.engine.startswith("aurora")
    described = info(
        "aws_rds_info",
        place,
        arn,
        identifier=instance.identifier,
        cluster=instance.cluster,
        role=instance.role,
        engine=instance.engine,
        engine_version=instance.engine_version,
        **{"class": instance.instance_class},
        max_connections=limit.value if limit else None,
        max_connections_source=limit.source if limit else None,
        multi_az=instance.multi_az,
        availability_zone=instance.zone,
        parameter_group=instance.parameter_group,
        parameter_status=instance.parameter_status,
        storage_type=instance.storage_type,
    )
    # Aurora's storage grows by itself; its AllocatedStorage says nothing.
    storage = None if is_aurora or instance.storage_gib is None else instance.storage_gib * GIB
    throughput = None if instance.throughput_mib is None else instance.throughput_mib * _MIB
    return Item(
        resource=_resource(instance, place, presets),
        facts=(
            described,
            *number("aws_rds_max_connections", place, arn, limit.value if limit else None, dimensions),
            *number("aws_rds_memory_bytes", place, arn, memory, dimensions),
            *number("aws_rds_allocated_storage_bytes", place, arn, storage, dimensions),
            *number("aws_rds_provisioned_iops", place, arn, instance.iops, dimensions),
            *number("aws_rds_provisioned_throughput_bytes", place, arn, throughput, dimensions),
            *number("aws_rds_available", place, arn, float(instance.status == "available"), dimensions),
        ),
    )


def _cluster_item(place: AccountRegion, cluster: Cluster, presets: tuple[str, ...]) -> Item:
    dimensions = (("DBClusterIdentifier", cluster.identifier),)
    described = info(
        "aws_rds_cluster_info",
        place,
        cluster.arn,
        cluster=cluster.identifier,
        engine=cluster.engine,
        engine_version=cluster.engine_version,
        writer=cluster.writer,
        parameter_group=cluster.parameter_group,
    )
    return Item(
        resource=Resource(
            kind="rds_cluster",
            name=cluster.arn,
            place=place,
            dimensions=dimensions,
            tags=cluster.tags,
            presets=presets,
            attributes=attributes(engine=cluster.engine, readers=cluster.readers > 0),
        ),
        facts=(
            described,
            *number("aws_rds_cluster_readers", place, cluster.arn, cluster.readers, dimensions),
            *number("aws_rds_cluster_min_capacity_units", place, cluster.arn, cluster.min_capacity, dimensions),
            *number("aws_rds_cluster_max_capacity_units", place, cluster.arn, cluster.max_capacity, dimensions),
        ),
    )


RDS = Part(
    name="rds",
    kinds=("rds", "rds_cluster"),
    read=read_rds,
    often=True,
    permissions=(
        Permission(action="rds:DescribeDBInstances", lost="RDS instances are not found: none of their metrics is read"),
        Permission(action="rds:DescribeDBClusters", lost="roles of Aurora's instances: failovers are not seen"),
        Permission(action=_INSTANCE_PARAMETERS, lost="max_connections of RDS instances: no headroom of connections"),
        Permission(
            action=_CLUSTER_PARAMETERS, lost="max_connections set by a cluster's parameter group: no headroom of it"
        ),
    ),
)

DATABASES = Part(
    name="databases",
    kinds=("rds",),
    read=read_databases,
    often=True,
    permissions=(
        Permission(action="rds:DescribeDBInstances", lost="the databases to watch are not found"),
        Permission(action="rds:DescribeDBClusters", lost="which instance of a cluster is the writer"),
    ),
)
"""For collectors that log in; not in the registry of what `cloudwatch` reads."""
