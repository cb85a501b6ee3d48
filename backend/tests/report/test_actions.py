"""What reports say of actions."""

from dataclasses import replace
from datetime import date
from typing import Any

from loadwatch_backend.core.language import Language
from loadwatch_backend.runs.report.html import action_lines, render_html
from loadwatch_backend.runs.report.markdown import render_markdown
from loadwatch_backend.runs.reviews.schemas import (
    ActionScore,
    ActionStanding,
    ReviewAction,
    ScoreState,
)

from backend.tests.report.making import make_report, make_review

SCORE = ActionScore(
    action="a",
    of_run="one",
    of_name="before",
    run="two",
    run_name="after",
    run_started_ms=0,
    scored_ms=0,
    text="pool of <30>",
    owner="mika",
    expected="p95<300ms",
    state=ScoreState.MET,
    detail="",
    unit="seconds",
    limit=0.3,
    actual=0.228,
    window="steady",
)
ABORTED: dict[str, Any] = {
    "state": ScoreState.NOT_MEASURED,
    "of_name": None,
    "actual": None,
    "detail": "the run was aborted",
    "detail_ja": "実行が中断された",
}
ACTION = ReviewAction(id="a", text="pool of <30>", owner="mika", due=date(2026, 12, 1), expected="p95<300ms")
REVIEW = make_review().model_copy(
    update={
        "actions": [ACTION, ReviewAction(id="b", text="ask for disks"), ReviewAction(id="blank")],
        "standings": [ActionStanding(id="a", detail="", unit="", before=None, scores=[SCORE])],
        "scored": [SCORE.model_copy(update=ABORTED)],
    }
)


def test_actions_and_what_the_run_says_of_earlier_ones_stand_in_every_form() -> None:
    report = replace(make_report(), review=REVIEW)
    document = render_markdown(report, Language.EN)
    for line in (
        "- pool of \\<30\\> (p95\\<300ms): open · mika · due 2026-12-01",
        "  - **✓ Met** by after · 228 ms over the steady window",
        "- ask for disks: open\n",
        "## What this run says of earlier actions",
        ": decided after a run that was deleted or is not here · mika",
        "  - **? Not measured** the run was aborted",
    ):
        assert line in document, line
    page = render_html(report, Language.JA)
    for said in ("<b>pool of &lt;30&gt;</b>", "✓ 達成", "? 計測なし", "実行が中断された", "期限 2026-12-01"):
        assert said in page, said


def test_nothing_is_said_where_there_are_none() -> None:
    assert action_lines(make_review(), Language.EN) == []
    assert "Actions" not in render_markdown(make_report(), Language.EN)
