"""Regular expressions of clients: RE2's syntax, with bounds.

RE2 runs in linear time. How long that is, and what it takes to compile, goes with the size of its program; so length
and memory are bounded here, for every place that compiles what a client sent. It holds no lock of the interpreter.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

import re2

from loadwatch_backend.series.store.errors import PatternError
from loadwatch_backend.series.store.port import Matcher, MatchOperator

MAX_PATTERN = 16 * 1024
"""Characters of one pattern."""
MAX_MEMORY = 1 << 20
"""Bytes that RE2 may take for one pattern: some 40,000 instructions (800 host names have 10,000), and its automaton.
What is larger is refused within 15 ms."""
MATCHING_SECONDS = 5.0
"""Time limit for matching all values of a label; 4,096 characters take 0.3 s at worst."""
_CACHED = 128
"""Patterns that stay compiled, by us and by RE2's package each: all of them together take `MAX_MEMORY` times this."""


class Found(Protocol):
    def group(self, group: int | str = ..., /) -> str | None:
        """The text of a group; raises IndexError or KeyError when there is none."""
        ...


class Pattern(Protocol):
    def fullmatch(self, text: str, /) -> Found | None: ...

    def search(self, text: str, /) -> Found | None: ...

    def sub(self, repl: Callable[[Found], str], text: str, /) -> str: ...


_LITERALS = re.compile(r"[A-Za-z0-9_ ,:;/<>=%@&'\"#!~-]*(?:\|[A-Za-z0-9_ ,:;/<>=%@&'\"#!~-]*)*")
"""Texts without a sign that means anything to RE2, joined by `|`: a set of words answers these."""


@lru_cache(maxsize=_CACHED)
def compile_pattern(pattern: str, *, dot_matches_newline: bool = True, captures: bool = True) -> Pattern:
    """The compiled pattern, not anchored.

    Raises:
        PatternError: not valid in RE2's syntax, or too large.
    """
    if len(pattern) > MAX_PATTERN:
        raise PatternError(
            f"the regular expression {pattern[:200]!r}… has {len(pattern)} characters; at most {MAX_PATTERN} are taken"
        )
    if not pattern.isascii() and any("\ud800" <= letter <= "\udfff" for letter in pattern):
        raise PatternError(f"the regular expression {pattern[:200]!r} holds half a character, which UTF-8 cannot write")
    options = re2.Options()
    options.dot_nl = dot_matches_newline
    options.never_capture = not captures
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(
            f"the regular expression {pattern[:200]!r} is not valid: {text}. The syntax is RE2's"
            " (https://github.com/google/re2/wiki/Syntax): no look-around and no back-references, and what it makes"
            f" takes at most {MAX_MEMORY >> 20} MiB."
        ) from error


@lru_cache(maxsize=_CACHED)
def full_matcher(pattern: str, *, dot_matches_newline: bool = True) -> Callable[[str], bool]:
    """A function that tells whether the whole of a text matches.

    `.` matches a line feed, as in Prometheus 3, unless it is told otherwise.

    Raises:
        PatternError: the pattern is not valid in RE2's syntax, or too large.
    """
    if _LITERALS.fullmatch(pattern):
        return frozenset(pattern.split("|")).__contains__
    if pattern == ".*" and dot_matches_newline:
        return lambda _text: True
    if pattern == ".+" and dot_matches_newline:
        return lambda text: text != ""
    compiled = compile_pattern(pattern, dot_matches_newline=dot_matches_newline, captures=False)
    return lambda text: compiled.fullmatch(text) is not None


def value_test(matcher: Matcher) -> Callable[[str], bool]:
    """Whether a value of its label meets a matcher; raises PatternError."""
    match matcher.operator:
        case MatchOperator.EQUAL:
            return lambda value: value == matcher.value
        case MatchOperator.NOT_EQUAL:
            return lambda value: value != matcher.value
        case MatchOperator.REGEX:
            return full_matcher(matcher.value)
        case MatchOperator.NOT_REGEX:
            matches = full_matcher(matcher.value)
            return lambda value: not matches(value)
