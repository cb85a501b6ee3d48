"""Matchers as text for the engine."""

import re
from collections.abc import Sequence

from loadwatch_backend.series.store.patterns import value_test
from loadwatch_backend.series.store.port import Matcher, MatchOperator

_CLASSIC = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_OF_SELF = ("loadwatch_store_", "loadwatch_rule_")
NAME = "__name__"
ANY_METRIC = Matcher(NAME, MatchOperator.REGEX, ".+")


def selector_text(matchers: Sequence[Matcher]) -> str:
    """A series selector of PromQL; names beyond the classic ones are quoted, as Prometheus 3 takes them.

    Raises:
        PatternError: a regular expression is none.
    """
    # No engine takes a selector that asks for nothing.
    asked = (*matchers, ANY_METRIC) if all(value_test(one)("") for one in matchers) else matchers
    return "{" + ",".join(f"{label_text(one.label)}{one.operator}{quoted(one.value)}" for one in asked) + "}"


def quoted(text: str) -> str:
    """A string of PromQL."""
    return f'"{text.translate(_ESCAPES)}"'


def label_text(name: str) -> str:
    """The name of a label."""
    return name if _CLASSIC.fullmatch(name) else quoted(name)


def is_plain_name(matchers: Sequence[Matcher]) -> bool:
    """Whether they ask for one metric and nothing else."""
    return len(matchers) == 1 and matchers[0].label == NAME and matchers[0].operator is MatchOperator.EQUAL


def is_of_self(matchers: Sequence[Matcher]) -> bool:
    """Whether they ask only for what this server says of its own queue and rules.

    Its memory has the newest of that while the engine is away, which somebody has to be told of just then.
    """
    return any(
        one.label == NAME and one.operator is MatchOperator.EQUAL and one.value.startswith(_OF_SELF) for one in matchers
    )
