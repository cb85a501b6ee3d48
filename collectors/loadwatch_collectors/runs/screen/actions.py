"""What was decided after a run and what later runs say of it, for people."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from loadwatch_collectors.runs.screen.status import in_unit

_INDENT = " " * 4

Document = Mapping[str, Any]


def describe_actions(review: Document) -> list[str]:
    """Lines of a review's actions with their newest scores, then of earlier actions that the run scored."""
    scores = {one["id"]: one["scores"] for one in _listed(review, "standings")}
    lines: list[str] = []
    for action in _listed(review, "actions"):
        if not (action["text"].strip() or action["expected"].strip()):
            continue
        facts = [action["state"], action["owner"], f"due {action['due']}" if action["due"] else "", action["expected"]]
        lines.append(f"  {action['text']} ({', '.join(fact for fact in facts if fact)})")
        for score in scores.get(action["id"], [])[:1]:
            lines.append(f"{_INDENT}{_said(score)}, by {score['run']}")
    for score in _listed(review, "scored"):
        lines.append(f"  of {score['of_run']}: {score['text']} ({score['expected']})")
        lines.append(f"{_INDENT}{_said(score)}")
    return lines


def _listed(review: Document, key: str) -> Sequence[Document]:
    # A server of before knows no actions.
    return cast("Sequence[Document]", review.get(key) or ())


def _said(score: Document) -> str:
    state = str(score["state"]).replace("-", " ")
    parts = [f"{state}: {score['reason']}" if score["reason"] else state]
    if score["actual"] is not None:
        before = "-" if score["before"] is None else in_unit(float(score["before"]), score["unit"])
        parts.append(f"{before} -> {in_unit(float(score['actual']), score['unit'])} ({score['window']})")
    if score["load"] is not None:
        parts.append(f"{score['load']['kind']} {score['load']['before']:g} -> {score['load']['now']:g}")
    return ", ".join([*parts, score["detail"]] if score["detail"] else parts)
