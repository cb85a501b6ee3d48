"""What the team's chat is sent of a run: a sentence and headline figures."""

from collections.abc import Sequence

from loadwatch_formats.numbers import format_duration, format_value

from loadwatch_backend.alerting.notify.model import Notice, NoticeFinding, NoticeKind, NoticeText
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.findings.model import HeadlineKind
from loadwatch_backend.runs.analysis.schemas import ResourceReached, ThresholdOut, ThresholdState
from loadwatch_backend.runs.fields import Verdict
from loadwatch_backend.runs.registry.news import NewsDesk, RunEvent, RunNews
from loadwatch_backend.runs.report.findings import headline_text, verdict_reasons
from loadwatch_backend.runs.report.html import shown_figures
from loadwatch_backend.runs.schemas import RunOut

MOST_THRESHOLDS = 5
MOST_FINDINGS = 20
COMMIT_LENGTH = 12

Facts = list[tuple[str, str]]


class RunNotices:
    """News of runs as notices: `notify.notifier.News`."""

    def __init__(self, desk: NewsDesk, external_url: str) -> None:
        self._desk = desk
        self._external_url = external_url
        self._news: dict[str, RunNews] = {}

    def latest(self) -> Sequence[Notice]:
        found = {notice_key(news): news for news in self._desk.latest()}
        self._news = found
        return [notice_of(news, self._external_url) for news in found.values()]

    def delivered(self, notice: Notice) -> None:
        if notice.key in self._news:
            self._desk.delivered(self._news[notice.key])


def notice_key(news: RunNews) -> str:
    """The same key for each notice of one event."""
    return f"run-{news.run.id}-{news.event.value}"


def notice_of(news: RunNews, external_url: str) -> Notice:
    run = news.run
    started = news.event is RunEvent.STARTED
    return Notice(
        key=notice_key(news),
        kind=NoticeKind.RUN_STARTED if started else NoticeKind.RUN_FINISHED,
        at_ms=run.started_ms if started else run.ended_ms or run.updated_ms,
        texts={language: _text_of(run, Texts("notices", language), started=started) for language in Language},
        url=f"{external_url}/runs/{run.id}",
        labels=_labels(run),
    )


def _text_of(run: RunOut, texts: Texts, *, started: bool) -> NoticeText:
    if started:
        title = texts("started", run=run_title(run))
        asked = ", ".join(item.expression for item in run.thresholds)
        facts = [*_origin(run, texts), *([(texts("thresholds"), asked)] if asked else [])]
        return NoticeText(title=title, text=_plan(run, texts), facts=facts)
    title = texts("outcome", outcome=_outcome(run, texts), run=run_title(run))
    said = [one for one in run.findings if not one.muted]
    findings = [
        NoticeFinding(
            id=one.id,
            sentence=one.sentence.ja if texts.language is Language.JA else one.sentence.en,
            severity=one.severity,
            certainty=one.certainty,
        )
        for one in said[:MOST_FINDINGS]
    ]
    return NoticeText(title=title, text=_summary(run, texts), facts=_end_facts(run, texts), findings=findings)


def run_title(run: RunOut) -> str:
    return run.name or run.scenario or run.tool or run.id


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


def _plan(run: RunOut, texts: Texts) -> str:
    parts = [run.tool] if run.tool else []
    if run.target_rate:
        parts.append(texts("asked_rate", rate=format_value(run.target_rate, "per_second")))
    if run.target_duration_seconds:
        parts.append(texts("asked_duration", duration=format_duration(run.target_duration_seconds)))
    return ", ".join(parts)


def _origin(run: RunOut, texts: Texts) -> Facts:
    commit = run.commit[:COMMIT_LENGTH]
    if commit and run.dirty:
        commit = texts("with_changes", commit=commit)
    given = [
        (texts("scenario"), " ".join(part for part in (run.scenario, run.scenario_version) if part)),
        (texts("branch"), run.branch),
        (texts("commit"), commit),
        (texts("by"), run.author),
        (texts("from"), run.host),
    ]
    return [(label, text) for label, text in given if text]


def _outcome(run: RunOut, texts: Texts) -> str:
    if run.state.value == "aborted":
        return texts("aborted")
    return texts("finished" if run.verdict is None else run.verdict.value)


def _summary(run: RunOut, texts: Texts) -> str:
    if run.abort_reason:
        return texts("aborted_because", reason=run.abort_reason)
    failed = _failed(run.thresholds)
    if failed:
        return "; ".join(_threshold(item, texts) for item in failed[:MOST_THRESHOLDS])
    if run.verdict is Verdict.INVALID:
        return "; ".join(verdict_reasons(run, texts.language))
    return texts("all_met", count=len(run.thresholds)) if run.thresholds else ""


def _failed(thresholds: Sequence[ThresholdOut]) -> list[ThresholdOut]:
    return [item for item in thresholds if item.state is ThresholdState.FAILED]


def _threshold(item: ThresholdOut, texts: Texts) -> str:
    return texts("was", threshold=item.expression, value=format_value(item.actual, item.unit))


def _end_facts(run: RunOut, texts: Texts) -> Facts:
    facts: Facts = []
    if run.verdict is not None:
        facts.append((texts("verdict"), texts(f"verdict_{run.verdict.value}")))
    failed = _failed(run.thresholds)
    if failed:
        more = len(failed) - MOST_THRESHOLDS
        listed = "; ".join(_threshold(item, texts) for item in failed[:MOST_THRESHOLDS])
        facts.append((texts("failed_thresholds"), listed + (texts("and_more", count=more) if more > 0 else "")))
    said = None if run.diagnosis is None else run.diagnosis.headline
    if said is not None and said.kind in (HeadlineKind.FOUND, HeadlineKind.CANNOT_TELL):
        facts.append((texts("ran_out"), headline_text(said, texts.language)))
    facts += _figures(run, texts)
    nearest = max(run.resources, key=lambda one: one.ratio_max, default=None)
    if nearest is not None:
        facts.append((texts("nearest_limit"), _limit(nearest, texts)))
    return [*facts, *_origin(run, texts)]


def _figures(run: RunOut, texts: Texts) -> Facts:
    facts: Facts = [(one.name, one.value) for one in shown_figures(run, texts.language) if one.is_own]
    if run.requests is not None:
        facts.append((texts("requests"), f"{run.requests:,}"))
    if run.rate is not None:
        facts.append((texts("rate"), format_value(run.rate, "per_second")))
    if run.success_ratio is not None:
        facts.append((texts("errors"), format_value(1 - run.success_ratio, "ratio")))
    latency = run.latency_seconds
    if latency.p95 is not None:
        shown = (format_value(value, "seconds") for value in (latency.p50, latency.p95, latency.p99))
        facts.append(("p50 / p95 / p99", " / ".join(shown)))
    if run.ended_ms is not None:
        facts.append((texts("duration"), format_duration((run.ended_ms - run.started_ms) / 1_000)))
    return facts


def _limit(one: ResourceReached, texts: Texts) -> str:
    used, limit = (format_value(value, one.unit) for value in (one.used_max, one.limit))
    title = f"{one.title} ({one.name})" if one.name else one.title
    said = texts("used_of", title=title, used=used, limit=limit, share=format_value(one.ratio_max, "ratio"))
    return said + (texts("reached") if one.exhausted else "")
