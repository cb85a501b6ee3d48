"""Matchers as text, for the engine, and as a test on labels, for what one request brought for several selectors."""

import re
from collections.abc import Callable, Sequence

from loadwatch_backend.store.patterns import full_matcher
from loadwatch_backend.store.port import Labels, Matcher, MatchOperator

_CLASSIC = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_NAME = "__name__"
_OF_SELF = ("loadwatch_store_", "loadwatch_rule_")


def selector_text(matchers: Sequence[Matcher]) -> str:
    """A series selector of PromQL; names beyond the classic ones are quoted, as Prometheus 3 takes them."""
    return "{" + ",".join(f"{_label(one.label)}{one.operator}{quoted(one.value)}" for one in matchers) + "}"


def quoted(text: str) -> str:
    """A string of PromQL."""
    return f'"{text.translate(_ESCAPES)}"'


def _label(name: str) -> str:
    return name if _CLASSIC.fullmatch(name) else quoted(name)


def asked_matchers(matchers: Sequence[Matcher]) -> tuple[Matcher, ...]:
    """The matchers with one that no engine refuses: at least one of a selector has to ask for something.

    Raises:
        PatternError: a regular expression is none.
    """
    tests_of(matchers)
    if matchers and all(_test(one)("") for one in matchers):
        return (*matchers, Matcher(_NAME, MatchOperator.REGEX, ".+"))
    return tuple(matchers) or (Matcher(_NAME, MatchOperator.REGEX, ".+"),)


def is_of_self(matchers: Sequence[Matcher]) -> bool:
    """Whether they ask only for what this server says of its own queue and rules.

    Its memory has the newest of that while the engine is away, which somebody has to be told of just then.
    """
    return any(
        one.label == _NAME and one.operator is MatchOperator.EQUAL and one.value.startswith(_OF_SELF)
        for one in matchers
    )


def tests_of(matchers: Sequence[Matcher]) -> Callable[[Labels], bool]:
    """Whether labels meet all of the matchers; raises as `asked_matchers`."""
    tests = [(one.label, _test(one)) for one in matchers]
    return lambda labels: all(test(labels.get(name, "")) for name, test in tests)


def _test(matcher: Matcher) -> Callable[[str], bool]:
    value = matcher.value
    match matcher.operator:
        case MatchOperator.EQUAL:
            return lambda text: text == value
        case MatchOperator.NOT_EQUAL:
            return lambda text: text != value
        case MatchOperator.REGEX:
            return full_matcher(value)
        case MatchOperator.NOT_REGEX:
            matches = full_matcher(value)
            return lambda text: not matches(text)
