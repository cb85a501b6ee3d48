"""What the peers would ask for the same metrics, by their documents and sources. Neither is run here.

YACE (prometheus-community/yet-another-cloudwatch-exporter) could not be had on the machine of the benchmark, and
Netdata's collector comes with its agent only. Sources, read on 2026-11-21:

- YACE: docs/configuration.md (scraping-interval, metrics-per-query 500), pkg/clients/cloudwatch/client_impl.go
  (ListMetrics for each metric of a job in each scrape, 500 metrics a page; one query for each statistic),
  pkg/clients/tagging/client.go (GetResources for each job in each scrape, 100 resources a page).
- Netdata: src/go/plugin/go.d/collector/cloudwatch/integrations/amazon_cloudwatch.md (a series is asked for once in its
  period; ListMetrics for each namespace once in 300 s) and query_batch.go (whole metrics in requests of at most 500).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from collectors.tests.sources.aws.fault_proxy.metrics import Query

QUERIES = 500
LIST_PAGE = 500
TAG_PAGE = 100
NETDATA_DISCOVERY_MINUTES = 5


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Requests by operation, and metrics requested as AWS bills them, in one minute."""

    name: str
    calls: Mapping[str, float]
    metrics: float

    @property
    def total(self) -> float:
        """All requests of a minute."""
        return sum(self.calls.values())


@dataclass(slots=True)
class _Namespace:
    resources: set[tuple[tuple[str, str], ...]] = field(default_factory=set[tuple[tuple[str, str], ...]])
    metrics: dict[tuple[str, tuple[tuple[str, str], ...]], int] = field(
        default_factory=dict[tuple[str, tuple[tuple[str, str], ...]], int]
    )
    """Statistics of each metric of each resource."""

    @property
    def names(self) -> set[str]:
        return {name for name, _ in self.metrics}


def yace(queries: Iterable[Query]) -> Asked:
    """One job for each namespace, scraped each minute (`-scraping-interval=60`, period 60); its default is 300 s."""
    calls = {"tag GetResources": 0.0, "cloudwatch ListMetrics": 0.0, "cloudwatch GetMetricData": 0.0}
    metrics = 0.0
    for space in _by_namespace(queries).values():
        calls["tag GetResources"] += math.ceil(len(space.resources) / TAG_PAGE)
        for name in space.names:
            of_name = sum(1 for found, _ in space.metrics if found == name)
            calls["cloudwatch ListMetrics"] += math.ceil(of_name / LIST_PAGE)
        calls["cloudwatch GetMetricData"] += math.ceil(sum(space.metrics.values()) / QUERIES)
        metrics += len(space.metrics)
    return Asked(name="YACE (documented)", calls=calls, metrics=metrics)


def netdata(queries: Iterable[Query]) -> Asked:
    """One job with these metrics, `update_every: 60` and period 60; its profiles' own period is 300 s."""
    spaces = _by_namespace(queries).values()
    listed = sum(math.ceil(len(space.metrics) / LIST_PAGE) for space in spaces) / NETDATA_DISCOVERY_MINUTES
    statistics = sum(sum(space.metrics.values()) for space in spaces)
    return Asked(
        name="Netdata (documented)",
        calls={"cloudwatch ListMetrics": listed, "cloudwatch GetMetricData": math.ceil(statistics / QUERIES)},
        metrics=sum(len(space.metrics) for space in spaces),
    )


def _by_namespace(queries: Iterable[Query]) -> dict[str, _Namespace]:
    found: dict[str, _Namespace] = {}
    for query in queries:
        space = found.setdefault(query.namespace, _Namespace())
        space.resources.add(query.dimensions)
        key = (query.name, query.dimensions)
        space.metrics[key] = space.metrics.get(key, 0) + 1
    return found
