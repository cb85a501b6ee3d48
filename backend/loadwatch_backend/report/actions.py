"""What a report says of the actions of a review, and of those that its run scored, in one language. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadwatch_backend.kit.language import Language
from loadwatch_backend.report.numbers import format_value
from loadwatch_backend.runs.reviews.actions.schemas import ActionScore, LoadKind, ReviewAction
from loadwatch_backend.runs.reviews.schemas import ReviewOut
from loadwatch_backend.texts.actions import ACTIONS
from loadwatch_backend.texts.words import Texts

SIGNS = {"held": "✓", "missed": "✕", "cannot-tell": "?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldAction:
    """An action as a report shows it.

    Attributes:
        facts: state, owner, day.
        expected: as it was typed; empty where nothing was.
        score: what the newest run that scored it says, with its sign; empty before there is one.
        words: with which figures, and why nobody can tell.
    """

    text: str
    facts: Sequence[str]
    expected: str
    score: str
    words: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldActions:
    """The actions of a run's review, and those of runs before it that the run scored."""

    title: str
    own: Sequence[ToldAction]
    earlier_title: str
    earlier: Sequence[ToldAction]


def told_actions(review: ReviewOut, language: Language) -> ToldActions | None:
    """All that a report says of actions; None where there are none."""
    texts = Texts(ACTIONS, language)
    newest = {one.id: one.scores[0] for one in review.standings if one.scores}
    written = [one for one in review.actions if one.text.strip() or one.expected.strip()]
    if not written and not review.scored:
        return None
    return ToldActions(
        title=texts("title"),
        own=[_own(one, newest.get(one.id), texts) for one in written],
        earlier_title=texts("earlier"),
        earlier=[_earlier(one, texts) for one in review.scored],
    )


def _own(action: ReviewAction, score: ActionScore | None, texts: Texts) -> ToldAction:
    due = "" if action.due is None else texts("due", day=action.due.isoformat())
    return ToldAction(
        text=action.text,
        facts=[fact for fact in (texts(action.state), action.owner, due) if fact],
        expected=action.expected,
        score="" if score is None else _score(score, texts),
        words=[] if score is None else [texts("by", run=score.run_name or score.run), *_words(score, texts)],
    )


def _earlier(score: ActionScore, texts: Texts) -> ToldAction:
    origin = texts("gone") if score.of_name is None else score.of_name or score.of_run
    return ToldAction(
        text=score.text,
        facts=[fact for fact in (texts("after", run=origin), score.owner) if fact],
        expected=score.expected,
        score=_score(score, texts),
        words=_words(score, texts),
    )


def _score(score: ActionScore, texts: Texts) -> str:
    return f"{SIGNS[score.state]} {texts(score.state)}"


def _words(score: ActionScore, texts: Texts) -> list[str]:
    words = [texts(f"reason.{score.reason}")] if score.reason else []
    if score.actual is not None:
        before, now = (format_value(value, score.unit) for value in (score.before, score.actual))
        window = texts.known(score.window, texts("part", window=score.window))
        words.append(f"{before} → {now} {window}")
    if score.load is not None:
        unit = "count" if score.load.kind is LoadKind.USERS else "per_second"
        before, now = (format_value(value, unit) for value in (score.load.before, score.load.now))
        words.append(texts(f"load.{score.load.kind}", before=before, now=now))
    detail = score.detail_ja if texts.language is Language.JA and score.detail_ja else score.detail
    return [*words, detail] if detail else words
