"""What a report says of the verdict and the load generator agrees with the figures, in both languages."""

import pytest
from loadwatch_backend.core.language import Language
from loadwatch_backend.runs.analysis.schemas import GeneratorCheck
from loadwatch_backend.runs.fields import Verdict
from loadwatch_backend.runs.report.findings import generator_text, verdict_reasons
from loadwatch_backend.runs.report.html import render_html
from loadwatch_backend.runs.report.markdown import render_markdown
from loadwatch_backend.runs.report.model import Report

from backend.tests.report.making import make_report


def check(state: str = "ok", *, reached: float = 100.0, reasons: tuple[str, ...] = ()) -> GeneratorCheck:
    return GeneratorCheck(
        state=state,
        reasons=list(reasons),
        target_rate=100.0,
        reached_rate=reached,
        dropped_iterations=None,
        cpu_max=1.0,
        remarks=["host-busy"],
        detail="",
    )


def with_check(given: GeneratorCheck, verdict: Verdict, *reasons: str) -> Report:
    report = make_report()
    run = report.run.model_copy(update={"generator": given, "verdict": verdict, "verdict_reasons": list(reasons)})
    return Report(
        run=run,
        baseline=None,
        difference=None,
        review=report.review,
        notes=report.notes,
        opening=[],
        charts=[],
        made_ms=report.made_ms,
    )


def test_a_run_that_sent_what_was_asked_on_a_busy_host_is_not_said_to_have_failed():
    english, japanese = (generator_text(check(), language) for language in (Language.EN, Language.JA))
    assert english.startswith("It sent what it was asked to. 100/s / 100/s.")
    assert japanese.startswith("指示どおりに送信できた。")
    assert "できなかった" not in japanese
    assert "busy up to 100%" in english


@pytest.mark.parametrize("language", list(Language))
def test_a_report_says_at_its_top_why_a_run_is_invalid(language: Language):
    given = check("saturated", reached=60.0, reasons=("rate-not-reached",))
    report = with_check(given, Verdict.INVALID, "generator-saturated", "a-code-of-later")
    first, unknown = verdict_reasons(report.run, language)
    assert "60/s" in first
    assert unknown == "a-code-of-later"
    page = render_html(report, language)
    assert page.index(first) < page.index('<dl class="line">')
    markdown = render_markdown(report, language)
    assert markdown.index("60/s") < markdown.index("\n- ")


@pytest.mark.parametrize("language", list(Language))
def test_a_run_that_passed_needs_no_reasons(language: Language):
    report = with_check(check(), Verdict.PASSED)
    assert 'class="why"' not in render_html(report, language)
