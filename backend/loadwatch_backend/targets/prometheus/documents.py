"""Targets in the shape of Prometheus' HTTP API (web/api/v1/api.go): one for each collector of a target."""

from typing import Any

from loadwatch_formats.times import NEVER, format_rfc3339

from loadwatch_backend.targets.schemas import CollectorOut, TargetList, TargetOut

_HEALTH = {True: "up", False: "down", None: "unknown"}


def targets_document(targets: TargetList, state: str, pool: str) -> dict[str, Any]:
    """`data` of `/targets`; `state` is `active`, `dropped`, or anything else for both, and an empty `pool` is all.

    Nothing is dropped here. Where samples were fetched from, and how often, only who sends them knows.
    """
    active = state in ("", "any", "active")
    found = [
        _target(target, collector)
        for target in targets.targets
        if active and pool in ("", target.job)
        for collector in target.collectors
    ]
    document: dict[str, Any] = {"activeTargets": found, "droppedTargets": []}
    document["droppedTargetCounts"] = {target.job: 0 for target in targets.targets} if state != "active" else None
    return document


def pools_document(targets: TargetList) -> dict[str, Any]:
    """`data` of `/scrape_pools`: the jobs."""
    return {"scrapePools": sorted({target.job for target in targets.targets})}


def _target(target: TargetOut, collector: CollectorOut) -> dict[str, Any]:
    labels = {"instance": target.instance, "job": target.job}
    if collector.collector:
        labels["collector"] = collector.collector
    return {
        "discoveredLabels": labels,
        "labels": labels,
        "scrapePool": target.job,
        "scrapeUrl": "",
        "globalUrl": "",
        "lastError": collector.error or "",
        "lastScrape": NEVER if collector.last_sample_ms is None else format_rfc3339(collector.last_sample_ms),
        "lastScrapeDuration": collector.duration_seconds or 0,
        "health": _HEALTH[collector.up],
        "scrapeInterval": "",
        "scrapeTimeout": "",
    }
