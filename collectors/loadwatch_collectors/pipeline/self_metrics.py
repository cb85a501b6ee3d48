"""What the agent tells of itself: its spool, its sender, and its own process."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_formats.metrics.agent import AGENT

from loadwatch_collectors.collector import Collector, MissingPrivilege, Sample, Source, TargetIdentity
from loadwatch_collectors.config import CollectorSettings
from loadwatch_collectors.pipeline.clock_skew import ServerClock
from loadwatch_collectors.pipeline.sender import SenderCounts
from loadwatch_collectors.pipeline.spool import Spool
from loadwatch_collectors.sources.process.collector import ProcessCollector
from loadwatch_collectors.sources.process.search import ProcessSettings

JOB = "loadwatch-agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfSettings:
    """The parts of the running agent that are watched; not a block of the file."""

    spool: Spool
    counts: SenderCounts
    clock: ServerClock


class SelfCollector:
    """Reads the agent that it runs in."""

    def __init__(self, settings: SelfSettings) -> None:
        self._spool = settings.spool
        self._counts = settings.counts
        self._clock = settings.clock
        self._process = ProcessCollector(ProcessSettings(pid=os.getpid()))

    def collect(self) -> list[Sample]:
        """Read spool, sender and process once."""
        waiting_samples, waiting_bytes = self._spool.waiting()
        counts = self._counts
        samples = [
            Sample("agent_spool_bytes", float(waiting_bytes)),
            Sample("agent_spool_samples", float(waiting_samples)),
            Sample("agent_spool_dropped_samples_total", float(self._spool.dropped_samples)),
            Sample("agent_spool_writable", 0.0 if self._spool.disk_error else 1.0),
            Sample("agent_sent_samples_total", float(counts.sent_samples)),
            Sample("agent_refused_samples_total", float(counts.refused_samples)),
            Sample("agent_failed_requests_total", float(counts.failed_requests)),
            Sample("agent_clock_correction_seconds", self._clock.offset_seconds),
        ]
        if counts.clock_skew_seconds is not None:
            samples.append(Sample("agent_clock_skew_seconds", counts.clock_skew_seconds))
        return samples + self._process.collect()

    def missing_privileges(self) -> Sequence[MissingPrivilege]:
        """A process may always read itself."""
        return ()

    def close(self) -> None:
        """The spool is closed by its owner."""


def _build(settings: SelfSettings) -> Collector:
    return SelfCollector(settings)


SELF = Source(
    name="agent",
    help="The agent's own spool, sender and process.",
    settings=SelfSettings,
    build=_build,
    metrics=AGENT,
)


def watch_self(
    spool: Spool,
    counts: SenderCounts,
    clock: ServerClock,
    *,
    instance: str,
    labels: tuple[tuple[str, str], ...],
    interval_seconds: float,
) -> CollectorSettings:
    """The agent's own collector, to be run beside the configured ones."""
    return CollectorSettings(
        source=SELF,
        settings=SelfSettings(spool=spool, counts=counts, clock=clock),
        identity=TargetIdentity(job=JOB, instance=instance, labels=labels),
        interval_seconds=interval_seconds,
        timeout_seconds=SELF.timeout_seconds,
        where="the agent itself",
    )
