"""Services whose resources need more than one list: load balancers, ECS, RDS Proxy and ElastiCache."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, cast

import yaml

from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.discovery.part import (
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
    """What an expression of JMESPath finds in a document."""
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
    """Labels by name, of each info series."""
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
        """The resource of a row where it is chosen."""
        if presets := self.choose(look, row):
            yield self.item(look, row, presets)

    def choose(self, look: Look, row: Document) -> tuple[str, ...]:
        """The presets that read the resource of a row."""
        names: Sequence[str | None] = search(self.names, row)
        arn = search(self.arn, row)
        if not arn:
            raise KeyError(self.arn)
        return look.choose(self.name, [name for name in names if name], arn, self._tags(row))

    def item(self, look: Look, row: Document, presets: tuple[str, ...]) -> Item:
        """The resource of a row with its facts."""
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
    """What a service lists that needs no more than `services.yml`."""
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
    """Application and network load balancers with their timeouts, then target groups with the health of targets."""
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
    """Clusters, and the services of each."""
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
    """Proxies with what their pools may take, and whether their databases answer."""
    kind = kinds["rds_proxy"]
    for row in kind.rows(look):
        if presets := kind.choose(look, row):
            yield kind.item(look, {**row, **_pool(look, row["DBProxyName"]), **_targets(look, row)}, presets)


def _pool(look: Look, name: str) -> dict[str, Document]:
    """Its target group is one; RDS makes no further ones. Its InitQuery may hold secrets and is not looked at."""
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
    """The databases behind a proxy; a cluster that it follows is none by itself."""
    members = [target for target in targets if target.get("Type") != "TRACKED_CLUSTER"]
    names = {target.get("RdsResourceId") or target.get("TrackedClusterId") or "" for target in targets}
    return {
        "databases": ",".join(sorted(filter(None, names))),
        "targets": len(members),
        "available_targets": sum(inner(target, "TargetHealth").get("State") == "AVAILABLE" for target in members),
    }


def read_elasticache(look: Look, kinds: Mapping[str, Kind]) -> Iterator[Item]:
    """Nodes of Redis, Valkey and Memcached with their role."""
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
