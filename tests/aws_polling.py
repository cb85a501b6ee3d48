"""The real collector in the runner's own worker, on a clock that the test sets; what it sends as a server reads it."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
from loadwatch_collectors.collector import TargetIdentity
from loadwatch_collectors.config import CollectorSettings
from loadwatch_collectors.pipeline.sender import compress, encode_rows
from loadwatch_collectors.pipeline.worker import Worker
from loadwatch_collectors.series import SampleRow
from loadwatch_collectors.sources.aws.cloudwatch import CLOUDWATCH, CloudWatchCollector
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings

from collectors.tests.receiver import Received, decode_write_request

MINUTE = 60


@dataclass
class Polling:
    """A collector that is polled once for each minute that the test lets pass."""

    settings: CloudWatchSettings
    now: float
    """Seconds since the epoch; the data of the test goes by the same clock."""
    sent: list[Received] = field(default_factory=list[Received])
    _worker: Worker | None = None
    _ended: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    _unsent: list[bytes] = field(default_factory=list[bytes])

    def clock(self) -> float:
        """The time that the test has set."""
        return self.now

    def poll(self, polls: int = 1, seconds: float = MINUTE) -> list[Received]:
        """Let time pass and poll, `polls` times; what was sent by them."""
        before = len(self.sent)
        for _ in range(polls):
            self.now += seconds
            worker = self._started()
            assert worker.begin(int(self.now * 1000)), "the last poll is still under way"
            assert self._ended.acquire(timeout=800), "the poll does not end"
        return self.sent[before:]

    def named(self, name: str, **labels: str) -> dict[int, float]:
        """The samples of a series as a server holds them: the last value at each time (in seconds)."""
        return {
            sample.timestamp_ms // 1000: sample.value
            for sample in self.sent
            if sample.name == name and not sample.is_stale and labels.items() <= sample.labels.items()
        }

    def latest(self, name: str, **labels: str) -> float | None:
        """The newest value of a series; None when it has none, or was marked stale."""
        found = [sample for sample in self.sent if sample.name == name and labels.items() <= sample.labels.items()]
        newest = max(found, key=lambda sample: sample.timestamp_ms, default=None)
        return None if newest is None or newest.is_stale else newest.value

    def errors(self) -> list[str]:
        """What `collector_error_info` and `aws_place_error_info` tell after the last poll."""
        at = int(self.now * 1000)
        return [
            sample.labels["error"]
            for sample in self.sent
            if sample.name.endswith("_error_info") and sample.timestamp_ms == at and not sample.is_stale
        ]

    def push(self, url: str) -> None:
        """Send what has been read since the last push by remote write, as the agent does."""
        for body in self._unsent:
            answer = httpx.post(
                f"{url}/prometheus/api/v1/write",
                content=compress(body),
                headers={"Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"},
                timeout=180,
                verify=False,
            )
            assert answer.status_code < 300, answer.text
        self._unsent.clear()

    def close(self) -> None:
        """End the collector."""
        if self._worker is not None:
            self._worker.end(int(self.now * 1000))

    def _started(self) -> Worker:
        if self._worker is None:
            config = CollectorSettings(
                source=replace(CLOUDWATCH, build=self._build),
                settings=self.settings,
                identity=TargetIdentity(job="aws", instance="test"),
                interval_seconds=float(MINUTE),
                timeout_seconds=180.0,
                where="loadwatch.yml:1",
            )
            self._worker = Worker(config, self._take, int(self.now * 1000))
            self._worker.start()
        return self._worker

    def _build(self, settings: CloudWatchSettings) -> CloudWatchCollector:
        return CloudWatchCollector(settings, wall=self.clock)

    def _take(self, rows: Sequence[SampleRow], expected: bool) -> None:
        body = encode_rows(rows)
        samples, _ = decode_write_request(body)
        self.sent += samples
        self._unsent.append(body)
        if expected:
            self._ended.release()


def query_range(url: str, promql: str, start: int, end: int, step: int = MINUTE) -> dict[int, float]:
    """What the server's query API draws for the one series of a query: time in seconds and value."""
    parameters: dict[str, Any] = {"query": promql, "start": start, "end": end, "step": step}
    answer = httpx.get(f"{url}/prometheus/api/v1/query_range", params=parameters, timeout=180, verify=False)
    assert answer.status_code == 200, answer.text
    result = answer.json()["data"]["result"]
    assert len(result) <= 1, result
    return {int(at): float(value) for at, value in result[0]["values"]} if result else {}


def aligned_now(minutes_ago: int) -> int:
    """A whole minute of the real past: the server takes no samples of times that are absurd."""
    return int(time.time()) // MINUTE * MINUTE - minutes_ago * MINUTE
