"""Runs every collector by hand and tells what it saw, what it cost, and which permission it lacks."""

import json
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from loadwatch_collectors.collector import Collector, MissingPrivilege, Sample
from loadwatch_collectors.config import CollectorSettings
from loadwatch_collectors.errors import CollectorError
from loadwatch_collectors.transport.exposure import find_exposures

_SHOWN = 8
_RUNS_APART_SECONDS = 0.2


@dataclass(slots=True, kw_only=True)
class Report:
    """One collector on one target.

    Times in seconds, of the run that is shown: the second one, which has its connections open, unless the source gave
    more at the first, as those do whose samples come now and then.
    """

    job: str
    instance: str
    collector: str
    where: str
    interval_seconds: float
    error: str | None = None
    samples: int = 0
    shown: dict[str, float] = field(default_factory=lambda: {})
    """Values by series in words, such as `node_load1` or `tcp_connections{port="80"}`."""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    missing: list[MissingPrivilege] = field(default_factory=lambda: [])
    notes: list[str] = field(default_factory=lambda: [])
    exposed: list[str] = field(default_factory=lambda: [])
    """What its connections show to others, and what to do; told also of one that fails."""

    @property
    def cpu_share(self) -> float:
        """Share of one core at the configured interval, 0 to 1."""
        return self.cpu_seconds / self.interval_seconds


def check_collectors(collectors: Sequence[CollectorSettings]) -> list[Report]:
    """Run each collector twice, one after another.

    Raises:
        ConfigError: the settings of a source cannot work.
    """
    return [_check_one(config) for config in collectors]


def _check_one(config: CollectorSettings) -> Report:
    report = Report(
        job=config.identity.job,
        instance=config.identity.instance,
        collector=config.name,
        where=config.where,
        interval_seconds=config.interval_seconds,
        notes=list(config.notes),
        exposed=find_exposures(config.settings),
    )
    try:
        collector = config.build()
    except CollectorError as error:
        report.error = str(error)
        return report
    thread = threading.Thread(target=_run_twice, args=(collector, report), daemon=True)
    thread.start()
    thread.join(2 * config.timeout_seconds + _RUNS_APART_SECONDS)
    if thread.is_alive():
        report.error = f"no answer within {config.timeout_seconds:g} s"
    collector.close()
    return report


def _run(collector: Collector) -> tuple[list[Sample], float, float]:
    """The samples, and the seconds on the wall and of CPU that they took."""
    wall, cpu = time.perf_counter(), time.thread_time()
    samples = list(collector.collect())
    return samples, time.perf_counter() - wall, time.thread_time() - cpu


def _run_twice(collector: Collector, report: Report) -> None:
    try:
        first = _run(collector)
        time.sleep(_RUNS_APART_SECONDS)
        samples, report.wall_seconds, report.cpu_seconds = max(_run(collector), first, key=lambda run: len(run[0]))
        report.samples = len(samples)
        report.shown = choose_shown(samples)
        report.missing = list(collector.missing_privileges())
        report.notes += collector.explain()
        fault = collector.fault()
        if fault is not None and fault.total:
            report.error = fault.text
        elif fault is not None:
            report.notes.append(f"trouble: {fault.text}")
    except CollectorError as error:
        report.error = str(error)
    except Exception as error:
        report.error = f"internal error: {type(error).__name__}: {error}"


def choose_shown(samples: Sequence[Sample]) -> dict[str, float]:
    first: dict[str, Sample] = {}
    for sample in samples:
        first.setdefault(sample.name, sample)
    chosen = sorted(first.values(), key=lambda sample: len(sample.labels))[:_SHOWN]
    return {_series_text(sample): sample.value for sample in chosen}


def render_reports(reports: Sequence[Report], exposed: Sequence[str] = ()) -> str:
    lines = [f"server: warning: {text}" for text in exposed]
    for report in reports:
        mark = "FAILED" if report.error else "ok"
        lines.append(f"{report.job} · {report.instance} · {report.collector}: {mark}   ({report.where})")
        lines += [f"  warning: {text}" for text in report.exposed]
        if report.error:
            lines += [f"  error: {report.error}", *(f"  {note}" for note in report.notes)]
            lines += _missing_lines(report)
            continue
        lines.append(
            f"  sees {report.samples} samples; costs {report.wall_seconds * 1000:.1f} ms, of which CPU "
            f"{report.cpu_seconds * 1000:.1f} ms: {report.cpu_share:.2%} of a core each {report.interval_seconds:g} s"
        )
        lines += [f"  {note}" for note in report.notes]
        lines += [f"    {series} = {value:.12g}" for series, value in report.shown.items()]
        lines += _missing_lines(report)
    failed = sum(1 for report in reports if report.error)
    lacking = sum(1 for report in reports if report.missing)
    lines += ["", f"{len(reports)} collectors: {failed} failed, {lacking} lack a permission"]
    return "\n".join(lines)


def _missing_lines(report: Report) -> list[str]:
    return [
        f"  lacks {one.permission}\n    lost without it: {one.lost}\n    remedy: {one.remedy}" for one in report.missing
    ]


def reports_to_json(reports: Sequence[Report], exposed: Sequence[str] = ()) -> str:
    """The reports as JSON; values that JSON cannot hold are null."""
    documents: list[dict[str, Any]] = []
    for report in reports:
        document = asdict(report) | {"cpu_share": report.cpu_share}
        document["shown"] = [
            {"series": series, "value": value if math.isfinite(value) else None}
            for series, value in report.shown.items()
        ]
        documents.append(document)
    return json.dumps({"server": {"exposed": list(exposed)}, "collectors": documents}, indent=2, ensure_ascii=False)


def _series_text(sample: Sample) -> str:
    labels = ",".join(f'{name}="{value}"' for name, value in sample.labels)
    return f"{sample.name}{{{labels}}}" if labels else sample.name
