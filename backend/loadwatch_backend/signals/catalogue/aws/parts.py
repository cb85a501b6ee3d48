"""What the AWS groups are made of: CloudWatch's cadence, and expressions by resource."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_backend.signals.model import Cadence, InfoJoin, Orientation, Signal, Total, Unit
from loadwatch_backend.texts.words import Words

CLOUDWATCH = Cadence(source="CloudWatch", period_ms=60_000)
EVENTS = Cadence(source="CloudWatch", period_ms=60_000, events=True)
"""Counts that CloudWatch writes only when there is something to count: `absent: zero-when-delivered` in the presets."""
INSIGHTS = Cadence(source="Performance Insights", period_ms=10_000, settled_ms=900_000)
"""The agent reads two minutes again. Holes that it fills after an outage of hours are seen when a page is loaded."""
STATEMENTS = Cadence(source="Performance Insights", period_ms=60_000, settled_ms=900_000)
ENHANCED = Cadence(source="Enhanced Monitoring", period_ms=1_000, settled_ms=900_000, usual_ms=60_000)
"""Each 1 to 60 seconds, as the instance is set to; entries come into the log up to two minutes late."""
IDENTITY = ("name", "region", "account_id")
"""What tells resources apart that are called the same; not part of a legend."""

DATABASE = "dimension_DBInstanceIdentifier"
CACHE = "dimension_CacheClusterId"
INSTANCE = "dimension_InstanceId"
GROUP = "dimension_AutoScalingGroupName"
QUEUE = "dimension_QueueName"
FUNCTION = "dimension_FunctionName"
PROXY = "dimension_ProxyName"
GATEWAY = "dimension_NatGatewayId"
VOLUME = "dimension_VolumeId"

PER_SECOND = " / 60"
"""Of what CloudWatch counts in a minute."""

ROLES = InfoJoin(info="aws_rds_info", on=("name",), take=("role", "cluster"))
CACHE_ROLES = InfoJoin(info="aws_elasticache_info", on=("name",), take=("role", "replication_group"))


def by_resource(metric: str, *labels: str, scale: str = "") -> str:
    """A metric by resource; `labels` are there in each of its series, so that other dimensions' series stay out."""
    present = ", ".join(f'{label}!=""' for label in labels)
    return f"max by ({', '.join((*labels, *IDENTITY))}) ({metric}{{{present}}}){scale}"


def discovered(metric: str, *labels: str, scale: str = "") -> str:
    """A number that discovery has found, by resource; it holds until it is sent again."""
    present = ", ".join(f'{label}!=""' for label in labels)
    latest = f"last_over_time({metric}{{{present}}}[$window])"
    return f"max by ({', '.join((*labels, *IDENTITY))}) ({latest}){scale}"


def by_balancer(metric: str, *labels: str, scale: str = "", kind: str = "app", operator: str = "max") -> str:
    """A metric by load balancer under its own name, which is a part of the dimension; `labels` beside it."""
    target_group = "dimension_TargetGroup" in labels
    more = ', dimension_TargetGroup!=""' if target_group else ', dimension_TargetGroup=""'
    own = f'{metric}{{dimension_LoadBalancer=~"{kind}/.*"{more}, dimension_AvailabilityZone=""}}'
    named = f'label_replace({own}, "load_balancer", "$1", "dimension_LoadBalancer", "{kind}/(.+)/.+")'
    kept = ["load_balancer", *IDENTITY]
    if target_group:
        named = f'label_replace({named}, "target_group", "$1", "dimension_TargetGroup", "targetgroup/(.+)/.+")'
        kept.insert(1, "target_group")
    return f"{operator} by ({', '.join(kept)}) ({named}){scale}"


def cloudwatch(
    id: str,
    title: tuple[str, str],
    help: tuple[str, str],
    expression: str,
    legend: str,
    *,
    unit: Unit = Unit.COUNT,
    orientation: Orientation = Orientation.MORE_IS_WORSE,
    total: Total | None = Total.SUM,
    facts: InfoJoin | None = None,
    layers: Sequence[str] = (),
    cadence: Cadence = CLOUDWATCH,
    limit: bool = False,
) -> Signal:
    """A signal that CloudWatch delivers, or a source beside it. `title` and `help` are English, then Japanese."""
    return Signal(
        id=id,
        title=Words(*title),
        help=Words(*help),
        unit=unit,
        orientation=orientation,
        expression=expression,
        legend=legend,
        cadence=cadence,
        total=total,
        facts=facts,
        layers=layers,
        limit=limit,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Metrics of one kind of resource: what their names begin with, and the dimension that tells resources apart."""

    prefix: str
    dimension: str
    facts: InfoJoin | None = None

    @property
    def legend(self) -> str:
        """Template of a series' name."""
        return f"{{{{{self.dimension}}}}}"

    def signal(
        self,
        id: str,
        title: tuple[str, str],
        help: tuple[str, str],
        metric: str,
        *,
        scale: str = "",
        unit: Unit = Unit.COUNT,
        orientation: Orientation = Orientation.MORE_IS_WORSE,
        total: Total = Total.SUM,
    ) -> Signal:
        """One metric by resource."""
        return cloudwatch(
            id,
            title,
            help,
            by_resource(f"{self.prefix}_{metric}", self.dimension, scale=scale),
            self.legend,
            unit=unit,
            orientation=orientation,
            total=total,
            facts=self.facts,
        )
