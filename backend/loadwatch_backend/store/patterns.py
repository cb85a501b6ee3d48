"""Regular expressions of matchers: RE2's syntax, anchored at both ends, `.` matches a line feed (as Prometheus 3).

RE2 runs in linear time, so no pattern of a client can hang the server.
"""

import re
from collections.abc import Callable
from functools import lru_cache

import re2

from loadwatch_backend.store.errors import PatternError

_LITERALS = re.compile(r"[A-Za-z0-9_ ,:;/<>=%@&'\"#!~-]*(?:\|[A-Za-z0-9_ ,:;/<>=%@&'\"#!~-]*)*")
"""Texts without a sign that means anything to RE2, joined by `|`: a set of words answers these."""


@lru_cache(maxsize=256)
def full_matcher(pattern: str) -> Callable[[str], bool]:
    """A function that tells whether the whole of a text matches.

    Raises:
        PatternError: the pattern is not valid in RE2's syntax.
    """
    if _LITERALS.fullmatch(pattern):
        return frozenset(pattern.split("|")).__contains__
    if pattern == ".*":
        return lambda _text: True
    if pattern == ".+":
        return lambda text: text != ""
    options = re2.Options()
    options.dot_nl = True
    options.never_capture = True
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else error
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(
            f"the regular expression {pattern[:200]!r} is not valid: {text}. The syntax is RE2's"
            " (https://github.com/google/re2/wiki/Syntax): no look-around and no back-references."
        ) from error
    return lambda text: compiled.fullmatch(text) is not None
