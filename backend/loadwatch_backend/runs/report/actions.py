"""What a report says of the actions of a review, and of those that its run scored, in one language. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from loadwatch_formats.numbers import format_value

from loadwatch_backend.core.language import Language
from loadwatch_backend.core.texts.words import Texts
from loadwatch_backend.runs.reviews.actions.schemas import ActionScore, ReviewAction
from loadwatch_backend.runs.reviews.schemas import ReviewOut

SIGNS = {"met": "✓", "missed": "✕", "not-measured": "?"}


class ActionLine(NamedTuple):
    """An action with its state, owner and day; and what the newest run that scored it says, empty before one did."""

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
