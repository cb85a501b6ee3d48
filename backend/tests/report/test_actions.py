"""What reports say of actions."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from loadwatch_backend.kit.language import Language
from loadwatch_backend.report.actions import told_actions
from loadwatch_backend.report.html import render_html
from loadwatch_backend.report.markdown import render_markdown
from loadwatch_backend.runs.reviews.actions.schemas import (
    ActionProblem,
    ActionScore,
    ActionStanding,
    LoadChange,
    LoadKind,
    ReviewAction,
    ScoreReason,
    ScoreState,
)
from loadwatch_backend.texts.actions import ACTIONS

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
    state=ScoreState.HELD,
    reason=ScoreReason.NONE,
    detail="",
    unit="seconds",
    limit=0.3,
    actual=0.228,
    before=0.412,
    window="steady",
    load=LoadChange(kind=LoadKind.TARGET_RATE, before=200, now=200),
)
LOWER: dict[str, Any] = {
    "state": ScoreState.CANNOT_TELL,
    "reason": ScoreReason.LOAD_LOWER,
    "of_name": None,
    "detail": "The worst of 2 series.",
    "load": LoadChange(kind=LoadKind.USERS, before=20, now=10),
}
ACTION = ReviewAction(id="a", text="pool of <30>", owner="mika", due=date(2026, 12, 1), expected="p95<300ms")
REVIEW = make_review().model_copy(
    update={
        "actions": [ACTION, ReviewAction(id="b", text="ask for disks"), ReviewAction(id="blank")],
        "standings": [
            ActionStanding(id="a", problem=ActionProblem.NONE, detail="", unit="", before=None, scores=[SCORE])
        ],
        "scored": [SCORE.model_copy(update=LOWER)],
    }
)


def test_actions_and_what_the_run_says_of_earlier_ones_stand_in_every_form() -> None:
    report = replace(make_report(), review=REVIEW)
    document = render_markdown(report, Language.EN)
    for line in (
        "- pool of \\<30\\> (p95\\<300ms): open · mika · due 2026-12-01",
        "  - **✓ Held** by after · 412 ms → 228 ms over the steady window · target rate 200/s → 200/s",
        "- ask for disks: open\n",
        "## What this run says of earlier actions",
        ": decided after a run that was deleted or is not here · mika",
        "  - **? Cannot tell** the load was lower · 412 ms → 228 ms over the steady window · users 20 → 10 · The worst",
    ):
        assert line in document, line
    page = render_html(report, Language.JA)
    for said in ("<b>pool of &lt;30&gt;</b>", "✓ 達成", "? 判定不能", "負荷が低かった", "期限 2026-12-01"):
        assert said in page, said


def test_nothing_is_said_where_there_are_none() -> None:
    assert told_actions(make_review(), Language.EN) is None
    assert "Actions" not in render_markdown(make_report(), Language.EN)


@pytest.mark.parametrize("reason", [reason for reason in ScoreReason if reason])
def test_every_reason_has_its_words(reason: ScoreReason) -> None:
    assert ACTIONS[f"reason.{reason}"].ja != ACTIONS[f"reason.{reason}"].en
