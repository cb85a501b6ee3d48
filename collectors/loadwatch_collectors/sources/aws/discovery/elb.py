"""Load balancers with their idle timeout, target groups, and the health of their targets."""

from collections.abc import Iterator, Mapping

from loadwatch_collectors.collector import Sample
from loadwatch_collectors.sources.aws.client.client import Document
from loadwatch_collectors.sources.aws.discovery.facts import attributes, info, number
from loadwatch_collectors.sources.aws.discovery.part import Item, Look, Part, Permission, inner, listed
from loadwatch_collectors.sources.aws.model import Resource

_KINDS = {"application": ("alb", "aws_applicationelb"), "network": ("nlb", "aws_networkelb")}
_ATTRIBUTES = "elasticloadbalancing:DescribeLoadBalancerAttributes"
_HEALTH = "elasticloadbalancing:DescribeTargetHealth"
_GROUPS = "elasticloadbalancing:DescribeTargetGroups"
_HEALTH_SECONDS = 55.0


def load_balancer_dimension(arn: str) -> str:
    """The dimension LoadBalancer: `app/shop/50dc6c495c0c9188` of a load balancer's ARN."""
    return arn.partition(":loadbalancer/")[2]


def target_group_dimension(arn: str) -> str:
    """The dimension TargetGroup: `targetgroup/api/73e2d6bc24d8a067` of a target group's ARN."""
    return arn.rpartition(":")[2]


def read_elb(look: Look) -> Iterator[Item]:
    """Application and network load balancers, then target groups."""
    chosen: set[str] = set()
    for row in look.rows("elbv2", "describe_load_balancers", "LoadBalancers", {"PageSize": 400}):
        kind, metric = _KINDS.get(row.get("Type", ""), ("", ""))
        presets = look.choose(kind, (row["LoadBalancerName"],), row["LoadBalancerArn"], None) if kind else ()
        if presets or not look.selection.wants(kind):
            chosen.add(row["LoadBalancerArn"])
        if presets:
            yield _balancer_item(look, row, kind, metric, presets)
    groups = look.optional(
        lambda: list(look.rows("elbv2", "describe_target_groups", "TargetGroups", {"PageSize": 400})), []
    )
    for row in groups:
        if item := _group_item(look, row, chosen):
            yield item


def _balancer_item(look: Look, row: Document, kind: str, metric: str, presets: tuple[str, ...]) -> Item:
    arn, place = row["LoadBalancerArn"], look.place
    told = look.detail(f"{_ATTRIBUTES} {arn}", lambda: _attributes(look, arn), dict[str, str]())
    idle = told.get("idle_timeout.timeout_seconds")
    keep_alive = told.get("client_keep_alive.seconds")
    dimensions = (("LoadBalancer", load_balancer_dimension(arn)),)
    described = info(
        f"{metric}_info",
        place,
        arn,
        load_balancer=row["LoadBalancerName"],
        scheme=row.get("Scheme"),
        dns_name=row.get("DNSName"),
        state=inner(row, "State").get("Code"),
        idle_timeout_seconds=idle,
        client_keep_alive_seconds=keep_alive,
        http2=told.get("routing.http2.enabled"),
        cross_zone=told.get("load_balancing.cross_zone.enabled"),
    )
    return Item(
        resource=Resource(
            kind=kind,
            name=arn,
            place=place,
            dimensions=dimensions,
            presets=presets,
            attributes=attributes(load_balancer_type=row.get("Type")),
        ),
        facts=(
            described,
            *number(f"{metric}_idle_timeout_seconds", place, arn, _seconds(idle), dimensions),
            *number(f"{metric}_client_keep_alive_seconds", place, arn, _seconds(keep_alive), dimensions),
        ),
    )


def _group_item(look: Look, row: Document, chosen: set[str]) -> Item | None:
    arn, name, place = row["TargetGroupArn"], row["TargetGroupName"], look.place
    balancers: list[str] = sorted(row.get("LoadBalancerArns") or ())
    presets: tuple[str, ...] = ()
    if look.selection.has_own("target_group"):
        presets = look.choose("target_group", (name,), arn, None)
        if not presets:
            return None
    elif chosen.isdisjoint(balancers):
        return None  # without a choice of its own a target group follows its load balancers
    dimensions = tuple(("LoadBalancer", load_balancer_dimension(balancer)) for balancer in balancers[:1])
    described = info(
        "aws_target_group_info",
        place,
        arn,
        target_group=name,
        load_balancer=",".join(load_balancer_dimension(balancer).split("/")[1] for balancer in balancers),
        protocol=row.get("Protocol"),
        protocol_version=row.get("ProtocolVersion"),
        port=row.get("Port"),
        target_type=row.get("TargetType"),
        health_check_path=row.get("HealthCheckPath"),
        health_check_interval_seconds=row.get("HealthCheckIntervalSeconds"),
        health_check_timeout_seconds=row.get("HealthCheckTimeoutSeconds"),
        unhealthy_threshold=row.get("UnhealthyThresholdCount"),
    )
    health = look.detail(
        f"{_HEALTH} {arn}", lambda: _health(look, arn, name), tuple[Sample, ...](), keep_seconds=_HEALTH_SECONDS
    )
    return Item(
        resource=Resource(
            kind="target_group",
            name=arn,
            place=place,
            dimensions=(*dimensions, ("TargetGroup", target_group_dimension(arn))),
            presets=presets,
            attributes=attributes(
                load_balancer_type=_balancer_type(balancers),
                target_type=row.get("TargetType"),
                protocol=row.get("Protocol"),
            ),
        ),
        facts=(described, *health),
    )


def _balancer_type(balancers: list[str]) -> str:
    word = load_balancer_dimension(balancers[0]).partition("/")[0] if balancers else ""
    return {"app": "application", "net": "network", "gwy": "gateway"}.get(word, "")


def _attributes(look: Look, arn: str) -> Mapping[str, str]:
    answer = look.call("elbv2", "describe_load_balancer_attributes", {"LoadBalancerArn": arn})
    return {entry["Key"]: str(entry.get("Value") or "") for entry in listed(answer, "Attributes")}


def _health(look: Look, arn: str, name: str) -> tuple[Sample, ...]:
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


def _seconds(text: str | None) -> float | None:
    return float(text) if text else None


ELB = Part(
    name="elb",
    kinds=("alb", "nlb", "target_group"),
    read=read_elb,
    often=True,
    permissions=(
        Permission(
            action="elasticloadbalancing:DescribeLoadBalancers",
            lost="load balancers are not found: none of their metrics is read",
        ),
        Permission(action=_ATTRIBUTES, lost="idle timeouts of load balancers: the order of timeouts is not checked"),
        Permission(action=_GROUPS, lost="target groups are not found: no count of healthy hosts"),
        Permission(action=_HEALTH, lost="which target is unhealthy, and why"),
    ),
)
