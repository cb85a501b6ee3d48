"""Resources and presets to wanted metrics, and the configured metrics that no preset has. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from loadwatch_collectors.collector import Labels
from loadwatch_collectors.sources.aws.model import (
    AccountRegion,
    MetricKey,
    Pairs,
    Preset,
    PresetMetric,
    Resource,
    WantedMetric,
    WantedStatistic,
)
from loadwatch_collectors.sources.aws.presets.fit import fits
from loadwatch_collectors.sources.aws.presets.naming import dimension_label, series_name
from loadwatch_collectors.sources.aws.settings import CustomMetricSettings

ANY = "*"
"""As the value of a dimension: every value that there is."""


def plan_resources(resources: Iterable[Resource], presets: Mapping[str, Preset]) -> list[WantedMetric]:
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
    """Whether the values of the metric's dimensions have to be looked up."""
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
    resource: Resource, preset: Preset, metric: PresetMetric, labels: dict[tuple[str, ...], tuple[Pairs, Labels]]
) -> WantedMetric | None:
    names = metric.dimensions or preset.dimensions
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
        cloudwatch_unit=metric.cloudwatch_unit,
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
