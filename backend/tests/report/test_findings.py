import math

import pytest
from loadwatch_backend.catalogue.signals.model import Unit
from loadwatch_backend.core.language import Language
from loadwatch_backend.findings.model import Certainty, DiagnosisState, Link, Opinion, Severity
from loadwatch_backend.findings.schemas import (
    ChartOut,
    CheckedOut,
    EvidenceOut,
    FindingOut,
    MarkOut,
    StepOut,
    TextOut,
)
from loadwatch_backend.runs.report.findings import answer_of
from loadwatch_backend.runs.report.html import draw_spark, render_html
from loadwatch_backend.runs.report.markdown import render_markdown
from loadwatch_backend.runs.report.service import first_chart
from loadwatch_backend.runs.report.svg import draw_chart
from markdown_it import MarkdownIt

from backend.tests.findings.said import finding
from backend.tests.report.making import NASTY, START_MS, judged, make_report, make_run


def piece(link: Link = Link.LIMIT, text: str = "30 of 30 connections.", **changes: object) -> EvidenceOut:
    return EvidenceOut(
        text=TextOut(en=text, ja=f"{text}(日本語)"),
        link=link,
        expression="go_sql_in_use_connections",
        unit=Unit.COUNT,
        at_ms=START_MS,
        value=30,
        limit=30,
        chart=ChartOut(start_ms=START_MS, step_ms=1_000, values=[10, None, 30]),
    ).model_copy(update=changes)


def pool(**changes: object) -> FindingOut:
    said = finding("pool-exhausted", labels={"instance": "app"}, from_ms=START_MS + 1_000, to_ms=START_MS + 9_000)
    steps = [
        StepOut(text=TextOut(en="Raise it.", ja="増やす。"), code="db.SetMaxOpenConns(40)\ndb.SetMaxIdleConns(40)")
    ]
    return said.model_copy(update={"evidence": [piece()], "steps": steps, **changes})


def test_the_headline_is_the_first_that_accuses() -> None:
    noise = finding("host-noise", severity=Severity.INFO)
    answer = answer_of(judged(noise, pool(), finding("client-timeouts")), Language.EN)
    assert answer is not None
    assert (answer.headline, answer.tone) == ("It was pool-exhausted. (certain) · and 1 more", "critical")


def test_causes_are_named_by_their_titles_and_times_are_the_runs() -> None:
    late = finding("client-timeouts", because_of=[pool().key], from_ms=START_MS + 3_000, to_ms=START_MS + 20_000)
    answer = answer_of(judged(pool(), late), Language.EN)
    assert answer is not None
    assert answer.findings[1].facts == ["certain", "0:03 to 0:20", "because of: It was pool-exhausted."]


def test_what_is_muted_is_not_said_and_what_was_judged_says_by_whom() -> None:
    mark = MarkOut(id=1, opinion=Opinion.REJECTED, reason="the test hammered it", author="kana", said_ms=START_MS)
    answer = answer_of(judged(pool(muted=True), finding("hotspot").model_copy(update={"mark": mark})), Language.EN)
    assert answer is not None
    assert [one.title for one in answer.findings] == ["It was hotspot."]
    assert "marked wrong the test hammered it" in answer.findings[0].facts
    # That is not "none": something ran out, and people know.
    only = answer_of(judged(pool(muted=True)), Language.EN)
    assert only is not None
    assert only.headline == "Only what is muted: 1 found that people have muted or marked wrong."


def test_where_nobody_can_tell_the_symptoms_and_the_reason_are_said() -> None:
    why = TextOut(en="40 of 100 requests failed. These collectors send nothing: dbstats.", ja="40件が失敗。")
    run = judged(state=DiagnosisState.CANNOT_TELL, cannot_tell=why)
    answer = answer_of(run, Language.EN)
    assert answer is not None
    assert (answer.headline, answer.tone) == (f"Cannot tell what ran out: {why.en}", "cannot-tell")


def test_what_was_full_and_hurt_nobody_is_no_all_clear_and_did_not_run_out() -> None:
    full = judged(observations=[TextOut(en="The pool had 8 of 8 connections in use.", ja="プールは8中8。")])
    answer = answer_of(full, Language.EN)
    assert answer is not None
    assert answer.headline == "Full, no harm seen: The pool had 8 of 8 connections in use."
    rejected = MarkOut(id=1, opinion=Opinion.REJECTED, reason="planned", author="kana", said_ms=START_MS)
    refused = answer_of(judged(pool(mark=rejected), finding("hotspot")), Language.EN)
    assert refused is not None
    assert refused.headline.startswith("It was hotspot.")


def test_a_run_that_nobody_looked_at_says_nothing() -> None:
    assert answer_of(make_run(), Language.EN) is None
    assert "ran out first" not in render_html(make_report(), Language.EN)


@pytest.mark.parametrize("language", list(Language))
def test_reports_carry_all_of_it_in_their_language(language: Language) -> None:
    checked = [CheckedOut(id="b", title=TextOut(en="Churn", ja="入れ替わり"), text=TextOut(en="2 closed.", ja="2件。"))]
    run = judged(pool(), checked=checked)
    report = make_report(language, findings=run.findings, diagnosis=run.diagnosis)
    page, document = render_html(report, language), render_markdown(report, language)
    english = ["It was pool-exhausted.", "Raise it.", "What ran out first"]
    japanese = ["pool-exhaustedだった。", "増やす。", "最初に尽きたもの"]
    mine, other = (japanese, english) if language is Language.JA else (english, japanese)
    assert all(said in page for said in mine)
    assert not any(said in page for said in other)
    assert mine[1] in document
    assert "2 closed." in page or language is Language.JA
    assert 'class="spark"' in page
    assert "SetMaxOpenConns(40)" in page


def test_hostile_texts_stay_texts() -> None:
    nasty = TextOut(en=f"{NASTY}\n# x", ja=NASTY)
    run = judged(pool(sentence=nasty, title=nasty, evidence=[piece(text=NASTY)]))
    report = make_report(findings=run.findings, diagnosis=run.diagnosis)
    assert "<script" not in render_html(report, Language.EN)
    rendered = MarkdownIt("commonmark").render(render_markdown(report, Language.EN))
    assert "<script" not in rendered
    assert "<h1>x" not in rendered


@pytest.mark.parametrize("place", [1, 10])
def test_code_to_paste_stands_in_a_block_of_its_own(place: int) -> None:
    findings = [*(finding(f"other-{number}") for number in range(place - 1)), pool()]
    run = judged(*findings)
    report = make_report(findings=run.findings, diagnosis=run.diagnosis)
    rendered = MarkdownIt("commonmark").render(render_markdown(report, Language.EN))
    assert "<pre><code>db.SetMaxOpenConns(40)\ndb.SetMaxIdleConns(40)\n</code></pre>" in rendered


def test_a_small_chart_keeps_gaps_and_says_its_figures() -> None:
    drawn = str(draw_spark(piece(), Language.EN))
    assert 'aria-label="10 to 30, limit 30"' in drawn
    assert 'd="M1.0 23.7h1.5M199.0 1.0h1.5"' in drawn
    empty = ChartOut(start_ms=0, step_ms=1_000, values=[None])
    assert str(draw_spark(piece(chart=empty), Language.EN)) == ""


def test_a_chart_of_nothing_but_zeros_is_a_line_at_the_bottom() -> None:
    flat = ChartOut(start_ms=0, step_ms=1_000, values=[0, 0])
    drawn = str(draw_spark(piece(chart=flat, limit=None), Language.EN))
    assert "M1.0 35.0L199.0 35.0" in drawn
    assert not math.isnan(float(drawn.split("L199.0 ")[1].split('"')[0]))


def test_certainty_is_said_in_words() -> None:
    answer = answer_of(judged(pool(certainty=Certainty.POSSIBLE)), Language.JA)
    assert answer is not None
    assert answer.headline == "pool-exhaustedだった。 (可能性がある)"


def test_the_first_chart_is_that_of_the_limit_with_the_time_of_harm() -> None:
    demand = piece(Link.DEMAND, chart=ChartOut(start_ms=START_MS, step_ms=1_000, values=[1, 2]))
    late = piece(chart=ChartOut(start_ms=START_MS + 2_000, step_ms=1_000, values=[10, None, 30]))
    noise = finding("host-noise", severity=Severity.INFO)
    chart = first_chart(judged(noise, pool(evidence=[demand, late])), [], Language.EN)
    assert chart is not None
    # Elapsed times count from the run's beginning.
    assert [None if math.isnan(value) else value for value in chart.lines[0].values] == [None, None, 10, None, 30]
    assert (chart.span_seconds, chart.limit, chart.steady) == (5, 30, (1, 9))
    assert chart.note == "limit 30 · harm from 0:01 to 0:09"
    svg = str(draw_chart(chart))
    assert svg.count('class="bound"') == 1
    early = piece(chart=ChartOut(start_ms=START_MS - 1_000, step_ms=1_000, values=[7, 10, 30]))
    chart = first_chart(judged(pool(evidence=[early])), [], Language.JA)
    assert chart is not None
    assert list(chart.lines[0].values) == [10, 30]


def test_there_is_no_first_chart_where_nothing_is_said_or_drawn() -> None:
    assert first_chart(judged(), [], Language.EN) is None
    assert first_chart(judged(pool(muted=True)), [], Language.EN) is None
    assert first_chart(judged(pool(evidence=[piece(chart=None)])), [], Language.EN) is None


def test_a_limit_far_above_does_not_press_the_line_flat() -> None:
    chart = first_chart(judged(pool(evidence=[piece(limit=1_000)])), [], Language.EN)
    assert chart is not None
    assert 'class="bound"' not in str(draw_chart(chart))
    assert chart.note.startswith("limit 1,000")
