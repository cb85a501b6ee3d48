"""The agent as a whole: collectors, spool and sender, from start to clean end."""

import socket
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import structlog

from loadwatch_collectors.collector import MetricInfo
from loadwatch_collectors.config import AgentConfig
from loadwatch_collectors.runner import HEALTH_METRICS, Runner
from loadwatch_collectors.self_metrics import AGENT_METRICS, watch_self
from loadwatch_collectors.sender import Sender
from loadwatch_collectors.series import Block
from loadwatch_collectors.spool import Spool

STOP_SECONDS = 3.0
"""How long the last samples may take to reach the server at the end; what is left stays in the spool."""

_log: Any = structlog.get_logger("loadwatch.agent")


def run_agent(config: AgentConfig, stop: threading.Event) -> None:
    """Run until `stop` is set.

    Raises:
        ConfigError: the token or a source's settings cannot work.
        SpoolError: the spool's folder cannot be used.
    """
    token = config.server.token()
    spool = Spool(Path(config.spool.directory), max_bytes=config.spool.max_bytes, max_age_seconds=config.spool.max_age)
    try:
        sender = Sender(
            spool,
            url=config.server.url,
            token=token,
            timeout_seconds=config.server.timeout,
            metrics=lambda: [*collect_metrics(config), *runner.metadata()],
            ca_file=config.server.ca_file,
        )
        own = watch_self(
            spool,
            sender.counts,
            instance=socket.gethostname(),
            labels=config.labels,
            interval_seconds=config.interval_seconds,
        )
        runner = Runner([*config.collectors, own], _Writer(spool).write)
        waiting_samples, waiting_bytes = spool.waiting()
        _log.info(
            "the agent runs",
            server=config.server.url,
            collectors=len(config.collectors),
            spool=config.spool.directory,
            waiting_samples=waiting_samples,
            waiting_bytes=waiting_bytes,
        )
        sender.start()
        try:
            runner.run(stop)
        finally:
            sender.stop(STOP_SECONDS)
        _log.info("the agent ends", waiting_samples=spool.waiting()[0])
    finally:
        spool.close()


def collect_metrics(config: AgentConfig) -> list[MetricInfo]:
    """What is known of every metric that this configuration can bring, each name once."""
    listed: Iterable[Sequence[MetricInfo]] = (
        HEALTH_METRICS,
        AGENT_METRICS,
        *(item.source.metrics for item in config.collectors),
    )
    by_name: dict[str, MetricInfo] = {}
    for metrics in listed:
        for metric in metrics:
            by_name.setdefault(metric.name, metric)
    return list(by_name.values())


class _Writer:
    """Puts batches into the spool; tells once when the disk refuses and once when it works again."""

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._failed = False
        self._dropped = spool.dropped_samples

    def write(self, blocks: Sequence[Block]) -> None:
        self._spool.append(blocks)
        error = self._spool.disk_error
        if error and not self._failed:
            _log.error("the spool cannot be written; samples are held in memory", reason=error)
        elif self._failed and not error:
            _log.info("the spool can be written again")
        self._failed = error is not None
        dropped = self._spool.dropped_samples
        if dropped and not self._dropped:
            _log.error("samples are dropped, the spool is at its limit or damaged", samples=dropped)
        self._dropped = dropped
