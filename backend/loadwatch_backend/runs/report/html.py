"""A report as one HTML file that loads nothing: style, charts and figures are inside of it."""

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadwatch_formats.numbers import format_change, format_duration, format_value
from markupsafe import Markup, escape

from loadwatch_backend.core.deferred import Deferred
from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.core.version import VERSION
from loadwatch_backend.findings.schemas import EvidenceOut
from loadwatch_backend.runs.report.actions import action_lines
from loadwatch_backend.runs.report.attached import file_rows, log_rows
from loadwatch_backend.runs.report.figures import shown_figures
from loadwatch_backend.runs.report.findings import answer_of, generator_text, verdict_reasons
from loadwatch_backend.runs.report.model import FIRST, Report, mixed_key, shares_of_endpoints, summary_rows
from loadwatch_backend.runs.report.numbers import elapsed_text, format_setting
from loadwatch_backend.runs.report.svg import draw_chart
from loadwatch_backend.runs.report.why import COUNTED, report_cost
from loadwatch_backend.runs.reviews.schemas import ReviewOut

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

    commands: list[str] = []
    pen_down = False
    for place, value in enumerate(values):
        if value is None:
            pen_down = False
            continue
        x = 1 + (WIDTH - 2) * (place / max(len(values) - 1, 1))
        commands.append(f"{'L' if pen_down else 'M'}{x:.1f} {y(value):.1f}")
        # A lone point between gaps has no length and would not show.
        if not pen_down and (place + 1 == len(values) or values[place + 1] is None):
            commands.append("h1.5")
        pen_down = True
    texts = Texts("findings", language)
    spoken = texts("chart", low=format_value(min(known), evidence.unit), high=format_value(max(known), evidence.unit))
    limit = ""
    if evidence.limit is not None:
        spoken += ", " + texts("chart_limit", limit=format_value(evidence.limit, evidence.unit))
        limit = f'<path class="bound" d="M0 {y(evidence.limit):.1f}H{WIDTH}"/>'
    return Markup(
        f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(spoken)}">{limit}'
        f'<path class="line s1" d="{"".join(commands)}"/></svg>'
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
        autoescape=True,
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
    """The whole page."""
    run = report.run
    return _template("report.html.j2").render(
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
        log=log_rows(report.log, language),
        files=file_rows(report.files, report.attached, language),
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
    """The texts of a review that somebody wrote, by the key of their heading."""
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
