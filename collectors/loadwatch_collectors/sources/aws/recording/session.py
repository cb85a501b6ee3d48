"""Runs the collector to record it, and runs it on a recording."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from loadwatch_collectors.collector import KEPT, Sample
from loadwatch_collectors.config import CollectorSettings
from loadwatch_collectors.errors import CollectorError, ConfigError
from loadwatch_collectors.sources.aws.cloudwatch import CloudWatchCollector
from loadwatch_collectors.sources.aws.recording.format import SUFFIX, read_recordings
from loadwatch_collectors.sources.aws.recording.replay import Replay
from loadwatch_collectors.sources.aws.settings import CloudWatchSettings

_OF_THIS_RUN = frozenset(["aws_poll_duration_seconds", "aws_discovery_age_seconds"])
"""Series that tell of the replay itself, and so nothing of the recording."""


@dataclass(slots=True, kw_only=True)
class Session:
    """What was recorded: one file for each cloudwatch block."""

    files: list[Path] = field(default_factory=list[Path])
    read_any: bool = False


def record_polls(
    collectors: Sequence[CollectorSettings],
    folder: Path,
    polls: int,
    *,
    tell: Callable[[str], None],
    pause: Callable[[], None],
) -> Session:
    """Poll every cloudwatch block of a configuration `polls` times; `pause` is called between two polls.

    Raises:
        ConfigError: there is no such block, or it cannot work.
    """
    blocks = [config for config in collectors if isinstance(config.settings, CloudWatchSettings)]
    if not blocks:
        raise ConfigError("the configuration has no cloudwatch block")
    session = Session()
    running: list[tuple[CollectorSettings, CloudWatchCollector]] = []
    try:
        for config in blocks:
            settings = replace(cast(CloudWatchSettings, config.settings), record=str(folder))
            running.append((config, CloudWatchCollector(settings)))
        for number in range(polls):
            if number:
                pause()
            for config, collector in running:
                read, text = _poll(collector)
                session.read_any = session.read_any or read
                tell(f"poll {number + 1} of {polls}, {config.where}: {text}")
    finally:
        for _, collector in running:
            collector.close()
    session.files = sorted(folder.glob(f"*{SUFFIX}"))
    return session


def replay_recordings(path: Path) -> Iterator[str]:
    """Lines that tell what the collector makes of each recording: comments, and samples in text format.

    Raises:
        ConfigError: there is no recording, or it is damaged.
    """
    for name, lines in read_recordings(path).items():
        yield from _replay(Replay(name, lines))


def render_samples(samples: Iterable[Sample], now_ms: int) -> list[str]:
    """Samples in the text format, sorted, each with its time in ms; those that are only kept are left out."""
    lines = [
        (sample.name, _labels(sample), sample.timestamp_ms if sample.timestamp_ms is not None else now_ms, sample.value)
        for sample in samples
        if sample.timestamp_ms != KEPT and sample.name not in _OF_THIS_RUN
    ]
    return [f"{name}{labels} {_number(value)} {time}" for name, labels, time, value in sorted(lines)]


def _poll(collector: CloudWatchCollector) -> tuple[bool, str]:
    try:
        samples = collector.collect()
    except CollectorError as error:
        return False, f"failed: {error}"
    fault = collector.fault()
    places = Counter(sample.value for sample in samples if sample.name == "aws_place_up")
    text = f"{len(samples)} samples" + (f"; trouble: {fault.text}" if fault is not None else "")
    return places[1.0] > 0, text


def _replay(replay: Replay) -> Iterator[str]:
    yield f"# {replay.name}, recorded by loadwatch {replay.recorded_by}, {len(replay.polls)} polls"
    now = [0]
    collector = CloudWatchCollector(replay.settings, connect=replay.connect, wall=lambda: now[0] / 1000)
    try:
        for number in range(len(replay.polls)):
            now[0] = replay.begin_poll(number)
            yield f"# poll {number + 1} at {datetime.fromtimestamp(now[0] / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
            try:
                samples = collector.collect()
            except CollectorError as error:
                yield f"# error: {error}"
                continue
            fault = collector.fault()
            if fault is not None:
                yield f"# trouble: {fault.text}"
            yield from (f"# lacks {item.permission}: {item.lost}" for item in collector.missing_privileges())
            yield from render_samples(samples, now[0])
    finally:
        collector.close()
    for what, count in sorted(replay.lacking.items()):
        yield f"# not in the recording: {what} ({count} times)"
    if replay.ended_full:
        yield "# the recording ended since its file was full"


def _labels(sample: Sample) -> str:
    pairs = ",".join(f'{name}="{_escape(value)}"' for name, value in sorted(sample.labels))
    return f"{{{pairs}}}" if pairs else ""


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _number(value: float) -> str:
    return str(int(value)) if math.isfinite(value) and value == int(value) and abs(value) < 2**53 else repr(value)
