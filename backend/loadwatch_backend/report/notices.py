"""What the team's chat is told of a run: a sentence and headline figures."""

from collections.abc import Sequence

from loadwatch_backend.notify.model import Notice, NoticeKind
from loadwatch_backend.report.numbers import format_duration, format_value
from loadwatch_backend.runs.analysis.schemas import ResourceReached, ThresholdOut, ThresholdState
from loadwatch_backend.runs.fields import Verdict
from loadwatch_backend.runs.news import NewsDesk, RunEvent, RunNews
from loadwatch_backend.runs.schemas import RunOut

MOST_THRESHOLDS = 5
COMMIT_LENGTH = 12

Facts = list[tuple[str, str]]


class RunNotices:
    """News of runs as notices: `notify.notifier.News`."""

    def __init__(self, desk: NewsDesk, external_url: str) -> None:
        self._desk = desk
        self._external_url = external_url
        self._news: dict[str, RunNews] = {}

    def latest(self) -> Sequence[Notice]:
        """What is to be told at present."""
        found = {notice_key(news): news for news in self._desk.latest()}
        self._news = found
        return [notice_of(news, self._external_url) for news in found.values()]

    def told(self, notice: Notice) -> None:
        """It was told."""
        if notice.key in self._news:
            self._desk.told(self._news[notice.key])


def notice_key(news: RunNews) -> str:
    """The same whenever it is made of the same event."""
    return f"run-{news.run.id}-{news.event.value}"


def notice_of(news: RunNews, external_url: str) -> Notice:
    """The notice of an event."""
    run = news.run
    started = news.event is RunEvent.STARTED
    return Notice(
        key=notice_key(news),
        kind=NoticeKind.RUN_STARTED if started else NoticeKind.RUN_FINISHED,
        at_ms=run.started_ms if started else run.ended_ms or run.updated_ms,
        title=f"Load test started: {run_title(run)}" if started else f"{_outcome(run)}: {run_title(run)}",
        text=_plan(run) if started else _summary(run),
        url=f"{external_url}/runs/{run.id}",
        labels=_labels(run),
        facts=_start_facts(run) if started else _end_facts(run),
    )


def run_title(run: RunOut) -> str:
    """Its name, or what is known instead."""
    return run.name or run.scenario or run.id


def _labels(run: RunOut) -> dict[str, str]:
    given = {
        "run": run.id,
        "name": run.name,
        "scenario": run.scenario,
        "tool": run.tool,
        "branch": run.branch,
        "author": run.author,
        "host": run.host,
        "state": run.state.value,
        "verdict": "" if run.verdict is None else run.verdict.value,
    }
    return {name: value for name, value in given.items() if value}


def _plan(run: RunOut) -> str:
    parts = [run.tool] if run.tool else []
    if run.target_rate:
        parts.append(f"{format_value(run.target_rate, 'per_second')} asked for")
    if run.target_duration_seconds:
        parts.append(f"for {format_duration(run.target_duration_seconds)}")
    return ", ".join(parts)


def _start_facts(run: RunOut) -> Facts:
    asked = ", ".join(item.expression for item in run.thresholds)
    return [*_origin(run), *([("Thresholds", asked)] if asked else [])]


def _origin(run: RunOut) -> Facts:
    commit = run.commit[:COMMIT_LENGTH] + (" (with changes)" if run.commit and run.dirty else "")
    given = [
        ("Scenario", " ".join(part for part in (run.scenario, run.scenario_version) if part)),
        ("Branch", run.branch),
        ("Commit", commit),
        ("By", run.author),
        ("From", run.host),
    ]
    return [(label, text) for label, text in given if text]


def _outcome(run: RunOut) -> str:
    if run.state.value == "aborted":
        return "Load test aborted"
    words = {
        Verdict.PASSED: "Load test passed",
        Verdict.FAILED: "Load test failed",
        Verdict.INVALID: "Load test says nothing (invalid)",
    }
    return "Load test finished" if run.verdict is None else words[run.verdict]


def _summary(run: RunOut) -> str:
    if run.abort_reason:
        return f"Aborted: {run.abort_reason}"
    failed = _failed(run.thresholds)
    if failed:
        return "; ".join(map(_threshold, failed[:MOST_THRESHOLDS]))
    if run.verdict is Verdict.INVALID:
        return ", ".join(run.verdict_reasons)
    return f"All {len(run.thresholds)} thresholds were met" if run.thresholds else ""


def _failed(thresholds: Sequence[ThresholdOut]) -> list[ThresholdOut]:
    return [item for item in thresholds if item.state is ThresholdState.FAILED]


def _threshold(item: ThresholdOut) -> str:
    return f"{item.expression}: was {format_value(item.actual, item.unit)}"


def _end_facts(run: RunOut) -> Facts:
    facts: Facts = []
    if run.verdict is not None:
        facts.append(("Verdict", run.verdict.value))
    failed = _failed(run.thresholds)
    if failed:
        more = len(failed) - MOST_THRESHOLDS
        listed = "; ".join(map(_threshold, failed[:MOST_THRESHOLDS]))
        facts.append(("Failed thresholds", listed + (f"; and {more} more" if more > 0 else "")))
    facts += _figures(run)
    nearest = max(run.resources, key=lambda one: one.ratio_max, default=None)
    if nearest is not None:
        facts.append(("Nearest limit", _limit(nearest)))
    return [*facts, *_origin(run)]


def _figures(run: RunOut) -> Facts:
    facts: Facts = []
    if run.requests is not None:
        facts.append(("Requests", f"{run.requests:,}"))
    if run.rate is not None:
        facts.append(("Rate", format_value(run.rate, "per_second")))
    if run.success_ratio is not None:
        facts.append(("Errors", format_value(1 - run.success_ratio, "ratio")))
    latency = run.latency_seconds
    if latency.p95 is not None:
        shown = (format_value(value, "seconds") for value in (latency.p50, latency.p95, latency.p99))
        facts.append(("p50 / p95 / p99", " / ".join(shown)))
    if run.ended_ms is not None:
        facts.append(("Duration", format_duration((run.ended_ms - run.started_ms) / 1_000)))
    return facts


def _limit(one: ResourceReached) -> str:
    used, limit = (format_value(value, one.unit) for value in (one.used_max, one.limit))
    name = f" ({one.name})" if one.name else ""
    full = ", reached" if one.exhausted else ""
    return f"{one.title}{name}: {used} of {limit}, {format_value(one.ratio_max, 'ratio')}{full}"
