"""What may be expected of an action."""

from collections.abc import Sequence

import pytest
from loadwatch_backend.kit.errors import InvalidError
from loadwatch_backend.runs.reviews.actions.expectation import finding_of, problem_of
from loadwatch_backend.texts.words import SILENT, Words


def refuse(texts: Sequence[str]) -> None:
    raise InvalidError(f"no threshold: {texts[0]}")


def accept(texts: Sequence[str]) -> None:
    assert texts == ["p95<300ms"]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("pool-exhausted gone", "pool-exhausted"),
        ("  finding pool-exhausted  is gone ", "pool-exhausted"),
        ("pool-exhausted is gone", "pool-exhausted"),
        ("gone", None),
        ("p95<300ms", None),
        ("pool-exhausted gone over whole", None),
    ],
)
def test_a_finding_that_is_to_be_gone(text: str, finding: str | None):
    assert finding_of(text) == finding


def test_what_cannot_be_scored_says_why():
    assert problem_of("pool-exhausted gone", refuse) == problem_of(" ", refuse) == SILENT
    assert problem_of("p95<300ms", accept) == SILENT
    assert problem_of("p95<", refuse) == Words("no threshold: p95<", "no threshold: p95<")
    assert "no finding 'pool-exhausting'" in problem_of("pool-exhausting gone", refuse).en
    assert "診断 'pool-exhausting'" in problem_of("pool-exhausting gone", refuse).ja
