"""A report as one HTML file that loads nothing: style, charts and figures are inside of it."""

import base64
import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from loadwatch_formats.numbers import format_change, format_count, format_duration, format_score, format_value
from markupsafe import Markup, escape

from loadwatch_backend.core.deferred import Deferred
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts, Words
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.findings.schemas import EvidenceOut
from loadwatch_backend.runs.analysis.schemas import KeyFigure, ThresholdState
from loadwatch_backend.runs.key_figures import OWN
from loadwatch_backend.runs.report.findings import (
    answer_of,
    elapsed_text,
    format_setting,
    generator_text,
    verdict_reasons,
)
from loadwatch_backend.runs.report.model import (
    COUNTED,
    FIRST,
    Report,
    mixed_key,
    report_cost,
    shares_of_endpoints,
    shown_files,
    shown_patterns,
    summary_rows,
)
from loadwatch_backend.runs.report.svg import draw_chart, draw_line
from loadwatch_backend.runs.reviews.schemas import ActionScore, ReviewAction, ReviewOut
from loadwatch_backend.runs.schemas import RunOut

_OF = {"target": "of_target", "accepted": "of_accepted", "answered_ok": "of_answered"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFigure:
    """A figure as a report shows it.

    Attributes:
        window: what it covers; empty where there is no value.
        notes: what it is held against, kinds of failures, why there is no value.
        state: of the threshold on it; empty without one.
        is_own: the user's own.
    """

    name: str
    value: str
    window: str
    notes: Sequence[str]
    threshold: str
    state: str
    is_own: bool


def shown_figures(run: RunOut, language: Language) -> list[ShownFigure]:
    texts = Texts("report", language)
    said = {f"{OWN}{one.name}": Words(one.detail, one.detail_ja).read(language) for one in run.own_figures}
    return [_shown(one, texts, said.get(one.id, "")) for one in run.key_figures]


def _shown(one: KeyFigure, texts: Texts, detail: str) -> ShownFigure:
    notes = [
        _against(one, texts),
        ", ".join(texts.known(kind, kind) for kind in one.kinds),
        # What became of a threshold says itself that nothing was measured.
        detail
        or (texts.known(f"note_{one.note}", one.note) if one.note and one.state is not ThresholdState.UNKNOWN else ""),
    ]
    is_own = one.id.startswith(OWN)
    shown = format_score if is_own else format_value
    window = texts.known(one.window, one.window.replace("..", "–"))
    return ShownFigure(
        name=one.id.removeprefix(OWN)
        if is_own
        else texts.known(f"figure_{one.id}", texts("figure_latency", name=one.id)),
        value=format_count(one.value) if one.unit == "count" else shown(one.value, one.unit),
        window="" if one.value is None else window,
        notes=[note for note in notes if note],
        threshold=one.threshold,
        state="" if one.state is None else one.state.value,
        is_own=is_own,
    )


def _against(one: KeyFigure, texts: Texts) -> str:
    """What the figure is held against; empty for a threshold, which states its limit itself."""
    if one.against is None or one.base not in _OF:
        return ""
    counted = one.unit == "count"
    told = texts(_OF[one.base], value=format_count(one.against) if counted else format_value(one.against, one.unit))
    missing = 0 if one.value is None or not counted else round(one.against) - round(one.value)
    if missing == 0:
        return told
    return f"{told}, {texts('of_missing' if missing > 0 else 'of_surplus', count=format_count(abs(missing)))}"


SIGNS = {"met": "✓", "missed": "✕", "not-measured": "?"}


class ActionLine(NamedTuple):
    text: str
    expected: str
    facts: Sequence[str]
    score: str
    words: Sequence[str]


def action_lines(review: ReviewOut, language: Language) -> list[tuple[str, list[ActionLine]]]:
    """The actions of a run's review, and those of runs before it that the run scored, with their titles."""
    texts = Texts("actions", language)
    newest = {one.id: one.scores[0] for one in review.standings if one.scores}
    own, earlier = list[ActionLine](), list[ActionLine]()
    for one in review.actions:
        if one.text.strip() or one.expected.strip():
            score = newest.get(one.id)
            by = [texts("by", run=score.run_name or score.run)] if score else []
            due = texts("due", day=one.due.isoformat()) if one.due else ""
            own.append(_line(texts, one, [texts(one.state), one.owner, due], score, by))
    for one in review.scored:
        origin = texts("gone") if one.of_name is None else one.of_name or one.of_run
        earlier.append(_line(texts, one, [texts("after", run=origin), one.owner], one, []))
    return [(texts(title), found) for title, found in (("title", own), ("earlier", earlier)) if found]


def _line(
    texts: Texts, one: ReviewAction | ActionScore, facts: Sequence[str], score: ActionScore | None, words: list[str]
) -> ActionLine:
    facts = [fact for fact in facts if fact]
    if score is None:
        return ActionLine(one.text, one.expected, facts, "", words)
    if score.actual is not None:
        window = texts.known(score.window, texts("part", window=score.window))
        words.append(f"{format_value(score.actual, score.unit)} {window}")
    detail = score.detail_ja if texts.language is Language.JA and score.detail_ja else score.detail
    words += [detail] if detail else []
    return ActionLine(one.text, one.expected, facts, f"{SIGNS[score.state]} {texts(score.state)}", words)


WIDTH, HEIGHT = 200, 36


def draw_spark(evidence: EvidenceOut, language: Language) -> Markup:
    """Its values from zero up, with what they are held against as a dashed line; empty without values."""
    values = [] if evidence.chart is None else evidence.chart.values
    known = [value for value in values if value is not None]
    if not known:
        return Markup("")
    top = max(*known, evidence.limit or 0.0, 1e-12)

    def y(value: float) -> float:
        return HEIGHT - 1 - (HEIGHT - 2) * max(value, 0.0) / top

    points = (
        (1 + (WIDTH - 2) * (place / max(len(values) - 1, 1)), None if value is None else y(value))
        for place, value in enumerate(values)
    )
    texts = Texts("findings", language)
    spoken = texts("chart", low=format_value(min(known), evidence.unit), high=format_value(max(known), evidence.unit))
    limit = ""
    if evidence.limit is not None:
        spoken += ", " + texts("chart_limit", limit=format_value(evidence.limit, evidence.unit))
        limit = f'<path class="bound" d="M0 {y(evidence.limit):.1f}H{WIDTH}"/>'
    return Markup(
        f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(spoken)}">{limit}'
        f'<path class="line s1" d="{draw_line(points)}"/></svg>'
    )


TEMPLATES = Path(__file__).with_name("templates")
STYLE = (TEMPLATES / "report.css").read_text(encoding="utf-8")
ENDPOINTS_SHOWN = 50
RESOURCES_SHOWN = 12

jinja2 = Deferred("jinja2")


@functools.cache
def _environment() -> Any:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=jinja2.select_autoescape(["html.j2"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _template(name: str) -> Any:
    return _environment().get_template(name)


def page_headers() -> Mapping[str, str]:
    """Headers for the page: nothing may be loaded, and only this very style applies."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return {
        "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }


def render_html(report: Report, language: Language) -> str:
    return render("report.html.j2", report, language)


def render(template: str, report: Report, language: Language, **functions: Callable[[str], str]) -> str:
    run = report.run
    return _template(template).render(
        **functions,
        t=Texts("report", language),
        lang=language.value,
        style=Markup(STYLE),
        run=run,
        reasons=verdict_reasons(run, language),
        generator=None if run.generator is None else generator_text(run.generator, language),
        params=", ".join(f"{key}={value}" for key, value in run.parameters.items()),
        summary=summary_rows(run, report.baseline),
        mixed=mixed_key(run.reconciliation.mixed_with) if run.reconciliation else "",
        baseline=report.baseline,
        answer=answer_of(run, language),
        why=report_cost(report.cost, report.routes, report.statements, language),
        counted=COUNTED,
        failed=report.failed,
        log=shown_patterns(report.log),
        files=shown_files(report.files, report.attached),
        attached=report.attached,
        f=Texts("findings", language),
        spark=draw_spark,
        figures=shown_figures(run, language),
        limits=run.resources[:RESOURCES_SHOWN],
        first=FIRST,
        opening=report.opening,
        charts=report.charts,
        draw=draw_chart,
        endpoints=run.endpoints[:ENDPOINTS_SHOWN],
        more_endpoints=max(len(run.endpoints) - ENDPOINTS_SHOWN, 0),
        shares=shares_of_endpoints(run),
        base_shares=shares_of_endpoints(report.baseline),
        repeats=report.repeats,
        difference=report.difference,
        notes=report.notes,
        review=report.review,
        reviewed=written(report.review),
        actions=action_lines(report.review, language),
        version=VERSION,
        made_ms=report.made_ms,
        value=format_value,
        change=format_change,
        setting=format_setting,
        duration=format_duration,
        elapsed=elapsed_text,
        time=format_time,
    )


def render_gone(language: Language) -> str:
    """The page of a share link that opens nothing; wrong, expired and revoked ones look alike."""
    return _template("gone.html.j2").render(t=Texts("report", language), lang=language.value, style=Markup(STYLE))


def written(review: ReviewOut) -> Sequence[tuple[str, str]]:
    texts = (
        ("approach", review.approach),
        ("outcome_text", review.outcome),
        ("next_action", review.next_action),
        ("feedback", review.feedback),
    )
    return [(key, text) for key, text in texts if text.strip()] if review.version else []


def format_time(time_ms: int) -> str:
    """`2026-11-21 14:20:53 UTC`."""
    return datetime.fromtimestamp(time_ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
