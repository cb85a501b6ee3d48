"""Services whose resources need more than one list: RDS and Aurora, load balancers, ECS, RDS Proxy and ElastiCache."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, cast

import yaml

from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.discovery.part import (
    GIB,
    Item,
    Look,
    attributes,
    info,
    inner,
    listed,
    number,
    partition,
    tag_pairs,
)
from loadwatch_collectors.sources.aws.model import Pairs, Resource


def search(expression: str, document: Any) -> Any:
    from loadwatch_collectors.sources.aws.discovery import expressions  # The base install lacks JMESPath.

    return expressions.search(expression, document)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of resource; all texts are expressions."""

    name: str
    arn: str
    names: str
    dimensions: Mapping[str, str]
    info: Mapping[str, Mapping[str, str]]
    tags: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])
    numbers: Mapping[str, str] = field(default_factory=dict[str, str])
    list: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def rows(self, look: Look) -> Iterator[Document]:
        """The rows of the describe call, each with the parts that are resources of their own."""
        place = look.place
        where = {"partition": partition(place.region), "region": place.region, "account_id": place.account_id}
        for page in look.pages(self.list["service"], self.list["operation"], self.list["parameters"]):
            for row in search(self.list["rows"], page) or ():
                parts: Sequence[Document] = search(self.list["each"], row) if "each" in self.list else [{}]
                for part in parts or ():
                    yield where | row | part

    def items(self, look: Look, row: Document) -> Iterator[Item]:
        if presets := self.choose(look, row):
            yield self.item(look, row, presets)

    def choose(self, look: Look, row: Document) -> tuple[str, ...]:
        names: Sequence[str | None] = search(self.names, row)
        arn = search(self.arn, row)
        if not arn:
            raise KeyError(self.arn)
        return look.choose(self.name, [name for name in names if name], arn, self._tags(row))

    def item(self, look: Look, row: Document, presets: tuple[str, ...]) -> Item:
        place, arn = look.place, search(self.arn, row)
        dimensions = tuple((name, text) for name, text in _found(self.dimensions, row).items() if text)
        return Item(
            resource=Resource(
                kind=self.name,
                name=arn,
                place=place,
                dimensions=dimensions,
                tags=self._tags(row) or (),
                presets=presets,
                attributes=attributes(**_found(self.attributes, row)),
            ),
            facts=(
                *(info(metric, place, arn, **_found(labels, row)) for metric, labels in self.info.items()),
                *(
                    fact
                    for metric, value in _found(self.numbers, row).items()
                    for fact in number(metric, place, arn, value, dimensions)
                ),
            ),
        )

    def _tags(self, row: Document) -> Pairs | None:
        tags = search(self.tags, row) if self.tags else None
        return None if tags is None else tag_pairs(tags)


def read_lists(look: Look, kinds: Mapping[str, Kind]) -> Iterator[Item]:
    """Read the kinds of a service that needs no code beyond `services.yml`."""
    for kind in kinds.values():
        for row in kind.rows(look):
            yield from kind.items(look, row)


def read_services() -> Mapping[str, Any]:
    """The entries of `services.yml` by name, their kinds as `Kind`."""
    text = (files(__package__ or "") / "services.yml").read_text(encoding="utf-8")
    services = cast("dict[str, dict[str, Any]]", yaml.safe_load(text))
    for service in services.values():
        service["kinds"] = {name: Kind(name=name, **kind) for name, kind in service["kinds"].items()}
    return services


def _found(expressions: Mapping[str, str], row: Document) -> dict[str, Any]:
    return {name: search(expression, row) for name, expression in expressions.items()}


_BALANCER_KINDS = {"application": "alb", "network": "nlb"}
_BALANCER_TYPES = {"app": "application", "net": "network", "gwy": "gateway"}
_HEALTH_SECONDS = 55.0
_CLUSTERS_OF_A_CALL = 100
_SERVICES_OF_A_CALL = 10
_ARNS_OF_A_PAGE = 100


def read_elb(look: Look, kinds: Mapping[str, Kind]) -> Iterator[Item]:
    chosen: set[str] = set()
    for row in look.rows("elbv2", "describe_load_balancers", "LoadBalancers", {"PageSize": 400}):
        name, arn = _BALANCER_KINDS.get(row.get("Type", ""), ""), row["LoadBalancerArn"]
        presets = kinds[name].choose(look, row) if name else ()
        if presets or not look.selection.wants(name):
            chosen.add(arn)
        if presets:
            action = "elasticloadbalancing:DescribeLoadBalancerAttributes"
            settings = look.detail(f"{action} {arn}", lambda arn=arn: _balancer_settings(look, arn), dict[str, str]())
            yield kinds[name].item(look, {**row, "settings": settings}, presets)
    groups = look.optional(
        lambda: list(look.rows("elbv2", "describe_target_groups", "TargetGroups", {"PageSize": 400})), []
    )
    for row in groups:
        yield from _target_group(look, kinds["target_group"], row, chosen)


def _balancer_settings(look: Look, arn: str) -> dict[str, str]:
    answer = look.call("elbv2", "describe_load_balancer_attributes", {"LoadBalancerArn": arn})
    return {entry["Key"]: str(entry.get("Value") or "") for entry in listed(answer, "Attributes")}


def _target_group(look: Look, kind: Kind, row: Document, chosen: set[str]) -> Iterator[Item]:
    arn = row["TargetGroupArn"]
    balancers: list[str] = sorted(row.get("LoadBalancerArns") or ())
    presets: tuple[str, ...] = ()
    if look.selection.has_own("target_group"):
        presets = kind.choose(look, row)
        if not presets:
            return
    elif chosen.isdisjoint(balancers):
        return  # without a choice of its own a target group follows its load balancers
    word = balancers[0].split("/")[1] if balancers else ""
    item = kind.item(
        look, {**row, "balancers": balancers, "load_balancer_type": _BALANCER_TYPES.get(word, "")}, presets
    )
    health = look.detail(
        f"elasticloadbalancing:DescribeTargetHealth {arn}",
        lambda: _target_health(look, arn, row["TargetGroupName"]),
        tuple[Sample, ...](),
        keep_seconds=_HEALTH_SECONDS,
    )
    yield Item(resource=item.resource, facts=(*item.facts, *health))


def _target_health(look: Look, arn: str, name: str) -> tuple[Sample, ...]:
    answer = look.call("elbv2", "describe_target_health", {"TargetGroupArn": arn})
    found: dict[tuple[object, object], Sample] = {}
    for entry in listed(answer, "TargetHealthDescriptions"):
        target, health = entry["Target"], inner(entry, "TargetHealth")
        found[target["Id"], target.get("Port")] = info(
            "aws_target_health",
            look.place,
            arn,
            target_group=name,
            target=target["Id"],
            port=target.get("Port"),
            state=health.get("State"),
            reason=health.get("Reason"),
        )
    return tuple(found.values())


def read_ecs(look: Look, kinds: Mapping[str, Kind]) -> Iterator[Item]:
    arns: list[Any] = list(look.rows("ecs", "list_clusters", "clusterArns"))
    described = look.optional(lambda: _describe_clusters(look, arns), dict[str, Document]())
    for arn in arns:
        cluster = described.get(arn, {})
        settings: dict[str, str] = {entry["name"]: entry["value"] for entry in listed(cluster, "settings")}
        # Of Container Insights: `enabled`, `enhanced`, `disabled`, or nothing when it is not known.
        known = {"cluster": arn.rpartition("/")[2], "container_insights": settings.get("containerInsights", "")}
        yield from kinds["ecs_cluster"].items(look, {**cluster, "clusterArn": arn, **known})
        if look.selection.wants("ecs_service"):
            for row in _services(look, arn):
                yield from kinds["ecs_service"].items(look, {**row, **known})


def _describe_clusters(look: Look, arns: Sequence[str]) -> dict[str, Document]:
    found: dict[str, Document] = {}
    for start in range(0, len(arns), _CLUSTERS_OF_A_CALL):
        some = arns[start : start + _CLUSTERS_OF_A_CALL]
        answer = look.call("ecs", "describe_clusters", {"clusters": some, "include": ["SETTINGS", "TAGS"]})
        found |= {row["clusterArn"]: row for row in listed(answer, "clusters")}
    return found


def _services(look: Look, cluster: str) -> Iterator[Document]:
    # Without a number it gives ten at a time.
    listing = {"cluster": cluster, "maxResults": _ARNS_OF_A_PAGE}
    arns = list(look.rows("ecs", "list_services", "serviceArns", listing))
    for start in range(0, len(arns), _SERVICES_OF_A_CALL):
        parameters = {"cluster": cluster, "services": arns[start : start + _SERVICES_OF_A_CALL], "include": ["TAGS"]}
        for row in listed(look.call("ecs", "describe_services", parameters), "services"):
            if row.get("status") != "INACTIVE":
                yield row


def read_proxies(look: Look, kinds: Mapping[str, Kind]) -> Iterator[Item]:
    kind = kinds["rds_proxy"]
    for row in kind.rows(look):
        if presets := kind.choose(look, row):
            yield kind.item(look, {**row, **_pool(look, row["DBProxyName"]), **_targets(look, row)}, presets)


def _pool(look: Look, name: str) -> dict[str, Document]:
    """Read a proxy's only target group; its InitQuery may hold secrets and is not looked at."""
    parameters = {"DBProxyName": name, "MaxRecords": 100}

    def read() -> Document:
        rows = look.rows("rds", "describe_db_proxy_target_groups", "TargetGroups", parameters)
        return inner(next(rows, dict[str, Any]()), "ConnectionPoolConfig")

    return {"pool": look.detail(f"rds:DescribeDBProxyTargetGroups {name}", read, dict[str, Any]())}


def _targets(look: Look, row: Document) -> dict[str, Any]:
    parameters = {"DBProxyName": row["DBProxyName"], "MaxRecords": 100}
    targets: list[Document] | None = look.detail(
        f"rds:DescribeDBProxyTargets {row['DBProxyName']}",
        lambda: list(look.rows("rds", "describe_db_proxy_targets", "Targets", parameters)),
        None,
    )
    return {} if targets is None else describe_targets(targets)


def describe_targets(targets: Sequence[Document]) -> dict[str, Any]:
    """Describe the databases behind a proxy; a tracked cluster does not count as one."""
    members = [target for target in targets if target.get("Type") != "TRACKED_CLUSTER"]
    names = {target.get("RdsResourceId") or target.get("TrackedClusterId") or "" for target in targets}
    return {
        "databases": ",".join(sorted(filter(None, names))),
        "targets": len(members),
        "available_targets": sum(inner(target, "TargetHealth").get("State") == "AVAILABLE" for target in members),
    }


def read_elasticache(look: Look, kinds: Mapping[str, Kind]) -> Iterator[Item]:
    kind = kinds["elasticache"]
    roles = look.optional(lambda: _roles(look), dict[str, str]())
    for row in kind.rows(look):
        role = roles.get(row["CacheClusterId"])
        unknown = None if row.get("ReplicationGroupId") else False
        yield from kind.items(look, {**row, "role": role, "replica": role == "replica" if role else unknown})


def _roles(look: Look) -> dict[str, str]:
    """`primary` or `replica` by cache cluster; AWS does not tell it where cluster mode is enabled."""
    return {
        member["CacheClusterId"]: member["CurrentRole"]
        for row in look.rows("elasticache", "describe_replication_groups", "ReplicationGroups", {"MaxRecords": 100})
        for group in listed(row, "NodeGroups")
        for member in listed(group, "NodeGroupMembers")
        if member.get("CurrentRole")
    }


# RDS and Aurora: roles of instances, and their limit of connections from parameter groups.
#
# Source: "Hardware specifications for DB instance classes" of the RDS User Guide and EC2's DescribeInstanceTypes; a
# test compares every family with the copy of the latter that moto brings.
#
# Grammar after "Specifying DB parameters" of the RDS User Guide: numbers, + - * /, parentheses, and the functions
# GREATEST, LEAST, SUM and log (base 2, of Aurora). The result is a whole number, rounded down.

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(.))")


_FUNCTIONS: Mapping[str, Callable[[list[float]], float]] = {
    "GREATEST": max,
    "LEAST": min,
    "SUM": sum,
    "LOG": lambda values: math.log2(values[0]),
}


class FormulaError(ValueError):
    """A formula that is not understood, or that needs a variable that is not known."""


def evaluate(text: str, variables: Mapping[str, float]) -> int:
    """The whole number that a parameter's text stands for.

    Raises:
        FormulaError: it is not a formula, or a variable is unknown.
    """
    parser = _Parser(text, variables)
    try:
        value = parser.sum()
        if not parser.at_end():
            raise FormulaError(f"{text!r} goes on where its end was expected")
        return math.floor(value)
    except (ArithmeticError, ValueError, RecursionError) as error:
        if isinstance(error, FormulaError):
            raise
        raise FormulaError(f"{text!r} has no value") from error


def is_formula(text: str) -> bool:
    return not re.fullmatch(r"\s*\d+\s*", text)


class _Parser:
    def __init__(self, text: str, variables: Mapping[str, float]) -> None:
        self._text = text
        self._variables = variables
        self._tokens = [next(part for part in match.groups() if part is not None) for match in _TOKEN.finditer(text)]
        self._at = 0

    def at_end(self) -> bool:
        return self._at >= len(self._tokens)

    def sum(self) -> float:
        value = self._product()
        while self._peek() in ("+", "-"):
            value = value + self._product() if self._take() == "+" else value - self._product()
        return value

    def _product(self) -> float:
        value = self._factor()
        while self._peek() in ("*", "/"):
            value = value * self._factor() if self._take() == "*" else value / self._factor()
        return value

    def _factor(self) -> float:
        token = self._take()
        if token == "-":
            return -self._factor()
        if token in ("{", "("):
            value = self.sum()
            self._expect("}" if token == "{" else ")")
            return value
        if token[:1].isdigit():
            return float(token)
        if self._peek() == "(":
            return self._call(token)
        if token not in self._variables:
            raise FormulaError(f"{self._text!r} needs {token or 'more'}, which is not known")
        return self._variables[token]

    def _call(self, name: str) -> float:
        function = _FUNCTIONS.get(name.upper())
        if function is None:
            raise FormulaError(f"{self._text!r} has the unknown function {name}")
        self._expect("(")
        values = [self.sum()]
        while self._peek() == ",":
            self._take()
            values.append(self.sum())
        self._expect(")")
        return function(values)

    def _peek(self) -> str:
        return self._tokens[self._at] if not self.at_end() else ""

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _expect(self, wanted: str) -> None:
        if self._take() != wanted:
            raise FormulaError(f"{self._text!r} lacks {wanted}")


_GIB_OF_XLARGE: tuple[tuple[str, float], ...] = (
    (r"c\d+g?d?", 8.0),
    (r"m1|m3", 15.0),
    (r"m\d+[a-z-]*", 16.0),
    (r"r3|r4", 30.5),
    (r"r\d+[a-z-]*", 32.0),
    (r"t[2-9]g?", 16.0),
    (r"x1", 61.0),
    (r"x1e", 122.0),
    (r"x2g|x2gd|x2idn|x8g", 64.0),
    (r"x2iedn|x2iezn", 128.0),
    (r"z1d", 32.0),
)
_SIZES = {"nano": 1 / 32, "micro": 1 / 16, "small": 1 / 8, "medium": 1 / 4, "large": 1 / 2, "xlarge": 1.0}
_CLASS = re.compile(r"(?:db\.|cache\.)?([a-z0-9-]+)\.(?:(\d+)xlarge|([a-z]+))(?:\.tpc\d+)?(?:\.mem(\d+)x)?")
_ACU_GIB = 2.0
"""Memory of one Aurora capacity unit."""


def memory_bytes(instance_class: str, *, max_capacity: float | None = None) -> int | None:
    """Memory of a class; None when it is not known.

    `max_capacity` (Aurora capacity units) is what `db.serverless` may grow to: max_connections follows from it.
    It is the whole machine's: RDS keeps some for itself, so `DBInstanceClassMemory` is a little less.
    """
    if instance_class == "db.serverless":
        return round(max_capacity * _ACU_GIB * GIB) if max_capacity else None
    match = _CLASS.fullmatch(instance_class)
    if match is None:
        return None
    family, count, word, times = match.groups()
    share = float(count) if count else _SIZES.get(word)
    gib = next((gib for pattern, gib in _GIB_OF_XLARGE if re.fullmatch(pattern, family)), None)
    if share is None or gib is None:
        return None
    return round(gib * share * GIB * (int(times) if times else 1))


_OTHER_PRODUCTS = frozenset({"docdb", "neptune"})
"""Amazon's other databases whose instances the RDS API lists too; they have namespaces of their own."""
_MIB = 1024**2
_SERVERLESS_LIMIT = 2000
"""Aurora PostgreSQL that may shrink to half a unit or less takes no more connections ("Performance and scaling for
Aurora Serverless v2")."""


def read_rds(look: Look, kinds: Mapping[str, Kind]) -> Iterator[Item]:
    """Instances and clusters with their facts; a cluster is chosen by itself, or by one of its instances."""
    clusters = _clusters(look)
    followed: set[str] = set()
    for row in _instances(look, clusters):
        presets = kinds["rds"].choose(look, row)
        if presets:
            followed.add(row.get("DBClusterIdentifier") or "")
            cluster = clusters.get(row.get("DBClusterIdentifier") or "", {})
            yield kinds["rds"].item(look, {**row, **_sizes(row), **_limit(look, row, cluster)}, presets)
    for identifier, row in clusters.items():
        presets = kinds["rds_cluster"].choose(look, row)
        if presets or identifier in followed:
            yield kinds["rds_cluster"].item(look, row, presets)


def read_databases(look: Look, kinds: Mapping[str, Kind]) -> Iterator[Item]:
    """Instances alone, without their parameters: what a collector that logs in to them needs."""
    for row in _instances(look, _clusters(look)):
        for item in kinds["rds"].items(look, row):
            yield Item(resource=item.resource)


def _clusters(look: Look) -> Mapping[str, Document]:
    """The clusters by identifier; none where they may not be described."""
    rows = look.rows("rds", "describe_db_clusters", "DBClusters", {"MaxRecords": 100})
    return look.optional(
        lambda: {row["DBClusterIdentifier"]: row for row in rows if row.get("Engine") not in _OTHER_PRODUCTS},
        dict[str, Document](),
    )


def _instances(look: Look, clusters: Mapping[str, Document]) -> Iterator[Document]:
    for row in look.rows("rds", "describe_db_instances", "DBInstances", {"MaxRecords": 100}):
        if row.get("Engine") not in _OTHER_PRODUCTS:
            yield {**row, **_membership(row, clusters.get(row.get("DBClusterIdentifier") or ""))}


def _membership(row: Document, cluster: Document | None) -> dict[str, Any]:
    """Role, whether an instance follows another one, and IAM database authentication; None for what is not known.

    The role is `writer`, `reader`, or empty for one that stands alone or is not known.
    """
    login = bool(row.get("IAMDatabaseAuthenticationEnabled"))
    source = row.get("ReadReplicaSourceDBInstanceIdentifier") or row.get("ReadReplicaSourceDBClusterIdentifier")
    role = "reader" if source else "writer" if row.get("ReadReplicaDBInstanceIdentifiers") else ""
    if cluster is not None:
        identifier = row["DBInstanceIdentifier"]
        writers = {
            member["DBInstanceIdentifier"]: member.get("IsClusterWriter")
            for member in listed(cluster, "DBClusterMembers")
        }
        role = "" if identifier not in writers else "writer" if writers[identifier] else "reader"
    if not row.get("DBClusterIdentifier"):
        # StatusInfos tell of replication, which may also come from outside of RDS.
        return {"role": role, "replica": role == "reader" or bool(listed(row, "StatusInfos")), "iam_login": login}
    # AWS sets the login for a whole cluster, and the members' own flags stay as they were.
    return {
        "role": role,
        "replica": role == "reader" if role else None,
        "iam_login": (login or None) if cluster is None else bool(cluster.get("IAMDatabaseAuthenticationEnabled")),
    }


def _sizes(row: Document) -> dict[str, Any]:
    storage, throughput = row.get("AllocatedStorage"), row.get("StorageThroughput")
    # Aurora's storage grows by itself; its AllocatedStorage says nothing.
    is_aurora = row.get("Engine", "").startswith("aurora")
    return {
        "memory_bytes": memory_bytes(row.get("DBInstanceClass", "")),
        "storage_bytes": None if is_aurora or storage is None else storage * GIB,
        "throughput_bytes": None if throughput is None else throughput * _MIB,
    }


def _limit(look: Look, row: Document, cluster: Document) -> dict[str, Any]:
    text = ""
    if own := next(iter(listed(row, "DBParameterGroups")), dict[str, Any]()).get("DBParameterGroupName"):
        asked = {"DBParameterGroupName": own}
        text = look.detail(
            f"rds:DescribeDBParameters {own}", lambda: _max_connections(look, "describe_db_parameters", asked), ""
        )
    if not text and (shared := cluster.get("DBClusterParameterGroup")):
        # A parameter that the instance's group leaves alone comes from the cluster's.
        asked = {"DBClusterParameterGroupName": shared}
        text = look.detail(
            f"rds:DescribeDBClusterParameters {shared}",
            lambda: _max_connections(look, "describe_db_cluster_parameters", asked),
            "",
        )
    return _connection_limit(text, row, inner(cluster, "ServerlessV2ScalingConfiguration"))


def _max_connections(look: Look, operation: str, group: Mapping[str, str]) -> str:
    only = [{"Name": "parameter-name", "Values": ["max_connections"]}]
    rows: Iterable[Document] = look.rows("rds", operation, "Parameters", {**group, "Filters": only})
    return next((str(row.get("ParameterValue") or "") for row in rows if row["ParameterName"] == "max_connections"), "")


def _connection_limit(text: str, row: Document, scaling: Mapping[str, Any]) -> dict[str, Any]:
    """max_connections from the text of the parameter, and whether that is a number or a formula; else nothing.

    A formula's result is a little too high: RDS takes memory for itself before it is evaluated, and does not tell how
    much. The mysql collector reads the exact number from the server.
    """
    if not text:
        return {}
    if not is_formula(text):
        return {"max_connections": int(text), "max_connections_source": "number"}
    instance_class = row.get("DBInstanceClass", "")
    variables: dict[str, float] = {}
    if storage := row.get("AllocatedStorage"):
        variables["AllocatedStorage"] = storage * GIB
    memory = memory_bytes(instance_class, max_capacity=scaling.get("MaxCapacity"))
    if memory is not None:
        variables["DBInstanceClassMemory"] = float(memory)
    try:
        value = evaluate(text, variables)
    except FormulaError:
        return {}
    small = scaling.get("MinCapacity") is not None and scaling["MinCapacity"] <= 0.5
    if small and instance_class == "db.serverless" and row.get("Engine") == "aurora-postgresql":
        value = min(value, _SERVERLESS_LIMIT)
    return {"max_connections": value, "max_connections_source": "formula"}
