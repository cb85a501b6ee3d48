"""What is known of a metric, and how the tables beside this file are written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """What a metric means; sent as remote-write metadata and listed in the reference.

    `type` is counter, gauge, histogram, summary, info or unknown, as in OpenMetrics. `unit` is a base unit.
    """

    name: str
    type: str
    help: str
    unit: str = ""


def describe(type: str = "", unit: str = "", /, **helps: str) -> tuple[MetricInfo, ...]:
    """Metrics with their help, in this order. Type and unit follow from the name where they are not given.

    That is how Prometheus names metrics: `_total` is a counter, anything else a gauge; the unit stands at the end.
    """
    return tuple(
        MetricInfo(name=name, type=type or _type(name), help=help, unit=unit or _unit(name))
        for name, help in helps.items()
    )


def by_name(metrics: Sequence[MetricInfo]) -> Mapping[str, MetricInfo]:
    """The metrics, to be looked up."""
    return {metric.name: metric for metric in metrics}


def _type(name: str) -> str:
    return "counter" if name.endswith("_total") else "gauge"


def _unit(name: str) -> str:
    last = name.removesuffix("_total").rpartition("_")[2]
    return last if last in ("seconds", "bytes") else ""
