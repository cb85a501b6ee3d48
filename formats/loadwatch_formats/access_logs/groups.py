"""What somebody says of the names of routes: regular expressions, as `alp -m` takes them, and parameters that stay.

Queries hold what people typed and what proves who they are, so all of them are cut off but for parameters that somebody
names. Of those, values stay that are words; a number is `:id`, and whatever may be a secret or somebody's text is a
placeholder.
"""

import re
from collections.abc import Sequence

from loadwatch_formats.access_logs.shapes import LONGEST_READ, SLUG, shape_of_segment

MOST_KEPT = 5
_LONGEST_VALUE = 32
_MOST_PARAMETERS = 100
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,39}")
_WORD = re.compile(r"[A-Za-z]{1,20}(?:[_.-][A-Za-z]{1,20})*[0-9]{0,3}")
_SEPARATORS = re.compile(r"[_.-]")
_SECRET = frozenset("auth authorization code jwt key nonce otp pass pin pwd session sid sig state".split())
_SECRET_ENDS = (
    *("accesskey", "apikey", "credential", "credentials", "passphrase", "passwd", "password", "privatekey"),
    *("secret", "sessionid", "signature", "token"),
)


class GroupError(ValueError):
    """An expression or a parameter cannot be used; the text says which, and why."""


class KeptParameters:
    """Names of parameters, in the order in which a route shows them.

    Raises:
        GroupError: for a name that is none, one of secrets, and for more than `MOST_KEPT`.
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        if len(names) > MOST_KEPT:
            raise GroupError(f"{len(names)} parameters are too many; at most {MOST_KEPT}")
        for name in names:
            if not _NAME.fullmatch(name):
                raise GroupError(
                    f"{name[:60]!r} is no name of a parameter: letters, digits, _ . - and at most 40 of them"
                )
            if _is_secret(name):
                raise GroupError(f"{name!r} is a parameter that holds secrets: its values never stay")
        self.names = tuple(dict.fromkeys(names))

    def query_of(self, path: str) -> str:
        """What stays of the query of a path, such as `?action=login`; empty where nothing does."""
        if not self.names or "?" not in path:
            return ""
        query = path[:LONGEST_READ].partition("?")[2].partition("#")[0]
        given: dict[str, str] = {}
        for pair in query.split("&", _MOST_PARAMETERS)[:_MOST_PARAMETERS]:
            name, _, value = pair.partition("=")
            given.setdefault(name, value)
        kept = [f"{name}={_shown(given[name])}" for name in self.names if name in given]
        return "?" + "&".join(kept) if kept else ""


def is_value(query: str) -> bool:
    """Whether what stayed of a query, without its `?`, has a value that is no placeholder."""
    return any(value and not value.startswith(":") for _, value in _pairs(query))


def without_values(query: str) -> str:
    """Replace each value by a placeholder, in a query that turned out to be one of many."""
    return "&".join(f"{name}={SLUG if value and not value.startswith(':') else value}" for name, value in _pairs(query))


def _pairs(query: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (pair.partition("=") for pair in query.split("&"))]


def _shown(value: str) -> str:
    if not value or (len(value) <= _LONGEST_VALUE and _WORD.fullmatch(value)):
        return value
    shape = shape_of_segment(value)
    return shape if shape.startswith(":") and shape.count(":") == 1 else SLUG


def _is_secret(name: str) -> bool:
    called = _SEPARATORS.sub("", name).lower()
    return called in _SECRET or called.endswith(_SECRET_ENDS)


_MOST = 200
_LONGEST_PATH = 2_048
"""Characters of a path that an expression is matched against: a user's expression may be slow."""


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
        self.kept = KeptParameters(keep)
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
