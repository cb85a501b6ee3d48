"""What the server says of itself to who asks it as a Prometheus."""

from typing import Any

import yaml
from loadwatch_formats.durations import format_duration

from loadwatch_backend.series.foundation import Foundation
from loadwatch_backend.series.promql.http.endpoints import ServerFacts


def prometheus_facts(ground: Foundation) -> ServerFacts:
    """Settings by the names of Prometheus' flags and keys; nothing that is secret."""
    settings = ground.settings
    interval = format_duration(round(settings.rules_interval_seconds * 1_000))
    document: dict[str, Any] = {
        "global": {"evaluation_interval": interval, "external_labels": {}},
        "rule_files": list(settings.rules),
    }
    return ServerFacts(
        clock=ground.clock,
        started_ms=ground.clock(),
        retention=format_duration(settings.retention_ms),
        flags=_flags(ground),
        configuration=yaml.safe_dump(document, sort_keys=False),
        statistics=ground.store.statistics,
    )


def _flags(ground: Foundation) -> dict[str, str]:
    settings, engine = ground.settings, ground.engine.settings
    return {
        "alertmanager.notification-queue-capacity": "0",
        "query.lookback-delta": format_duration(engine.lookback_ms),
        "query.max-concurrency": str(ground.queries.api.settings.at_once),
        "query.max-samples": str(engine.max_samples),
        "query.timeout": format_duration(round(engine.timeout_seconds * 1_000)),
        "storage.tsdb.retention.size": "0B",
        "storage.tsdb.retention.time": format_duration(settings.retention_ms),
        "web.enable-admin-api": "false",
        "web.enable-lifecycle": "false",
        "web.enable-otlp-receiver": "true",
        "web.enable-remote-write-receiver": "true",
        "web.external-url": f"{ground.external_url}/prometheus",
        "web.listen-address": f"{settings.listen.host}:{settings.listen.port}",
        "web.route-prefix": "/prometheus",
    }
