"""k6's three summaries: `--summary-export` (legacy), `handleSummary(data)` and `--new-machine-readable-summary`.

Times are milliseconds. They disagree in their senses: in the legacy export a threshold that is `true` has FAILED, in
handleSummary `ok: true` has passed; and of the rate `http_req_failed`, "passes" and "matches" are the failed requests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from loadwatch_formats.outcomes import Outcome

from loadwatch_backend.evidence.records.model import Figures, Latency, RampFacts
from loadwatch_backend.runs.importers.errors import UnreadableFileError
from loadwatch_backend.runs.importers.importer import Importer, Part, Sink
from loadwatch_backend.runs.importers.outcomes import figures
from loadwatch_backend.runs.importers.reading.documents import (
    count,
    instant_ms,
    items,
    latency_of,
    mapping,
    number,
    only,
    read_document,
    scaled,
)

_EMPTY: Mapping[str, Any] = {}
_LATENCIES = ("min", "avg", "med", "p(90)", "p(95)", "p(99)", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What all three have.

    Attributes:
        metrics: values by metric, named as in handleSummary (`p(95)`, `passes`).
        thresholds: metric, expression, and whether it passed.
    """

    metrics: Mapping[str, Mapping[str, Any]]
    thresholds: Sequence[tuple[str, str, bool]] = ()
    duration_seconds: float | None = None
    version: str | None = None
    generated_ms: int | None = None
    failed_checks: Sequence[tuple[str, int]] = field(default=())


def parse_summary(document: Mapping[str, Any]) -> Summary:
    """Parses any of the three formats, told apart by their structure."""
    if "results" in document:
        return _machine(document)
    metrics = {name: mapping(metric) for name, metric in mapping(document.get("metrics")).items()}
    if any("values" in metric for metric in metrics.values()):
        return _handled(document, metrics)
    return _legacy(document, metrics)


def _legacy(document: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]]) -> Summary:
    thresholds = [
        (name, expression, failed is not True)
        for name, metric in metrics.items()
        for expression, failed in mapping(metric.get("thresholds")).items()
    ]
    requests = metrics.get("http_reqs") or metrics.get("iterations") or _EMPTY
    rate = number(requests.get("rate"))
    return Summary(
        metrics=metrics,
        thresholds=thresholds,
        duration_seconds=count(requests.get("count")) / rate if rate else None,
        failed_checks=_group_checks(document.get("root_group")),
    )


def _handled(document: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]]) -> Summary:
    thresholds = [
        (name, expression, mapping(state).get("ok") is True)
        for name, metric in metrics.items()
        for expression, state in mapping(metric.get("thresholds")).items()
    ]
    return Summary(
        metrics={name: mapping(metric.get("values")) for name, metric in metrics.items()},
        thresholds=thresholds,
        duration_seconds=scaled(mapping(document.get("state")).get("testRunDurationMs"), 1e-3),
        failed_checks=_group_checks(document.get("root_group")),
    )


def _machine(document: Mapping[str, Any]) -> Summary:
    """Version 1.8 writes `k6_version` and `p95`, version 2 `k6Version` and `p(95)`."""
    results, metadata = mapping(document.get("results")), mapping(document.get("metadata"))
    checks = mapping(results.get("checks"))
    metrics: dict[str, Mapping[str, Any]] = {}
    for metric in (*items(results.get("metrics")), *items(checks.get("metrics"))):
        values = {
            f"p({name[1:]})" if name[0] == "p" and name[1:].replace(".", "").isdecimal() else name: value
            for name, value in mapping(metric.get("values")).items()
        }
        metrics[str(metric.get("name"))] = values
    version = metadata.get("k6_version", metadata.get("k6Version"))
    return Summary(
        metrics=metrics,
        duration_seconds=number(mapping(document.get("config")).get("duration")),
        version=str(version) if version else None,
        generated_ms=instant_ms(metadata.get("generated_at", metadata.get("generatedAt"))),
        failed_checks=[
            (str(check.get("name")), count(check.get("fails")))
            for check in items(checks.get("results"))
            if count(check.get("fails"))
        ],
    )


def _group_checks(group: object, depth: int = 0) -> list[tuple[str, int]]:
    """Failed checks of a group and those inside it; lists in handleSummary, objects by name in the legacy export."""
    node = mapping(group)
    found: list[tuple[str, int]] = []
    for check in _children(node.get("checks")):
        if fails := count(check.get("fails")):
            found.append((str(check.get("path") or check.get("name")).removeprefix("::"), fails))
    if depth < 100:
        for inner in _children(node.get("groups")):
            found += _group_checks(inner, depth + 1)
    return found


def _children(value: object) -> list[dict[str, Any]]:
    named = mapping(value)
    return list(items(list(named.values()) if named else value))


def read_k6_summary(parts: Sequence[Part], sink: Sink) -> None:
    """Totals of the whole test.

    Raises:
        UnreadableFileError: it has no metrics.
    """
    part = only(parts, sink)
    summary = parse_summary(read_document(part, "k6's summary"))
    if not summary.metrics:
        raise UnreadableFileError(
            f"{part.name}: k6's summary has no metrics. If handleSummary() writes it, let it write all of `data`."
        )
    total = _figures(summary)
    span = None
    if sink.started_ms is None and summary.generated_ms is not None and summary.duration_seconds is not None:
        span = summary.generated_ms - round(summary.duration_seconds * 1000), summary.generated_ms
    sink.describe(
        tool_version=summary.version,
        facts=RampFacts(
            dropped_iterations=count(summary.metrics.get("dropped_iterations", _EMPTY).get("count")) or None
        ),
    )
    sink.aggregate(total, span=span)
    _remarks(sink, summary, total)


def _figures(summary: Summary) -> Figures:
    metrics = summary.metrics
    requests = count(metrics.get("http_reqs", _EMPTY).get("count"))
    failure = metrics.get("http_req_failed", _EMPTY)
    failed = min(count(failure.get("passes", failure.get("matches"))), requests)
    took = metrics.get("http_req_duration", _EMPTY)

    def total(name: str) -> int | None:
        return count(metrics[name].get("count")) if name in metrics else None

    return figures(
        outcomes={Outcome.OK: requests - failed, Outcome.OTHER: failed},
        duration_seconds=summary.duration_seconds,
        latency=latency_of(took, _LATENCIES, 1e-3) if requests else Latency(),
        bytes_in=total("data_received"),
        bytes_out=total("data_sent"),
    )


def _remarks(sink: Sink, summary: Summary, total: Figures) -> None:
    if summary.thresholds:
        listed = "; ".join(
            f"{name} {text} {'passed' if ok else 'failed'}" for name, text, ok in summary.thresholds[:20]
        )
        sink.remark(
            "k6-thresholds/summary",
            figures={
                "passed": sum(ok for _, _, ok in summary.thresholds),
                "failed": sum(not ok for _, _, ok in summary.thresholds),
            },
            listed=listed,
        )
    sink.remark("k6-no-series")
    if total.requests:
        sink.remark("k6-interpolated")
    if failed := total.outcomes.get(Outcome.OTHER):
        sink.remark("k6-failure-kinds", figures={"failed": failed})
    absent = [name for name in ("p90", "p95", "p99") if getattr(total.latency, name) is None]
    if total.requests and absent:
        sink.remark("k6-percentiles", absent=", ".join(absent))
    if summary.failed_checks:
        failed_checks = sum(n for _, n in summary.failed_checks)
        most = "; ".join(f"{name} ({n})" for name, n in summary.failed_checks[:5])
        sink.remark("k6-checks/summary", figures={"failed_checks": failed_checks}, most=most)


def _recognise(head: bytes) -> int:
    if head.lstrip()[:1] != b"{" or b'"metrics"' not in head or b'"type":"Point"' in head:
        return 0
    words = (b'"root_group"', b'"http_reqs"', b'"iteration_duration"', b'"k6_version"', b'"k6Version"')
    return 85 if any(word in head for word in words) else 0


K6_SUMMARY = Importer(
    "k6-summary",
    "k6's summary (`--summary-export`, `handleSummary()`, `--new-machine-readable-summary`)",
    _recognise,
    read_k6_summary,
)
