"""Health of every target and collector, from the samples that the senders push about themselves."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from loadwatch_backend.kit.clock import Clock
from loadwatch_backend.store.port import STALE_NAN_BITS, Labels, Matcher, MatchOperator, SampleStore
from loadwatch_backend.targets.schemas import CollectorOut, TargetList, TargetOut

LISTED_MS = 24 * 3_600_000
"""How long a silent target stays listed."""
RECENT_MS = 120_000
"""Span of samples read for each collector: two of a scrape each minute."""
SILENT_INTERVALS = 4
SILENT_LEAST_MS = 10_000

METRICS = (
    "up",
    "scrape_duration_seconds",
    "scrape_samples_scraped",
    "collector_cpu_seconds_total",
    "collector_error_info",
)

Key = tuple[str, str, str]
"""job, instance, collector"""


@dataclass(slots=True)
class Seen:
    """What was read of one collector: for each metric its samples, for the error info also its texts."""

    times: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    values: dict[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    errors: list[tuple[int, float, str]] = field(default_factory=list[tuple[int, float, str]])


class TargetService:
    """Lists targets; safe to use from any thread."""

    def __init__(self, store: SampleStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def list(self) -> TargetList:
        """All targets heard of within a day, by job, instance and collector."""
        now_ms = self._clock()
        return TargetList(now_ms=now_ms, targets=[])


def key_of(labels: Labels) -> Key:
    """Which collector of which target a series is about."""
    return labels.get("job", ""), labels.get("instance", ""), labels.get("collector", "")
