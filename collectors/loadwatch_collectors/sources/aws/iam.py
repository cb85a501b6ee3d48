"""The least IAM policy for a configuration, and what is lost without each action. Pure.

Loadwatch only reads: every action here describes, lists or gets.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from loadwatch_collectors.collector import Labels
from loadwatch_collectors.settings import option
from loadwatch_collectors.settings_loader import load_text
from loadwatch_collectors.sources.aws.discovery.discovery import LOOKED_UP, PARTS, TAGGED
from loadwatch_collectors.sources.aws.discovery.part import Selection, partition
from loadwatch_collectors.sources.aws.model import (
    AccountRegion,
    MetricKey,
    Pairs,
    Resource,
    WantedMetric,
    WantedStatistic,
)
from loadwatch_collectors.sources.aws.presets import (
    MetricEntry,
    PresetFile,
    dimension_label,
    fits,
    load_presets,
    series_name,
)
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings, CustomMetricSettings

ANY = "*"
"""As the value of a dimension: matches every value."""


def plan_resources(resources: Iterable[Resource], presets: Mapping[str, PresetFile]) -> list[WantedMetric]:
    """The metrics of all presets of all resources; what two presets have in common is wanted once."""
    by_kind: dict[str, list[str]] = {}
    for preset in presets.values():
        by_kind.setdefault(preset.kind, []).append(preset.name)
    planned: dict[tuple[MetricKey, int, str], WantedMetric] = {}
    for resource in resources:
        labels: dict[tuple[str, ...], tuple[Pairs, Labels]] = {}
        for name in resource.presets or by_kind.get(resource.kind, ()):
            preset = presets.get(name)
            if preset is None or not fits(preset.only, resource.attributes):
                continue
            for metric in preset.metrics:
                if not fits(metric.only, resource.attributes):
                    continue
                wanted = _plan_metric(resource, preset, metric, labels)
                if wanted is not None:
                    key = (wanted.metric, wanted.period_seconds, wanted.statistics[0].statistic)
                    planned.setdefault(key, wanted)
    return list(planned.values())


def plan_custom(
    settings: CustomMetricSettings, place: AccountRegion, found: Sequence[MetricKey] = ()
) -> list[WantedMetric]:
    """A configured metric: itself, or every one of `found` (by ListMetrics) that its wildcards match."""
    if has_wildcard(settings):
        keys: Iterable[MetricKey] = (key for key in found if _matches(settings, key))
    else:
        pairs = tuple(sorted(settings.dimensions.items()))
        keys = (MetricKey(namespace=settings.namespace, name=settings.metric, dimensions=pairs),)
    statistics = tuple(
        WantedStatistic(statistic, series_name(settings.namespace, settings.metric, statistic))
        for statistic in settings.statistics
    )
    return [
        WantedMetric(
            metric=key,
            statistics=statistics,
            labels=make_labels(place, "", key.dimensions),
            period_seconds=int(settings.period),
            cloudwatch_unit=settings.unit,
        )
        for key in keys
    ]


def has_wildcard(settings: CustomMetricSettings) -> bool:
    return ANY in settings.dimensions.values()


def make_labels(place: AccountRegion, name: str, dimensions: Pairs) -> Labels:
    """The labels of a series, as YACE has them; `name` is the resource's ARN or id, or empty."""
    own = (("name", name),) if name else ()
    return (
        ("account_id", place.account_id),
        *own,
        ("region", place.region),
        *((dimension_label(dimension), value) for dimension, value in dimensions),
    )


def _plan_metric(
    resource: Resource, preset: PresetFile, metric: MetricEntry, labels: dict[tuple[str, ...], tuple[Pairs, Labels]]
) -> WantedMetric | None:
    names = preset.dimensions
    if names not in labels:
        values = dict(resource.dimensions)
        pairs = tuple(sorted((name, values[name]) for name in names if name in values))
        labels[names] = (pairs, make_labels(resource.place, resource.name, pairs))
    pairs, shared = labels[names]
    if len(pairs) < len(names):
        return None
    return WantedMetric(
        metric=MetricKey(namespace=preset.namespace, name=metric.name, dimensions=pairs),
        statistics=tuple(WantedStatistic(*pair) for pair in zip(metric.statistics, metric.names, strict=True)),
        labels=shared,
        period_seconds=metric.period_seconds,
        resource=resource.name,
        preset=preset.name,
        absent=metric.absent,
        priority=metric.priority,
        period_series=metric.period_series,
    )


def _matches(settings: CustomMetricSettings, key: MetricKey) -> bool:
    if key.namespace != settings.namespace or key.name != settings.metric:
        return False
    values = dict(key.dimensions)
    return values.keys() == settings.dimensions.keys() and all(
        wanted in (ANY, values[name]) for name, wanted in settings.dimensions.items()
    )


MOST_REGIONS_IN_ARNS = 3
"""With more of them the ARNs say `*`, so that the policy stays within IAM's 6,144 signs; its condition names them."""

_LOST = {
    "cloudwatch:GetMetricData": "all metrics of CloudWatch",
    "cloudwatch:ListMetrics": "custom metrics whose dimensions have *",
    "pi:GetResourceMetrics": "database load by wait and statement, and the engine's counters (Performance Insights)",
    "logs:FilterLogEvents": "the operating system of RDS instances (Enhanced Monitoring)",
    "rds:DescribeDBLogFiles": "statements by the slow log of RDS",
    "rds:DownloadDBLogFilePortion": "statements by the slow log of RDS",
    "sts:AssumeRole": "everything in the accounts of these roles",
    "rds-db:connect": "everything that is read from the databases themselves",
}
_SIDS = {"ecs": "Ecs", "elasticache": "ElastiCache", "logs": "EnhancedMonitoring", "pi": "Insights", "rds": "Rds"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action, and the ARNs that it can be limited to: `{region}` and `{account}` are filled in."""

    action: str = option(help="Its name in a policy.")
    resources: tuple[str, ...] = option(help="ARNs from the service on; none where it takes only *.", default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Actions:
    actions: tuple[Action, ...] = option(help="All of them, in order.")


@cache
def read_actions() -> Mapping[str, Action]:
    """The actions by name, in the order in which a policy lists them.

    Raises:
        ConfigError: the file is wrong.
    """
    text = (files("loadwatch_collectors.sources.aws") / "iam_actions.yml").read_text(encoding="utf-8")
    return {entry.action: entry for entry in load_text(text, "iam_actions.yml", _Actions, "the file").actions}


class PolicyNeeds(NamedTuple):
    """What one identity must be allowed to do. No region or account means any."""

    actions: frozenset[str] = frozenset()
    regions: tuple[str, ...] = ()
    account_id: str = ""
    roles: tuple[str, ...] = ()
    database_users: tuple[str, ...] = ()


def needed_actions(settings: CloudWatchSettings) -> frozenset[str]:
    """The actions that a `cloudwatch` block makes use of.

    Raises:
        ValueError: it names a preset that does not exist.
    """
    presets = tuple(load_presets(settings.presets).values())
    kinds = {preset.kind for preset in presets}
    actions = {action for preset in presets for action in preset.permissions}
    actions |= {permission.action for part in PARTS if kinds & set(part.kinds) for permission in part.permissions}
    if settings.custom:
        actions.add("cloudwatch:GetMetricData")
    if any(has_wildcard(custom) for custom in settings.custom):
        actions.add("cloudwatch:ListMetrics")
    selection = Selection(presets, settings.select)
    if any(selection.tag_filters(kind) for kind in LOOKED_UP):
        actions.add(TAGGED.action)
    return frozenset(actions)


def lost_without(actions: Iterable[str]) -> dict[str, str]:
    """What is lost without each action, in the policy's order."""
    known = {permission.action: permission.lost for part in PARTS for permission in part.permissions}
    known |= {TAGGED.action: TAGGED.lost} | _LOST
    order = list(read_actions())
    return {
        action: known.get(action, "")
        for action in sorted(actions, key=lambda item: (order.index(item) if item in order else len(order), item))
    }


def make_policy(needs: PolicyNeeds) -> dict[str, Any]:
    """The policy document; its statements are in a fixed order, so that two of them can be compared."""
    statements: list[dict[str, Any]] = []
    known = [entry for name, entry in read_actions().items() if name in needs.actions]
    anywhere = [entry.action for entry in known if not entry.resources]
    if anywhere:
        statements.append(_statement("LoadwatchRead", anywhere, ["*"], needs.regions))
    by_service: dict[str, list[Action]] = {}
    for entry in known:
        if entry.resources:
            by_service.setdefault(entry.action.partition(":")[0], []).append(entry)
    for service, entries in by_service.items():
        # Two actions may be of the same kind of resource.
        resources = dict.fromkeys(resource for entry in entries for resource in entry.resources)
        arns = [arn for resource in resources for arn in _arns(resource, needs)]
        names = [entry.action for entry in entries]
        statements.append(_statement(f"Loadwatch{_SIDS[service]}", names, arns, needs.regions))
    if needs.database_users:
        resources = [f"rds-db:{{region}}:{{account}}:dbuser:*/{user}" for user in sorted(needs.database_users)]
        arns = [arn for resource in resources for arn in _arns(resource, needs)]
        statements.append(_statement("LoadwatchDatabaseLogin", ["rds-db:connect"], arns, ()))
    if needs.roles:
        statements.append(_statement("LoadwatchAssumeRole", ["sts:AssumeRole"], sorted(needs.roles), ()))
    return {"Version": "2012-10-17", "Statement": statements}


def _statement(sid: str, actions: Sequence[str], resources: Sequence[str], regions: Sequence[str]) -> dict[str, Any]:
    statement: dict[str, Any] = {
        "Sid": sid,
        "Effect": "Allow",
        "Action": list(actions),
        "Resource": resources[0] if len(resources) == 1 else list(resources),
    }
    if regions:
        statement["Condition"] = {"StringEquals": {"aws:RequestedRegion": sorted(regions)}}
    return statement


def _arns(resource: str, needs: PolicyNeeds) -> list[str]:
    account = needs.account_id or "*"
    regions = sorted(needs.regions)
    if not regions:
        places = [("aws", "*")]
    elif len(regions) > MOST_REGIONS_IN_ARNS:
        places = [(name, "*") for name in sorted({partition(region) for region in regions})]
    else:
        places = [(partition(region), region) for region in regions]
    return [f"arn:{name}:{resource.format(region=region, account=account)}" for name, region in places]
