"""RDS Proxy: the pool between clients and databases, with its limits and the databases behind it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.discovery.facts import attributes, info, number
from loadwatch_collectors.sources.aws.discovery.part import Item, Look, Part, Permission, inner
from loadwatch_collectors.sources.aws.model import Resource

_GROUPS = "rds:DescribeDBProxyTargetGroups"
_TARGETS = "rds:DescribeDBProxyTargets"
_CLUSTER = "TRACKED_CLUSTER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """How a proxy pools connections. Its target group is one; RDS makes no further ones."""

    max_connections_percent: float | None = None
    max_idle_percent: float | None = None
    borrow_timeout_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One database behind a proxy, or the cluster that it follows."""

    identifier: str
    is_cluster: bool
    is_available: bool


def parse_pool(document: Document) -> Pool:
    """One entry of DescribeDBProxyTargetGroups. Its InitQuery may hold secrets and is not looked at."""
    pool = inner(document, "ConnectionPoolConfig")
    return Pool(
        max_connections_percent=pool.get("MaxConnectionsPercent"),
        max_idle_percent=pool.get("MaxIdleConnectionsPercent"),
        borrow_timeout_seconds=pool.get("ConnectionBorrowTimeout"),
    )


def parse_target(document: Document) -> Target:
    """One entry of DescribeDBProxyTargets."""
    return Target(
        identifier=document.get("RdsResourceId") or document.get("TrackedClusterId") or "",
        is_cluster=document.get("Type") == _CLUSTER,
        is_available=inner(document, "TargetHealth").get("State") == "AVAILABLE",
    )


def read_proxies(look: Look) -> Iterator[Item]:
    """Proxies with what their pools may take, and whether their databases answer."""
    for row in look.rows("rds", "describe_db_proxies", "DBProxies", {"MaxRecords": 100}):
        name, arn = row["DBProxyName"], row["DBProxyArn"]
        presets = look.choose("rds_proxy", (name,), arn, None)
        if presets:
            pool = look.detail(f"{_GROUPS} {name}", lambda name=name: _pool(look, name), Pool())
            targets = look.detail(f"{_TARGETS} {name}", lambda name=name: _targets(look, name), None)
            yield _item(look, row, presets, pool, targets)


def _pool(look: Look, name: str) -> Pool:
    parameters = {"DBProxyName": name, "MaxRecords": 100}
    rows = look.rows("rds", "describe_db_proxy_target_groups", "TargetGroups", parameters)
    return next(map(parse_pool, rows), Pool())


def _targets(look: Look, name: str) -> Sequence[Target] | None:
    parameters = {"DBProxyName": name, "MaxRecords": 100}
    return [parse_target(row) for row in look.rows("rds", "describe_db_proxy_targets", "Targets", parameters)]


def _item(look: Look, row: Document, presets: tuple[str, ...], pool: Pool, targets: Sequence[Target] | None) -> Item:
    name, arn, place = row["DBProxyName"], row["DBProxyArn"], look.place
    dimensions = (("ProxyName", name),)
    members = None if targets is None else [target for target in targets if not target.is_cluster]
    named = sorted({target.identifier for target in targets or () if target.identifier})
    return Item(
        resource=Resource(
            kind="rds_proxy",
            name=arn,
            place=place,
            dimensions=dimensions,
            presets=presets,
            attributes=attributes(engine=row.get("EngineFamily"), status=row.get("Status")),
        ),
        facts=(
            info(
                "aws_rds_proxy_info",
                place,
                arn,
                proxy=name,
                engine_family=row.get("EngineFamily"),
                databases=",".join(named),
                require_tls=row.get("RequireTLS"),
                status=row.get("Status"),
            ),
            *number("aws_rds_proxy_max_connections_percent", place, arn, pool.max_connections_percent, dimensions),
            *number("aws_rds_proxy_max_idle_connections_percent", place, arn, pool.max_idle_percent, dimensions),
            *number("aws_rds_proxy_borrow_timeout_seconds", place, arn, pool.borrow_timeout_seconds, dimensions),
            *number("aws_rds_proxy_idle_client_timeout_seconds", place, arn, row.get("IdleClientTimeout"), dimensions),
            *number("aws_rds_proxy_targets", place, arn, None if members is None else len(members), dimensions),
            *number(
                "aws_rds_proxy_available_targets",
                place,
                arn,
                None if members is None else sum(target.is_available for target in members),
                dimensions,
            ),
        ),
    )


RDS_PROXIES = Part(
    name="rds_proxies",
    kinds=("rds_proxy",),
    read=read_proxies,
    permissions=(
        Permission(action="rds:DescribeDBProxies", lost="RDS proxies are not found: none of their metrics is read"),
        Permission(action=_GROUPS, lost="limits and timeouts of the pools of RDS proxies"),
        Permission(action=_TARGETS, lost="which databases RDS proxies have, and whether they answer"),
    ),
)
