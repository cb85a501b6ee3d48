"""A report as one HTML file that loads nothing: style, charts and figures are inside of it."""

import base64
import functools
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from markupsafe import Markup

from loadwatch_backend.kit.deferred import Deferred
from loadwatch_backend.kit.language import Language
from loadwatch_backend.kit.version import VERSION
from loadwatch_backend.report.actions import told_actions
from loadwatch_backend.report.figures import shown_figures
from loadwatch_backend.report.findings import answer_of
from loadwatch_backend.report.kept import told_files, told_log
from loadwatch_backend.report.model import FIRST, Report, mixed_key, shares_of_endpoints, summary_rows
from loadwatch_backend.report.numbers import format_change, format_duration, format_setting, format_value
from loadwatch_backend.report.reasons import generator_text, verdict_reasons
from loadwatch_backend.report.spark import draw_spark
from loadwatch_backend.report.svg import draw_chart
from loadwatch_backend.report.ticks import elapsed_text
from loadwatch_backend.report.why import COUNTED, told_cost
from loadwatch_backend.runs.reviews.schemas import ReviewOut
from loadwatch_backend.texts.findings import FINDINGS
from loadwatch_backend.texts.report import REPORT
from loadwatch_backend.texts.words import Texts

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
        t=Texts(REPORT, language),
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
        why=told_cost(report.cost, report.routes, report.statements, language),
        counted=COUNTED,
        failed=report.failed,
        log=told_log(report.log, language),
        files=told_files(report.files, report.attached, language),
        f=Texts(FINDINGS, language),
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
        actions=told_actions(report.review, language),
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
    return _template("gone.html.j2").render(t=Texts(REPORT, language), lang=language.value, style=Markup(STYLE))


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
