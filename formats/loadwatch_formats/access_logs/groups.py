"""What somebody says of the names of routes: regular expressions, as `alp -m` takes them, and parameters that stay."""

import re
from collections.abc import Sequence

from loadwatch_formats.access_logs.kept import KeptError, KeptParameters

_MOST = 200
_LONGEST_PATH = 2_048
"""Characters of a path that an expression sees: it is somebody's own, and may be slow."""


class GroupError(ValueError):
    """An expression or a parameter cannot be used; the text says which, and why."""


def split_patterns(text: str) -> list[str]:
    """The expressions of one text: commas part them, but not commas within `{}`, `[]` and `()`.

    `/users/[0-9]+,/posts/[a-z]{1,8}` are two.
    """
    parts, depth, begun, escaped = list[str](), 0, 0, False
    for at, character in enumerate(text):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth = max(0, depth - 1)
        elif character == "," and not depth:
            parts.append(text[begun:at])
            begun = at + 1
    parts.append(text[begun:])
    return [part for part in (part.strip() for part in parts) if part]


class MatchingGroups:
    """Expressions in their order; the first that is found anywhere in a path names the route, by its own text.

    Beside them, `keep` names the parameters of queries that stay in a route; an expression's route has no query.

    Raises:
        GroupError: for an expression that is none, and for more than 200; for a parameter that cannot be kept.
    """

    def __init__(self, patterns: Sequence[str] = (), keep: Sequence[str] = ()) -> None:
        if len(patterns) > _MOST:
            raise GroupError(f"{len(patterns)} matching groups are too many; at most {_MOST}")
        self.patterns = tuple(patterns)
        try:
            self.kept = KeptParameters(keep)
        except KeptError as error:
            raise GroupError(str(error)) from None
        self._compiled: list[tuple[re.Pattern[str], str]] = []
        for pattern in patterns:
            try:
                self._compiled.append((re.compile(pattern), pattern))
            except re.error as error:
                raise GroupError(f"the matching group {pattern!r} is no regular expression: {error}") from None

    def find(self, path: str) -> str | None:
        """The first expression that is in the path, whose query is cut off; None if none is."""
        if not self._compiled:
            return None
        path = path.partition("?")[0][:_LONGEST_PATH]
        return next((name for pattern, name in self._compiled if pattern.search(path)), None)
