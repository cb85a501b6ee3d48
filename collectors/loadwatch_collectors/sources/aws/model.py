"""The words that all of `aws/` shares. Times are milliseconds since the epoch; nothing here does I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from loadwatch_collectors.collector import Labels, MissingPrivilege, Sample

MAX_QUERIES = 500
"""Queries of one GetMetricData request (CloudWatch's limit)."""
MAX_POINTS = 100_800
"""Data points that one GetMetricData request may ask for (CloudWatch's limit)."""
MAX_STATISTICS = 5
"""Statistics of one metric that are billed as one metric requested, when they are in one request."""

ABSENT = ("gap", "zero-when-delivered")
"""What it means that CloudWatch has no point: nothing is known, or zero happened.

`zero-when-delivered`: the metric is only written when something happens (an ALB's 5xx). Its holes are filled with 0
where another metric of the same resource was delivered, and not before they leave the window that is read again.
"""

Pairs = tuple[tuple[str, str], ...]
"""Names and values, sorted by name."""


class AccountRegion(NamedTuple):
    account_id: str
    region: str

    def __str__(self) -> str:
        return f"{self.region} of account {self.account_id}" if self.account_id else self.region


class MetricKey(NamedTuple):
    """What CloudWatch knows a metric by. `dimensions` are sorted by name."""

    namespace: str
    name: str
    dimensions: Pairs = ()


class PresetKind(NamedTuple):
    """What a preset is chosen by: its name, the `Resource.kind` that it reads, and the group that stands for it."""

    name: str
    kind: str
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One thing that discovery has found.

    `kind` is the discovery's word: rds, rds_cluster, alb, nlb, target_group, ecs_service, ecs_cluster,
    autoscaling_group, ec2, elasticache, lambda, sqs. `name` is its ARN or id, the label `name`. `dimensions` are all
    dimensions that its metrics may have, such as `DBInstanceIdentifier`. `presets` names the presets it is read by;
    empty means every preset of its kind. `attributes` are what presets ask for beyond the kind (`only` in their
    files): engine, class, storage_type, performance_insights, resource_id ...
    """

    kind: str
    name: str
    place: AccountRegion
    dimensions: Pairs = ()
    tags: Pairs = ()
    presets: tuple[str, ...] = ()
    attributes: Pairs = ()


class Found(NamedTuple):
    resources: Sequence[Resource] = ()
    facts: Sequence[Sample] = ()
    missing: Sequence[MissingPrivilege] = ()


class WantedStatistic(NamedTuple):
    statistic: str
    series: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WantedMetric:
    """One metric to be read: up to five statistics, billed as one.

    `resource` joins the metrics of one thing, for `zero-when-delivered`. `preset` is `custom` for configured ones.
    `every` is the budget's factor: it is asked for once in so many periods.
    """

    metric: MetricKey
    statistics: tuple[WantedStatistic, ...]
    labels: Labels
    period_seconds: int = 60
    resource: str = ""
    preset: str = "custom"
    absent: str = "gap"
    """One of `ABSENT`."""
    cloudwatch_unit: str = ""
    priority: int = 1
    every: int = 1
    period_series: str = ""


class DataQuery(NamedTuple):
    """One query of GetMetricData: one statistic of one metric. `id` is unique in its request."""

    id: str
    metric: MetricKey
    statistic: str
    period_seconds: int
    unit: str = ""


class DataRequest(NamedTuple):
    """One GetMetricData request. `start_ms` is inclusive, `end_ms` exclusive; both aligned to the period."""

    queries: tuple[DataQuery, ...]
    start_ms: int
    end_ms: int
    next_token: str = ""


class DataResult(NamedTuple):
    """One query's share of one page. `times_ms` are the beginnings of periods, in no fixed order.

    `status` is Complete, PartialData, InternalError or Forbidden.
    """

    id: str
    status: str
    times_ms: Sequence[int] = ()
    values: Sequence[float] = ()


class DataPage(NamedTuple):
    results: Sequence[DataResult]
    next_token: str = ""
